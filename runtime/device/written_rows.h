// The rows that vector units write during an inference, one by one, with the elements of the
// tensors of the model that they hold.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "hw/isa/isa.h"
#include "runtime/addressing/addressing.h"
#include "runtime/format/program.h"

namespace sluice::device {

/// The most instructions that `follow` executes. Nested loops of instructions that only wait could
/// run for very long.
inline constexpr uint64_t kFollowed = uint64_t{1} << 24;

/// Returns the instructions of a core that run in inferences, without those that save the state.
/// `core` is the number of cores for the host port.
std::vector<isa::Instruction> instructionsOf(const format::Program &program, uint32_t core);

/// The state of a sequencer when it issues an instruction.
struct Moment {
  size_t instruction = 0;
  uint32_t pass = 0; ///< iteration of the innermost loop
  std::array<int64_t, isa::kSeqRegs> registers{};
};

/// Runs the sequencer through a list of instructions once, as long as `visit` returns true.
void follow(const std::vector<isa::Instruction> &list,
            const std::function<bool(const Moment &)> &visit);

/// Returns the address of a beat. `ring` is log2 of the aligned rows around `base` within which the
/// stream wraps; 0 means that it does not wrap.
uint32_t ringAddress(uint32_t base, int64_t moved, uint32_t ring, unsigned bits);

/// A row of a tensor of the model, or a partial sum for it.
struct ModelRow {
  uint32_t tensor = 0; ///< index into Program::tensors
  bool partial = false;
  uint32_t row = 0;

  auto operator<=>(const ModelRow &) const = default;
};

/// A row that an instruction writes.
struct WrittenRow {
  uint32_t core = 0, instruction = 0; ///< the writer
  uint32_t address = 0;               ///< as in instructions; at the host port, the output row
  uint32_t cores = 0;                 ///< mask of the cores whose memories receive the row
  bool toHost = false;
  std::optional<ModelRow> holds; ///< nothing: a value internal to its nodes
};

/// Calls `visit` for each row that a core writes during an inference, in order.
void followRows(const format::Program &program, uint32_t core,
                const std::function<void(const WrittenRow &)> &visit);

} // namespace sluice::device
