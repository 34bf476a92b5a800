// The rows that vector units write in the course of an inference, one by one, and which elements of
// which tensor of the model are in them.
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

/// Instructions that are followed: one that only waits in loops within loops would go on for long.
inline constexpr uint64_t kFollowed = uint64_t{1} << 24;

/// The instructions of inferences, without those that save the state; the host port is the core
/// behind the last one.
std::vector<isa::Instruction> instructionsOf(const format::Program &program, uint32_t core);

/// A moment of a sequencer: the instruction it hands on.
struct Moment {
  size_t instruction = 0;
  uint32_t pass = 0; ///< of the innermost loop
  std::array<int64_t, isa::kSeqRegs> registers{};
};

/// Runs the sequencer of a list once through, as long as `visit` says so.
void follow(const std::vector<isa::Instruction> &list,
            const std::function<bool(const Moment &)> &visit);

/// The address of a beat; `ring` is log2 of the rows around the base that it stays in, 0: none.
uint32_t ringAddress(uint32_t base, int64_t moved, uint32_t ring, unsigned bits);

/// A row of a tensor of the model, or part of the sum that it is.
struct ModelRow {
  uint32_t tensor = 0; ///< index into Program::tensors
  bool partial = false;
  uint32_t row = 0;

  auto operator<=>(const ModelRow &) const = default;
};

/// A row as it is written.
struct WrittenRow {
  uint32_t core = 0, instruction = 0; ///< that write it
  uint32_t address = 0;               ///< as in instructions; at the host port, the output row
  uint32_t cores = 0;                 ///< mask of those in whose memories it is
  bool toHost = false;
  std::optional<ModelRow> holds; ///< nothing: what its nodes have between them
};

/// Calls `visit` for the rows that a core writes in an inference, in its order.
void followRows(const format::Program &program, uint32_t core,
                const std::function<void(const WrittenRow &)> &visit);

} // namespace sluice::device
