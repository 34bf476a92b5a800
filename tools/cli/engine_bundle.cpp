#include "tools/cli/engine_bundle.h"

#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "runtime/format/program_file.h"
#include "runtime/format/sha256.h"
#include "tools/cli/commands.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

/// Returns the problem if something cannot be written.
std::optional<Problem> writeFolder(const std::string &folder, const Problem &found,
                                   const std::string &program,
                                   const std::vector<io::Tensor> &inputs) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return problem("E0516", fmt::format("cannot make '{}': {}", folder, error.message()));
  std::optional<Problem> wrong;
  const auto write = [&](const std::string &name, std::string_view bytes) {
    if (!wrong)
      wrong = writeOutput((fs::path(folder) / name).string(), bytes);
  };
  Json file = nullptr, flags = Json::array(), list = Json::array();
  if (program != "-") {
    const auto read = io::readAll(program);
    if (const auto *bytes = std::get_if<std::string>(&read)) {
      const std::span raw(reinterpret_cast<const uint8_t *>(bytes->data()), bytes->size());
      const std::string name = fs::path(program).filename().string();
      file = {{"name", name}, {"sha256", format::hex(format::sha256(raw))}};
      write(name, *bytes);
    }
    if (const format::ReadResult read = format::readFile(program); read.program) {
      std::istringstream words(read.program->options);
      for (std::string word; words >> word;)
        flags.push_back(word);
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = fmt::format("step_0_input_{}.npy", i);
    list.push_back({{"step", 0}, {"input", inputs[i].name}, {"file", name}});
    write(name, io::writeNpy(inputs[i]));
  }
  const Json report = {{"schema", 1},
                       {"errors", errorsJson({found})},
                       {"version", versionText()},
                       {"flags", flags},
                       {"seed", 1},
                       {"kind", "inputs of a run"},
                       {"model", nullptr},
                       {"program", file},
                       {"inputs", list}};
  write("report.json", report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  return wrong;
}

} // namespace

void addEngineBundle(Problem &found, const std::string &program,
                     const std::vector<io::Tensor> &inputs) {
  const std::string folder = fs::path(program == "-" ? "program" : fs::path(program).filename())
                                 .replace_extension(found.code);
  const auto wrong = writeFolder(folder, found, program, inputs);
  found.notes.push_back(
      wrong ? wrong->message
            : fmt::format("'{0}' has what a report needs: program, flags, versions and inputs; "
                          "'sluice reduce MODEL --bundle {0}' makes the model small",
                          folder));
}

} // namespace sluice::cli
