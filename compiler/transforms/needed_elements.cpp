#include "compiler/transforms/needed_elements.h"

#include "compiler/dialect/sluice/interfaces.h"
#include "compiler/dialect/sluice/tensors.h"
#include "compiler/transforms/known_choices.h"
#include "compiler/transforms/row_boxes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace sluice::ir {
namespace {

using space::ExtentsRef;
using space::Region;

/// More boxes of one value become the box around all of them.
constexpr size_t kMostBoxes = 64;

bool contains(const Region &box, const Region &inner) {
  return space::intersection(box, inner) == inner;
}

/// The box around two boxes.
Region around(const Region &a, const Region &b) {
  Region box;
  for (const size_t axis : llvm::seq(a.start.size())) {
    box.start.push_back(std::min(a.start[axis], b.start[axis]));
    box.extents.push_back(std::max(a.end(axis), b.end(axis)) - box.start.back());
  }
  return box;
}

/// Whether the result of a map depends on an operand.
bool reads(MapOp map, unsigned operand) {
  Block &body = map.getBody().front();
  llvm::SmallVector<Value> pending{body.getTerminator()->getOperand(0)};
  llvm::SmallPtrSet<Operation *, 8> known;
  while (!pending.empty()) {
    const Value scalar = pending.pop_back_val();
    if (scalar == body.getArgument(operand))
      return true;
    if (Operation *op = scalar.getDefiningOp(); op && known.insert(op).second)
      llvm::append_range(pending, op->getOperands());
  }
  return false;
}

} // namespace

NeededElements::NeededElements(func::FuncOp function) {
  for (Operation &op : llvm::reverse(function.getBody().front()))
    add(op);
}

llvm::ArrayRef<Region> NeededElements::of(Value value) const {
  const auto found = boxes.find(value);
  return found == boxes.end() ? llvm::ArrayRef<Region>() : llvm::ArrayRef(found->second);
}

void NeededElements::add(Operation &op) {
  auto computed = llvm::dyn_cast<IndexSpaceInterface>(op);
  if (!computed) {
    if (op.hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(&op) ||
        llvm::any_of(op.getResults(), [&](Value result) { return !of(result).empty(); }))
      for (const Value operand : op.getOperands())
        need(operand, space::wholeOf(shapeOf(operand)));
    return;
  }
  const Boxes needed(of(op.getResult(0)));
  if (needed.empty())
    return;
  if (auto view = llvm::dyn_cast<ViewInterface>(op)) {
    const space::Pieces pieces = view.pieces();
    for (const space::Piece &piece : pieces.pieces)
      for (const Region &box : needed)
        need(op.getOperand(piece.operand), space::mostRead(pieces, piece, box));
    return;
  }
  auto map = llvm::dyn_cast<MapOp>(op);
  if (map && !shapeOf(map.getResult()).empty()) // a single element has no rows to choose for
    if (const auto choices = KnownChoices::of(map, *dataDim(map.getResult()), /*lanes=*/1)) {
      addChosen(map, *choices, needed);
      return;
    }
  const space::IndexSpace space = computed.indexSpace();
  for (const unsigned operand : llvm::seq(op.getNumOperands()))
    if (!map || reads(map, operand))
      for (const Region &box : needed)
        need(op.getOperand(operand), space::mostRead(space, operand, box));
}

/// Of each operand, the elements that constants choose.
void NeededElements::addChosen(MapOp map, const KnownChoices &choices, const Boxes &neededBoxes) {
  const ExtentsRef shape = shapeOf(map.getResult());
  for (auto [number, operand] : llvm::enumerate(map.getInputs())) {
    std::vector<unsigned> isRead(choices.numbers().size(), 0);
    for (const Region &box : neededBoxes)
      space::forEachIndex(box, [&](ExtentsRef index) {
        size_t element = 0;
        for (auto [extent, at] : llvm::zip_equal(shape, index))
          element = element * static_cast<size_t>(extent) + static_cast<size_t>(at);
        const Variant &variant = choices.variants()[choices.numbers()[element]];
        isRead[element] = variant.operands.contains(static_cast<unsigned>(number)) ? 1 : 0;
      });
    const NumberedRows elements(shape, *dataDim(map.getResult()), /*lanes=*/1, isRead);
    const auto boxes = elements.boxes(kMostBoxes);
    if (!boxes) {
      for (const Region &box : neededBoxes)
        need(operand, box);
      continue;
    }
    for (const RowBox &box : *boxes)
      if (box.number == 1)
        need(operand, {box.starts, box.sizes});
  }
}

void NeededElements::need(Value value, const Region &box) {
  if (box.empty() || !dataDim(value))
    return;
  Boxes &known = boxes[value];
  if (llvm::any_of(known, [&](const Region &one) { return contains(one, box); }))
    return;
  llvm::erase_if(known, [&](const Region &one) { return contains(box, one); });
  known.push_back(box);
  if (known.size() <= kMostBoxes)
    return;
  Region all = known.front();
  for (const Region &one : known)
    all = around(all, one);
  known.assign({all});
}

} // namespace sluice::ir
