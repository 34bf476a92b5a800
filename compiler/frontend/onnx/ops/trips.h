// What Scan and Loop share: tensors from trip to trip, and bodies that are imported for each trip.
#pragma once

#include <optional>
#include <vector>

#include "compiler/frontend/onnx/node_view.h"
#include "compiler/reference/ops.h"

namespace sluice::frontend::ops {

using Tensors = std::vector<Tensor>;

/// Whether a loop can hand these on: what the accelerator computes with.
bool areFloat(const Tensors &tensors);

/// Appends what a trip gives. What is stacked up is tensors.
void appendRow(const Tensor &value, Tensors &rows);

/// The element of a sequence that a trip takes.
Tensor element(Emitter &emit, const Sequence &sequence, int64_t trips, int64_t trip);

/// What the trips added to a stack; there is at least one.
Tensor stacked(Emitter &emit, Tensors rows, const reference::LoopAxis &along);

/// Stops where a body that is imported again for every trip becomes too long.
class TripLimit {
public:
  TripLimit(const BodyImporter &bodies, std::optional<int64_t> trips)
      : bodies(bodies), trips(trips), before(bodies.nodes()) {}

  void countTrip();

private:
  const BodyImporter &bodies;
  std::optional<int64_t> trips;
  int64_t before;
  int64_t made = 0;
};

} // namespace sluice::frontend::ops
