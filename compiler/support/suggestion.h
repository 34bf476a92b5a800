// "did you mean": the known name that a mistyped one is closest to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/problem.h"

namespace sluice {

/// The first of the closest `names`, or "": one that differs from `word` in upper and
/// lower case only, begins with it, or is at most a third of its letters away.
std::string closest(std::string_view word, const std::vector<std::string> &names);

/// "did you mean 'NAME'", or nothing.
std::vector<Fix> suggestion(std::string_view word, const std::vector<std::string> &names);

} // namespace sluice
