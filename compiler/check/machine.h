// Runs inferences of a program on the `vm` engine.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/api/inference_rows.h"
#include "runtime/device/device.h"
#include "runtime/format/program.h"

namespace sluice::check {

class Machine {
public:
  /// Loads the program and runs its first model. The program has passed the checks of the loader.
  explicit Machine(const format::Program &program);

  /// Runs one inference. Inputs and outputs are row-major. The inputs are those of the imported
  /// function, of which the program may take parts. Returns nothing if the machine stalls;
  /// stall() then returns the reason.
  std::optional<runtime::Arrays> infer(const runtime::Arrays &inputs);

  /// Resets the machine to its initial state.
  void reset();

  [[nodiscard]] const std::string &stall() const { return why; }
  [[nodiscard]] uint64_t cycles() const { return passed; }

  /// Calls `watch` with every row that a vector unit writes from now on (device.h).
  void watchRows(device::Device::RowWatch watch) { engine->watchRows(std::move(watch)); }
  /// Goes on after an inference, without inputs, until nothing happens: rows that no output depends
  /// on may be written then.
  void drain();

private:
  device::Device::Cycle step(const uint16_t *row);

  const format::Program &program;
  format::Model model; ///< without tables, quantisations and codes
  std::unique_ptr<device::Device> engine;
  std::string why;
  uint64_t passed = 0;
};

} // namespace sluice::check
