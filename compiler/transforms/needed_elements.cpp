#include "compiler/transforms/needed_elements.h"

#include "compiler/dialect/sluice/interfaces.h"
#include "compiler/dialect/sluice/tensors.h"
#include "compiler/transforms/known_choices.h"
#include "compiler/transforms/row_boxes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "runtime/addressing/addressing.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace sluice::ir {
namespace {

using space::ExtentsRef;
using space::Region;

/// More boxes of one value become the box around all of them.
constexpr size_t kMostBoxes = 64;

/// The elements of a larger view are not looked at one by one.
constexpr int64_t kMostElements = 1 << 16;

bool contains(const Region &box, const Region &inner) {
  return space::intersection(box, inner) == inner;
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
    addView(view, needed);
    return;
  }
  auto map = llvm::dyn_cast<MapOp>(op);
  if (map && !shapeOf(map.getResult()).empty()) // a single element has no rows to choose for
    if (const auto choices = KnownChoices::of(map, *dataDim(map.getResult()), /*lanes=*/1)) {
      addChosen(map, *choices, needed);
      return;
    }
  if (map) {
    for (const Value operand : map.getInputs())
      for (const Region &box : needed)
        need(operand, box);
    return;
  }
  const space::IndexSpace space = computed.indexSpace();
  for (const unsigned operand : llvm::seq(op.getNumOperands()))
    for (const Region &box : needed)
      need(op.getOperand(operand), space::mostRead(space, operand, box));
}

/// Of each operand, the boxes that pieces read; single elements where a piece reads a box with
/// holes.
void NeededElements::addView(ViewInterface view, const Boxes &neededBoxes) {
  const space::Pieces pieces = view.pieces();
  const bool isSmall = space::wholeOf(pieces.result).size() <= kMostElements;
  // For each operand that is read with holes: for each of its elements, 1 if the view reads it.
  llvm::MapVector<unsigned, std::vector<unsigned>> readWithHoles;
  for (const space::Piece &piece : pieces.pieces)
    for (const Region &box : neededBoxes) {
      const Region most = space::mostRead(pieces, piece, box);
      const ExtentsRef operand = pieces.operands[piece.operand];
      if (isSmall && !most.empty() && !operand.empty() &&
          space::regionRead(pieces, piece, box) != most)
        readWithHoles[piece.operand].assign(space::wholeOf(operand).size(), 0);
      else
        need(view->getOperand(piece.operand), most);
    }
  if (readWithHoles.empty())
    return;
  forEachSource(view, [&](const space::Source &source) {
    if (!source.operand)
      return;
    if (auto *const found = readWithHoles.find(*source.operand); found != readWithHoles.end())
      found->second[static_cast<size_t>(source.element)] = 1;
  });
  for (auto &[operand, isRead] : readWithHoles)
    if (!need(view->getOperand(operand), std::move(isRead)))
      for (const space::Piece &piece : pieces.pieces)
        for (const Region &box : neededBoxes)
          if (piece.operand == operand)
            need(view->getOperand(operand), space::mostRead(pieces, piece, box));
}

void NeededElements::forEachRead(OpOperand &operand, llvm::function_ref<void(size_t)> visit) const {
  forEachSource(llvm::cast<ViewInterface>(operand.getOwner()), [&](const space::Source &source) {
    if (source.operand == operand.getOperandNumber())
      visit(static_cast<size_t>(source.element));
  });
}

void NeededElements::forEachSource(ViewInterface view,
                                   llvm::function_ref<void(const space::Source &)> visit) const {
  const std::vector<space::Source> sources = space::sourcesOf(view.pieces());
  const ExtentsRef shape = shapeOf(view->getResult(0));
  for (const Region &box : of(view->getResult(0)))
    space::forEachIndex(box, [&](ExtentsRef index) {
      visit(sources[static_cast<size_t>(addressing::rowMajorPosition(index, shape))]);
    });
}

/// Of each operand, the elements that constants choose.
void NeededElements::addChosen(MapOp map, const KnownChoices &choices, const Boxes &neededBoxes) {
  const ExtentsRef shape = shapeOf(map.getResult());
  for (auto [number, operand] : llvm::enumerate(map.getInputs())) {
    std::vector<unsigned> isRead(choices.numbers().size(), 0);
    for (const Region &box : neededBoxes)
      space::forEachIndex(box, [&](ExtentsRef index) {
        const auto element = static_cast<size_t>(addressing::rowMajorPosition(index, shape));
        const Variant &variant = choices.variants()[choices.numbers()[element]];
        isRead[element] = variant.operands.contains(static_cast<unsigned>(number)) ? 1 : 0;
      });
    if (!need(operand, std::move(isRead)))
      for (const Region &box : neededBoxes)
        need(operand, box);
  }
}

/// Needs the elements that are 1. Returns false if they are too many boxes.
bool NeededElements::need(Value value, std::vector<unsigned> isRead) {
  const NumberedRows elements(shapeOf(value), /*dim=*/0, /*lanes=*/1, std::move(isRead));
  const auto found = elements.boxes(kMostBoxes);
  for (const RowBox &box : found.value_or(std::vector<RowBox>()))
    if (box.number == 1)
      need(value, box.elements);
  return found.has_value();
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
    all = space::around(all, one);
  known.assign({all});
}

} // namespace sluice::ir
