// Problems of streaming: the network cannot be streamed (E0207), or the option is wrong (E0120).
#pragma once

#include <string>

#include "compiler/support/problem.h"
#include "mlir/IR/Location.h"

namespace sluice::streaming {

inline constexpr const char *kOtherPairs =
    "the operation combines pairs of positions with values of other positions";
inline constexpr const char *kMaskWindow =
    "set positions older than a window to minus infinity before the softmax"; ///< a fix

/// Returns E0207 for the operation at `where`.
Problem refusal(mlir::Location where, std::string message, std::vector<Fix> fixes = {});

/// Returns E0120.
Problem wrongOption(std::string message);

Fix fix(std::string text);
/// Returns a fix that is a flag: "stream two steps at a time (--stream x=1:2)".
Fix fixByFlag(std::string text, std::string flag);

/// Returns a number with its noun: "1 step", "3 steps".
std::string counted(int64_t count, const char *noun);

} // namespace sluice::streaming
