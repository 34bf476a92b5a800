// A program on one engine, by the C API.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "compiler/support/problem.h"
#include "runtime/api/sluice_rt.h"
#include "tools/cli/counters.h"
#include "tools/cli/inputs.h"

namespace sluice::cli {

/// An empty struct of the C API, for the library to fill.
template <typename T> T sized() {
  T value{};
  value.size = sizeof(T);
  return value;
}

/// A loaded program file.
class ProgramHandle {
public:
  /// "-" is standard input.
  static std::variant<ProgramHandle, Problem> load(const std::string &path);

  /// The bytes of a program file.
  static std::variant<ProgramHandle, Problem> loadBytes(std::string bytes);

  const sluice_rt_program *get() const { return program.get(); }
  sluice_rt_machine machine() const;
  /// The model of that name, or the only one if the name is empty.
  std::variant<uint32_t, Problem> findModel(const std::string &name) const;
  sluice_rt_model_info model(uint32_t index) const;
  std::vector<Port> inputs(uint32_t model) const;
  std::vector<Port> outputs(uint32_t model) const;
  /// vm::cyclesAhead; nothing of a program that keeps no state from one inference to the next.
  std::optional<uint64_t> cyclesAhead() const;

private:
  std::shared_ptr<sluice_rt_program> program;
  std::string file;
  std::string bytes; ///< empty: those of the file
};

/// Which model of which program file: the flags of every command that runs one.
struct ModelChoice {
  std::string file, model;

  void add(CLI::App &command);
};

/// A model of a loaded program.
class ModelHandle {
public:
  static std::variant<ModelHandle, Problem> load(const ModelChoice &choice);
  /// The model of that name, or the only one if the name is empty.
  static std::variant<ModelHandle, Problem> of(ProgramHandle program, const std::string &name);

  const ProgramHandle &program() const { return loaded; }
  uint32_t index() const { return number; }
  sluice_rt_model_info info() const { return loaded.model(number); }
  const std::vector<Port> &inputs() const { return in; }
  const std::vector<Port> &outputs() const { return out; }

  /// Seeded inputs for runs that are about cycles: those do not depend on values,
  /// though the speed of a simulation may.
  std::vector<io::Tensor> someInputs() const;

private:
  ProgramHandle loaded;
  uint32_t number = 0;
  std::vector<Port> in, out;
};

/// Cycles without progress that count as a stall.
inline constexpr uint64_t kStallLimit = 10000;

/// The result of one inference.
struct Inference {
  std::vector<io::Tensor> outputs; ///< of the types of the model
  sluice_rt_job_cycles cycles{};
};

class EngineHandle {
public:
  /// Opens, loads and starts; `waves` may be empty.
  static std::variant<EngineHandle, Problem> open(const std::string &engine,
                                                  const ModelHandle &model,
                                                  const std::string &waves = "",
                                                  uint64_t stallLimit = kStallLimit);

  /// Gives an input with the first inference, also after a reset. The device keeps it, and the
  /// other inferences leave it out.
  std::optional<Problem> keep(size_t input);

  /// Sets the seed of the random numbers, and the number of the next inference among them.
  void setSeed(uint64_t seed, uint64_t inference);

  /// Runs one inference from rest. `progress` is shown with a cycle count if it
  /// takes more than a second, on a terminal.
  std::variant<Inference, Problem> infer(const std::vector<io::Tensor> &inputs,
                                         const std::string &progress);

  /// Runs the same inference `count` times. All are submitted before the clock
  /// goes on, so cycles do not depend on the speed of the host.
  std::variant<std::vector<Inference>, Problem> inferPaced(const std::vector<io::Tensor> &inputs,
                                                           sluice_rt_pacing pacing, unsigned count,
                                                           const std::string &progress);

  /// Of all units since the start or the last reset.
  UnitCounters counters() const;

  /// Records from now on; a reset begins anew.
  void record();
  std::vector<sluice_rt_span> recorded() const;

  /// Back to the initial state.
  std::optional<Problem> reset();

  /// The state as it is, and as it was saved (sluice_rt.h).
  std::optional<Problem> save(std::string &state);
  std::optional<Problem> restore(const std::string &state);
  /// What the last of these three took.
  uint64_t switchCycles() const;

private:
  std::string name;
  ModelHandle model;
  std::shared_ptr<sluice_rt_device> device;
  std::vector<bool> kept; ///< by input
  bool isGiven = false;   ///< an inference gave these inputs since the load or the last reset
};

} // namespace sluice::cli
