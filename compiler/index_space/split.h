// Splits of an index space along one loop into smaller spaces on slices of the same tensors. The
// projections determine the effect of a split:
//  - every part reads the whole of an operand that the loop does not move,
//  - windows overlap if the loop runs over positions,
//  - partial results are merged if the loop is reduced,
//  - in a split by phases, strided and dilated operands become dense slices, and the results
//    interleave.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/index_space/index_space.h"

namespace sluice::space {

/// A slice of a tensor: along each axis, `sizes` elements from `starts` in steps of `steps`, like
/// `sluice.slice`.
struct Slice {
  Extents starts, sizes, steps;
  bool operator==(const Slice &) const = default;
};

/// `count` iterations of a loop: first, first + stride, first + 2 * stride, ...
struct Share {
  int64_t first = 0, count = 1, stride = 1;
};

/// One part of a split. Along the split loop, iteration p of `space` is iteration
/// `share.first + share.stride * p` of the whole space; the other loops are those of the whole.
/// The operands and results are slices of those of the whole.
struct Part {
  Share share;
  IndexSpace space;
  llvm::SmallVector<Slice, 2> operands;
  llvm::SmallVector<Slice, 1> results;
};

struct Split {
  unsigned loop = 0;
  std::vector<Part> parts;
  /// For a reduced loop, each part computes partial results of full shape. `merges` has for each
  /// result the space that combines its partial results, stacked along a new first axis.
  std::vector<IndexSpace> merges;
};

enum class Shares : uint8_t {
  Contiguous, ///< neighbouring iterations; sizes differ by at most 1, larger shares first
  Phases,     ///< share r has the iterations r, r + parts, ...
};

/// Divides the iterations of a loop into `parts` shares; 1 <= parts <= extent.
std::vector<Share> sharesOf(int64_t extent, int64_t parts, Shares how);

/// Returns the part of a valid space for one share of a loop. Returns nothing, with the reason in
/// `why`, if the loop is ordered or the results of the share are no slices.
std::optional<Part> partOf(const IndexSpace &space, unsigned loop, const Share &share,
                           std::string &why);

/// Splits a valid space along a loop. Returns nothing, with the reason in `why`, if a share is no
/// part (partOf).
std::optional<Split> split(const IndexSpace &space, unsigned loop, int64_t parts, Shares how,
                           std::string &why);

} // namespace sluice::space
