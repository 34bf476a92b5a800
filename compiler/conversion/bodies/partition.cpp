#include "compiler/conversion/bodies/partition.h"

#include <algorithm>
#include <cmath>

#include "compiler/dialect/sluice/tensors.h"

using namespace mlir;

namespace sluice::bodies {

OperandCuts Partition::operandCuts(Operation *op) const {
  OperandCuts result;
  const std::optional<Cut> cut = cutOf(op->getResult(0));
  if (!cut || !llvm::cast<CutInterface>(op).operandCuts(*cut, result))
    result.assign(op->getNumOperands(), std::nullopt);
  return result;
}

std::optional<rows::Fold> Partition::foldOf(Operation *op) const {
  auto divided = llvm::dyn_cast<CutInterface>(op);
  if (!divided || op->getNumOperands() != 1)
    return std::nullopt;
  const auto cut = cutOf(op->getOperand(0));
  return cut && !cutOf(op->getResult(0)) ? divided.foldOf(0, *cut) : std::nullopt;
}

namespace {

bool isConstant(Value value) { return !ir::dataDim(value); }

/// Cuts that follow from one of an argument.
class Finder {
public:
  explicit Finder(func::FuncOp function) : block(function.getBody().front()) {}

  std::optional<Partition> find(BlockArgument argument, int64_t axis) {
    partition.trips = ir::shapeOf(argument)[axis];
    if (!demand(argument, Cut{axis, 1}))
      return std::nullopt;
    for (Operation &op : block.without_terminator())
      if (!isConstant(op.getResult(0)))
        visit(&op);
    for (Operation &op : block.without_terminator())
      if (!isConstant(op.getResult(0)))
        setLevel(&op);
    return std::move(partition);
  }

  /// Elements that the operations in the loop read and write.
  static double work(const Partition &partition) {
    double total = 0;
    for (const auto &[op, level] : partition.levels)
      if (level % 2 == 0) {
        double elements = 1;
        for (Value value : op->getOperands())
          elements *=
              static_cast<double>(llvm::cast<RankedTensorType>(value.getType()).getNumElements());
        const auto result = static_cast<double>(
            llvm::cast<RankedTensorType>(op->getResult(0).getType()).getNumElements());
        // The root of all three is the number of products of a contraction.
        total += op->getNumOperands() == 2 ? std::sqrt(elements * result) : result;
      }
    return total;
  }

private:
  Block &block;
  Partition partition;

  /// Gives a value a cut, with what it is computed from where that is not cut yet.
  bool demand(Value value, const Cut &cut) {
    if (isConstant(value))
      return true; // every use takes the blocks it needs
    if (const auto known = partition.cutOf(value))
      return *known == cut;
    if (ir::dataDim(value) == cut.axis || ir::shapeOf(value).empty() ||
        ir::shapeOf(value)[cut.axis] != cut.block * partition.trips)
      return false;
    if (Operation *op = value.getDefiningOp()) {
      OperandCuts needed;
      auto divided = llvm::dyn_cast<CutInterface>(op);
      if (!divided || !divided.operandCuts(cut, needed))
        return false;
      for (const auto &[operand, need] : llvm::zip_equal(op->getOperands(), needed))
        if (need && !demand(operand, *need))
          return false;
    } else if (!streams(llvm::cast<BlockArgument>(value), cut)) {
      return false;
    }
    partition.cuts[value] = cut;
    return true;
  }

  /// The host offers the rows of an input in row-major order: block by block only if
  /// no axis before it has more than one index.
  static bool streams(BlockArgument argument, const Cut &cut) {
    return !cut.mirrored && llvm::all_of(ir::shapeOf(argument).take_front(cut.axis),
                                         [](int64_t extent) { return extent == 1; });
  }

  /// Cuts the result as the first operand says for which the others can follow.
  void visit(Operation *op) {
    auto divided = llvm::dyn_cast<CutInterface>(op);
    const Value result = op->getResult(0);
    if (!divided || partition.cutOf(result))
      return;
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      const auto cut = partition.cutOf(op->getOperand(i));
      const auto wanted = cut ? divided.resultCut(i, *cut) : std::nullopt;
      if (!wanted)
        continue;
      const auto before = partition.cuts;
      if (demand(result, *wanted))
        return;
      partition.cuts = before;
    }
  }

  /// Of the operation that makes a value; -1 for arguments and constants.
  int levelOf(Value value) const {
    Operation *op = value.getDefiningOp();
    const auto found = op ? partition.levels.find(op) : partition.levels.end();
    return found == partition.levels.end() ? -1 : static_cast<int>(found->second);
  }

  void setLevel(Operation *op) {
    const bool loop = partition.cutOf(op->getResult(0)).has_value();
    int level = loop ? 0 : 1;
    for (const auto &[operand, need] :
         llvm::zip_equal(op->getOperands(), partition.operandCuts(op))) {
      if (isConstant(operand))
        continue;
      const auto made = partition.cutOf(operand);
      // Blocks are read as they are made, or all that was made before.
      const int after = levelOf(operand) + (made && !need ? 1 : 0);
      level = std::max(level, after);
    }
    if ((level % 2 == 0) != loop)
      ++level;
    partition.levels[op] = static_cast<unsigned>(level);
    partition.lastLevel = std::max(partition.lastLevel, static_cast<unsigned>(level));
  }
};

} // namespace

std::optional<Partition> findPartition(func::FuncOp function) {
  registerCutModels(*function.getContext());
  std::optional<Partition> best;
  double most = 0;
  for (BlockArgument argument : function.getArguments()) {
    const auto shape = ir::shapeOf(argument);
    for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis) {
      if (shape[axis] < 2)
        continue;
      std::optional<Partition> found = Finder(function).find(argument, axis);
      if (!found)
        continue;
      const double work = Finder::work(*found);
      if (!best || work > most) {
        most = work;
        best = std::move(found);
      }
    }
  }
  return best;
}

} // namespace sluice::bodies
