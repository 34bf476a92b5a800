// Some lines of a tensor: the elements along an axis that one trip of a loop makes or reads.
#pragma once

#include "compiler/conversion/bodies/cut.h"
#include "compiler/conversion/rows/row_tensor.h"

namespace sluice::bodies {

/// Trips of a level that see as many lines beyond every border as each other.
struct Part {
  int64_t first = 0, trips = 1;
};

/// The elements of a cut: they are all inside.
Slab slabOf(const Cut &cut, int64_t extent);

/// Elements of a slab that lie before and behind a tensor in some trip.
struct Beyond {
  int64_t before = 0, behind = 0;
  bool operator==(const Beyond &) const = default;
};
Beyond beyond(const Slab &slab, int64_t extent, int64_t trip);

/// The lines of a slab that are there in trip `trip`; nothing if there are none.
std::optional<Slab> linesInside(const Slab &slab, int64_t extent, int64_t trip);

/// Where the rows of some lines of a tensor are in the tensor.
class LineRows {
public:
  LineRows(llvm::ArrayRef<int64_t> shape, int64_t dim, std::optional<Slab> lines, int64_t lanes);

  [[nodiscard]] uint32_t rows() const { return static_cast<uint32_t>(block.rows()); }

  /// Row of the tensor that holds row `row` of trip `trip`.
  [[nodiscard]] int64_t rowOf(int64_t trip, int64_t row) const;

  /// Rows of the tensor that hold those of trip `trip`.
  [[nodiscard]] std::vector<uint32_t> rowsOf(int64_t trip) const;

  /// How far each of the trips moves every row, whose place is `places[row of the tensor]`, or the
  /// row of the tensor if there are no places; nothing if they do not all move equally.
  [[nodiscard]] std::optional<int64_t> stepOf(const Part &part,
                                              llvm::ArrayRef<int64_t> places = {}) const;

private:
  llvm::SmallVector<int64_t, 4> shape, blockShape;
  std::optional<Slab> lines;
  rows::RowLayout whole, block;
};

} // namespace sluice::bodies
