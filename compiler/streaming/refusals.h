// Why a network cannot be streamed, in words; the code is E0207.
#pragma once

#include <string>

#include "compiler/support/problem.h"
#include "mlir/IR/Location.h"

namespace sluice::streaming {

inline constexpr const char *kOtherPairs =
    "the operation combines pairs of positions with values of other positions";
inline constexpr const char *kMaskWindow =
    "set positions older than a window to minus infinity before the softmax"; ///< a fix

/// A problem of the operation at `where`.
Problem refusal(mlir::Location where, std::string message, std::vector<Fix> fixes = {});

/// A problem of the option.
Problem wrongOption(std::string message);

Fix fix(std::string text);
/// A fix that is a flag: "stream two steps at a time (--stream x=1:2)".
Fix fixByFlag(std::string text, std::string flag);

/// "1 step", "3 steps".
std::string counted(int64_t count, const char *noun);

} // namespace sluice::streaming
