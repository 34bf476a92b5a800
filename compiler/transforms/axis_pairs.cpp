#include "compiler/transforms/axis_pairs.h"

#include <map>

using namespace mlir;

namespace sluice::ir {
namespace {

/// The loops that run along the axes of a tensor.
class LoopsAlong {
public:
  LoopsAlong(const space::IndexSpace &space, const space::Projection &tensor) {
    for (const unsigned axis : llvm::seq(0U, tensor.rank())) {
      Axis &one = axes.emplace_back();
      int64_t elements = 1;
      for (const unsigned loop : llvm::seq(0U, tensor.loops())) {
        const int64_t step = tensor.step(axis, loop);
        if (step == 0)
          continue;
        one.loops.push_back(loop);
        one.whole &= step > 0;
        elements += step * (space.loops[loop].extent - 1);
      }
      llvm::sort(one.loops, [&](unsigned a, unsigned b) {
        return tensor.step(axis, a) > tensor.step(axis, b);
      });
      for (size_t i = 1; i < one.loops.size(); ++i) {
        const unsigned outer = one.loops[i - 1], inner = one.loops[i];
        one.whole &=
            tensor.step(axis, outer) == space.loops[inner].extent * tensor.step(axis, inner);
      }
      one.still = one.loops.empty() && tensor.tensor[axis] == 1;
      one.whole &= one.loops.empty() || tensor.step(axis, one.loops.back()) == 1;
      one.whole &= !one.loops.empty() && tensor.region[axis] == 1 && tensor.offset(axis) == 0 &&
                   elements == tensor.tensor[axis];
    }
  }

  struct Axis {
    llvm::SmallVector<unsigned, 1> loops; ///< the one that moves fastest last
    bool whole = true;                    ///< they run over all of it, in the order of its elements
    bool still = false;                   ///< of extent 1, along which none runs
  };
  llvm::SmallVector<Axis, 4> axes;

  [[nodiscard]] bool has(unsigned loop) const {
    return llvm::any_of(axes, [&](const Axis &one) { return llvm::is_contained(one.loops, loop); });
  }

  /// Whether one loop runs next outside the other, over all of what they run over.
  [[nodiscard]] bool areNeighbours(unsigned outer, unsigned inner) const {
    for (const size_t axis : llvm::seq(axes.size())) {
      const Axis &one = axes[axis];
      const auto *found = llvm::find(one.loops, outer);
      if (found == one.loops.end())
        continue;
      if (std::next(found) != one.loops.end())
        return *std::next(found) == inner && one.whole;
      return axis + 1 < axes.size() && !axes[axis + 1].loops.empty() &&
             axes[axis + 1].loops.front() == inner && one.whole && axes[axis + 1].whole;
    }
    return false;
  }
};

} // namespace

/// What one operation says.
class AxisPairs::Look {
public:
  Look(AxisPairs &pairs, Operation &op, const space::IndexSpace &space)
      : pairs(pairs), op(op), space(space) {
    for (const space::Projection &one : space.operands)
      tensors.emplace_back(space, one);
    tensors.emplace_back(space, space.results.front());
  }

  void run() {
    for (const size_t i : llvm::seq(tensors.size()))
      lookAt(i);
    for (const auto &[loops, pair] : ofLoops)
      if (!areOne(loops.first, loops.second))
        pairs.toldApart.push_back(pair);
  }

private:
  AxisPairs &pairs;
  Operation &op;
  const space::IndexSpace &space;
  llvm::SmallVector<LoopsAlong, 3> tensors; ///< of the operands, then of the result
  std::map<std::pair<unsigned, unsigned>, unsigned> ofLoops;

  unsigned pairOf(unsigned outer, unsigned inner) {
    const auto [found, isNew] = ofLoops.try_emplace({outer, inner}, pairs.count);
    if (isNew)
      pairs.newPairs(1);
    return found->second;
  }

  /// The operation does the same with both, and every tensor has them next to each other.
  [[nodiscard]] bool areOne(unsigned outer, unsigned inner) const {
    const space::Loop &a = space.loops[outer], &b = space.loops[inner];
    return a.kind == b.kind && a.batch == b.batch &&
           (a.kind != space::LoopKind::Reduced || a.monoid == b.monoid) &&
           llvm::all_of(tensors, [&](const LoopsAlong &tensor) {
             return (!tensor.has(outer) && !tensor.has(inner)) ||
                    tensor.areNeighbours(outer, inner);
           });
  }

  void lookAt(size_t i) {
    const bool isResult = i == op.getNumOperands();
    const Value value = isResult ? op.getResult(0) : op.getOperand(i);
    const auto &axes = tensors[i].axes;
    llvm::SmallVector<std::optional<unsigned>> found;
    for (size_t axis = 0; axis + 1 < axes.size(); ++axis)
      found.push_back(between(i, axis));
    for (size_t axis = 0; axis < axes.size(); ++axis)
      within(axes, axis);
    if (isConstant(value)) {
      pairs.ofConstants[&op.getOpOperand(i)] = std::move(found);
      return;
    }
    for (auto [axis, pair] : llvm::enumerate(found)) {
      const unsigned own = pairs.pairs[value] + static_cast<unsigned>(axis);
      if (pair)
        pairs.classes.join(own, *pair);
      else
        pairs.toldApart.push_back(own);
    }
  }

  /// The loops whose pair an axis and the next one are.
  std::optional<unsigned> between(size_t i, size_t axis) {
    const auto &axes = tensors[i].axes;
    if (axes[axis].still && axes[axis + 1].still)
      return betweenStill(i, axis);
    if (axes[axis].loops.empty() || axes[axis + 1].loops.empty())
      return std::nullopt;
    return pairOf(axes[axis].loops.back(), axes[axis + 1].loops.front());
  }

  /// Along two axes of extent 1 no loop runs: they are those of another tensor of this rank,
  /// which has the same loops along all other axes, as a broadcast's operand or what a
  /// reduction keeps.
  std::optional<unsigned> betweenStill(size_t i, size_t axis) {
    const auto &axes = tensors[i].axes;
    for (const LoopsAlong &other : tensors) {
      if (other.axes.size() != axes.size() || other.axes[axis].loops.size() != 1 ||
          other.axes[axis + 1].loops.size() != 1)
        continue;
      const bool same = llvm::all_of(llvm::zip_equal(axes, other.axes), [](const auto &both) {
        const auto &[one, with] = both;
        return one.still || one.loops == with.loops;
      });
      if (same)
        return pairOf(other.axes[axis].loops.front(), other.axes[axis + 1].loops.front());
    }
    return std::nullopt;
  }

  /// Several loops along one axis: a reshape takes it apart. The axes beside it are merged with
  /// it only where it stays whole, so that no lanes move that did not.
  void within(llvm::ArrayRef<LoopsAlong::Axis> axes, size_t axis) {
    const auto &loops = axes[axis].loops;
    for (size_t next = 1; next < loops.size(); ++next) {
      const unsigned inside = pairOf(loops[next - 1], loops[next]);
      pairs.takenApart.push_back(inside);
      if (axis > 0 && !axes[axis - 1].loops.empty())
        pairs.needs.push_back({pairOf(axes[axis - 1].loops.back(), loops.front()), inside});
      if (axis + 1 < axes.size() && !axes[axis + 1].loops.empty())
        pairs.needs.push_back({pairOf(loops.back(), axes[axis + 1].loops.front()), inside});
    }
  }
};

AxisPairs::AxisPairs(Block &block) {
  for (BlockArgument argument : block.getArguments())
    add(argument);
  for (Operation &op : block)
    for (Value result : op.getResults())
      add(result);
  for (Operation &op : block.without_terminator())
    if (!llvm::all_of(op.getResults(), isConstant))
      look(op);
  classes.compress();
  apart.resize(classes.getNumClasses());
  for (const unsigned pair : toldApart)
    apart.set(classes[pair]);
  for (auto &[one, needed] : needs)
    one = classes[one], needed = classes[needed];
  closeOver(apart, [](Need need) { return need; });
  reshaped.resize(classes.getNumClasses());
  for (const unsigned pair : takenApart)
    reshaped.set(classes[pair]);
}

std::optional<unsigned> AxisPairs::classOf(OpOperand &constant, int64_t axis) const {
  const auto found = ofConstants.find(&constant);
  if (found == ofConstants.end() || !found->second[axis])
    return std::nullopt;
  return classes[*found->second[axis]];
}

void AxisPairs::addNeeded(llvm::BitVector &merged) const {
  closeOver(merged, [](Need need) { return Need{need.needed, need.one}; });
}

void AxisPairs::closeOver(llvm::BitVector &set, llvm::function_ref<Need(Need)> turned) const {
  for (bool more = true; more;) {
    more = false;
    for (const Need &need : needs) {
      const auto [one, needed] = turned(need);
      if (!set.test(needed) || set.test(one))
        continue;
      set.set(one);
      more = true;
    }
  }
}

unsigned AxisPairs::newPairs(unsigned more) {
  const unsigned first = count;
  classes.grow(count += more);
  return first;
}

void AxisPairs::add(Value value) {
  if (isConstant(value))
    return;
  const auto rank = static_cast<unsigned>(shapeOf(value).size());
  pairs[value] = newPairs(rank == 0 ? 0 : rank - 1);
  if (isPinned(value))
    tellApart(value);
}

void AxisPairs::tellApart(Value value) {
  if (isConstant(value))
    return;
  for (size_t axis = 1; axis < shapeOf(value).size(); ++axis)
    toldApart.push_back(pairs[value] + static_cast<unsigned>(axis) - 1);
}

void AxisPairs::look(Operation &op) {
  auto computing = llvm::dyn_cast<IndexSpaceInterface>(op);
  if (!computing || !computing.canMergeAxes()) {
    for (Value operand : op.getOperands())
      tellApart(operand);
    for (Value result : op.getResults())
      tellApart(result);
    return;
  }
  Look(*this, op, computing.indexSpace()).run();
}

} // namespace sluice::ir
