// The share of the work of an inference that the previous inference did.
#pragma once

#include <cstdint>

namespace sluice::format {
struct Program;
} // namespace sluice::format

namespace sluice::vm {

/// Returns the cycles per inference in which the busiest matrix unit precomputes sums for the next
/// inference. If inferences are spaced, these cycles end before the next input arrives. The count
/// reads the instructions once in order; programs with loops precompute no sums.
uint64_t cyclesAhead(const format::Program &program);

} // namespace sluice::vm
