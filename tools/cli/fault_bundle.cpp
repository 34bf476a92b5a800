#include "tools/cli/fault_bundle.h"

#include <filesystem>

#include <fmt/format.h>

#include "compiler/frontend/onnx/file_bytes.h"
#include "compiler/frontend/onnx/model_file.h"
#include "compiler/pipeline/import_once.h"
#include "compiler/pipeline/option_words.h"
#include "compiler/support/problem_text.h"
#include "runtime/format/sha256.h"
#include "tools/cli/commands.h"
#include "tools/cli/float_tensor.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

/// A larger model is named by its hash alone.
constexpr size_t kLargestModel = size_t{64} << 20;
constexpr const char *kTargetFile = "target.json";

/// The bytes of a model with the weights that other files have, if they are not too many.
std::string withWeights(const std::string &bytes, const pipeline::CompileOptions &options) {
  if (!options.modelPath.ends_with(".onnx"))
    return bytes;
  Problems problems;
  frontend::Report report(problems);
  const auto model = frontend::parseModel(bytes, report);
  if (!model || frontend::weightFilesOf(*model).empty())
    return bytes;
  std::string whole = frontend::bytesWithWeights(
      *model, frontend::withDataFolder(pipeline::importOptions(options)).externalData,
      "the nodes of the model have", report);
  return problems.empty() && whole.size() <= kLargestModel ? whole : bytes;
}

/// Writes the files of a bundle.
class BundleWriter {
public:
  BundleWriter(const std::string &folder, const pipeline::CompileOptions &options)
      : folder(folder), options(options) {}

  /// Writes a file, unless another one could not be written.
  void write(const std::string &name, std::string_view bytes) {
    if (!wrong)
      wrong = writeOutput((fs::path(folder) / name).string(), bytes);
  }

  Json model() {
    if (options.modelPath == "-")
      return nullptr;
    const auto read = io::readAll(options.modelPath);
    const auto *bytes = std::get_if<std::string>(&read);
    if (bytes == nullptr)
      return nullptr;
    const std::span raw(reinterpret_cast<const uint8_t *>(bytes->data()), bytes->size());
    const std::string name = fs::path(options.modelPath).filename().string();
    if (bytes->size() <= kLargestModel)
      write(name, withWeights(*bytes, options));
    return {{"name", name}, {"sha256", format::hex(format::sha256(raw))}};
  }

  /// The flags; the files that they name are in the bundle.
  Json flags() {
    pipeline::CompileOptions named = options;
    for (size_t i = 0; i < named.bindings.size(); ++i) {
      pipeline::Binding &one = named.bindings[i];
      if (!one.spec.substr(one.name.size()).starts_with("=@"))
        continue;
      const auto read = io::readAll(one.spec.substr(one.name.size() + 2));
      const std::string name = fmt::format("bind_{}.npy", i);
      if (const auto *bytes = std::get_if<std::string>(&read))
        write(name, *bytes);
      one.spec = fmt::format("{}=@{}", one.name, name);
    }
    if (options.target.ends_with(".json"))
      if (const auto read = io::readAll(options.target);
          const auto *bytes = std::get_if<std::string>(&read)) {
        write(kTargetFile, *bytes);
        named.target = kTargetFile;
      }
    return pipeline::optionWords(named, named.target);
  }

  Json inputs(const check::Evidence &evidence) {
    Json list = Json::array();
    for (size_t step = 0; step < evidence.steps.size(); ++step)
      for (size_t i = 0; i < evidence.steps[step].size(); ++i) {
        const std::string name = fmt::format("step_{}_input_{}.npy", step, i);
        list.push_back({{"step", step}, {"input", evidence.names[i]}, {"file", name}});
        write(name, io::writeNpy(floatTensor("", evidence.steps[step][i])));
      }
    return list;
  }

  std::optional<Problem> wrong;

private:
  const std::string &folder;
  const pipeline::CompileOptions &options;
};

/// Puts the folder before files that flags name.
std::vector<std::string> withFolder(std::vector<std::string> flags, const fs::path &folder) {
  for (size_t i = 1; i < flags.size(); ++i) {
    if (flags[i - 1] == "--target" && flags[i] == kTargetFile)
      flags[i] = (folder / flags[i]).string();
    const size_t at = flags[i].rfind("=@");
    if (flags[i - 1] == "--bind" && at != std::string::npos)
      flags[i] = flags[i].substr(0, at + 2) + (folder / flags[i].substr(at + 2)).string();
  }
  return flags;
}

/// The version in the text that `sluice version` prints: "0.1.0" of "sluice 0.1.0" and more lines.
std::string versionIn(const Json &report) {
  constexpr std::string_view kName = "sluice ";
  if (!report.is_object() || !report.contains("version") || !report["version"].is_string())
    return "";
  const std::string text = report["version"];
  return text.starts_with(kName)
             ? printable(text.substr(kName.size(), text.find('\n') - kName.size()))
             : "";
}

/// Fills a bundle. `member` is the one that is read. Throws Json::exception where the report is of
/// another form.
std::optional<Problem> fill(const Json &report, const fs::path &folder, Bundle &bundle,
                            std::string &member) {
  const auto at = [&](const char *name) -> const Json & {
    member = name;
    return report.at(name);
  };
  bundle.code = at("errors").at(0).at("code");
  bundle.flags = withFolder(at("flags").get<std::vector<std::string>>(), folder);
  bundle.seed = at("seed");
  if (const Json &model = at("model"); !model.is_null()) {
    bundle.modelName = fs::path(model.at("name").get<std::string>()).filename().string();
    bundle.modelHash = model.at("sha256");
    const fs::path path = folder / bundle.modelName;
    std::error_code ignored;
    if (fs::exists(path, ignored))
      bundle.model = path.string();
  }
  for (const Json &one : at("inputs")) {
    if (one.at("step") != 0)
      continue; // further steps of a sequence
    const std::string file = fs::path(one.at("file").get<std::string>()).filename().string();
    auto read = io::readTensors((folder / file).string());
    if (const auto *error = std::get_if<io::Error>(&read))
      return problem(error->code, error->message);
    io::Tensor &tensor = std::get<std::vector<io::Tensor>>(read).front();
    tensor.name = one.at("input");
    if (bundle.samples.empty())
      bundle.samples.emplace_back();
    bundle.samples.front().push_back(std::move(tensor));
  }
  return std::nullopt;
}

} // namespace

std::optional<Problem> writeBundle(const std::string &folder, const Problems &problems,
                                   const pipeline::CompileOptions &options,
                                   const check::Outcome *checked) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return problem("E0516", fmt::format("cannot make '{}': {}", folder, error.message()));
  BundleWriter writer(folder, options);
  const check::Evidence evidence = checked != nullptr ? checked->evidence : check::Evidence{};
  const Json report = {{"schema", 1},
                       {"errors", errorsJson(problems)},
                       {"version", versionText()},
                       {"flags", writer.flags()},
                       {"seed", options.check ? options.check->seed : 1},
                       {"kind", evidence.inputs},
                       {"model", writer.model()},
                       {"inputs", writer.inputs(evidence)}};
  writer.write("report.json", report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  return writer.wrong;
}

Problem ofAnotherVersion(const std::string &path, const std::string &version,
                         std::string_view what) {
  Fix fix;
  if (version.empty() || version == SLUICE_VERSION) {
    fix.text = "give the folder that the command named, with all its files";
    Problem wrong = problem("E0624", fmt::format("'{}' is not a bundle: {}", path, what));
    wrong.fixes.push_back(fix);
    return wrong;
  }
  fix.text = fmt::format("use sluice {} for this bundle, or run the command again with sluice {}, "
                         "which writes a new one",
                         version, SLUICE_VERSION);
  Problem wrong =
      problem("E0624", fmt::format("'{}' was written by sluice {}, this is sluice {}: {}", path,
                                   version, SLUICE_VERSION, what));
  wrong.fixes.push_back(fix);
  return wrong;
}

std::variant<Bundle, Problem> readBundle(const std::string &folder) {
  const std::string path = (fs::path(folder) / "report.json").string();
  const auto read = io::readAll(path);
  if (const auto *error = std::get_if<io::Error>(&read))
    return problem(error->code, error->message);
  const Json report = Json::parse(std::get<std::string>(read), nullptr, false);
  if (report.is_discarded())
    return ofAnotherVersion(path, "", "it is not JSON");
  Bundle bundle;
  bundle.version = versionIn(report);
  std::string member;
  try {
    if (auto wrong = fill(report, folder, bundle, member))
      return *wrong;
  } catch (const Json::exception &) {
    return ofAnotherVersion(path, bundle.version,
                            fmt::format("its member '{}' is missing or has another form", member));
  }
  return bundle;
}

} // namespace sluice::cli
