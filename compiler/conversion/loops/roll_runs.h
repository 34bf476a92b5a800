// Runs of lines that do the same as each other, at addresses that advance evenly, as passes of one
// hardware loop.
#pragma once

#include <cstddef>
#include <vector>

#include "compiler/conversion/loops/list.h"

namespace sluice::loops {

/// `begins`: where the runs begin in the list, and where the last of them ends, ascending. The
/// longest sequence of like runs becomes a loop, if it is one of at least three: the list does the
/// same, in fewer instructions.
List rollRuns(List list, const std::vector<size_t> &begins);

} // namespace sluice::loops
