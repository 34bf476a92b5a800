#include "compiler/pipeline/option_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sluice::pipeline {
namespace {

constexpr std::string_view kEfforts[] = {"fast", "default", "high"};

std::string_view effortOf(const CompileOptions &options) {
  return kEfforts[static_cast<size_t>(options.effort)];
}

/// All flags but the effort.
std::vector<std::string> flagsOf(const CompileOptions &options, const std::string &target) {
  std::vector<std::string> words;
  const auto add = [&](const char *flag, std::string value) {
    words.emplace_back(flag);
    words.push_back(std::move(value));
  };
  add("--target", target);
  if (!options.cut.inputs.empty())
    add("--inputs", fmt::format("{}", fmt::join(options.cut.inputs, ",")));
  if (!options.cut.outputs.empty())
    add("--outputs", fmt::format("{}", fmt::join(options.cut.outputs, ",")));
  for (const auto &[name, shape] : options.inputShapes)
    add("--input-shape", fmt::format("{}={}", name, fmt::join(shape, ",")));
  for (const Binding &one : options.bindings)
    add("--bind", one.spec);
  for (const auto &[input, output] : options.states)
    add("--state", fmt::format("{}={}", input, output));
  for (const streaming::StreamedInput &one : options.streaming.inputs)
    add("--stream", fmt::format("{}={}:{}", one.name, one.axis, one.steps));
  if (options.streaming.delay > 0)
    add("--stream-delay", fmt::format("{}", options.streaming.delay));
  for (const auto &[name, dim] : options.dataDims)
    add("--data-dim", fmt::format("{}={}", name, dim));
  for (const auto &[node, cores] : options.corePartition)
    add("--core-partition", fmt::format("{}={}", node, fmt::join(cores, ",")));
  if (options.allowDynamicWeights)
    words.emplace_back("--allow-dynamic-weights");
  if (options.rewriteLayout)
    words.emplace_back("--rewrite-layout");
  if (options.fixedRandom)
    words.emplace_back("--fixed-random");
  if (options.ioOnly)
    words.emplace_back("--io-only");
  for (const std::string &one : options.withoutRewrites)
    add("--without-rewrite", one);
  return words;
}

} // namespace

std::vector<std::string> optionWords(const CompileOptions &options, const std::string &target) {
  std::vector<std::string> words = flagsOf(options, target);
  if (options.effort != Effort::Default) {
    words.emplace_back("--effort");
    words.emplace_back(effortOf(options));
  }
  return words;
}

std::string optionText(const CompileOptions &options, const std::string &target) {
  return fmt::format("{} --effort {}", fmt::join(flagsOf(options, target), " "), effortOf(options));
}

} // namespace sluice::pipeline
