// The data-dimension rules of maps, reductions and selections. The rules of
// contractions are in layout_contract.cpp, those of concat in layout_concat.cpp.
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/shapes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sluice::ir {
namespace {

int64_t rank(llvm::ArrayRef<int64_t> shape) { return static_cast<int64_t>(shape.size()); }

/// Adds one tuple of an operation with a single runtime operand.
void addView(LayoutRelation &relation, int64_t from, int64_t to, llvm::StringLiteral rule,
             llvm::StringRef why, int64_t cost) {
  relation.push_back({{static_cast<int8_t>(from), static_cast<int8_t>(to)}, rule, why, cost});
}

/// Block products more than along full lanes, if axis `dim` of those that a reshape
/// merges into a summed one lies along them. Nothing if it is none of those.
std::optional<int64_t> costOfMerging(const LayoutQuery &query, llvm::ArrayRef<int64_t> from,
                                     int64_t dim, const SummedAxis &summed) {
  const auto axes = mergedAxes(from, query.result, summed.axis);
  if (!axes || !axes->contains(dim))
    return std::nullopt;
  const auto merged = from.slice(axes->first, axes->end - axes->first);
  return summed.products *
         (query.rows(merged, dim - axes->first) - query.rows(query.result[summed.axis], 0));
}

constexpr llvm::StringLiteral kKept = "the data dimension keeps its stride";

/// The stride rule, for reshape and for what is one: input axis -> result axis. And
/// where products with constants are all that reads the result: they select by their
/// weights, whichever of the axes that merge into the summed one lies along the lanes.
void addReshape(const LayoutQuery &query, llvm::ArrayRef<int64_t> from, LayoutRelation &relation,
                llvm::StringLiteral rule) {
  // The leftmost axis stays the choice where no operation asks for another one.
  if (llvm::all_of(from, [](int64_t extent) { return extent == 1; })) {
    for (int64_t dim = 0; dim < rank(from); ++dim)
      for (int64_t to = 0; to < rank(query.result); ++to)
        if (to == 0)
          addView(relation, dim, to, rule, kKept, 0);
        else
          addView(relation, dim, to, "DD-ONE", "a single element has no axis of its own", 1);
    return;
  }
  for (int64_t dim = 0; dim < rank(from); ++dim) {
    const auto kept = reshapeDim(from, dim, query.result);
    bool selected = false; // the lanes of `kept` by products
    for (const SummedAxis &summed : query.summed) {
      const auto cost = costOfMerging(query, from, dim, summed);
      if (cost && kept == summed.axis) {
        addView(relation, dim, *kept, rule, kKept, *cost);
        selected = true;
      } else if (cost) {
        addView(relation, dim, summed.axis, "DD-RESHAPE-MM",
                "only products with weights read the result, and they sum over the axes before the "
                "reshape",
                *cost);
      }
    }
    if (kept && !selected)
      addView(relation, dim, *kept, rule, kKept,
              from[dim] == query.result[*kept] ? 0 : query.rows(query.result, *kept));
  }
}

} // namespace

void addEqual(const LayoutQuery &query, LayoutRelation &relation, llvm::StringLiteral rule,
              llvm::StringRef why, llvm::function_ref<int64_t(int64_t)> cost) {
  for (int64_t dim = 0; dim < rank(query.result); ++dim) {
    LayoutTuple tuple{{}, rule, why, cost(dim)};
    for (bool constant : query.constant)
      tuple.dims.push_back(constant ? kNoDim : static_cast<int8_t>(dim));
    tuple.dims.push_back(static_cast<int8_t>(dim));
    relation.push_back(std::move(tuple));
  }
}

//===-- map, window ---------------------------------------------------------------------------===//

void MapOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  addEqual(query, relation, "DD-PW", "pointwise operands and result share one data dimension",
           [&](int64_t dim) { return query.rows(query.result, dim); });
}

void WindowOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  const int64_t axes = rank(query.operands[0]);
  for (int64_t dim = 0; dim < axes; ++dim) {
    const auto *along = llvm::find(getAxes(), dim);
    if (along == getAxes().end()) {
      addView(relation, dim, dim, "DD-WIN-KEEP", "no window runs along the data dimension", 0);
      continue;
    }
    // What is not selected by a product is moved from lane to lane.
    addView(relation, dim, dim, "DD-WIN-POS", "the window positions lie along the lanes",
            query.summed.empty() ? query.rows(query.result, dim) : 0);
    const int64_t element = axes + (along - getAxes().begin());
    addView(relation, dim, element, "DD-WIN-TAP", "the window elements lie along the lanes",
            query.summed.empty() ? query.rows(query.result, element) : 0);
  }
}

//===-- reduce --------------------------------------------------------------------------------===//

void ReduceOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  llvm::SmallVector<int64_t, 4> kept(query.operands[0]);
  for (int64_t axis : getAxes())
    kept[axis] = 1;
  const auto isReduced = [&](int64_t axis) { return llvm::is_contained(getAxes(), axis); };
  const auto place = [&](int64_t axis) -> std::optional<int64_t> {
    if (getKeepdims())
      return axis;
    if (isReduced(axis))
      return reshapeDim(kept, axis, query.result);
    return axis - llvm::count_if(getAxes(), [&](int64_t other) { return other < axis; });
  };
  for (int64_t dim = 0; dim < rank(kept); ++dim) {
    const auto add = [&](int64_t to, llvm::StringLiteral rule, llvm::StringRef why) {
      addView(
          relation, dim, to, rule, why,
          query.rows(query.operands[0], dim) +
              // One lane of every row is gathered into the lanes, as by a squeeze.
              (isReduced(dim) && kept[dim] != query.result[to] ? query.rows(query.result, to) : 0));
    };
    if (const auto to = place(dim))
      add(*to, "DD-REDUCE",
          isReduced(dim) ? "the reduced data dimension keeps its place"
                         : "the reduction keeps the data dimension");
    else {
      // It has extent 1 before it leaves, so it may take the place of an axis that does not.
      llvm::SmallSetVector<int64_t, 4> places;
      for (int64_t other = 0; other < rank(kept); ++other)
        if (const auto to = kept[other] == 1 ? place(other) : std::nullopt)
          places.insert(*to);
      for (int64_t to : places)
        add(to, "DD-ONE", "an axis of extent 1 takes the place of another");
    }
  }
}

/// Keeps the reduced axes, where nothing but the function's end and views that put
/// them back read the result.
static bool keepAxes(Operation *op) {
  auto reduce = llvm::cast<ReduceOp>(op);
  OpBuilder builder(op);
  const Value kept = builder.create<ReduceOp>(op->getLoc(), reduce.getMonoid(), reduce.getInput(),
                                              reduce.getAxes(), true);
  for (OpOperand &use : llvm::make_early_inc_range(reduce.getResult().getUses())) {
    Operation *user = use.getOwner();
    if (user->hasTrait<OpTrait::IsTerminator>())
      use.set(kept);
    else if (auto view = llvm::dyn_cast<ViewInterface>(user);
             view && view.isRearrangement() && shapeOf(user->getResult(0)) == shapeOf(kept) &&
             !dataDim(user->getResult(0))) // of another rank: the order stays
      user->getResult(0).replaceAllUsesWith(kept);
    else
      return false;
  }
  return true;
}

void ReduceOp::layoutFixes(const LayoutQuery &query, llvm::SmallVectorImpl<LayoutFix> &fixes) {
  if (getKeepdims())
    return;
  // The axis stays, so whatever takes the result takes another tensor: any
  // data dimension of the present result will do.
  Extents kept(query.operands[0]);
  for (int64_t axis : getAxes())
    kept[axis] = 1;
  for (int64_t dim : getAxes()) {
    LayoutFix fix{llvm::formatv("keep the reduced axes (keepdims=1) and use the result as {0}",
                                notation(kept, dim)),
                  {},
                  keepAxes};
    for (int64_t to = 0; to < rank(query.result); ++to)
      addView(fix.relation, dim, to, "DD-REDUCE", "the reduced data dimension keeps its place",
              query.rows(query.operands[0], dim));
    fixes.push_back(std::move(fix));
  }
}

//===-- relayout ------------------------------------------------------------------------------===//

void RelayoutOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  for (int64_t from = 0; from < rank(query.result); ++from)
    for (int64_t to = 0; to < rank(query.result); ++to)
      if (from != to) {
        const bool isFree = query.result[from] == 1 && query.result[to] == 1;
        const int64_t cost = relayoutCost(query.result, from, to, query).cycles;
        if (isFree)
          addView(relation, from, to, "DD-ONE", "an axis of extent 1 takes the place of another",
                  cost);
        else
          addView(relation, from, to, "DD-RELAYOUT", "moved by --rewrite-layout", cost);
      }
}

//===-- reshapes ------------------------------------------------------------------------------===//

void UnsqueezeOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  // Rank 0 is carried as [1], which is no axis of the tensor: it may be any of the new axes.
  if (shapeOf(getInput()).empty()) {
    for (int64_t to = 0; to < rank(query.result); ++to)
      addView(relation, 0, to, "DD-UNSQ", "a single element has no axis of its own", 0);
    return;
  }
  int64_t from = 0;
  for (int64_t to = 0; to < rank(query.result); ++to)
    if (!llvm::is_contained(getAxes(), to))
      addView(relation, from++, to, "DD-UNSQ", "a new axis is never the data dimension", 0);
}

void SqueezeOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  const auto from = llvm::ArrayRef<int64_t>(query.operands[0]);
  addReshape(query, from, relation, "DD-SQZ");
  // Among axes of extent 1 strides do not tell which is which.
  int64_t to = 0;
  for (int64_t dim = 0; dim < rank(from); ++dim)
    if (!llvm::is_contained(getAxes(), dim)) {
      if (reshapeDim(from, dim, query.result) != to)
        addView(relation, dim, to, "DD-SQZ", kKept, 0);
      ++to;
    }
}

void ReshapeOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  addReshape(query, query.operands[0], relation, "DD-RESHAPE");
}

void ReshapeOp::layoutFixes(const LayoutQuery &query, llvm::SmallVectorImpl<LayoutFix> &fixes) {
  // Exchanging two axes before or after changes which element lands where; the
  // text says so.
  const Extents &from = query.operands[0], &to = query.result;
  const auto offer = [&](bool after, int64_t a, int64_t b) {
    Extents source(from), target(to);
    auto order = llvm::to_vector<4>(llvm::seq<int64_t>(0, rank(after ? to : from)));
    std::swap((after ? target : source)[a], (after ? target : source)[b]);
    std::swap(order[a], order[b]);
    const char *const text = after ? "reshape to {0} and transpose axes {1} and {2}, if the order "
                                     "of the elements may change"
                                   : "transpose axes {1} and {2} before the reshape, if the order "
                                     "of the elements may change";
    LayoutFix fix{llvm::formatv(text, notation(target), a, b), {}, [=](Operation *op) {
                    OpBuilder builder(op);
                    Value made = op->getOperand(0);
                    if (!after)
                      made = builder.create<TransposeOp>(op->getLoc(), made, order);
                    made = builder.create<ReshapeOp>(op->getLoc(), made, target);
                    if (after)
                      made = builder.create<TransposeOp>(op->getLoc(), made, order);
                    made.setType(typeOf(op->getResult(0)));
                    op->replaceAllUsesWith(ValueRange{made});
                    return true;
                  }};
    for (int64_t dim = 0; dim < rank(from); ++dim)
      if (auto moved = reshapeDim(source, after ? dim : order[dim], target))
        addView(fix.relation, dim, after ? order[*moved] : *moved, "DD-RESHAPE", kKept, 0);
    fixes.push_back(std::move(fix));
  };
  // Axes of extent 1 last: to exchange them works, but is no way to write it.
  for (const bool ones : {false, true})
    for (const bool after : {true, false}) {
      const Extents &shape = after ? to : from;
      for (int64_t a = 0; a < rank(shape); ++a)
        for (int64_t b = a + 1; b < rank(shape); ++b)
          if ((shape[a] == 1 || shape[b] == 1) == ones)
            offer(after, a, b);
    }
}

} // namespace sluice::ir
