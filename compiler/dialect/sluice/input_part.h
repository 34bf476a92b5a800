// Arguments of @main that are a part of an input: the host sends the part alone.
#pragma once

#include <algorithm>
#include <optional>

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace sluice::ir {

/// Along each axis, elements start, start + step, ... of the input, as many as the size says.
struct InputPart {
  llvm::SmallVector<int64_t, 4> starts, sizes, steps;

  bool operator==(const InputPart &) const = default;

  /// The lowest index along an axis.
  [[nodiscard]] int64_t first(size_t axis) const {
    return std::min(starts[axis], starts[axis] + (sizes[axis] - 1) * steps[axis]);
  }
  /// The highest index along an axis.
  [[nodiscard]] int64_t last(size_t axis) const {
    return std::max(starts[axis], starts[axis] + (sizes[axis] - 1) * steps[axis]);
  }
};

/// Says that an argument is input `input` of the model, and that a part may take its place.
void setInput(mlir::FunctionOpInterface function, unsigned argument, int64_t input);
/// Returns the number of the input that an argument is, or a part of; nothing if no part may take
/// its place.
std::optional<int64_t> inputOf(mlir::FunctionOpInterface function, unsigned argument);

/// Discards what the functions below and above have said of an argument.
void forgetInput(mlir::FunctionOpInterface function, unsigned argument);

/// Says which part of its input an argument is.
void setInputPart(mlir::FunctionOpInterface function, unsigned argument, const InputPart &part);
/// Returns it; nothing if the argument is the whole input.
std::optional<InputPart> inputPartOf(mlir::FunctionOpInterface function, unsigned argument);

} // namespace sluice::ir
