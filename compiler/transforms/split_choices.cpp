#include "compiler/transforms/passes.h"

#include <map>
#include <tuple>

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/monoids.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/selection.h"
#include "compiler/transforms/known_choices.h"
#include "compiler/transforms/line_writer.h"
#include "compiler/transforms/row_boxes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/addressing/addressing.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_SPLITCHOICES
#include "compiler/transforms/passes.h.inc"

namespace {

using Extents = llvm::SmallVector<int64_t, 4>;
using addressing::elementsOf;

/// Most pieces of one result: the time to compile a concatenation grows with its operands.
constexpr size_t kMostPieces = 1024;

/// Whether an operand may be read as a sum that is not rounded yet: a slice of it is rounded.
bool mayBeSum(Value value) {
  Operation *op = value.getDefiningOp();
  while (llvm::isa_and_nonnull<ViewInterface>(op)) {
    if (llvm::any_of(op->getOperands().drop_front(), mayBeSum))
      return true;
    op = op->getOperand(0).getDefiningOp();
  }
  return op && !llvm::isa<ConstantOp, MapOp>(op) && llvm::isa<IndexSpaceInterface>(op);
}

/// Builds what a map computes from pieces, one for each box of rows.
class Pieces {
public:
  Pieces(OpBuilder &builder, MapOp map, const KnownChoices &choices, int64_t dim)
      : builder(builder), map(map), choices(choices), dim(dim), write(builder, map.getLoc()) {}

  /// Returns the value of each box. `boxes` are boxes of the map; their numbers are variants.
  llvm::SmallVector<Value> build(llvm::ArrayRef<RowBox> boxes) {
    llvm::SmallVector<Value> values(boxes.size());
    std::map<std::pair<unsigned, int64_t>, llvm::SmallVector<size_t>> computed;
    for (auto [i, box] : llvm::enumerate(boxes))
      if (choices.variants()[box.number].isMoved())
        values[i] = choices.move(builder, box.number, box.elements);
      else
        computed[{box.number, box.elements.extents[dim]}].push_back(i);
    // One map computes all rows of a variant: the planner divides the rows of a map among the
    // cores.
    for (const auto &[key, members] : computed)
      if (readsSums(key.first))
        ofWhole(boxes, members, values);
      else if (members.size() == 1)
        values[members[0]] = ofSlices(boxes[members[0]]);
      else
        ofPacked(boxes, members, values);
    return values;
  }

private:
  OpBuilder &builder;
  MapOp map;
  const KnownChoices &choices;
  int64_t dim;
  LineWriter write;

  [[nodiscard]] bool readsSums(unsigned number) {
    return llvm::any_of(choices.variants()[number].operands,
                        [&](unsigned operand) { return mayBeSum(map.getInputs()[operand]); });
  }

  Value slice(Value value, const space::Region &box) {
    return sliced(builder, map.getLoc(), value, space::Selection::all(box));
  }

  /// Slices of a map of all elements, which reads sums before they are rounded to rows. No row is
  /// computed that nothing reads.
  void ofWhole(llvm::ArrayRef<RowBox> boxes, llvm::ArrayRef<size_t> members,
               llvm::MutableArrayRef<Value> values) {
    const Value whole = choices.compute(
        builder, boxes[members[0]].number, [](Value operand) { return operand; }, map.getType());
    for (const size_t i : members)
      values[i] = slice(whole, boxes[i].elements);
  }

  Value ofSlices(const RowBox &box) {
    return choices.compute(
        builder, box.number, [&](Value operand) { return slice(operand, box.elements); },
        withShape(map.getType(), box.elements.extents, dim));
  }

  /// Slices of a map of the elements of all boxes, line by line along the data dimension.
  void ofPacked(llvm::ArrayRef<RowBox> boxes, llvm::ArrayRef<size_t> members,
                llvm::MutableArrayRef<Value> values) {
    const int64_t extent = boxes[members[0]].elements.extents[dim];
    int64_t lines = 0;
    for (const size_t i : members)
      lines += boxes[i].elements.size() / extent;
    const auto packed = [&](Value operand) {
      llvm::SmallVector<Value> parts;
      for (const size_t i : members)
        parts.push_back(inLines(slice(operand, boxes[i].elements)));
      return withDim(builder.create<ConcatOp>(map.getLoc(), parts, 0),
                     dataDim(operand) ? std::optional<int64_t>(1) : std::nullopt);
    };
    const Value all = choices.compute(builder, boxes[members[0]].number, packed,
                                      withShape(map.getType(), {lines, extent}, 1));
    int64_t first = 0;
    for (const size_t i : members) {
      const int64_t count = boxes[i].elements.size() / extent;
      values[i] = fromLines(slice(all, {{first, 0}, {count, extent}}), boxes[i].elements.extents);
      first += count;
    }
  }

  /// The axes with the data dimension last.
  Extents lastOrder() {
    Extents order;
    for (int64_t axis = 0; axis < map.getType().getRank(); ++axis)
      if (axis != dim)
        order.push_back(axis);
    order.push_back(dim);
    return order;
  }

  Value inLines(Value value) {
    const auto dim = dataDim(value) ? std::optional<int64_t>(1) : std::nullopt;
    value = write.transpose(value, lastOrder());
    const auto shape = shapeOf(value);
    return write.reshape(value, {elementsOf(shape.drop_back()), shape.back()}, dim);
  }

  Value fromLines(Value lines, llvm::ArrayRef<int64_t> sizes) {
    const Extents order = lastOrder();
    lines = write.reshape(lines, applyPermutation(sizes, order), map.getType().getRank() - 1);
    return write.transpose(lines, invertPermutationVector(order));
  }
};

struct SplitChoices : impl::SplitChoicesBase<SplitChoices> {
  using SplitChoicesBase::SplitChoicesBase;

  void runOnOperation() override {
    if (splitAll<ReduceOp>() + splitAll<MapOp>() == 0)
      return;
    getOperation()->setAttr(kChoicesSplitAttr, UnitAttr::get(&getContext()));
    if (failed(simplify()))
      signalPassFailure();
  }

private:
  template <typename Op> unsigned splitAll() {
    unsigned changed = 0;
    for (Op op : llvm::to_vector(getOperation().getOps<Op>()))
      changed += split(op) ? 1 : 0;
    return changed;
  }

  /// The slices that the pieces read move towards the inputs, and maps of constants are known.
  LogicalResult simplify() {
    OpPassManager passes(func::FuncOp::getOperationName());
    passes.addPass(createRemoveDeadCode());
    SimplifyViewsOptions views;
    views.without = *without;
    passes.addPass(createFoldConstants());
    passes.addPass(createSimplifyViews(views));
    if (slicesBeforeProducts)
      passes.addPass(createSlicesBeforeProducts());
    passes.addPass(createFoldConstants());
    passes.addPass(createFuseMaps());
    return runPipeline(passes, getOperation());
  }

  bool split(MapOp map) {
    const std::optional<int64_t> dim = dataDim(map.getResult());
    if (!dim || shapeOf(map.getResult()).empty())
      return false;
    const std::optional<KnownChoices> choices = KnownChoices::of(map, *dim, lanes);
    if (!choices || !isWorthwhile(map, *choices))
      return false;
    const NumberedRows rows(shapeOf(map.getResult()), *dim, lanes, choices->numbers());
    const auto boxes = rows.boxes(kMostPieces);
    if (!boxes)
      return false;
    OpBuilder builder(map);
    const auto values = Pieces(builder, map, *choices, *dim).build(*boxes);
    replaceOp(map, rows.joined(builder, map.getLoc(), map.getType(), values));
    return true;
  }

  /// Whether every row needs at most the passes that it needed: a sum is rounded to a row where
  /// two variants read it, one of which computes.
  static bool isWorthwhile(MapOp map, const KnownChoices &choices) {
    if (llvm::all_of(choices.variants(),
                     [](const Variant &one) { return one.constant.has_value(); }))
      return false; // a constant
    for (unsigned operand = 0; operand < map.getInputs().size(); ++operand) {
      size_t readers = 0, computing = 0;
      for (const Variant &one : choices.variants())
        if (one.operands.contains(operand)) {
          ++readers;
          computing += one.isMoved() ? 0 : 1;
        }
      if (readers > 1 && computing != 0 && mayBeSum(map.getInputs()[operand]))
        return false;
    }
    return true;
  }

  /// A row of the result of a reduction: which row along the reduced axis, by which variant.
  struct Chosen {
    int64_t at;
    unsigned number;
    bool operator<(const Chosen &other) const {
      return std::tie(at, number) < std::tie(other.at, other.number);
    }
  };

  /// Where all rows but one are neutral, the result of the reduction is that row.
  bool split(ReduceOp reduce) {
    auto map = reduce.getInput().getDefiningOp<MapOp>();
    const std::optional<int64_t> dim = dataDim(reduce.getInput());
    const std::optional<double> neutral = neutralOf(reduce.getMonoid());
    if (!map || !map.getResult().hasOneUse() || !dim || !neutral || reduce.getAxes().size() != 1 ||
        reduce.getAxes().front() == *dim)
      return false;
    const std::optional<KnownChoices> choices = KnownChoices::of(map, *dim, lanes);
    if (!choices)
      return false;
    const int64_t axis = reduce.getAxes().front();
    std::vector<Chosen> kinds;
    const auto numbers = chosenRows(*choices, *neutral, axis, *dim, kinds);
    if (!numbers)
      return false;
    Extents shape(shapeOf(map.getResult()));
    shape[axis] = 1;
    const NumberedRows rows(shape, *dim, lanes, *numbers);
    auto boxes = rows.boxes(kMostPieces);
    if (!boxes)
      return false;
    for (RowBox &box : *boxes)
      std::tie(box.elements.start[axis], box.number) =
          std::pair(kinds[box.number].at, kinds[box.number].number);
    OpBuilder builder(reduce);
    const auto values = Pieces(builder, map, *choices, *dim).build(*boxes);
    replaceByKept(reduce, rows.joined(builder, reduce.getLoc(),
                                      withShape(map.getType(), shape, dim), values));
    map.erase();
    return true;
  }

  /// Numbers the rows of a reduction by what they are of its operand; nothing if one is of several
  /// rows.
  std::optional<std::vector<unsigned>> chosenRows(const KnownChoices &choices, double neutral,
                                                  int64_t axis, int64_t dim,
                                                  std::vector<Chosen> &kinds) {
    const std::vector<unsigned> &numbers = choices.numbers();
    const Extents cells = NumberedRows::extents(choices.shape(), dim, lanes);
    const int64_t extent = cells[axis];
    const int64_t inner = elementsOf(llvm::ArrayRef(cells).drop_front(axis + 1));
    std::map<Chosen, unsigned> known;
    std::vector<unsigned> found;
    bool reads = false;
    for (int64_t first = 0; first < static_cast<int64_t>(numbers.size()); first += extent * inner)
      for (int64_t i = first; i < first + inner; ++i) {
        std::optional<Chosen> row;
        for (int64_t k = 0; k < extent; ++k) {
          const unsigned number = numbers[i + k * inner];
          if (choices.variants()[number].constant == neutral)
            continue;
          if (row)
            return std::nullopt;
          row = Chosen{k, number};
        }
        reads |= row.has_value();
        const Chosen one = row.value_or(Chosen{0, numbers[i]});
        const auto [kind, added] = known.try_emplace(one, kinds.size());
        if (added)
          kinds.push_back(one);
        found.push_back(kind->second);
      }
    return reads ? std::optional(std::move(found)) : std::nullopt;
  }

  /// The value that changes no other one by a reduction.
  static std::optional<double> neutralOf(Monoid monoid) {
    return llvm::is_contained({Monoid::Sum, Monoid::Product, Monoid::Max, Monoid::Min}, monoid)
               ? std::optional(reference::definition(definedBy(monoid)).zero.value)
               : std::nullopt;
  }
};

} // namespace
} // namespace sluice::ir
