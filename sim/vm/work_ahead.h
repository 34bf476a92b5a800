// How much of an inference's work was done in the one before.
#pragma once

#include <cstdint>

namespace sluice::format {
struct Program;
} // namespace sluice::format

namespace sluice::vm {

/// Cycles in which the busiest matrix unit multiplies, in each inference, for sums that the next
/// one begins with: they are over before its input comes, where inferences are spaced. Of the list
/// of instructions as it stands; programs with loops sum nothing ahead.
uint64_t cyclesAhead(const format::Program &program);

} // namespace sluice::vm
