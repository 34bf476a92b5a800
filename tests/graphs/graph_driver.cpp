// Compiles models and runs them on both engines, one folder per line of standard input, so that a
// search over many graphs starts one process.
//
// A folder has model.onnx, flags.txt (flags of `sluice compile`, one per line, --only-loops, and
// --explain for the plan of `sluice explain`),
// tensors.txt (names, one per line) and NAME.in for every input: the values of all inferences,
// row-major, as doubles. The inferences of a streamed model are the steps, and NAME.whole has the
// sequence. The driver writes NAME.out for every output, in the same form, and prints one line of
// JSON: {"codes":[...],"messages":[...],"problem":"...","outputs":{NAME:{"shape":[...]}},...}.
//
// For every tensor of tensors.txt that the imported graph has, the driver writes NAME.exact, the
// values in double precision, and NAME.bound, how far the program may be from them; infinity where
// rounding alone moves the element too far to tell. Both are those of the check of `sluice compile`
// (compiler/check), which runs as well.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "compiler/check/bound.h"
#include "compiler/check/check_program.h"
#include "compiler/check/evaluate.h"
#include "compiler/check/inputs.h"
#include "compiler/check/oracle.h"
#include "compiler/frontend/onnx/border.h"
#include "compiler/pipeline/pipeline.h"
#include "runtime/api/host_input.h"
#include "runtime/api/inference_rows.h"
#include "runtime/api/packing.h"
#include "tests/ops/engines.h"

namespace sluice::graphs_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Values = std::vector<double>;

/// Random directions of rounding, beside those that the check always takes.
constexpr size_t kRandomDirections = 16;

/// NAME and VALUE of "NAME=VALUE".
std::pair<std::string, std::string> splitAtEquals(const std::string &text) {
  const size_t at = text.rfind('=');
  return {text.substr(0, at), text.substr(at + 1)};
}

/// Sets one option; false if there is no such flag.
bool setOption(pipeline::CompileOptions &options, const std::string &flag,
               const std::string &value) {
  const auto [name, rest] = splitAtEquals(value);
  if (flag == "--target")
    options.target = value;
  else if (flag == "--effort")
    options.effort = value == "fast"   ? pipeline::Effort::Fast
                     : value == "high" ? pipeline::Effort::High
                                       : pipeline::Effort::Default;
  else if (flag == "--data-dim")
    options.dataDims.emplace_back(name, std::stoll(rest));
  else if (flag == "--state")
    options.states.emplace_back(name, rest);
  else if (flag == "--stream-delay")
    options.streaming.delay = std::stoll(value);
  else if (flag == "--stream") {
    const auto input = streaming::parseInput(value);
    if (!input)
      return false;
    options.streaming.inputs.push_back(*input);
  } else
    return false;
  return true;
}

pipeline::CompileOptions readOptions(const fs::path &folder) {
  pipeline::CompileOptions options;
  options.modelPath = (folder / "model.onnx").string();
  options.target = "c2b8";
  options.measure = false;
  options.check.emplace();
  std::ifstream file(folder / "flags.txt");
  std::string flag, value;
  while (file >> flag) {
    if (flag == "--allow-dynamic-weights")
      options.allowDynamicWeights = true;
    else if (flag == "--rewrite-layout")
      options.rewriteLayout = true;
    else if (flag == "--only-loops")
      options.onlyLoops = true;
    else if (flag == "--explain")
      options.explain = true;
    else if (!(file >> value) || !setOption(options, flag, value))
      throw std::runtime_error("unknown flag " + flag);
  }
  return options;
}

Values readValues(const fs::path &path) {
  Values values(fs::file_size(path) / sizeof(double));
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char *>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(double)));
  return values;
}

/// The values of every inference, by input of the program. An input without a file is zero.
std::vector<std::vector<Values>> readInferences(const fs::path &folder,
                                                const format::Program &program, size_t &count) {
  const format::Model &model = program.models[0];
  std::vector<std::pair<std::string, size_t>> inputs; // names and elements
  for (size_t i = 0; i < runtime::inputCount(model); ++i) {
    const runtime::HostInput input = runtime::hostInput(model, i);
    inputs.emplace_back(input.name, addressing::elementsOf(input.shape));
  }
  std::vector<Values> all(inputs.size());
  count = 1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const fs::path path = folder / (inputs[i].first + ".in");
    if (!fs::exists(path))
      continue;
    all[i] = readValues(path);
    const size_t each = inputs[i].second;
    if (each == 0 || all[i].size() % each != 0)
      throw std::runtime_error(fmt::format("input {} of {} elements has {} values", inputs[i].first,
                                           each, all[i].size()));
    count = std::max(count, all[i].size() / each);
  }
  std::vector<std::vector<Values>> inferences(count);
  for (size_t k = 0; k < count; ++k)
    for (size_t i = 0; i < inputs.size(); ++i) {
      const size_t each = inputs[i].second;
      if (all[i].empty())
        inferences[k].emplace_back(each);
      else {
        const auto first =
            all[i].begin() + static_cast<std::ptrdiff_t>((all[i].size() > each ? k * each : 0));
        inferences[k].emplace_back(first, first + static_cast<std::ptrdiff_t>(each));
      }
    }
  for (size_t k = 0; k < count; ++k)
    runtime::addDrawn(model, {0, k}, inferences[k]);
  return inferences;
}

void append(std::ofstream &file, const Values &values) {
  file.write(reinterpret_cast<const char *>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(double)));
}

/// The arguments of the imported graph for each evaluation: the whole sequence of a streamed model.
std::vector<reference::Tensors> readArguments(const fs::path &folder, const check::Oracle &oracle,
                                              size_t inferences) {
  std::vector<reference::Tensors> all(inferences);
  for (const frontend::ImportedTensor &input : oracle.arrays()) {
    if (input.random) {
      for (size_t k = 0; k < inferences; ++k)
        all[k].push_back(check::drawnTensor(input, {0, k}));
      continue;
    }
    const fs::path whole = folder / (input.name + ".whole"), parts = folder / (input.name + ".in");
    const Values values = fs::exists(whole)   ? readValues(whole)
                          : fs::exists(parts) ? readValues(parts)
                                              : Values(reference::elements(input.shape));
    const auto each = static_cast<size_t>(reference::elements(input.shape));
    for (size_t k = 0; k < inferences; ++k) {
      const auto first =
          values.begin() + static_cast<std::ptrdiff_t>(values.size() > each ? k * each : 0);
      all[k].emplace_back(input.shape, Values(first, first + static_cast<std::ptrdiff_t>(each)));
    }
  }
  for (reference::Tensors &arguments : all)
    arguments = frontend::argumentsOf(oracle.inputs(), arguments);
  return all;
}

/// A result of the graph as the output that the host makes of it.
check::Spread outputOf(const frontend::ImportedTensor &output, const check::Spread &result) {
  check::Spread spread;
  for (const auto &variant : result.variants)
    spread.variants.push_back(
        std::make_shared<const reference::Tensor>(frontend::outputOf(output, *variant)));
  return spread;
}

/// Writes the exact values and the bounds of the tensors of tensors.txt.
void evaluate(const fs::path &folder, const pipeline::CompileResult &result, size_t inferences,
              Json &report) {
  const check::Oracle &oracle = *result.oracle;
  struct Files {
    std::ofstream exact, bound;
  };
  std::map<std::string, Files> files;
  std::ifstream list(folder / "tensors.txt");
  for (std::string name; std::getline(list, name);)
    files[name] = {std::ofstream(folder / (name + ".exact"), std::ios::binary),
                   std::ofstream(folder / (name + ".bound"), std::ios::binary)};
  const auto write = [&](const std::string &name, const check::Spread &spread) {
    append(files[name].exact, spread.exact().values);
    append(files[name].bound, check::allowedErrors(spread.moved(), spread.exact().values, 0));
    report["tensors"][name] = spread.exact().shape;
  };

  std::vector<check::Rounding> roundings = check::allDirections();
  std::ranges::copy(check::randomDirections(kRandomDirections, 1), std::back_inserter(roundings));
  check::Evaluator evaluator(oracle.function(), std::move(roundings), pipeline::factsOf(result));
  std::map<std::string, check::Spread> inner;
  evaluator.tap = [&](mlir::Value value, const check::Spread &spread) {
    for (const frontend::GraphTensor &tensor : oracle.tensors())
      if (tensor.value == value && files.contains(tensor.name) &&
          tensor.shape == spread.exact().shape)
        inner[tensor.name] = spread;
  };
  for (const reference::Tensors &arguments : readArguments(folder, oracle, inferences)) {
    inner.clear();
    const std::vector<check::Spread> results = evaluator.run(arguments);
    for (size_t i = 0; i < results.size(); ++i)
      inner[oracle.outputs()[i].name] = outputOf(oracle.outputs()[i], results[i]);
    for (const auto &[name, spread] : inner)
      if (files.contains(name))
        write(name, spread);
  }
}

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void run(const fs::path &folder, const pipeline::CompileResult &result, Json &report) {
  const format::Program &program = result.program;
  size_t count = 0;
  const auto inferences = readInferences(folder, program, count);
  const auto results = ops_test::runSequence(program, inferences);
  report["inferences"] = results.size();
  report["cycles"] = results.back().cycles;
  for (const ops_test::RunResult &result : results)
    if (!result.problem.empty()) {
      report["problem"] = result.problem;
      return;
    }
  const auto &outputs = program.models[0].outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::ofstream file(folder / (outputs[i].name + ".out"), std::ios::binary);
    for (const ops_test::RunResult &one : results)
      append(file, one.outputs[i]);
    Json &output = report["outputs"][outputs[i].name];
    output["shape"] = outputs[i].shape;
    if (result.streamed && result.streamed->outputs[i].axis) {
      output["axis"] = *result.streamed->outputs[i].axis;
      output["skipped"] = result.streamed->outputs[i].skipped;
    }
  }
  if (result.oracle)
    evaluate(folder, result, result.streamed ? 1 : results.size(), report);
}

Json examine(const fs::path &folder) {
  Json report = {{"codes", Json::array()}, {"messages", Json::array()}, {"problem", ""}};
  const auto start = std::chrono::steady_clock::now();
  pipeline::CompileResult result;
  Problems problems;
  const bool compiled = pipeline::compileModel(readOptions(folder), result, problems);
  for (const Problem &problem : problems) {
    report["codes"].push_back(problem.code);
    report["messages"].push_back(problem.message);
  }
  report["compile_seconds"] = secondsSince(start);
  // A program that the check finds wrong runs, too.
  if (!compiled && !(problems.size() == 1 && problems.front().code == "E0498"))
    return report;
  if (result.checked) {
    report["checked"] = {{"inputs", result.checked->inputs},
                         {"largest_error", result.checked->largestError},
                         {"unchecked", result.checked->uncheckedShare()}};
    for (const std::string &note :
         result.checked->problem ? result.checked->problem->notes : std::vector<std::string>())
      report["notes"].push_back(note);
  }
  const auto then = std::chrono::steady_clock::now();
  run(folder, result, report);
  report["run_seconds"] = secondsSince(then);
  return report;
}

} // namespace
} // namespace sluice::graphs_test

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    nlohmann::json report;
    try {
      report = sluice::graphs_test::examine(line);
    } catch (const std::exception &error) {
      report = {{"codes", nlohmann::json::array()}, {"problem", error.what()}};
    }
    std::cout << report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
  }
  return 0;
}
