// Trials of models: each is compiled and checked in a process of its own, which may crash or hang.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/onnx_proto.h"
#include "compiler/pipeline/pipeline.h"
#include "compiler/reduce/facts.h"
#include "compiler/reduce/failure.h"

namespace sluice::reduce {

/// How models are compiled.
struct TrialSetup {
  /// The path, the calibration and the progress do not matter. Flags that name tensors or nodes
  /// count for models that have them.
  pipeline::CompileOptions compile;
  std::chrono::seconds timeout{60};        ///< of one model
  const std::atomic<bool> *stop = nullptr; ///< a signal ends the work by setting it; may be null
  /// Looks for a further problem of a program that passes the check, with values for each input of
  /// the model; may be null.
  std::function<std::optional<Problem>(const format::Program &, const std::vector<Sample> &)>
      examine = nullptr;
};

/// The options for one model: without flags that name tensors and nodes which it lacks.
pipeline::CompileOptions optionsFor(pipeline::CompileOptions options,
                                    const onnx::ModelProto &model);

struct Outcome {
  std::vector<Failure> failures; ///< none: the model compiles
  /// Inputs that give a wrong value, as far as the user can give them.
  std::optional<Sample> evidence = std::nullopt;
  bool isInterrupted = false; ///< by the user
};

/// Compiles a model in memory and checks its program with these samples and random inputs.
Outcome tryModel(const onnx::ModelProto &model, const std::vector<Sample> &samples,
                 const TrialSetup &setup);

/// Returns the tensors of a sample for these inputs; nothing if one of the user is missing or has
/// another shape. Random numbers that the sample lacks are those of inference `number` with seed 0.
std::optional<reference::Tensors> argumentsOf(const Sample &sample,
                                              const std::vector<frontend::ImportedTensor> &inputs,
                                              uint64_t number);

/// "SIGSEGV"; "signal 40" of signals without a name.
std::string signalName(int signal);

} // namespace sluice::reduce
