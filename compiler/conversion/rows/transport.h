// A program of inputs and outputs alone.
#pragma once

#include "compiler/conversion/rows/program.h"

namespace sluice::rows {

/// Returns a program with the inputs and outputs of `model`, in the same rows, that computes
/// nothing. It reads all input rows. Its outputs are rows of zeros, which may leave as soon as the
/// first input row has arrived.
Program transportOf(const Program &model);

} // namespace sluice::rows
