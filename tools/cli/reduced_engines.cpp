#include "tools/cli/reduced_engines.h"

#include <fmt/format.h>

#include "runtime/format/program_file.h"
#include "tools/cli/command_output.h"
#include "tools/cli/float_tensor.h"
#include "tools/cli/run_report.h"

namespace sluice::cli {
namespace {

/// The inputs of a sample, if they are floats of the right shapes.
std::optional<std::vector<io::Tensor>> inputsOf(const reduce::Sample &sample,
                                                const std::vector<Port> &ports) {
  std::vector<io::Tensor> inputs;
  for (const Port &port : ports) {
    const auto found = sample.find(port.name);
    if (found == sample.end() || found->second.shape != port.shape ||
        port.type != io::Type::Float32)
      return std::nullopt;
    inputs.push_back(floatTensor(port.name, found->second));
  }
  return inputs;
}

std::optional<Problem> runAll(const ModelHandle &model,
                              const std::vector<std::vector<io::Tensor>> &inputs, EngineRun &run) {
  auto opened = EngineHandle::open(run.name, model);
  if (const auto *wrong = std::get_if<Problem>(&opened))
    return *wrong;
  auto &engine = std::get<EngineHandle>(opened);
  for (const std::vector<io::Tensor> &one : inputs) {
    auto inference = engine.infer(one, "");
    if (const auto *wrong = std::get_if<Problem>(&inference))
      return *wrong;
    run.inferences.push_back(std::get<Inference>(std::move(inference)));
  }
  run.counters = engine.counters();
  return std::nullopt;
}

} // namespace

std::optional<Problem> compareEngines(const format::Program &program,
                                      const std::vector<reduce::Sample> &samples) {
  const std::vector<uint8_t> bytes = format::write(program);
  auto loaded = ProgramHandle::loadBytes({bytes.begin(), bytes.end()});
  if (const auto *wrong = std::get_if<Problem>(&loaded))
    return *wrong;
  auto found = ModelHandle::of(std::get<ProgramHandle>(std::move(loaded)), "");
  if (const auto *wrong = std::get_if<Problem>(&found))
    return *wrong;
  const auto &model = std::get<ModelHandle>(found);
  std::vector<std::vector<io::Tensor>> inputs;
  for (const reduce::Sample &sample : samples)
    if (auto some = inputsOf(sample, model.inputs()))
      inputs.push_back(std::move(*some));
  if (inputs.empty())
    inputs.push_back(model.someInputs());
  EngineRun vm{"vm", {}, {}, {}, {}}, rtl{"rtl", {}, {}, {}, {}};
  for (EngineRun *run : {&vm, &rtl})
    if (auto wrong = runAll(model, inputs, *run)) {
      // Which units of this program wait for what is no part of the failure.
      const auto *stop = std::get_if<EngineStops>(&wrong->reason);
      if (stop && stop->isStall)
        wrong->message = fmt::format("engine {}: no progress", run->name);
      return wrong;
    }
  std::string difference;
  if (equalRuns(vm, rtl, difference))
    return std::nullopt;
  return enginesDiffer("the engines differ: " + difference);
}

} // namespace sluice::cli
