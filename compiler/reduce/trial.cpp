#include "compiler/reduce/trial.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>

#include "compiler/check/inputs.h"
#include "compiler/check/oracle.h"
#include "compiler/reduce/memory_file.h"
#include "compiler/reduce/sample_json.h"
#include "compiler/support/child_process.h"

namespace sluice::reduce {
namespace {

using Json = nlohmann::json;

/// A text that a child process writes and its parent reads after the child's end.
class SharedText {
public:
  SharedText()
      : text(static_cast<char *>(
            mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    if (text == MAP_FAILED)
      throw std::bad_alloc();
  }
  ~SharedText() { munmap(text, kSize); }
  SharedText(const SharedText &) = delete;
  SharedText &operator=(const SharedText &) = delete;

  void set(const char *value) { std::strncpy(text, value, kSize - 1); }
  [[nodiscard]] std::string get() const { return {text, strnlen(text, kSize - 1)}; }

private:
  static constexpr size_t kSize = 256;
  char *text;
};

Problem problem(std::string code, std::string message, Reason reason) {
  Problem result;
  result.code = std::move(code);
  result.message = std::move(message);
  result.reason = std::move(reason);
  return result;
}

Problem internalError(std::string message) {
  return problem("E0611", std::move(message), InternalError());
}

Problem outOfMemory() { return problem("E0610", "out of memory", LacksHostMemory()); }

/// Removes the flags that name none of these.
template <typename List, typename Name>
void keepNamed(List &list, const std::set<std::string> &names, Name nameOf) {
  std::erase_if(list, [&](const auto &one) { return !names.contains(nameOf(one)); });
}

/// The inputs of the samples that have a tensor of the right shape for each of the user.
std::vector<reference::Tensors> givenOf(const std::vector<Sample> &samples,
                                        const std::vector<frontend::ImportedTensor> &inputs) {
  std::vector<reference::Tensors> given;
  for (size_t i = 0; i < samples.size(); ++i)
    if (auto tensors = argumentsOf(samples[i], inputs, i))
      given.push_back(std::move(*tensors));
  return given;
}

/// The inputs that show a wrong value. Nothing if the user cannot give them: the host makes others
/// of them, or they differ from step to step.
std::optional<Sample> evidenceOf(const pipeline::CompileResult &result) {
  const check::Evidence &evidence = result.checked->evidence;
  const bool isMade =
      std::ranges::any_of(result.oracle->inputs(), &frontend::ImportedTensor::isMade);
  if (evidence.steps.empty() || isMade ||
      std::ranges::any_of(evidence.steps, [&](const reference::Tensors &step) {
        return step != evidence.steps.front();
      }))
    return std::nullopt;
  Sample sample;
  for (size_t i = 0; i < evidence.names.size(); ++i)
    sample[evidence.names[i]] = evidence.steps.front()[i];
  return sample;
}

/// Compiles a model and says what goes wrong.
Json examine(const onnx::ModelProto &model, const std::vector<Sample> &samples,
             const TrialSetup &setup, Progress &progress) {
  const MemoryFile file(model.SerializeAsString());
  pipeline::CompileOptions options = optionsFor(setup.compile, model);
  options.modelPath = file.path();
  options.progress = &progress;
  options.advise = false;
  options.calibration = [&](const auto &inputs, Problems &) { return givenOf(samples, inputs); };
  pipeline::CompileResult result;
  Problems problems;
  Json json = {{"problems", Json::array()}};
  try {
    const bool isCompiled = pipeline::compileModel(options, result, problems);
    if (isCompiled && setup.examine && !result.constant)
      if (auto wrong = setup.examine(result.program, samples))
        problems.push_back(std::move(*wrong));
    if (!isCompiled && problems.empty())
      problems.push_back(internalError("the compiler failed without a message"));
  } catch (const std::bad_alloc &) {
    problems.push_back(outOfMemory());
  } catch (const std::exception &error) {
    problems.push_back(internalError(error.what()));
  }
  for (const Problem &problem : problems) {
    const Failure failure = failureOf(problem);
    json["problems"].push_back({{"kind", failure.kind},
                                {"code", failure.code},
                                {"rule", failure.rule},
                                {"op", failure.op},
                                {"message", failure.message},
                                {"nodes", failure.nodes}});
  }
  if (result.checked && result.checked->problem)
    if (const auto evidence = evidenceOf(result))
      json["evidence"] = jsonOf(*evidence);
  return json;
}

Outcome outcomeOf(const Json &json) {
  Outcome outcome;
  for (const Json &one : json.at("problems")) {
    Failure &failure = outcome.failures.emplace_back();
    failure.kind = one.at("kind").get<Failure::Kind>();
    failure.code = one.at("code");
    failure.rule = one.at("rule");
    failure.op = one.at("op");
    failure.message = one.at("message");
    failure.nodes = one.at("nodes").get<std::vector<int64_t>>();
  }
  if (json.contains("evidence"))
    outcome.evidence = sampleOf(json["evidence"]);
  return outcome;
}

} // namespace

pipeline::CompileOptions optionsFor(pipeline::CompileOptions options,
                                    const onnx::ModelProto &model) {
  std::set<std::string> inputs, tensors, nodes;
  for (const onnx::ValueInfoProto &input : model.graph().input()) {
    inputs.insert(input.name());
    for (const auto &dim : input.type().tensor_type().shape().dim())
      if (!dim.dim_param().empty())
        inputs.insert(dim.dim_param());
  }
  std::set<std::string> outputs;
  for (const onnx::ValueInfoProto &output : model.graph().output())
    outputs.insert(output.name());
  tensors = inputs;
  for (const onnx::NodeProto &node : model.graph().node()) {
    tensors.insert(node.output().begin(), node.output().end());
    nodes.insert(node.name());
  }
  const auto first = [](const auto &pair) { return pair.first; };
  keepNamed(options.inputShapes, inputs, first);
  keepNamed(options.bindings, inputs, [](const pipeline::Binding &one) { return one.name; });
  keepNamed(options.states, inputs, first);
  keepNamed(options.states, outputs, [](const auto &pair) { return pair.second; });
  keepNamed(options.streaming.inputs, inputs,
            [](const streaming::StreamedInput &one) { return one.name; });
  keepNamed(options.dataDims, tensors, first);
  keepNamed(options.corePartition, nodes, first);
  if (options.streaming.inputs.empty())
    options.streaming.delay = 0;
  return options;
}

std::optional<reference::Tensors> argumentsOf(const Sample &sample,
                                              const std::vector<frontend::ImportedTensor> &inputs,
                                              uint64_t number) {
  reference::Tensors tensors;
  for (const frontend::ImportedTensor &input : inputs) {
    const auto found = sample.find(input.name);
    if (found != sample.end() && found->second.shape == input.shape)
      tensors.push_back(found->second);
    else if (input.random)
      tensors.push_back(check::drawnTensor(input, {0, number}));
    else
      return std::nullopt;
  }
  return tensors;
}

std::string signalName(int signal) {
  const char *name = sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

Outcome tryModel(const onnx::ModelProto &model, const std::vector<Sample> &samples,
                 const TrialSetup &setup) {
  SharedText stage;
  const ChildResult result = tryInChild(
      [&] {
        Progress progress([&](const char *name) { stage.set(name); });
        const std::vector<uint8_t> bytes = Json::to_cbor(examine(model, samples, setup, progress));
        return std::string(bytes.begin(), bytes.end());
      },
      Clock::now() + setup.timeout, setup.stop);
  Outcome outcome;
  switch (result.ending) {
  case Ending::Returned:
    return outcomeOf(Json::from_cbor(result.text));
  case Ending::Late:
    outcome.failures.push_back({.kind = Failure::Kind::Timeout, .stage = stage.get()});
    break;
  case Ending::Killed:
    outcome.isInterrupted = result.signal == SIGINT || result.signal == SIGTERM;
    if (!outcome.isInterrupted)
      outcome.failures.push_back({.kind = Failure::Kind::Crash,
                                  .signal = signalName(result.signal),
                                  .stage = stage.get()});
    break;
  case Ending::Stopped:
    outcome.isInterrupted = true;
    break;
  case Ending::NotStarted:
    outcome.failures.push_back(failureOf(outOfMemory()));
    break;
  }
  return outcome;
}

} // namespace sluice::reduce
