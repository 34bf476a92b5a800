// A product or a sum reads its operand as rows of matrix units. Lowering makes all of these rows
// before the first row of the product, so they are stored at once. Which tensor they hold is known
// if a function that is not affine computed it: lowering moves affine maps into weights and views
// into the rows that are read, but no other function into a product.
//
// The rows of such a function are made in one stage. If another operation reads the rows of an
// operand too, they are no part of the rows of the function: both are stored at once. So are the
// scores of a softmax, of which the maximum is read first, and their exponentials.
#include "compiler/conversion/rows/row_bound.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/conversion/rows/contraction_loops.h"
#include "compiler/conversion/rows/rows_read.h"
#include "compiler/conversion/rows/viewed_rows.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/tensors.h"

using namespace mlir;

namespace sluice::rows {
namespace {

using space::Region;

class Bound {
public:
  Bound(BoundFacts &facts, uint32_t lanes)
      : function(facts.function), lanes(lanes), constants(facts.constants), reads(facts.reads) {}

  RowBound run() {
    for (Operation &op : function.getBody().front().without_terminator())
      if (const auto operand = operandReadAsRows(op))
        read(op, *operand);
    return bound;
  }

private:
  func::FuncOp function;
  const int64_t lanes;
  ConstantValues &constants;
  const CertainReads &reads;
  RowBound bound;
  /// The rows of functions that are sent as rows of outputs. Of each, the value of the function and
  /// one element.
  std::optional<std::vector<std::pair<Value, int64_t>>> sent;

  void read(Operation &op, unsigned operand) {
    const Value result = op.getResult(0);
    if (const Region *needed = reads.of(result)) {
      if (reads.leastBehind(result) < kLeastWeight)
        return;
      bound.beats += 2 * rowsOf(result, *needed, lanes);
    } else if (const Region *lines = reads.linesOf(result)) {
      // Of each line, at least one row is computed.
      bound.beats +=
          2 * static_cast<uint64_t>(lines->size() / lines->extents[*ir::dataDim(result)]);
    }
    if (const auto region = reads.readBy(op, operand))
      store(op.getOperand(operand), *region);
  }

  /// The operand of a view from which most elements are certainly read, and these.
  static std::optional<std::pair<Value, Region>> mostBefore(ir::ViewInterface view,
                                                            const Region &region) {
    const space::Pieces pieces = view.pieces();
    std::optional<std::pair<Value, Region>> most;
    for (const space::Piece &piece : pieces.pieces) {
      const Value from = view->getOperand(piece.operand);
      auto read = ir::dataDim(from) ? space::partRead(pieces, piece, region) : std::nullopt;
      if (read && (!most || read->size() > most->second.size()))
        most = {from, std::move(*read)};
    }
    return most;
  }

  /// The function that is not affine and computes elements that are read, and these.
  std::optional<std::pair<ir::MapOp, Region>> computing(Value value, Region region) {
    for (;;) {
      Operation *op = value.getDefiningOp();
      if (auto map = llvm::dyn_cast_or_null<ir::MapOp>(op)) {
        const MapScale scale = scaleOf(map, constants);
        if (!scale.mayBeAffine)
          return std::pair(map, std::move(region));
        if (scale.least < kLeastWeight)
          return std::nullopt;
        value = *llvm::find_if(map.getInputs(), [](Value input) { return ir::dataDim(input); });
      } else if (auto view = llvm::dyn_cast_or_null<ir::ViewInterface>(op); view && readsRows(op)) {
        auto before = mostBefore(view, region);
        if (!before)
          return std::nullopt;
        std::tie(value, region) = std::move(*before);
      } else {
        return std::nullopt;
      }
    }
  }

  void store(Value value, Region region) {
    const auto found = computing(value, std::move(region));
    if (!found)
      return;
    auto [map, elements] = *found;
    bound.readsAnOutput = bound.readsAnOutput || isSent(map.getResult(), elements);
    std::vector<std::pair<NodeRef, uint64_t>> nodes;
    nodes.emplace_back(ir::nodeOf(map.getLoc()), rowsOf(map.getResult(), elements, lanes));
    for (const Value operand : map.getInputs())
      if (const uint64_t beside = rowsBeside(map, elements, operand); beside != 0)
        nodes.emplace_back(ir::nodeOf(operand.getLoc()), beside);
    uint64_t rows = 0;
    for (const auto &[node, count] : nodes)
      rows += count;
    if (rows <= bound.rows || mayBecomeWeights(map.getResult(), constants))
      return;
    bound.rows = rows;
    bound.nodes = std::move(nodes);
  }

  /// The rows of an operand that are stored beside those of the elements that a function computes
  /// of it: rows that nothing else has in common, and that a reduction reads too.
  uint64_t rowsBeside(ir::MapOp map, const Region &elements, Value operand) {
    if (ir::dataDim(operand) != ir::dataDim(map.getResult()) ||
        ir::shapeOf(operand) != ir::shapeOf(map.getResult()) || !hasOwnRows(operand))
      return 0;
    uint64_t most = 0;
    for (Operation *user : operand.getUsers()) {
      auto reduce = llvm::dyn_cast<ir::ReduceOp>(user);
      if (!reduce || ir::shapeOf(reduce.getResult()) == ir::shapeOf(operand) ||
          reduce.getResult().use_empty())
        continue;
      if (const auto read = reads.readBy(*user, 0))
        most = std::max(most, rowsOf(operand, space::intersection(elements, *read), lanes));
    }
    return most;
  }

  /// Whether lowering computes each row of a value as a row of its own. It does so for a product of
  /// activations, and for affine functions of such a product.
  bool hasOwnRows(Value value) {
    for (;;) {
      Operation *op = value.getDefiningOp();
      auto map = llvm::dyn_cast_or_null<ir::MapOp>(op);
      if (!map)
        return op && isProduct(op) &&
               llvm::all_of(op->getOperands(), [](Value side) { return ir::dataDim(side); });
      const MapScale scale = scaleOf(map, constants);
      if (!scale.mayBeAffine || scale.least < kLeastWeight)
        return false;
      value = *llvm::find_if(map.getInputs(), [](Value input) { return ir::dataDim(input); });
    }
  }

  /// Whether a row of an output is a row of these elements. It looks at some rows of each output.
  bool isSent(Value value, const Region &elements) {
    if (!sent)
      findSent();
    return llvm::any_of(*sent, [&](const auto &row) {
      if (row.first != value)
        return false;
      const addressing::Indices index = addressing::rowMajorIndex(row.second, ir::shapeOf(value));
      for (size_t axis = 0; axis < index.size(); ++axis)
        if (index[axis] < elements.start[axis] || index[axis] >= elements.end(axis))
          return false;
      return true;
    });
  }

  void findSent() {
    constexpr int64_t kMostRows = 8; // of an output
    sent.emplace();
    ViewedRows viewed(static_cast<uint32_t>(lanes));
    for (const Value output : function.getBody().front().getTerminator()->getOperands()) {
      if (!ir::dataDim(output))
        continue;
      const int64_t rows = layoutOf(output, lanes).rows(), count = std::min(rows, kMostRows);
      for (int64_t i = 0; i < count; ++i)
        if (const auto row = viewed.of(output, i * rows / count))
          if (auto map = row->value.getDefiningOp<ir::MapOp>();
              map && !scaleOf(map, constants).mayBeAffine)
            sent->emplace_back(row->value, viewed.layoutOf(row->value).flat(row->row, 0));
    }
  }
};

} // namespace

RowBound rowBound(BoundFacts &facts, uint32_t lanes) {
  // Forms of a model with a state compute rows in other orders.
  const bool keepsState = !facts.function.getOps<ir::StateOp>().empty();
  return keepsState ? RowBound() : Bound(facts, lanes).run();
}

} // namespace sluice::rows
