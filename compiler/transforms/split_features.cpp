#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/selection.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_SPLITFEATURES
#include "compiler/transforms/passes.h.inc"

namespace {

/// Where the parts of a tensor begin along its data dimension, all but the first: ascending.
using Cuts = llvm::SmallVector<int64_t, 4>;

/// What moving a row between lanes costs, in beats: the results wait for another pass through the
/// matrix unit.
constexpr int64_t kBeatsPerMove = 8;

void unite(Cuts &cuts, llvm::ArrayRef<int64_t> more) {
  cuts.append(more.begin(), more.end());
  llvm::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
}

/// Cuts between two indices, counted from the first of them.
Cuts cutsWithin(llvm::ArrayRef<int64_t> cuts, int64_t first, int64_t end) {
  Cuts within;
  for (const int64_t cut : cuts)
    if (cut > first && cut < end)
      within.push_back(cut - first);
  return within;
}

/// The axis along the lanes; none of a constant or a scalar.
std::optional<unsigned> featuresOf(Value value) {
  const auto dim = dataDim(value);
  return dim && !shapeOf(value).empty() ? std::optional(static_cast<unsigned>(*dim)) : std::nullopt;
}

int64_t dimExtent(Value value) { return shapeOf(value)[*featuresOf(value)]; }

/// A range of indices along the data dimension.
struct Range {
  int64_t first, size;
};

/// The parts that cuts make.
llvm::SmallVector<Range> rangesOf(llvm::ArrayRef<int64_t> cuts, int64_t extent) {
  llvm::SmallVector<Range> ranges;
  int64_t first = 0;
  for (const int64_t cut : cuts) {
    ranges.push_back({first, cut - first});
    first = cut;
  }
  ranges.push_back({first, extent - first});
  return ranges;
}

/// What a slice selects along the data dimension, if it selects neighbours, and not all.
std::optional<Range> selectedFeatures(Operation *op) {
  auto slice = llvm::dyn_cast<SliceOp>(op);
  const auto dim = slice ? featuresOf(slice.getInput()) : std::nullopt;
  if (!dim || slice.getSizes()[*dim] == dimExtent(slice.getInput()) ||
      (slice.getSteps()[*dim] != 1 && slice.getSizes()[*dim] > 1))
    return std::nullopt;
  return Range{slice.getStarts()[*dim], slice.getSizes()[*dim]};
}

/// How a part of a result along its data dimension is computed from parts of the operands.
class PartRule {
public:
  /// Nothing if the operation cannot compute a part of its result alone.
  static std::optional<PartRule> of(Operation *op) {
    auto spaced = llvm::dyn_cast<IndexSpaceInterface>(op);
    if (!spaced || op->getNumResults() != 1 || !featuresOf(op->getResult(0)) ||
        isPinned(op->getResult(0)))
      return std::nullopt;
    PartRule rule;
    rule.dim = *featuresOf(op->getResult(0));
    rule.space = spaced.indexSpace();
    const auto loop = rule.space.results.front().loopAlong(rule.dim);
    if (!loop)
      return std::nullopt;
    for (const space::Projection &operand : rule.space.operands) {
      const auto axis = operand.axisAlong(*loop);
      if (operand.moves(*loop) &&
          (!axis || operand.tensor[*axis] != rule.space.loops[*loop].extent))
        return std::nullopt;
      rule.axes.push_back(axis);
    }
    return rule;
  }

  /// The axis along which an operand is cut; none if every part reads all of it.
  [[nodiscard]] std::optional<unsigned> axisOf(unsigned operand) const { return axes[operand]; }

  /// Whether the operand has to be in parts. Other operands are sliced at no cost: constants, and
  /// tensors whose rows the slice leaves whole.
  [[nodiscard]] bool needsParts(OpOperand &operand) const {
    const auto axis = axes[operand.getOperandNumber()];
    return axis && featuresOf(operand.get()) == axis;
  }

  /// Beats for each row of the result.
  [[nodiscard]] int64_t beatsPerRow(int64_t lanes, ValueRange operands) const {
    if (space.work == space::Work::Address)
      return 0;
    int64_t beats = 1;
    for (auto [index, loop] : llvm::enumerate(space.loops)) {
      if (loop.kind != space::LoopKind::Reduced)
        continue;
      const bool alongLanes =
          llvm::any_of(llvm::zip_equal(space.operands, operands), [&](auto pair) {
            const auto &[projection, value] = pair;
            const auto features = featuresOf(value);
            return features && projection.loopAlong(*features) == index;
          });
      beats *= alongLanes ? llvm::divideCeilSigned(loop.extent, lanes) : loop.extent;
    }
    return beats;
  }

private:
  unsigned dim = 0;
  space::IndexSpace space;
  llvm::SmallVector<std::optional<unsigned>, 2> axes;
};

/// Finds the tensors that only slices along the data dimension and tensors in the same parts read,
/// and computes their parts.
class Splitting {
public:
  Splitting(Block &block, int64_t lanes) : block(block), lanes(lanes) {}

  void run() {
    if (llvm::none_of(block, [](Operation &op) { return selectedFeatures(&op).has_value(); }))
      return;
    for (Operation &op : block)
      if (auto rule = PartRule::of(&op))
        rules.try_emplace(&op, std::move(*rule));
    do {
      parts.clear();
      for (Operation &op : llvm::reverse(block))
        if (rules.contains(&op) || selectedFeatures(&op))
          demandParts(op.getResult(0));
    } while (correct());
    keepWorthwhile();
    if (!parts.empty())
      build();
  }

private:
  /// The operation computes the operand's parts only, and none of the whole.
  bool readsParts(OpOperand &use) const {
    Operation *user = use.getOwner();
    const auto rule = rules.find(user);
    return rule != rules.end() && parts.contains(user->getResult(0)) &&
           rule->second.needsParts(use);
  }

  /// Puts a value into parts if every use allows it.
  void demandParts(Value value) {
    if (whole.contains(value))
      return;
    Cuts cuts = refined.lookup(value);
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (const auto range = selectedFeatures(user)) {
        for (const int64_t end : {range->first, range->first + range->size})
          if (end > 0 && end < dimExtent(value))
            unite(cuts, end);
        for (const int64_t cut : parts.lookup(user->getResult(0)))
          unite(cuts, range->first + cut);
      } else if (readsParts(use)) {
        unite(cuts, parts.lookup(user->getResult(0)));
      } else {
        return;
      }
    }
    if (!cuts.empty())
      parts[value] = std::move(cuts);
  }

  /// Whether something had to be corrected: a value in parts has operands in the same parts.
  bool correct() {
    bool changed = false;
    const auto forbid = [&](Value value) {
      parts.erase(value);
      changed |= whole.insert(value).second;
    };
    for (Operation &op : block) {
      if (op.getNumResults() != 1)
        continue;
      const Value result = op.getResult(0);
      if (const auto range = selectedFeatures(&op)) {
        const auto from = parts.find(op.getOperand(0));
        if (from == parts.end()) {
          if (parts.contains(result))
            forbid(result);
          continue;
        }
        const Cuts inside = cutsWithin(from->second, range->first, range->first + range->size);
        const auto found = parts.find(result);
        if (found == parts.end() ? !inside.empty() : found->second.size() > inside.size())
          forbid(op.getOperand(0));
        else if (found != parts.end() && found->second != inside)
          changed |= refine(result, inside);
        continue;
      }
      if (!parts.contains(result))
        continue;
      for (OpOperand &operand : op.getOpOperands()) {
        if (!rules.at(&op).needsParts(operand))
          continue;
        const auto from = parts.find(operand.get());
        if (from == parts.end()) {
          forbid(result);
          break;
        }
        if (from->second != parts.lookup(result))
          changed |= refine(result, from->second);
      }
    }
    return changed;
  }

  bool refine(Value value, llvm::ArrayRef<int64_t> cuts) {
    Cuts &known = refined[value];
    const size_t before = known.size();
    unite(known, cuts);
    return known.size() > before;
  }

  /// Drops groups of values whose parts cost more than the moves between lanes that they save.
  void keepWorthwhile() {
    llvm::EquivalenceClasses<const void *> groups;
    const auto key = [](Value value) { return value.getAsOpaquePointer(); };
    for (const auto &[value, cuts] : parts) {
      groups.insert(key(value));
      for (Value operand : value.getDefiningOp()->getOperands())
        if (parts.contains(operand))
          groups.unionSets(key(value), key(operand));
    }
    llvm::DenseMap<const void *, int64_t> gain; // by the leader of a group, in beats
    for (const auto &[value, cuts] : parts)
      gain[groups.getLeaderValue(key(value))] += movesOf(value) * kBeatsPerMove - moreBeats(value);
    llvm::SmallVector<Value> dropped;
    for (const auto &[value, cuts] : parts)
      if (gain.lookup(groups.getLeaderValue(key(value))) <= 0)
        dropped.push_back(value);
    for (const Value value : dropped)
      parts.erase(value);
  }

  /// Rows that move between lanes for slices of a value.
  int64_t movesOf(Value value) const {
    int64_t moves = 0;
    for (Operation *user : value.getUsers())
      if (const auto range = selectedFeatures(user); range && range->first % lanes != 0)
        moves += rowsOf(user->getResult(0), {});
    return moves;
  }

  /// Beats that the parts of a value take beyond those of the whole.
  int64_t moreBeats(Value value) const {
    Operation *op = value.getDefiningOp();
    const auto rule = rules.find(op);
    return rule == rules.end() ? 0
                               : (rowsOf(value, parts.lookup(value)) - rowsOf(value, {})) *
                                     rule->second.beatsPerRow(lanes, op->getOperands());
  }

  int64_t rowsOf(Value value, llvm::ArrayRef<int64_t> cuts) const {
    int64_t rows = 0;
    for (const Range range : rangesOf(cuts, dimExtent(value)))
      rows += llvm::divideCeilSigned(range.size, lanes);
    return rows * (typeOf(value).getNumElements() / dimExtent(value));
  }

  void build() {
    llvm::SmallVector<Operation *> old;
    for (Operation &op : block)
      if (op.getNumResults() == 1 && (parts.contains(op.getResult(0)) || isSliceOfParts(op)))
        old.push_back(&op);
    for (Operation *op : old)
      selectedFeatures(op) ? selectParts(llvm::cast<SliceOp>(op)) : computeParts(op);
    for (Operation *op : llvm::reverse(old))
      op->erase();
    for (Operation *op : llvm::reverse(made))
      if (op->use_empty())
        op->erase();
  }

  bool isSliceOfParts(Operation &op) const {
    return selectedFeatures(&op) && parts.contains(op.getOperand(0));
  }

  Value slice(OpBuilder &builder, Value value, unsigned axis, Range range) {
    const Value part = slicedAlong(builder, value.getLoc(), value, axis, range.first, range.size);
    made.push_back(part.getDefiningOp()); // a slice: no part is the whole
    return part;
  }

  void computeParts(Operation *op) {
    const Value result = op->getResult(0);
    const unsigned dim = *featuresOf(result);
    OpBuilder builder(op);
    llvm::SmallVector<Value> all;
    for (auto [index, range] : llvm::enumerate(rangesOf(parts.lookup(result), dimExtent(result)))) {
      llvm::SmallVector<Value> operands;
      for (OpOperand &operand : op->getOpOperands()) {
        const auto axis = rules.at(op).axisOf(operand.getOperandNumber());
        operands.push_back(!axis ? operand.get()
                           : rules.at(op).needsParts(operand)
                               ? built.at(operand.get())[index]
                               : slice(builder, operand.get(), *axis, range));
      }
      made.push_back(
          llvm::cast<IndexSpaceInterface>(op).resized(builder, operands, dim, range.size));
      all.push_back(made.back()->getResult(0));
    }
    built.try_emplace(result, std::move(all));
  }

  /// A slice along the data dimension selects whole parts.
  void selectParts(SliceOp op) {
    const Range range = *selectedFeatures(op);
    const unsigned dim = *featuresOf(op.getInput());
    OpBuilder builder(op);
    llvm::SmallVector<Value> selected;
    for (auto [part, own] :
         llvm::zip_equal(built.at(op.getInput()),
                         rangesOf(parts.lookup(op.getInput()), dimExtent(op.getInput())))) {
      if (own.first < range.first || own.first >= range.first + range.size)
        continue;
      Selection selection(op);
      selection.take(dim, 0, own.size, 1);
      selected.push_back(sliced(builder, op.getLoc(), part, selection));
      if (selected.back() != part)
        made.push_back(selected.back().getDefiningOp());
    }
    if (!parts.contains(op.getResult())) {
      keepModelTensor(op.getResult(), selected.front());
      op.getResult().replaceAllUsesWith(selected.front());
    }
    built.try_emplace(op.getResult(), std::move(selected));
  }

  Block &block;
  int64_t lanes;
  llvm::DenseMap<Operation *, PartRule> rules;
  llvm::DenseMap<Value, Cuts> parts;   ///< of values that are computed in parts
  llvm::DenseSet<Value> whole;         ///< values that cannot be
  llvm::DenseMap<Value, Cuts> refined; ///< cuts that values need beside those of their uses
  llvm::DenseMap<Value, llvm::SmallVector<Value>> built;
  llvm::SmallVector<Operation *> made;
};

struct SplitFeatures : impl::SplitFeaturesBase<SplitFeatures> {
  using SplitFeaturesBase::SplitFeaturesBase;

  void runOnOperation() override {
    if (!getOperation().isExternal())
      Splitting(getOperation().getFunctionBody().front(), lanes).run();
  }
};

} // namespace
} // namespace sluice::ir
