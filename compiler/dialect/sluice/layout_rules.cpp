// The data-dimension rules of maps, reductions and selections. The rules of
// contractions are in layout_contract.cpp.
#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/shapes.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sluice::ir {
namespace {

int64_t rank(llvm::ArrayRef<int64_t> shape) { return static_cast<int64_t>(shape.size()); }

/// Whether a value is computed from constants alone.
bool isKnown(Value value) {
  Operation *op = value.getDefiningOp();
  return op && (llvm::isa<ConstantOp>(op) ||
                (op->getNumOperands() > 0 && llvm::all_of(op->getOperands(), isKnown)));
}

/// Adds one tuple of an operation with a single runtime operand.
void addView(LayoutRelation &relation, int64_t from, int64_t to, llvm::StringLiteral rule,
             llvm::StringRef why, int64_t cost) {
  relation.push_back({{static_cast<int8_t>(from), static_cast<int8_t>(to)}, rule, why, cost});
}

/// Every runtime operand and the result have the same data dimension.
template <typename Cost>
void addEqual(const LayoutQuery &query, LayoutRelation &relation, llvm::StringLiteral rule,
              llvm::StringRef why, Cost cost) {
  for (int64_t dim = 0; dim < rank(query.result); ++dim) {
    LayoutTuple tuple{{}, rule, why, cost(dim)};
    for (bool constant : query.constant)
      tuple.dims.push_back(constant ? kNoDim : static_cast<int8_t>(dim));
    tuple.dims.push_back(static_cast<int8_t>(dim));
    relation.push_back(std::move(tuple));
  }
}

/// The stride rule, for reshape and for what is one: input axis -> result axis.
void addReshape(const LayoutQuery &query, llvm::ArrayRef<int64_t> from, LayoutRelation &relation,
                llvm::StringLiteral rule) {
  for (int64_t dim = 0; dim < rank(from); ++dim)
    if (auto to = reshapeDim(from, dim, query.result))
      addView(relation, dim, *to, rule, "the stride of the data dimension is kept",
              from[dim] == query.result[*to] ? 0 : query.rows(query.result, *to));
}

/// Axes of a reshape's input that become one axis of its result.
struct Merged {
  int64_t first = 0, count = 0; ///< of the input
  int64_t to = 0;               ///< of the result
};

/// The axis of a product's operand `side` that is contracted with axis `axis` of
/// the other operand; -1 if that is not contracted.
int64_t contractedAxis(Operation *op, unsigned side, int64_t axis) {
  if (auto matmul = llvm::dyn_cast<MatmulOp>(op)) {
    const int64_t own = rank(shapeOf(op->getOperand(side))),
                  other = rank(shapeOf(op->getOperand(1 - side)));
    const auto inner = [](int64_t axes, unsigned which) {
      return which == 0 || axes == 1 ? axes - 1 : axes - 2;
    };
    return axis == inner(other, 1 - side) ? inner(own, side) : -1;
  }
  return -1;
}

/// The merging of a reshape whose result goes into products with constants only,
/// contracted along the merged axis.
std::optional<Merged> mergedAxes(ReshapeOp op) {
  const ExtentsRef from = shapeOf(op.getInput()), to = shapeOf(op.getResult());
  // Extents that agree from both ends, those of 1 in the result aside.
  Merged merged;
  int64_t low = 0, left = 0;
  const auto skipOnes = [&](int64_t axis) {
    while (axis < rank(to) && to[axis] == 1)
      ++axis;
    return axis;
  };
  left = skipOnes(0);
  while (low < rank(from) && left < rank(to) && from[low] == to[left]) {
    ++low;
    left = skipOnes(left + 1);
  }
  if (left == rank(to))
    return std::nullopt;
  merged.first = low;
  merged.to = left;
  int64_t product = 1;
  while (low < rank(from) && product < to[left])
    product *= from[low++];
  merged.count = low - merged.first;
  if (product != to[left] || merged.count < 2)
    return std::nullopt;
  const bool used = llvm::all_of(op.getResult().getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return user->getNumOperands() == 2 && isKnown(user->getOperand(1 - use.getOperandNumber())) &&
           contractedAxis(user, 1 - use.getOperandNumber(), merged.to) >= 0;
  });
  return used && !op.getResult().use_empty() ? std::optional(merged) : std::nullopt;
}

} // namespace

//===-- map, concat, pad ----------------------------------------------------------------------===//

void MapOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  addEqual(query, relation, "DD-PW", "pointwise operands agree",
           [&](int64_t dim) { return query.rows(query.result, dim); });
}

LayoutRefusal MapOp::layoutRefusal(const LayoutQuery &) {
  return refusal("DD-PW", "operands of a pointwise operation have different data dimensions");
}

void ConcatOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  const auto axis = static_cast<int64_t>(getAxis());
  addEqual(query, relation, "DD-CONCAT", "concatenated tensors agree",
           [&](int64_t dim) { return dim == axis ? query.rows(query.result, dim) : 0; });
}

LayoutRefusal ConcatOp::layoutRefusal(const LayoutQuery &) {
  return refusal("DD-CONCAT", "concatenated tensors have different data dimensions");
}

void PadOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  addEqual(query, relation, "DD-CONCAT", "a border keeps the data dimension", [&](int64_t dim) {
    return query.operands[0][dim] == query.result[dim] ? 0 : query.rows(query.result, dim);
  });
}

//===-- reduce --------------------------------------------------------------------------------===//

void ReduceOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  llvm::SmallVector<int64_t, 4> kept(query.operands[0]);
  for (int64_t axis : getAxes())
    kept[axis] = 1;
  for (int64_t dim = 0; dim < rank(kept); ++dim) {
    const bool along = llvm::is_contained(getAxes(), dim);
    std::optional<int64_t> to = dim;
    if (!getKeepdims() && along)
      to = reshapeDim(kept, dim, query.result);
    else if (!getKeepdims())
      to = dim - llvm::count_if(getAxes(), [&](int64_t axis) { return axis < dim; });
    if (to)
      addView(relation, dim, *to, "DD-REDUCE",
              along ? "reduced along the data dimension, which keeps its place"
                    : "the reduction keeps the data dimension",
              query.rows(query.operands[0], dim) +
                  // One lane of every row has to be gathered into the lanes.
                  (along && !getKeepdims() ? query.rows(kept, dim) : 0));
  }
}

LayoutRefusal ReduceOp::layoutRefusal(const LayoutQuery &) {
  return refusal("DD-REDUCE", "a reduction over the data dimension drops its axis");
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
                  {}};
    for (int64_t to = 0; to < rank(query.result); ++to)
      addView(fix.relation, dim, to, "DD-REDUCE",
              "reduced along the data dimension, which keeps its place",
              query.rows(query.operands[0], dim));
    fixes.push_back(std::move(fix));
  }
}

//===-- affine selections ---------------------------------------------------------------------===//

void TransposeOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  if (getPermutation().empty())
    return addView(relation, 0, 0, "DD-TRANS", "the data dimension moves with its axis", 0);
  for (auto [to, from] : llvm::enumerate(getPermutation()))
    addView(relation, from, static_cast<int64_t>(to), "DD-TRANS",
            "the data dimension moves with its axis", 0);
}

void ReverseOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  addEqual(query, relation, "DD-SLICE", "a selection keeps the data dimension", [&](int64_t dim) {
    const bool along = llvm::is_contained(getAxes(), dim) && query.result[dim] != 1;
    return along ? query.rows(query.result, dim) : 0;
  });
}

void SliceOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  addEqual(query, relation, "DD-SLICE", "a selection keeps the data dimension", [&](int64_t dim) {
    // Rank 0 has no starts.
    const bool whole = query.operands[0][dim] == query.result[dim] &&
                       (getStarts().empty() || getStarts()[dim] == 0);
    return whole ? 0 : query.rows(query.result, dim);
  });
}

void BroadcastOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  addEqual(query, relation, "DD-BCAST", "a broadcast keeps the data dimension", [&](int64_t dim) {
    return query.operands[0][dim] == query.result[dim] ? 0 : query.rows(query.operands[0], dim);
  });
}

void RelayoutOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  for (int64_t from = 0; from < rank(query.result); ++from)
    for (int64_t to = 0; to < rank(query.result); ++to)
      if (from != to)
        addView(relation, from, to, "DD-RELAYOUT", "moved by --rewrite-layout",
                relayoutCost(query.result, from, to, query).cycles);
}

//===-- reshapes ------------------------------------------------------------------------------===//

void UnsqueezeOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  // Rank 0 is carried as [1], which is no axis of the tensor: its place among
  // the new axes is a reshape's.
  if (shapeOf(getInput()).empty())
    return addReshape(query, query.operands[0], relation, "DD-UNSQ");
  int64_t from = 0;
  for (int64_t to = 0; to < rank(query.result); ++to)
    if (!llvm::is_contained(getAxes(), to))
      addView(relation, from++, to, "DD-UNSQ", "a new axis is never the data dimension", 0);
}

void SqueezeOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  addReshape(query, query.operands[0], relation, "DD-SQZ");
}

LayoutRefusal SqueezeOp::layoutRefusal(const LayoutQuery &query) {
  return refusal("DD-SQZ", "squeezing the data dimension loses its stride");
}

void ReshapeOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  addReshape(query, query.operands[0], relation, "DD-RESHAPE");
  const auto merged = query.allowRewrites ? mergedAxes(*this) : std::nullopt;
  if (!merged)
    return;
  // The last of the merged axes keeps its stride by itself.
  for (int64_t dim = merged->first; dim + 1 < merged->first + merged->count; ++dim) {
    LayoutTuple tuple{{static_cast<int8_t>(dim), static_cast<int8_t>(merged->to)},
                      "DD-RESHAPE",
                      "elements in another order, as the constants of the products behind",
                      0};
    tuple.rewrite = "transpose of the constants behind the reshape";
    relation.push_back(std::move(tuple));
  }
}

Value ReshapeOp::rewriteLayout(OpBuilder &builder, const LayoutTuple &tuple) {
  // The axis with the data dimension becomes the last of those that merge.
  const Merged merged = *mergedAxes(*this);
  const ExtentsRef from = shapeOf(getInput());
  const int64_t dim = tuple.dims[0], last = merged.first + merged.count - 1;
  const auto move = [&](int64_t count, int64_t axis, int64_t end) {
    auto order = llvm::to_vector<4>(llvm::seq<int64_t>(0, count));
    order.erase(order.begin() + axis);
    order.insert(order.begin() + end, axis);
    return order;
  };
  const Value turned =
      builder.create<TransposeOp>(getLoc(), getInput(), move(rank(from), dim, last));
  const Value result = builder.create<ReshapeOp>(getLoc(), turned, shapeOf(getResult()));
  for (OpOperand &use : getResult().getUses()) {
    // The same order along the axis that the other side is contracted over.
    Operation *user = use.getOwner();
    const unsigned side = 1 - use.getOperandNumber();
    const Value weights = user->getOperand(side);
    const ExtentsRef shape = shapeOf(weights);
    const int64_t axis = contractedAxis(user, side, merged.to);
    Extents split(shape.begin(), shape.begin() + axis);
    split.append(from.begin() + merged.first, from.begin() + last + 1);
    split.append(shape.begin() + axis + 1, shape.end());
    builder.setInsertionPoint(user);
    Value moved = builder.create<ReshapeOp>(weights.getLoc(), weights, split);
    moved = builder.create<TransposeOp>(
        weights.getLoc(), moved,
        move(rank(split), axis + dim - merged.first, axis + last - merged.first));
    user->setOperand(side, builder.create<ReshapeOp>(weights.getLoc(), moved, shape));
  }
  builder.setInsertionPointAfter(result.getDefiningOp());
  return result;
}

LayoutRefusal ReshapeOp::layoutRefusal(const LayoutQuery &) {
  return refusal("DD-RESHAPE", "no axis after the reshape has the stride of the data dimension");
}

void ReshapeOp::layoutFixes(const LayoutQuery &query, llvm::SmallVectorImpl<LayoutFix> &fixes) {
  // Exchanging two axes before or after changes which element lands where; the
  // text says so.
  const Extents &from = query.operands[0], &to = query.result;
  auto exchange = [](int64_t dim, int64_t a, int64_t b) {
    return dim == a ? b : dim == b ? a : dim;
  };
  auto after = [&](int64_t a, int64_t b) {
    Extents target(to);
    std::swap(target[a], target[b]);
    LayoutFix fix{llvm::formatv("reshape to {0} and transpose axes {1} and {2}, if the model's "
                                "order of elements may change",
                                notation(target, std::nullopt), a, b),
                  {}};
    for (int64_t dim = 0; dim < rank(from); ++dim)
      if (auto moved = reshapeDim(from, dim, target))
        addView(fix.relation, dim, exchange(*moved, a, b), "DD-RESHAPE",
                "the stride of the data dimension is kept", 0);
    fixes.push_back(std::move(fix));
  };
  auto before = [&](int64_t a, int64_t b) {
    Extents source(from);
    std::swap(source[a], source[b]);
    LayoutFix fix{llvm::formatv("transpose axes {0} and {1} before the reshape, if the model's "
                                "order of elements may change",
                                a, b),
                  {}};
    for (int64_t dim = 0; dim < rank(from); ++dim)
      if (auto moved = reshapeDim(source, exchange(dim, a, b), to))
        addView(fix.relation, dim, *moved, "DD-RESHAPE", "the stride of the data dimension is kept",
                0);
    fixes.push_back(std::move(fix));
  };
  auto pairs = [](ExtentsRef shape, bool ones, llvm::function_ref<void(int64_t, int64_t)> add) {
    for (int64_t a = 0; a < rank(shape); ++a)
      for (int64_t b = a + 1; b < rank(shape); ++b)
        if ((shape[a] == 1 || shape[b] == 1) == ones)
          add(a, b);
  };
  // Axes of extent 1 last: to exchange them works, but is no way to write it.
  for (const bool ones : {false, true}) {
    pairs(to, ones, after);
    pairs(from, ones, before);
  }
}

} // namespace sluice::ir
