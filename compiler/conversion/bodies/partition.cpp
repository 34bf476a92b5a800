#include "compiler/conversion/bodies/partition.h"

#include <algorithm>
#include <cmath>

#include "compiler/conversion/bodies/folds.h"
#include "compiler/dialect/sluice/operations.h"

using namespace mlir;

namespace sluice::bodies {

int Partition::levelOf(Value value) const {
  Operation *op = value.getDefiningOp();
  const auto found = op ? levels.find(op) : levels.end();
  return found == levels.end() ? -1 : static_cast<int>(found->second);
}

int64_t Partition::tripsOf(Value value) const {
  const auto cut = cutOf(value);
  return cut ? ir::shapeOf(value)[cut->axis] / cut->block : 1;
}

/// Whether a trip's slab is part of the block of a value that the same trip makes.
static bool isWithin(const Slab &slab, const Cut &block) {
  return block.axis == slab.axis && !block.mirrored && block.block == slab.step &&
         slab.first >= 0 && slab.first + (slab.size - 1) * slab.spacing < block.block;
}

Needs Partition::readsOf(Operation *op) const {
  const std::optional<Cut> cut = cutOf(op->getResult(0));
  auto reads = cut ? bodies::readsOf(op, *cut) : std::nullopt;
  if (!reads)
    return Needs(op->getNumOperands(), std::nullopt);
  for (const auto &[operand, need] : llvm::zip_equal(op->getOperands(), *reads))
    if (const auto block = need.slab ? cutOf(operand) : std::nullopt;
        block && isWithin(*need.slab, *block) && tripsOf(operand) == tripsOf(op->getResult(0)))
      need = *block;
  return std::move(*reads);
}

std::optional<rows::Fold> Partition::foldOf(Operation *op) const {
  auto reduction = llvm::dyn_cast<ir::ReduceOp>(op);
  if (windows || !reduction)
    return std::nullopt;
  const auto cut = cutOf(op->getOperand(0));
  return cut && !cutOf(op->getResult(0)) ? bodies::foldOf(reduction, *cut) : std::nullopt;
}

namespace {

/// Cuts that follow from one of an argument, or from windows.
class Finder {
public:
  /// `leftovers`: blocks need not make up a whole axis where nobody reads what is behind them.
  Finder(func::FuncOp function, bool windows, bool leftovers)
      : block(function.getBody().front()), leftovers(leftovers) {
    partition.windows = windows;
  }

  std::optional<Partition> find(BlockArgument argument, int64_t axis) {
    trips = ir::shapeOf(argument)[axis];
    if (!demand(argument, Cut{axis, 1}))
      return std::nullopt;
    return follow();
  }

  /// Nothing if no window has an axis that can be cut, or what blocks leave over is read.
  std::optional<Partition> findWindows() {
    auto found = follow();
    const bool right =
        found && !found->cuts.empty() && llvm::none_of(found->cuts, [&](const auto &cut) {
          return ir::shapeOf(cut.first)[cut.second.axis] % cut.second.block != 0 &&
                 isReadBehind(*found, cut.first);
        });
    return right ? std::move(found) : std::nullopt;
  }

  /// Elements that the operations in the loop read and write.
  static double work(const Partition &partition) {
    double total = 0;
    for (const auto &[op, level] : partition.levels)
      if (level % 2 == 0) {
        double elements = 1;
        for (Value value : op->getOperands())
          elements *= static_cast<double>(ir::typeOf(value).getNumElements());
        const auto result = static_cast<double>(ir::typeOf(op->getResult(0)).getNumElements());
        // The root of all three is the number of products of a contraction.
        total += op->getNumOperands() == 2 ? std::sqrt(elements * result) : result;
      }
    return total;
  }

private:
  Block &block;
  const bool leftovers;
  llvm::DenseMap<std::pair<Value, int64_t>, int64_t> blocks; ///< what blockOf gave
  Partition partition;
  int64_t trips = 1; ///< without windows: of all loops

  /// Whether anybody reads more of a value than its blocks, each in the trip that makes it.
  static bool isReadBehind(const Partition &partition, Value value) {
    return llvm::any_of(value.getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      return user->hasTrait<OpTrait::IsTerminator>() ||
             !partition.readsOf(user)[use.getOperandNumber()].cut;
    });
  }

  std::optional<Partition> follow() {
    for (Operation &op : block.without_terminator())
      if (!ir::isConstant(op.getResult(0)))
        visit(&op);
    for (Operation &op : block.without_terminator())
      if (!ir::isConstant(op.getResult(0)))
        setLevel(&op);
    return std::move(partition);
  }

  /// Gives a value a cut, with what it is computed from where that is not cut yet.
  /// If that is not possible, no cut changes.
  bool demand(Value value, const Cut &cut) {
    // On a stack of its own: the depth of a model is not bounded.
    struct Demand {
      Value value;
      Cut cut;
      bool entered = false; ///< its operands are cut, or above it on the stack
    };
    llvm::SmallVector<Demand> pending{{value, cut}};
    llvm::SmallVector<Value> added;
    while (!pending.empty()) {
      const Demand next = pending.back();
      Needs needed;
      if (!next.entered && (ir::isConstant(next.value) || partition.cutOf(next.value))) {
        // Every use of a constant takes the blocks it needs.
        if (!ir::isConstant(next.value) && *partition.cutOf(next.value) != next.cut)
          break;
        pending.pop_back();
      } else if (next.entered) {
        if (partition.cuts.try_emplace(next.value, next.cut).second)
          added.push_back(next.value);
        pending.pop_back();
      } else if (mayBeCut(next.value, next.cut, needed)) {
        pending.back().entered = true;
        if (Operation *op = next.value.getDefiningOp())
          for (unsigned i = op->getNumOperands(); i-- > 0;) // the first one is the next
            if (needed[i].cut)
              pending.push_back({op->getOperand(i), *needed[i].cut});
      } else {
        break;
      }
    }
    if (pending.empty())
      return true;
    for (const Value one : added)
      partition.cuts.erase(one);
    return false;
  }

  /// Whether a value that is not cut yet can be, if its operands can be as `needed` says.
  bool mayBeCut(Value value, const Cut &cut, Needs &needed) const {
    if (ir::dataDim(value) == cut.axis || ir::shapeOf(value).empty())
      return false;
    const int64_t extent = ir::shapeOf(value)[cut.axis];
    if (partition.windows ? (extent % cut.block != 0 && !leftovers) || extent < 2 * cut.block
                          : extent != cut.block * trips)
      return false;
    Operation *op = value.getDefiningOp();
    if (!op) // with windows all of it is there, row by row
      return partition.windows || streams(llvm::cast<BlockArgument>(value), cut);
    auto reads = bodies::readsOf(op, cut);
    if (!reads)
      return false;
    needed = std::move(*reads);
    return llvm::all_of(llvm::zip_equal(op->getOperands(), needed), [&](const auto &one) {
      const auto &[operand, need] = one;
      return !need.slab || isRows(operand, *need.slab);
    });
  }

  /// Whether a slab is rows of a value: not where it is some lanes of them.
  [[nodiscard]] bool isRows(Value value, const Slab &slab) const {
    return partition.windows && ir::dataDim(value) != slab.axis;
  }

  /// The host offers the rows of an input in row-major order: block by block only if
  /// no axis before it has more than one index.
  static bool streams(BlockArgument argument, const Cut &cut) {
    return !cut.mirrored && llvm::all_of(ir::shapeOf(argument).take_front(cut.axis),
                                         [](int64_t extent) { return extent == 1; });
  }

  /// Cuts the result as the first operand says for which the others can follow.
  void visit(Operation *op) {
    const Value result = op->getResult(0);
    if (partition.cutOf(result))
      return;
    const bool slabs = partition.windows && !windowAxes(op).empty();
    if (slabs && !partition.cutOf(op->getOperand(0)))
      return begin(op);
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      const auto cut = partition.cutOf(op->getOperand(i));
      auto wanted = cut ? tileFrom(op, i, *cut) : std::nullopt;
      if (!wanted)
        continue;
      if (slabs && wanted->block == 1 && cut->block == 1)
        wanted->block = blockOf(result, wanted->axis);
      if (demand(result, *wanted))
        return;
    }
  }

  /// Cuts what a window sees along the first of its axes that can be, and as far as possible what
  /// it looks at.
  void begin(Operation *window) {
    const Value input = window->getOperand(0), result = window->getResult(0);
    for (const int64_t axis : windowAxes(window)) {
      const auto attempt = [&](Value value, int64_t size) {
        return demand(value, Cut{axis, size});
      };
      if (input.getDefiningOp())
        attempt(input, blockOf(input, axis));
      if (attempt(result, blockOf(result, axis)) || attempt(result, 1))
        return;
    }
  }

  /// Elements along an axis that belong together, because windows that do not overlap make one of
  /// them.
  int64_t blockOf(Value value, int64_t axis) {
    llvm::SmallVector<std::pair<Value, int64_t>> pending{{value, axis}};
    while (!pending.empty()) {
      const auto next = pending.back();
      const size_t before = pending.size();
      if (!blocks.contains(next)) { // the ways to the end of a network multiply
        const int64_t block = blockOf(next.first, next.second, pending);
        if (pending.size() != before)
          continue; // users first
        blocks[next] = block;
      }
      pending.pop_back();
    }
    return blocks.at({value, axis});
  }

  /// The same, if the blocks of what users make are known; otherwise adds to `missing` which are
  /// not.
  int64_t blockOf(Value value, int64_t axis,
                  llvm::SmallVectorImpl<std::pair<Value, int64_t>> &missing) const {
    const auto known = [&](Value result, int64_t along) {
      const auto found = blocks.find({result, along});
      if (found == blocks.end())
        missing.push_back({result, along});
      return found == blocks.end() ? 1 : found->second;
    };
    int64_t most = 1;
    for (Operation *user : value.getUsers()) {
      const unsigned operand =
          static_cast<unsigned>(llvm::find(user->getOperands(), value) - user->operand_begin());
      int64_t here = 1;
      const auto reads =
          windowAxes(user).empty() ? std::nullopt : bodies::readsOf(user, Cut{axis, 1});
      if (reads && (*reads)[operand].slab) {
        const Slab &seen = *(*reads)[operand].slab;
        if (seen.step == 1 || !isWithin(seen, Cut{axis, seen.step}))
          continue;
        here = seen.step * known(user->getResult(0), axis);
      } else if (const auto next = tileFrom(user, operand, Cut{axis, 1}); next) {
        here = next->block == 1 ? known(user->getResult(0), next->axis) : 1;
      }
      most = std::max(most, here);
    }
    const int64_t extent = ir::shapeOf(value)[axis];
    return extent % most == 0 || (leftovers && extent >= 2 * most) ? most : 1;
  }

  void setLevel(Operation *op) {
    const bool loop = partition.cutOf(op->getResult(0)).has_value();
    int level = loop ? 0 : 1;
    for (const auto &[operand, need] : llvm::zip_equal(op->getOperands(), partition.readsOf(op))) {
      if (ir::isConstant(operand))
        continue;
      const auto made = partition.cutOf(operand);
      // Blocks are read as they are made, or all that was made before.
      const int after = partition.levelOf(operand) + (made && !need.cut ? 1 : 0);
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
  const auto isWindow = [](Operation &op) {
    return op.getNumResults() == 1 && !ir::isConstant(op.getResult(0)) && !windowAxes(&op).empty();
  };
  if (llvm::any_of(function.getBody().front(), isWindow)) {
    if (auto found = Finder(function, true, true).findWindows())
      return found;
    return Finder(function, true, false).findWindows();
  }
  std::optional<Partition> best;
  std::pair<double, int64_t> most; // work, and of as much the trips: the smallest bodies
  for (BlockArgument argument : function.getArguments()) {
    const auto shape = ir::shapeOf(argument);
    for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis) {
      if (shape[axis] < 2)
        continue;
      std::optional<Partition> found = Finder(function, false, false).find(argument, axis);
      if (!found)
        continue;
      const std::pair score(Finder::work(*found), found->tripsOf(argument));
      if (!best || score > most) {
        most = score;
        best = std::move(found);
      }
    }
  }
  return best;
}

} // namespace sluice::bodies
