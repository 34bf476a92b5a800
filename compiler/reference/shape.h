// Extents of the golden evaluator's tensors.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice::reference {

using Shape = std::vector<int64_t>;

} // namespace sluice::reference
