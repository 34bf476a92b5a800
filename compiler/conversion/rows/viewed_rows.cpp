#include "compiler/conversion/rows/viewed_rows.h"

#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/tensors.h"

using namespace mlir;

namespace sluice::rows {

/// The element that an element is; nothing if it is constant or outside of an operand.
std::optional<ViewedRows::Element> ViewedRows::follow(Element element) {
  for (;;) {
    if (!ir::dataDim(element.value))
      return std::nullopt;
    Operation *op = element.value.getDefiningOp();
    auto view = llvm::dyn_cast_or_null<ir::ViewInterface>(op);
    if (!view || llvm::isa<ir::RelayoutOp>(op))
      return element;
    auto pieces = views.find(op);
    if (pieces == views.end())
      pieces = views.try_emplace(op, view.pieces()).first;
    const space::Source source = space::sourceOf(
        pieces->second, addressing::rowMajorIndex(element.at, ir::shapeOf(element.value)));
    if (!source.operand)
      return std::nullopt;
    element = {op->getOperand(*source.operand), source.element};
  }
}

std::optional<ViewedRows::Found> ViewedRows::of(Value value, const RowLayout &layout, int64_t row) {
  std::optional<Found> all;
  for (int64_t lane = 0; lane < layout.used(row); ++lane) {
    const auto element = follow({value, layout.flat(row, lane)});
    if (!element)
      return std::nullopt;
    const RowLayout from = layoutOf(element->value);
    const RowLayout::Place place = from.place(element->at);
    const Found here{element->value, place.row};
    if (place.lane != lane || (all && *all != here) || from.used(place.row) != layout.used(row))
      return std::nullopt;
    all = here;
  }
  return all;
}

} // namespace sluice::rows
