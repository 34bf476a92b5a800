#include "tools/cli/model_options.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <llvm/ADT/StringExtras.h>

#include "compiler/support/problem_text.h"
#include "runtime/format/program_file.h"
#include "tools/cli/command_output.h"
#include "tools/cli/inputs.h"
#include "tools/cli/progress.h"

namespace sluice::cli {
namespace {

std::optional<std::vector<int64_t>> numbers(std::string_view text) {
  std::vector<int64_t> list;
  while (true) {
    int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc())
      return std::nullopt;
    list.push_back(value);
    text.remove_prefix(static_cast<size_t>(parsed.ptr - text.data()));
    if (text.empty())
      return list;
    if (text[0] != ',')
      return std::nullopt;
    text.remove_prefix(1);
  }
}

template <typename Number> std::optional<Number> number(std::string_view text) {
  Number value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() ? std::optional(value)
                                                                             : std::nullopt;
}

/// "16000", "0.5,1", "true": as integers if all are.
std::optional<frontend::BoundValue> boundNumbers(std::string_view text) {
  std::vector<int64_t> integers;
  std::vector<double> reals;
  for (bool more = true; more;) {
    const size_t comma = text.find(',');
    std::string_view word = text.substr(0, comma);
    word = word == "true" ? "1" : word == "false" ? "0" : word;
    const auto real = number<double>(word);
    if (!real)
      return std::nullopt;
    reals.push_back(*real);
    if (const auto integer = number<int64_t>(word))
      integers.push_back(*integer);
    more = comma != std::string_view::npos;
    text.remove_prefix(more ? comma + 1 : text.size());
  }
  frontend::BoundValue value;
  if (integers.size() == reals.size())
    value.elements = std::move(integers);
  else
    value.elements = std::move(reals);
  return value;
}

/// The binding that --bind writes; null and a problem if it is none.
std::optional<pipeline::Binding> bindingOf(const std::string &spec, Problems &problems) {
  pipeline::Binding binding{{}, {}, spec};
  std::string text;
  if (splitSpec(spec, binding.name, text))
    text.clear();
  if (text.starts_with('@')) {
    auto read = readOne(text.substr(1), binding.name);
    if (const auto *wrong = std::get_if<Problem>(&read)) {
      problems.push_back(*wrong);
      return std::nullopt;
    }
    const auto &tensor = std::get<io::Tensor>(read);
    binding.value.shape = tensor.shape;
    binding.value.elements = io::values(tensor);
    return binding;
  }
  if (auto value = boundNumbers(text)) {
    binding.value = std::move(*value);
    return binding;
  }
  problems.push_back(problem(
      "E0601",
      fmt::format("--bind '{}' is not of the form NAME=NUMBER,... or NAME=@FILE.npy", spec)));
  return std::nullopt;
}

/// {"node","text"}
Json changeJson(const Change &change) {
  return {{"node", change.node.index < 0 ? Json(nullptr) : Json(change.node.index)},
          {"text", change.text}};
}

} // namespace

void ModelOptions::add(CLI::App &command) {
  command
      .add_option("model", compile.modelPath,
                  "ONNX model or textual IR (.mlir); - is standard input")
      ->required();
  addFlags(command);
}

void ModelOptions::addFlags(CLI::App &command) {
  command
      .add_option(
          "--target", compile.target,
          fmt::format("target: a preset (see sluice targets) or a .json file ({})", compile.target))
      ->type_name("TARGET");
  command
      .add_option("--inputs", cutInputs,
                  "compile the part of the model behind these tensors, which become its inputs")
      ->type_name("NAME,...")
      ->allow_extra_args(false);
  command
      .add_option("--outputs", cutOutputs,
                  "compile the part in front of these tensors, which become its outputs")
      ->type_name("NAME,...")
      ->allow_extra_args(false);
  command
      .add_option("--input-shape", inputShapes,
                  "set the shape of an input (x=1,16) or the extent of a named dimension (batch=1)")
      ->type_name("NAME=N,...")
      ->allow_extra_args(false);
  command
      .add_option("--bind", bindings,
                  "make an input a constant: sr=16000 (all elements), x=1,2,3 or x=@FILE.npy")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command
      .add_option(
          "--state", states,
          "keep input IN on the chip; its value in the next inference is output OUT (h_in=h_out)")
      ->type_name("IN=OUT")
      ->allow_extra_args(false);
  command
      .add_option(
          "--stream", streams,
          "stream an input along an axis: each inference reads 1 step (x=1) or several (x=1:4)")
      ->type_name("NAME=AXIS[:STEPS]")
      ->allow_extra_args(false);
  command
      .add_option("--stream-delay", compile.streaming.delay,
                  "number of steps that streamed outputs may lag behind (0)")
      ->type_name("STEPS")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--data-dim", dataDims, "set the data dimension of a tensor (x=1)")
      ->type_name("NAME=N")
      ->allow_extra_args(false);
  command
      .add_option("--core-partition", corePartition,
                  "set the cores that compute a node, given by number or name (fc1=0,1)")
      ->type_name("NODE=CORE,...")
      ->allow_extra_args(false);
  command.add_flag("--allow-dynamic-weights", compile.allowDynamicWeights,
                   "allow activations as weights of a matrix product");
  command.add_flag("--rewrite-layout", compile.rewriteLayout,
                   "rewrite the model where its operations have no layout");
  command.add_flag("--apply-fixes", compile.applyFixes,
                   "if the model has no layout, add the flags that give one in the fewest cycles");
  command.add_flag("--fixed-random", compile.fixedRandom,
                   "use the same random numbers in every inference, also of nodes without a seed");
  command.add_flag(
      "--io-only", compile.ioOnly,
      "compile inputs and outputs alone, to measure transport: nothing is computed, and "
      "outputs are zero");
  command
      .add_option("--without-rewrite", compile.withoutRewrites,
                  "leave out one rewrite of the model, to measure its effect")
      ->type_name("REWRITE")
      ->allow_extra_args(false);
  command
      .add_option("--external-data", compile.externalDataDir,
                  "folder of external data files (the folder of the model)")
      ->type_name("DIR");
  command
      .add_option("--model-name", compile.modelName,
                  "name of the model in the program file (its file name)")
      ->type_name("NAME");
  command.add_option("--effort", effort, "planning effort: fast, default or high (default)")
      ->type_name("EFFORT")
      ->check(CLI::IsMember({"fast", "default", "high"}));
  command
      .add_option("--fit-seconds", compile.fitSeconds,
                  "if the model does not fit, seconds of the search for a target that fits (1)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0, 86'400));
}

void ModelOptions::finish(Problems &problems) {
  if (format::isProgramFile(compile.modelPath))
    problems.push_back(problem(
        "E0601", fmt::format("'{}' is a compiled program, allowed: an ONNX model or a .mlir file",
                             compile.modelPath)));
  auto bad = [&](std::string_view flag, const std::string &spec, std::string_view form) {
    problems.push_back(
        problem("E0601", fmt::format("{} '{}' is not of the form {}", flag, spec, form)));
  };
  const auto readNames = [&](const char *flag, const std::vector<std::string> &specs,
                             std::vector<std::string> &names) {
    for (const std::string &spec : specs) {
      const size_t before = names.size();
      for (const llvm::StringRef name : llvm::split(spec, ','))
        names.push_back(name.str());
      if (std::find(names.begin() + static_cast<std::ptrdiff_t>(before), names.end(), "") !=
          names.end())
        bad(flag, spec, "NAME,NAME,...");
    }
  };
  if (compile.ioOnly && !corePartition.empty())
    problems.push_back(
        problem("E0601", "--core-partition cannot be used with --io-only, which computes nothing"));
  readNames("--inputs", cutInputs, compile.cut.inputs);
  readNames("--outputs", cutOutputs, compile.cut.outputs);
  std::set<std::string> named;
  for (const std::string &spec : inputShapes) {
    const size_t equals = spec.rfind('=');
    const auto shape = numbers(equals == std::string::npos ? "" : spec.substr(equals + 1));
    // A scalar has an empty shape: "x=".
    if (equals == std::string::npos || equals == 0 || (!shape && equals + 1 != spec.size()))
      bad("--input-shape", spec, "NAME=N,N,...");
    else if (!named.insert(spec.substr(0, equals)).second)
      problems.push_back(problem(
          "E0601", fmt::format("--input-shape sets '{}' more than once", spec.substr(0, equals))));
    else
      compile.inputShapes.emplace_back(spec.substr(0, equals),
                                       shape.value_or(std::vector<int64_t>{}));
  }
  std::set<std::string> valued;
  for (const std::string &spec : bindings) {
    auto binding = bindingOf(spec, problems);
    if (binding && !valued.insert(binding->name).second)
      problems.push_back(
          problem("E0601", fmt::format("--bind sets '{}' more than once", binding->name)));
    else if (binding)
      compile.bindings.push_back(std::move(*binding));
  }
  for (const std::string &spec : states) {
    std::string input, output;
    if (!splitSpec(spec, input, output) && !output.empty())
      compile.states.emplace_back(std::move(input), std::move(output));
    else
      bad("--state", spec, "IN=OUT");
  }
  for (const std::string &spec : streams) {
    if (auto input = streaming::parseInput(spec))
      compile.streaming.inputs.push_back(std::move(*input));
    else
      bad("--stream", spec, "NAME=AXIS or NAME=AXIS:STEPS");
  }
  for (const std::string &spec : dataDims) {
    const size_t equals = spec.rfind('=');
    const auto value = numbers(equals == std::string::npos ? "" : spec.substr(equals + 1));
    if (equals == std::string::npos || equals == 0 || !value || value->size() != 1)
      bad("--data-dim", spec, "NAME=N");
    else
      compile.dataDims.emplace_back(spec.substr(0, equals), value->front());
  }
  std::set<std::string> pinned;
  for (const std::string &spec : corePartition) {
    const size_t equals = spec.rfind('=');
    const auto cores = numbers(equals == std::string::npos ? "" : spec.substr(equals + 1));
    if (equals == std::string::npos || equals == 0 || !cores)
      bad("--core-partition", spec, "NODE=CORE,CORE,...");
    else if (!pinned.insert(spec.substr(0, equals)).second)
      problems.push_back(problem("E0601", fmt::format("--core-partition sets '{}' more than once",
                                                      spec.substr(0, equals))));
    else
      compile.corePartition.emplace_back(spec.substr(0, equals), *cores);
  }
  compile.effort = effort == "fast"   ? pipeline::Effort::Fast
                   : effort == "high" ? pipeline::Effort::High
                                      : pipeline::Effort::Default;
}

ModelOptions::Compiled ModelOptions::run(std::string_view what, Problems &problems) const {
  Compiled compiled;
  Ticker ticker(fmt::format("{} {}", what, compile.modelPath));
  pipeline::CompileOptions watched = compile;
  watched.progress = &ticker.progress();
  try {
    if (!pipeline::compileModel(watched, compiled.result, problems) && problems.empty())
      problems.push_back(internalError("the compiler failed without a message"));
  } catch (const std::logic_error &error) { // ours
    problems.push_back(internalError(error.what()));
  }
  compiled.seconds = ticker.seconds();
  return compiled;
}

std::string changeText(const Change &change) {
  const std::string node = change.node.index < 0 ? "" : " at " + nodeText(change.node);
  return printable(change.text + node);
}

std::string rewriteText(const pipeline::Rewrite &rewrite) {
  return changeText(rewrite.change) + (rewrite.free ? ", at no cost" : "");
}

Json rewritesJson(const std::vector<pipeline::Rewrite> &rewrites) {
  Json list = Json::array();
  for (const pipeline::Rewrite &one : rewrites) {
    Json change = changeJson(one.change);
    change["cycles"] = one.free ? Json(0) : Json(nullptr);
    list.push_back(std::move(change));
  }
  return list;
}

std::string priceText(const Repair &repair, const Repair &cheapest) {
  if (!repair.cycles)
    return "price not measured";
  return cyclesText(*repair.cycles) +
         (repair.cycles > cheapest.cycles
              ? fmt::format(", {} more", *repair.cycles - *cheapest.cycles)
              : "");
}

Json repairsJson(const std::vector<Repair> &repairs, bool applied) {
  Json list = Json::array();
  for (const Repair &repair : repairs) {
    Json changes = Json::array();
    for (const Change &change : repair.changes)
      changes.push_back(changeJson(change));
    const std::optional<uint64_t> &cycles = repair.cycles;
    list.push_back(
        {{"flags", repair.flags.text()},
         {"cycles", cycles ? Json(*cycles) : Json(nullptr)},
         {"extra_cycles", cycles ? Json(*cycles - *repairs.front().cycles) : Json(nullptr)},
         {"applied", applied && list.empty()},
         {"changes", changes}});
  }
  return list;
}

Json tensorsJson(const std::vector<pipeline::TensorLayout> &tensors) {
  Json list = Json::array();
  for (const pipeline::TensorLayout &tensor : tensors)
    list.push_back({{"name", tensor.name},
                    {"shape", tensor.shape},
                    {"data_dim", tensor.dataDim ? Json(*tensor.dataDim) : Json(nullptr)},
                    {"why", tensor.why}});
  return list;
}

} // namespace sluice::cli
