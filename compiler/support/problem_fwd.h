// Problems by name, for headers that only pass them on.
#pragma once

#include <vector>

namespace sluice {

struct NodeRef;
struct Problem;
using Problems = std::vector<Problem>;

} // namespace sluice
