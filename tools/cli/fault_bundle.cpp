#include "tools/cli/fault_bundle.h"

#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "runtime/format/sha256.h"
#include "tools/cli/commands.h"
#include "tools/cli/io/tensor.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

/// A larger model is named by its hash alone.
constexpr size_t kLargestModel = size_t{64} << 20;

io::Tensor fileTensor(const reference::Tensor &tensor) {
  io::Tensor file{"", io::Type::Float32, tensor.shape, {}};
  file.data.resize(tensor.values.size() * sizeof(float));
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    const auto value = static_cast<float>(tensor.values[i]);
    std::memcpy(file.data.data() + i * sizeof(float), &value, sizeof(float));
  }
  return file;
}

} // namespace

std::optional<Problem> writeBundle(const std::string &folder, const check::Outcome &outcome,
                                   const pipeline::CompileOptions &options, uint64_t seed,
                                   const format::Program &program) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return problem("E0516", fmt::format("cannot make '{}': {}", folder, error.message()));
  const auto write = [&](const std::string &name, std::string_view bytes) {
    return writeOutput((fs::path(folder) / name).string(), bytes);
  };
  Json model = nullptr;
  if (options.modelPath != "-") {
    const auto read = io::readAll(options.modelPath);
    if (const auto *bytes = std::get_if<std::string>(&read)) {
      const std::span raw(reinterpret_cast<const uint8_t *>(bytes->data()), bytes->size());
      const std::string name = fs::path(options.modelPath).filename().string();
      model = {{"name", name}, {"sha256", format::hex(format::sha256(raw))}};
      if (bytes->size() <= kLargestModel)
        if (auto wrong = write(name, *bytes))
          return wrong;
    }
  }
  Json inputs = Json::array();
  const check::Evidence &evidence = outcome.evidence;
  for (size_t step = 0; step < evidence.steps.size(); ++step)
    for (size_t i = 0; i < evidence.steps[step].size(); ++i) {
      const std::string name = fmt::format("step_{}_input_{}.npy", step, i);
      inputs.push_back({{"step", step}, {"input", evidence.names[i]}, {"file", name}});
      if (auto wrong = write(name, io::writeNpy(fileTensor(evidence.steps[step][i]))))
        return wrong;
    }
  const Json report = {{"schema", 1},
                       {"errors", errorsJson({*outcome.problem})},
                       {"version", versionText()},
                       {"flags", program.options},
                       {"seed", seed},
                       {"kind", evidence.inputs},
                       {"model", model},
                       {"inputs", inputs}};
  return write("report.json", report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

} // namespace sluice::cli
