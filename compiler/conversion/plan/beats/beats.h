// Beats: what a unit does cycle by cycle, before beats are rolled into
// instructions. The planner decides on beats, the checker proves beats, and
// instructions are only their compressed form.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compiler/conversion/plan/order/work.h"
#include "hw/isa/isa.h"

namespace sluice::plan {

/// Tokens a beat takes before it issues; count 0 is no wait.
struct Wait {
  uint32_t token = 0;
  uint32_t count = 0;

  bool operator==(const Wait &) const = default;
};

/// The token a beat gives; units 0 at the host port's bank.
struct Signal {
  bool on = false;
  uint32_t token = 0;
  uint32_t units = 0;

  bool operator==(const Signal &) const = default;
};

/// One beat. What is constant over an instruction is in its form.
struct Beat {
  uint32_t form = 0; ///< index into UnitBeats::forms
  /// Matrix: x, w, acc, p. Vector: a, b, c, dst. Host port: dst. Zero where unused.
  std::array<int32_t, 4> address{};
  isa::Init init = isa::Init::Keep; ///< matrix
  bool last = false;                ///< matrix: emits; vector with reduce: produces
  Wait wait;
  Signal signal;

  bool operator==(const Beat &) const = default;
};

/// What a beat is for; never part of the encoding.
struct BeatOrigin {
  rows::RowId row = rows::kNoRow; ///< row it computes, carries or writes as weights; none: wait or
                                  ///< signal only
  rows::RowId read[3] = {rows::kNoRow, rows::kNoRow,
                         rows::kNoRow}; ///< rows at address[0..2] (matrix: x only)
  /// Index into Graph::blocks. Matrix: the weights; vector: the block it writes to.
  uint32_t block = kNoBlock;
  uint64_t time = 0; ///< estimated cycle, ascending within a unit
};

/// The beats of one unit in one inference. A form is an instruction without
/// loops, addresses, wait and signal; a matrix form's `emit` says how its last
/// beats emit.
struct UnitBeats {
  std::vector<isa::Instruction> forms;
  std::vector<Beat> beats;
  std::vector<BeatOrigin> origins; ///< parallel to beats

  /// Index of a form, added if it is new.
  uint32_t formOf(const isa::Instruction &form) {
    for (size_t i = forms.size(); i-- > 0;)
      if (forms[i] == form)
        return static_cast<uint32_t>(i);
    forms.push_back(form);
    return static_cast<uint32_t>(forms.size() - 1);
  }
};

} // namespace sluice::plan
