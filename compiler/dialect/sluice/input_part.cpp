#include "compiler/dialect/sluice/input_part.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sluice::ir {
namespace {

constexpr llvm::StringLiteral kInput = "sluice.input", kStarts = "sluice.starts",
                              kSizes = "sluice.sizes", kSteps = "sluice.steps";

} // namespace

void setInput(FunctionOpInterface function, unsigned argument, int64_t input) {
  function.setArgAttr(argument, kInput, Builder(function.getContext()).getI64IntegerAttr(input));
}

std::optional<int64_t> inputOf(FunctionOpInterface function, unsigned argument) {
  const auto input = function.getArgAttrOfType<IntegerAttr>(argument, kInput);
  return input ? std::optional(input.getInt()) : std::nullopt;
}

void forgetInput(FunctionOpInterface function, unsigned argument) {
  for (const llvm::StringLiteral name : {kInput, kStarts, kSizes, kSteps})
    function.removeArgAttr(argument, name);
}

void setInputPart(FunctionOpInterface function, unsigned argument, const space::Selection &part) {
  Builder builder(function.getContext());
  function.setArgAttr(argument, kStarts, builder.getDenseI64ArrayAttr(part.starts));
  function.setArgAttr(argument, kSizes, builder.getDenseI64ArrayAttr(part.sizes));
  function.setArgAttr(argument, kSteps, builder.getDenseI64ArrayAttr(part.steps));
}

std::optional<space::Selection> inputPartOf(FunctionOpInterface function, unsigned argument) {
  const auto starts = function.getArgAttrOfType<DenseI64ArrayAttr>(argument, kStarts);
  const auto sizes = function.getArgAttrOfType<DenseI64ArrayAttr>(argument, kSizes);
  const auto steps = function.getArgAttrOfType<DenseI64ArrayAttr>(argument, kSteps);
  if (!starts || !sizes || !steps)
    return std::nullopt;
  using space::Extents;
  return space::Selection{Extents(starts.asArrayRef()), Extents(sizes.asArrayRef()),
                          Extents(steps.asArrayRef())};
}

} // namespace sluice::ir
