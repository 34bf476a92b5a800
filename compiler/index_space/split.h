// Splits of an index space along one loop: smaller spaces on slices of the same
// tensors. What a split means follows from the projections: along a loop of the
// results alone, other operands are shared; along positions, windows overlap;
// along a reduced loop, partial results are merged; in phases, strided and dilated
// operands become dense slices and results interleave.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/index_space/index_space.h"

namespace sluice::space {

/// Every step-th element from a start, along each axis, as `sluice.slice`.
struct Slice {
  Extents starts, sizes, steps;
  bool operator==(const Slice &) const = default;
};

/// Steps first, first + stride, ... of a loop, count of them.
struct Share {
  int64_t first = 0, count = 1, stride = 1;
};

/// One part of a split: point p of `space` is point `share.first + share.stride *
/// p` of the whole along the loop, and p along the others; its operands and
/// results are slices of those of the whole.
struct Part {
  Share share;
  IndexSpace space;
  llvm::SmallVector<Slice, 2> operands;
  llvm::SmallVector<Slice, 1> results;
};

struct Split {
  unsigned loop = 0;
  std::vector<Part> parts;
  /// Along a reduced loop each part makes partials of the whole results. For each
  /// result, the space that merges its partials, stacked along a new first axis.
  std::vector<IndexSpace> merges;
};

enum class Shares : uint8_t {
  Contiguous, ///< as equal as they can be, larger ones first
  Phases,     ///< share r has the steps r, r + parts, ...
};

/// The shares of a loop, each step in one of them; 1 <= parts <= extent.
std::vector<Share> sharesOf(int64_t extent, int64_t parts, Shares how);

/// The part of a legal space that a share of a loop is. Nothing, with a sentence,
/// if that is not an index space: an ordered loop, or results that cannot be a slice.
std::optional<Part> partOf(const IndexSpace &space, unsigned loop, const Share &share,
                           std::string &why);

/// The split of a legal space into parts; nothing, with a sentence, if there is none.
std::optional<Split> split(const IndexSpace &space, unsigned loop, int64_t parts, Shares how,
                           std::string &why);

} // namespace sluice::space
