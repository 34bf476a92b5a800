#include "compiler/conversion/bodies/lines.h"

#include "runtime/addressing/addressing.h"

namespace sluice::bodies {
namespace {

std::vector<int64_t> vec(llvm::ArrayRef<int64_t> shape) { return {shape.begin(), shape.end()}; }

} // namespace

Slab slabOf(const Cut &cut, int64_t extent) {
  return {cut.axis, cut.mirrored ? extent - cut.block : 0, cut.mirrored ? -cut.block : cut.block, 1,
          cut.block};
}

Beyond beyond(const Slab &slab, int64_t extent, int64_t trip) {
  Beyond result;
  for (int64_t j = 0; j < slab.size; ++j) {
    const int64_t at = slab.first + trip * slab.step + j * slab.spacing;
    result.before += at < 0;
    result.behind += at >= extent;
  }
  return result;
}

std::optional<Slab> linesInside(const Slab &slab, int64_t extent, int64_t trip) {
  const auto [before, behind] = beyond(slab, extent, trip);
  const int64_t count = slab.size - before - behind;
  if (count < 1)
    return std::nullopt;
  return Slab{slab.axis, slab.first + before * slab.spacing, slab.step, slab.spacing, count};
}

LineRows::LineRows(llvm::ArrayRef<int64_t> shape, int64_t dim, std::optional<Slab> lines,
                   int64_t lanes)
    : shape(shape.begin(), shape.end()), lines(lines), whole(vec(shape), dim, lanes), block(whole) {
  if (!lines)
    return;
  blockShape = this->shape;
  blockShape[lines->axis] = lines->size;
  block = rows::RowLayout(vec(blockShape), dim, lanes);
}

int64_t LineRows::rowOf(int64_t trip, int64_t row) const {
  if (!lines)
    return row;
  addressing::Indices index = addressing::rowMajorIndex(block.flat(row, 0), blockShape);
  int64_t &along = index[lines->axis];
  along = lines->first + trip * lines->step + along * lines->spacing;
  return whole.place(addressing::rowMajorPosition(index, shape)).row;
}

std::vector<uint32_t> LineRows::rowsOf(int64_t trip) const {
  std::vector<uint32_t> all;
  for (int64_t row = 0; row < block.rows(); ++row)
    all.push_back(static_cast<uint32_t>(rowOf(trip, row)));
  return all;
}

std::optional<int64_t> LineRows::stepOf(const Part &part, llvm::ArrayRef<int64_t> places) const {
  const int64_t first = part.first, trips = part.trips;
  const auto at = [&](int64_t trip, int64_t row) {
    const int64_t own = rowOf(trip, row);
    return places.empty() ? own : places[own];
  };
  const int64_t step = trips > 1 ? at(first + 1, 0) - at(first, 0) : 0;
  for (int64_t row = 0; row < block.rows(); ++row)
    for (int64_t trip = 1; trip < trips; ++trip)
      if (at(first + trip, row) != at(first, row) + trip * step)
        return std::nullopt;
  return step;
}

} // namespace sluice::bodies
