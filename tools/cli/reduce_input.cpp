#include "tools/cli/reduce_input.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/check/inputs.h"
#include "compiler/frontend/onnx/cut.h"
#include "compiler/frontend/onnx/file_bytes.h"
#include "compiler/frontend/onnx/model_file.h"
#include "compiler/pipeline/import_once.h"
#include "compiler/reduce/survey.h"
#include "runtime/format/sha256.h"
#include "tools/cli/calibration.h"
#include "tools/cli/reduced_engines.h"
#include "tools/cli/shell_word.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;
using reduce::Failure;

constexpr std::string_view kEnding = ".onnx";

/// Whether --keep may be this: nothing, a word or a code.
bool isFailure(std::string_view text) {
  constexpr size_t kCode = 5;
  return text.empty() || text == "wrong" || text == "crash" || text == "timeout" ||
         (text.size() == kCode && text.front() == 'E' &&
          text.substr(1).find_first_not_of("0123456789") == std::string_view::npos);
}

/// The problem of a bundle with flags that this version does not parse.
Problem wrongFlags(const std::string &folder, const Bundle &bundle, const CLI::App &parser) {
  const auto isUnknown = [&](const std::string &word) {
    return word.starts_with("--") && parser.get_option_no_throw(word) == nullptr;
  };
  const auto unknown = std::ranges::find_if(bundle.flags, isUnknown);
  return ofAnotherVersion(
      folder, bundle.version,
      unknown == bundle.flags.end()
          ? fmt::format("its flags '{}' have another form", fmt::join(bundle.flags, " "))
          : fmt::format("its flag '{}' is unknown", *unknown));
}

} // namespace

bool ReduceInput::read(const Report &report) {
  return readBundleFolder() && checkFlags(report) && readModel() && readData();
}

bool ReduceInput::fail(std::string code, std::string message) {
  problems.push_back(problem(std::move(code), std::move(message)));
  return false;
}

/// Takes model, flags and inputs from a bundle: the folder of --bundle, or one that is given in
/// place of the model.
bool ReduceInput::readBundleFolder() {
  std::error_code ignored;
  std::string folder = options.bundle;
  const bool isFolder = fs::is_directory(path(), ignored);
  if (folder.empty() && isFolder)
    folder = path();
  if (folder.empty())
    return true;
  if (isFolder && folder != path())
    return fail("E0601",
                fmt::format("'{}' is a folder, allowed with --bundle: an ONNX model", path()));
  for (const CLI::Option *flag : options.flags)
    if (flag->count() > 0)
      return fail("E0601", fmt::format("{} cannot be given with a bundle, which has the flags",
                                       flag->get_name()));
  auto read = readBundle(folder);
  if (const auto *wrong = std::get_if<Problem>(&read)) {
    problems.push_back(*wrong);
    return false;
  }
  bundle = std::get<Bundle>(std::move(read));
  CLI::App parser;
  options.model.addFlags(parser);
  std::vector<std::string> words(bundle->flags.rbegin(), bundle->flags.rend());
  try {
    parser.parse(words);
  } catch (const CLI::ParseError &) {
    problems.push_back(wrongFlags(folder, *bundle, parser));
    return false;
  }
  if (isFolder && bundle->model.empty())
    return fail("E0601", fmt::format("'{}' does not have the model; give it with --bundle {}",
                                     folder, shellWord(folder)));
  if (isFolder)
    options.model.compile.modelPath = bundle->model;
  if (options.keep.empty())
    options.keep = reduce::kindNamed(bundle->code) == Failure::Kind::Wrong ? "wrong" : bundle->code;
  return true;
}

bool ReduceInput::checkFlags(const Report &report) {
  const fs::path output = options.output;
  if (!isFailure(options.keep))
    return fail("E0601", fmt::format("--keep is '{}', allowed: an error code, wrong, crash or "
                                     "timeout",
                                     options.keep));
  if (!options.output.ends_with(kEnding))
    return fail("E0601", fmt::format("--output is '{}', allowed: a file name that ends in {}",
                                     options.output, kEnding));
  inputsPath = fs::path(output).replace_extension(".npz").string();
  const std::vector<Report::File> reads = {{"the model", path()},
                                           {"the --data file", options.data}};
  if (const auto wrong =
          report.checkFiles(reads, {{"--output", options.output}, {"--output", inputsPath}})) {
    problems.push_back(*wrong);
    return false;
  }
  for (const std::string &file : {options.output, inputsPath})
    if (const auto wrong = checkOutput(file)) {
      problems.push_back(*wrong);
      return false;
    }
  if (path().ends_with(".mlir"))
    return fail("E0601", "reduce needs an ONNX model, not textual IR");
  options.model.finish(problems);
  setup.compile = options.model.compile;
  setup.compile.measure = false;
  setup.compile.check.emplace();
  if (reduce::kindNamed(options.keep) == Failure::Kind::Engines) {
    setup.examine = compareEngines;
    setup.compile.check.reset(); // the program is the same
  }
  if (setup.compile.check && options.check > 0)
    setup.compile.check->inputs = options.check;
  if (setup.compile.check && bundle)
    setup.compile.check->seed = bundle->seed;
  if (setup.compile.modelName.empty())
    setup.compile.modelName = path() == "-" ? "model" : fs::path(path()).stem().string();
  setup.timeout = std::chrono::seconds(options.timeout);
  return problems.empty();
}

/// Reads the model, with external weights inside, and cuts it.
bool ReduceInput::readModel() {
  frontend::Report found(problems);
  auto model = frontend::readModelFile(path(), found);
  if (!model)
    return false;
  if (bundle && !bundle->modelHash.empty() && !options.bundle.empty() && !isOfBundle())
    return false;
  frontend::ImportOptions import = frontend::withDataFolder(pipeline::importOptions(setup.compile));
  frontend::bytesWithWeights(*model, import.externalData, "the nodes of the model have", found);
  std::vector<std::string> notes;
  if (problems.empty() && !import.cut.isEmpty())
    frontend::cutModel(*model, import, notes, found);
  setup.compile.cut = {};
  std::erase_if(setup.compile.inputShapes,
                [&](const auto &one) { return !import.inputShapes.contains(one.first); });
  Report::notes(notes);
  first.model = std::move(*model);
  nameNodes();
  return problems.empty();
}

/// Whether the model is the one that the bundle is about.
bool ReduceInput::isOfBundle() {
  if (path() == "-")
    return true; // was read already
  const auto read = io::readAll(path());
  const auto *bytes = std::get_if<std::string>(&read);
  if (bytes == nullptr)
    return true;
  const std::span raw(reinterpret_cast<const uint8_t *>(bytes->data()), bytes->size());
  return format::hex(format::sha256(raw)) == bundle->modelHash ||
         fail("E0601", fmt::format("the model is not '{}' of the bundle: its SHA-256 differs",
                                   bundle->modelName));
}

/// --core-partition may give the number of a node, which changes.
void ReduceInput::nameNodes() {
  for (auto &[node, cores] : setup.compile.corePartition) {
    size_t end = 0;
    const bool isNumber = !node.empty() && std::ranges::all_of(node, [](unsigned char c) {
      return std::isdigit(c) != 0;
    });
    const int64_t number = isNumber && node.size() < 10 ? std::stoll(node, &end) : -1;
    if (number < 0 || number >= first.model.graph().node_size())
      continue;
    onnx::NodeProto &proto = *first.model.mutable_graph()->mutable_node(static_cast<int>(number));
    if (proto.name().empty())
      proto.set_name(fmt::format("node_{}", number));
    node = proto.name();
  }
}

/// Reads the inputs of --data, or those of the bundle.
bool ReduceInput::readData() {
  const bool takesInputs = reduce::kindNamed(options.keep) == Failure::Kind::Engines;
  if (bundle && options.data.empty())
    for (const std::vector<io::Tensor> &tensors : bundle->samples) {
      reduce::Sample &sample = first.samples.emplace_back();
      for (const io::Tensor &tensor : tensors)
        sample[tensor.name] = {tensor.shape, io::values(tensor)};
    }
  if (options.data.empty() && (!first.samples.empty() || !takesInputs))
    return true;
  // The import may be what fails: then there are none.
  const std::vector<frontend::ImportedTensor> inputs = reduce::inputsOf(first.model, setup);
  if (inputs.empty())
    return true;
  if (options.data.empty()) { // engines do not draw inputs themselves
    reduce::Sample &sample = first.samples.emplace_back();
    for (uint32_t i = 0; i < inputs.size(); ++i)
      sample[inputs[i].name] =
          check::randomInput(inputs[i].shape, check::Kind::Unit, 1, i, inputs[i].limits);
    return true;
  }
  for (const reference::Tensors &tensors : readCalibration(options.data, inputs, problems)) {
    reduce::Sample &sample = first.samples.emplace_back();
    for (size_t i = 0; i < inputs.size(); ++i)
      sample[inputs[i].name] = tensors[i];
  }
  for (Problem &one : problems)
    one.notes.push_back(fmt::format("read from --data '{}'", options.data));
  return problems.empty();
}

} // namespace sluice::cli
