// Arguments of @main that are a part of an input: the host sends the part alone.
#pragma once

#include <optional>

#include "compiler/index_space/projection.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace sluice::ir {

/// Says that an argument is input `input` of the model, and that a part may take its place.
void setInput(mlir::FunctionOpInterface function, unsigned argument, int64_t input);
/// Returns the number of the input that an argument is, or a part of; nothing if no part may take
/// its place.
std::optional<int64_t> inputOf(mlir::FunctionOpInterface function, unsigned argument);

/// Discards what the functions below and above have said of an argument.
void forgetInput(mlir::FunctionOpInterface function, unsigned argument);

/// Says which part of its input an argument is.
void setInputPart(mlir::FunctionOpInterface function, unsigned argument,
                  const space::Selection &part);
/// Returns it; nothing if the argument is the whole input.
std::optional<space::Selection> inputPartOf(mlir::FunctionOpInterface function, unsigned argument);

} // namespace sluice::ir
