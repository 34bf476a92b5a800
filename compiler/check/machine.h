// Inferences of a program on the `vm` engine.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/api/inference_rows.h"
#include "runtime/device/device.h"
#include "runtime/format/program.h"

namespace sluice::check {

class Machine {
public:
  /// Loads the program, of which the first model runs. It has passed the loader's checks.
  explicit Machine(const format::Program &program);

  /// Runs one inference on row-major inputs. Returns the row-major outputs; nothing if the machine
  /// makes no progress, `stall` then says why.
  std::optional<runtime::Arrays> infer(const runtime::Arrays &inputs);

  /// Puts the machine back to its initial state.
  void reset();

  [[nodiscard]] const std::string &stall() const { return why; }
  [[nodiscard]] uint64_t cycles() const { return passed; }

  /// Called after every cycle.
  std::function<void(const device::Device &)> watch;

private:
  device::Device::Cycle step(const uint16_t *row);

  const format::Program &program;
  format::Model model; ///< as the function has it
  std::unique_ptr<device::Device> engine;
  std::string why;
  uint64_t passed = 0;
};

} // namespace sluice::check
