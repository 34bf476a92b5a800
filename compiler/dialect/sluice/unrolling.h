// How long a loop may be that is written out trip by trip.
#pragma once

#include <cstdint>

#include "compiler/dialect/sluice/operations.h"
#include "compiler/support/problem.h"

namespace sluice::ir {

/// Most operations of a loop that is written out. Planning takes longer than in proportion to
/// the operations; this many are planned in half a minute, and their instructions fill a
/// program memory several times over.
inline constexpr int64_t kMostUnrolledOperations = 10'000;

/// The operations of one trip, loops inside written out; constants do not count.
int64_t operationsPerTrip(LoopOp loop);

/// What to say of a loop of so many trips ("300"); its code is E0415.
Problem tooLongToUnroll(const std::string &trips, int64_t operationsPerTrip);

} // namespace sluice::ir
