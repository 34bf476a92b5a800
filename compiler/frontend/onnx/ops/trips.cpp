#include "compiler/frontend/onnx/ops/trips.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/dialect/sluice/unrolling.h"
#include "compiler/frontend/onnx/ops/common.h"

namespace sluice::frontend::ops {

bool areFloat(const Tensors &tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [](const Tensor &tensor) {
    return tensor.isTensor() && isFloatType(tensor.type);
  });
}

void appendRow(const Tensor &value, Tensors &rows) {
  if (!value.isTensor())
    throw NodeError{kShapes, fmt::format("an iteration gives {}; only tensors can be stacked",
                                         kindText(value))};
  rows.push_back(value);
}

void TripLimit::countTrip() {
  ++made;
  const int64_t nodes = bodies.nodes() - before + made; // a body may be empty
  if (nodes <= ir::kMostUnrolledOperations)
    return;
  Problem problem =
      ir::tooLongToUnroll(trips ? fmt::format("{}", *trips) : fmt::format("at least {}", made),
                          std::max<int64_t>(1, (nodes - made) / made));
  throw NodeError{"E0415", problem.message, problem.fixes};
}

Tensor element(Emitter &emit, const Sequence &sequence, int64_t trips, int64_t trip) {
  const auto [axis, reversed] = sequence.along;
  const int64_t place = reversed ? trips - 1 - trip : trip;
  return emit.squeeze(sliceAlong(emit, sequence.tensor, axis, place, 1), {axis});
}

Tensor stacked(Emitter &emit, Tensors rows, const reference::LoopAxis &along) {
  for (Tensor &row : rows)
    row = emit.unsqueeze(row, {along.axis});
  if (along.reversed)
    std::reverse(rows.begin(), rows.end());
  return rows.size() == 1 ? rows.front() : emit.concat(rows, along.axis);
}

} // namespace sluice::frontend::ops
