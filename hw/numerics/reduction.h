// A reduction over the lanes and the beats of a group, bit for bit as
// docs/machine.md defines it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "hw/isa/isa.h"

namespace sluice::numerics {

class Reduction {
public:
  /// Takes a row of the group, fp32; what the group gives if it ends with it. All
  /// rows of a group have one length and one kind, which is not none.
  uint32_t add(isa::Reduce kind, std::span<const uint32_t> row);
  /// The next row starts a group.
  void reset() { *this = {}; }

private:
  uint32_t addSum(std::span<const uint32_t> row);
  uint32_t addArgmax(std::span<const uint32_t> row);

  std::optional<uint32_t> most; ///< max, argmax: so far
  uint32_t index = 0;           ///< argmax: of `most`
  uint32_t lanesBefore = 0;     ///< argmax: in the rows so far
  bool started = false;         ///< sum: a row has been added
  int64_t total = 0;            ///< sum: total * 2^(8 * anchor - sum_offset)
  unsigned anchor = 0;
  bool plus = false, minus = false; ///< sum: +infinity or NaN, -infinity or NaN seen
};

} // namespace sluice::numerics
