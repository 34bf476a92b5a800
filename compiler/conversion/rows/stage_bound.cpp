// Lowering computes all rows of a tensor in one stage if a product reads them as rows: those of a
// function that is not affine, and those of a product with constant weights. The rows that the
// stage reads are stored until it ends. A function whose operand is a product that nothing else
// reads is computed together with the product, or from its rows, which are as many. So the rows
// that the product reads are stored beside those of the function, or beside those of the product.
//
// A function may read another operand as well, as a residual network does. Its rows are stored
// until then, and from a time before the product began if a row that the product reads depends on
// them.
#include "compiler/conversion/rows/stage_bound.h"

#include <algorithm>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

#include "compiler/conversion/rows/contraction_loops.h"
#include "compiler/conversion/rows/lower_dynamic.h"
#include "compiler/conversion/rows/read_places.h"
#include "compiler/conversion/rows/rows_read.h"
#include "compiler/dialect/sluice/tensors.h"

using namespace mlir;

namespace sluice::rows {
namespace {

using space::Region;

class StageBound {
public:
  StageBound(BoundFacts &facts, uint32_t lanes)
      : lanes(lanes), constants(facts.constants), reads(facts.reads), follower(constants) {
    for (Operation &op : facts.function.getBody().front().without_terminator())
      if (const auto operand = operandReadAsRows(op))
        if (auto region = reads.readBy(op, *operand))
          findStored(op.getOperand(*operand), std::move(*region), stored);
  }

  uint64_t run() {
    uint64_t most = 0;
    for (const auto &[value, region] : stored)
      if (!mayBecomeWeights(value, constants))
        most = std::max(most, rowsOf(value, region, lanes) + rowsReadBy(value, region));
    return most;
  }

private:
  /// Tensors whose rows are stored as rows, and a box of elements of each.
  using Stored = llvm::MapVector<Value, Region>;

  const int64_t lanes;
  ConstantValues &constants;
  const CertainReads &reads;
  ElementFollower follower;
  Stored stored; ///< whatever product reads them

  /// The operand of a map that is affine in it with factors that are not zero; null if the map is
  /// not.
  Value affineOperand(ir::MapOp map) {
    const MapScale scale = scaleOf(map, constants);
    if (!scale.mayBeAffine || scale.least < kLeastWeight)
      return {};
    return *llvm::find_if(map.getInputs(), [](Value input) { return ir::dataDim(input); });
  }

  bool hasOwnRows(Operation *op) {
    if (auto map = llvm::dyn_cast<ir::MapOp>(op))
      return !scaleOf(map, constants).mayBeAffine;
    return isProduct(op) && !isDynamic(op, loopsOf(op)) && follower.computesAll(op);
  }

  static void add(Stored &found, Value value, const Region &region) {
    const auto [known, added] = found.insert({value, region});
    if (!added && region.size() > known->second.size())
      known->second = region;
  }

  /// Adds the tensors whose rows are read if a product reads a box of a value as rows.
  void findStored(Value value, Region region, Stored &found) {
    llvm::SmallVector<std::pair<Value, Region>> open{{value, std::move(region)}};
    while (!open.empty()) {
      const auto [next, box] = open.pop_back_val();
      Operation *op = next.getDefiningOp();
      if (!op || hasOwnRows(op)) {
        add(found, next, box);
      } else if (auto map = llvm::dyn_cast<ir::MapOp>(op)) {
        if (const Value operand = affineOperand(map))
          open.emplace_back(operand, box);
      } else if (auto view = llvm::dyn_cast<ir::ViewInterface>(op); view && readsRows(op)) {
        const space::Pieces pieces = view.pieces();
        for (const space::Piece &piece : pieces.pieces)
          if (const Value from = op->getOperand(piece.operand); ir::dataDim(from))
            if (auto read = space::partRead(pieces, piece, box))
              open.emplace_back(from, std::move(*read));
      }
    }
  }

  /// The tensors that a product reads for a box of its result.
  Stored readBy(Operation &product, const Region &box) {
    Stored found;
    if (const auto operand = operandReadAsRows(product))
      if (auto region = reads.readBy(product, *operand, box))
        findStored(product.getOperand(*operand), std::move(*region), found);
    return found;
  }

  uint64_t rowsOfAll(const Stored &tensors) {
    uint64_t rows = 0;
    for (const auto &[value, region] : tensors)
      if (!mayBecomeWeights(value, constants))
        rows += rowsOf(value, region, lanes);
    return rows;
  }

  /// The product of which an operand is an affine function, if nothing else reads either.
  Operation *productOf(Value value) {
    while (value.hasOneUse()) {
      Operation *op = value.getDefiningOp();
      if (!op || operandReadAsRows(*op))
        return op;
      auto map = llvm::dyn_cast<ir::MapOp>(op);
      value = map ? affineOperand(map) : Value();
      if (!value)
        break;
    }
    return nullptr;
  }

  /// The rows that are read while a box of a tensor is computed.
  uint64_t rowsReadBy(Value value, const Region &box) {
    Operation *op = value.getDefiningOp();
    auto map = llvm::dyn_cast_or_null<ir::MapOp>(op);
    if (!map)
      return op ? rowsOfAll(readBy(*op, box)) : 0;
    Stored most;
    llvm::SmallVector<Value> others;
    for (const Value operand : map.getInputs())
      if (Operation *product = productOf(operand)) {
        if (Stored found = readBy(*product, box); rowsOfAll(found) > rowsOfAll(most))
          most = std::move(found);
      } else if (ir::dataDim(operand)) {
        others.push_back(operand);
      }
    uint64_t rows = rowsOfAll(most);
    for (const Value other : others)
      if (const auto known = stored.find(other);
          known != stored.end() && !most.contains(other) && !mayBecomeWeights(other, constants) &&
          llvm::any_of(most, [&](const auto &one) { return dependsOn(one.first, other); }))
        rows += rowsOf(other, space::intersection(box, known->second), lanes);
    return rows;
  }

  /// Whether one value is computed from another. Looks at some operations before it.
  static bool dependsOn(Value value, Value other) {
    constexpr size_t kMost = 64;
    llvm::SmallVector<Value> open{value};
    llvm::DenseSet<Value> seen;
    while (!open.empty() && seen.size() < kMost) {
      const Value next = open.pop_back_val();
      if (next == other)
        return true;
      if (Operation *op = next.getDefiningOp(); op && seen.insert(next).second)
        llvm::append_range(open, op->getOperands());
    }
    return false;
  }
};

} // namespace

uint64_t stageBound(BoundFacts &facts, uint32_t lanes) {
  // Forms of a model with a state compute rows in other orders.
  const bool keepsState = !facts.function.getOps<ir::StateOp>().empty();
  return keepsState ? 0 : StageBound(facts, lanes).run();
}

} // namespace sluice::rows
