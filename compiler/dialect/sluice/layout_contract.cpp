// The data-dimension rules of contractions: DD-MM-CONST and, gated, DD-MM-DYN.
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/shapes.h"

using namespace mlir;

namespace sluice::ir {
namespace {

/// What a loop of a contraction does. Batch loops are the '*' of the rules:
/// never the data dimension.
enum class Loop : uint8_t { Batch, Left, Right, Inner };

/// A contraction as loops: which loop runs along which axis. Axes that stand still
/// have one more, a batch loop of one step.
struct Contraction {
  llvm::SmallVector<Loop, 8> kinds; ///< of every loop
  Extents extents;                  ///< of every loop
  llvm::SmallVector<int64_t, 4> lhs, rhs;
  llvm::SmallVector<int64_t, 4> full;   ///< loops of the result before vectors lose their axis
  llvm::SmallVector<int64_t, 4> result; ///< loops of the result
};

Contraction contractionOf(const space::IndexSpace &space) {
  Contraction c;
  c.extents = space.extents();
  const auto still = static_cast<int64_t>(c.extents.size());
  const auto loops = [&](const space::Projection &tensor) {
    llvm::SmallVector<int64_t, 4> axes;
    for (unsigned axis = 0; axis < tensor.rank(); ++axis) {
      const auto loop = tensor.loopAlong(axis);
      axes.push_back(loop ? static_cast<int64_t>(*loop) : still);
    }
    return axes;
  };
  c.lhs = loops(space.operands[0]);
  c.rhs = loops(space.operands[1]);
  c.full = c.result = loops(space.results[0]);
  // A loop in no tensor is the axis of the operand that has none of its own.
  bool ownLeft = false;
  for (auto [index, loop] : llvm::enumerate(space.loops))
    ownLeft |= loop.kind == space::LoopKind::Parallel && !loop.batch &&
               llvm::is_contained(c.lhs, static_cast<int64_t>(index));
  for (auto [index, loop] : llvm::enumerate(space.loops)) {
    const auto own = static_cast<int64_t>(index);
    const bool right = llvm::is_contained(c.rhs, own);
    const bool lost = !right && !llvm::is_contained(c.lhs, own) && !loop.batch;
    if (loop.kind == space::LoopKind::Reduced)
      c.kinds.push_back(Loop::Inner);
    else if (loop.batch)
      c.kinds.push_back(Loop::Batch);
    else
      c.kinds.push_back(right || (lost && ownLeft) ? Loop::Right : Loop::Left);
    if (!lost)
      continue;
    ownLeft = true;
    c.full.insert(llvm::find_if(c.full, [&](int64_t other) { return other > own; }), own);
  }
  c.kinds.push_back(Loop::Batch);
  c.extents.push_back(1);
  return c;
}

/// Collects the tuples of one contraction.
class Rules {
public:
  /// `canSwap`: the operation has LayoutInterface::rewriteLayout.
  Rules(const space::IndexSpace &product, const LayoutQuery &query, bool canSwap,
        LayoutRelation &relation)
      : c(contractionOf(product)), query(query), canSwap(canSwap), relation(relation) {}

  void all() {
    if (query.constant[0] || query.constant[1])
      constantSide(query.constant[0]);
    else
      bothRuntime();
  }

  /// DD-MM-BAND for an operand that a window sees: the elements of the window along the data
  /// dimension are in the same rows or the next.
  void banded(WindowOp window) {
    const bool lhsConstant = query.constant[0];
    const auto &runtime = lhsConstant ? c.rhs : c.lhs;
    const Loop own = lhsConstant ? Loop::Right : Loop::Left;
    for (auto [axis, loop] : llvm::enumerate(runtime)) {
      if (c.kinds[loop] != own)
        continue;
      const auto dim = static_cast<int8_t>(axis);
      add(lhsConstant ? kNoDim : dim, lhsConstant ? dim : kNoDim, loop, "DD-MM-BAND",
          "banded weights: the result keeps the data dimension", loop);
      const auto *along = window ? llvm::find(window.getAxes(), dim) : nullptr;
      if (!along || along == window.getAxes().end())
        continue;
      const auto i = along - window.getAxes().begin();
      const int64_t size = window.getSizes()[i];
      const int64_t seen =
          (query.lanes - 1) * window.getStrides()[i] + (size - 1) * window.getDilations()[i] + 1;
      const int64_t rows = std::min(size, (seen + query.lanes - 1) / query.lanes);
      relation.back().cost = relation.back().cost / size * rows;
    }
  }

private:
  void constantSide(bool lhsConstant) {
    if (lhsConstant && c.lhs.size() == 1)
      addMirrored();
    const auto &runtime = lhsConstant ? c.rhs : c.lhs;
    const Loop own = lhsConstant ? Loop::Right : Loop::Left;
    const Loop replaced = lhsConstant ? Loop::Left : Loop::Right;
    for (auto [axis, loop] : llvm::enumerate(runtime)) {
      const auto dim = static_cast<int8_t>(axis);
      const int8_t lhs = lhsConstant ? kNoDim : dim, rhs = lhsConstant ? dim : kNoDim;
      if (c.kinds[loop] == Loop::Inner) {
        for (int64_t to : c.full)
          if (c.kinds[to] == replaced)
            add(lhs, rhs, to, "DD-MM-CONST",
                lhsConstant
                    ? "weights on the left: the contracted data dimension becomes the weights' axis"
                    : "weights on the right: the contracted data dimension becomes the weights' "
                      "axis",
                loop);
      } else if (c.kinds[loop] == own && query.allowDynamicWeights) {
        add(lhs, rhs, loop, "DD-MM-DYN-1", "the data dimension is not contracted and stays", loop);
      }
    }
  }

  void bothRuntime() {
    if (!query.allowDynamicWeights)
      return;
    const bool vectors = c.lhs.size() == 1 || c.rhs.size() == 1;
    for (auto [l, lhsLoop] : llvm::enumerate(c.lhs)) {
      for (auto [r, rhsLoop] : llvm::enumerate(c.rhs)) {
        const auto lhs = static_cast<int8_t>(l), rhs = static_cast<int8_t>(r);
        const bool lhsInner = c.kinds[lhsLoop] == Loop::Inner;
        const bool rhsInner = c.kinds[rhsLoop] == Loop::Inner;
        if (c.kinds[lhsLoop] == Loop::Batch || c.kinds[rhsLoop] == Loop::Batch ||
            (!lhsInner && !rhsInner) || (lhsInner && rhsInner && lhsLoop != rhsLoop))
          continue;
        if (vectors)
          add(lhs, rhs, lastOf({c.lhs.size() == 1 ? Loop::Right : Loop::Left}), "DD-MM-DYN-2",
              "matrix times vector", lhsLoop);
        else if (lhsInner && rhsInner) {
          add(lhs, rhs, lastOf({Loop::Left, Loop::Right, Loop::Inner}), "DD-MM-DYN-4",
              "both data dimensions are contracted: the result takes its rightmost axis", lhsLoop);
          addSwapped(lhs, rhs, lhsLoop);
        } else
          add(lhs, rhs, lhsInner ? rhsLoop : lhsLoop, "DD-MM-DYN-3",
              "the operand whose data dimension is not contracted passes it on",
              lhsInner ? lhsLoop : rhsLoop);
      }
    }
  }

  /// Last loop of these kinds in the result, -1 if there is none.
  int64_t lastOf(std::initializer_list<Loop> kinds) const {
    for (int64_t loop : llvm::reverse(c.full))
      if (llvm::is_contained(kinds, c.kinds[loop]))
        return loop;
    return -1;
  }

  /// Axis of the result for a loop. A vector's axis has gone, with extent 1:
  /// then the stride rule of a reshape decides.
  std::optional<int64_t> resultAxis(int64_t loop) const {
    if (loop < 0)
      return std::nullopt;
    const auto *kept = llvm::find(c.result, loop);
    if (kept != c.result.end())
      return kept - c.result.begin();
    Extents shape;
    for (int64_t l : c.full)
      shape.push_back(c.extents[l]);
    return reshapeDim(shape, llvm::find(c.full, loop) - c.full.begin(), query.result);
  }

  /// Cost: block products, and the rows to write where weights are activations.
  void add(int8_t lhs, int8_t rhs, int64_t loop, llvm::StringLiteral rule, llvm::StringRef why,
           int64_t laneLoop) {
    auto axis = resultAxis(loop);
    if (!axis)
      return;
    int64_t cost = 1;
    for (auto [l, extent] : llvm::enumerate(c.extents)) {
      const auto index = static_cast<int64_t>(l);
      cost *=
          index == loop || index == laneLoop ? (extent + query.lanes - 1) / query.lanes : extent;
    }
    const int64_t writes = rule == "DD-MM-CONST" ? 0 : weightRows(lhs, rhs, loop);
    relation.push_back({{lhs, rhs, static_cast<int8_t>(*axis)}, rule, why, cost + writes, writes});
  }

  /// DD-MM-DYN-4 with the operands in the other order: the leftmost axis.
  void addSwapped(int8_t lhs, int8_t rhs, int64_t laneLoop) {
    const auto *leftmost =
        llvm::find_if(c.full, [&](int64_t l) { return c.kinds[l] == Loop::Left; });
    if (!query.allowRewrites || !canSwap || leftmost == c.full.end())
      return;
    const int64_t usual = relation.back().cost;
    const size_t before = relation.size();
    add(lhs, rhs, *leftmost, "DD-MM-DYN-4", "operands swapped: the result takes its leftmost axis",
        laneLoop);
    if (relation.size() == before)
      return;
    relation.back().rewrite = "operands swapped and the result transposed";
    relation.back().rewriteCost = std::max<int64_t>(0, relation.back().cost - usual);
  }

  /// A constant vector times a matrix leaves [1! k], which loses its axis; the
  /// transposed matrix times the vector leaves [k 1!].
  void addMirrored() {
    if (!query.allowRewrites || !canSwap || c.rhs.size() < 2)
      return;
    const auto inner = static_cast<int8_t>(c.rhs.size() - 2);
    const auto last = static_cast<int8_t>(query.result.size() - 1);
    int64_t cost = 1;
    for (auto [kind, extent] : llvm::zip(c.kinds, c.extents))
      cost *= kind == Loop::Inner ? (extent + query.lanes - 1) / query.lanes : extent;
    relation.push_back(
        {{kNoDim, inner, last},
         "DD-MM-CONST",
         "weights on the right: the contracted data dimension becomes the weights' axis",
         cost});
    relation.back().rewrite = "vector multiplied from the other side";
  }

  /// Rows of the side that becomes weights: the one that has the result's lanes.
  int64_t weightRows(int8_t lhs, int8_t rhs, int64_t loop) const {
    const bool left = lhs != kNoDim && (c.lhs[lhs] == loop || rhs == kNoDim ||
                                        (c.rhs[rhs] != loop && llvm::is_contained(c.lhs, loop)));
    return query.rows(query.operands[left ? 0 : 1], left ? lhs : rhs);
  }

  const Contraction c;
  const LayoutQuery &query;
  const bool canSwap;
  LayoutRelation &relation;
};

} // namespace

void addSummedAxes(const space::IndexSpace &product, unsigned side, int64_t lanes,
                   llvm::SmallVectorImpl<SummedAxis> &axes) {
  const Contraction c = contractionOf(product);
  const Loop replaced = side == 0 ? Loop::Right : Loop::Left;
  int64_t products = 1;
  for (auto [kind, extent] : llvm::zip(c.kinds, c.extents))
    products *= kind == replaced ? (extent + lanes - 1) / lanes : kind == Loop::Inner ? 1 : extent;
  for (auto [axis, loop] : llvm::enumerate(side == 0 ? c.lhs : c.rhs)) {
    if (c.kinds[loop] != Loop::Inner)
      continue;
    int64_t others = 1;
    for (auto [other, kind] : llvm::enumerate(c.kinds))
      if (kind == Loop::Inner && static_cast<int64_t>(other) != loop)
        others *= c.extents[other];
    axes.push_back({static_cast<int64_t>(axis), products * others});
  }
}

LayoutRefusal productRefusal(const LayoutQuery &query) {
  if (query.constant[0] || query.constant[1])
    return refusal("DD-MM-CONST", "the product contracts an axis that is not the data dimension");
  if (!query.allowDynamicWeights)
    return refusal("DD-MM-DYN", "both operands of the product are activations");
  return refusal("DD-MM-DYN-X", "the contracted axis is the data dimension of neither operand");
}

void MatmulOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  Rules(indexSpace(), query, true, relation).all();
}

Value MatmulOp::rewriteLayout(OpBuilder &builder, const LayoutTuple &) {
  const auto turned = [&](Value value) -> Value {
    auto order =
        llvm::to_vector<4>(llvm::seq<int64_t>(0, static_cast<int64_t>(shapeOf(value).size())));
    std::swap(order[order.size() - 2], order.back());
    return builder.create<TransposeOp>(getLoc(), value, order);
  };
  if (shapeOf(getLhs()).size() == 1) // v @ x = x^T @ v
    return builder.create<MatmulOp>(getLoc(), turned(getRhs()), getLhs());
  // x @ z = (z^T @ x^T)^T
  return turned(builder.create<MatmulOp>(getLoc(), turned(getRhs()), turned(getLhs())));
}

void ContractOp::layouts(const LayoutQuery &query, LayoutRelation &relation) {
  Rules rules(indexSpace(), query, false, relation);
  rules.all();
  if (getBanded() && query.constant[0] != query.constant[1])
    rules.banded((query.constant[0] ? getRhs() : getLhs()).getDefiningOp<WindowOp>());
}

} // namespace sluice::ir
