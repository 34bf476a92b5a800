// Measures by its problems how far a model is from fitting.
#pragma once

#include "compiler/support/problem_fwd.h"

namespace sluice {

/// Returns how many times larger each memory that problems lack would have to be, multiplied. 1 if
/// they lack none.
double lackOf(const Problems &problems);

} // namespace sluice
