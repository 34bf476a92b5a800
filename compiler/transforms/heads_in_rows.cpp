#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/selection.h"
#include "compiler/dialect/sluice/tensors.h"
#include "compiler/transforms/line_writer.h"
#include "mlir/IR/Builders.h"
#include "runtime/addressing/addressing.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_HEADSINROWS
#include "compiler/transforms/passes.h.inc"

namespace {

using addressing::elementsOf;

using Extents = llvm::SmallVector<int64_t, 4>;

/// Two neighbouring axes of one tensor that are the data dimension of another: heads, and the
/// features of each.
struct Split {
  unsigned heads = 0;   ///< the axis; that of the features is the next
  int64_t together = 1; ///< heads that have room in a row

  [[nodiscard]] unsigned features() const { return heads + 1; }
};

/// How a reshape takes the data dimension of `whole` apart into the axes of `parts`; nothing, if it
/// does something else or a row has room for one head only.
std::optional<Split> splitOf(Value whole, Value parts, int64_t lanes) {
  const auto axis = dataDim(whole), features = dataDim(parts);
  const auto from = shapeOf(whole), to = shapeOf(parts);
  if (!axis || !features || *features == 0 ||
      from.empty()) // a tensor of rank 0 has a row, but no axis
    return std::nullopt;
  const auto heads = static_cast<unsigned>(*features - 1);
  const int64_t number = to[heads], each = to[*features];
  if (from[*axis] != number * each || number == 1 ||
      elementsOf(from.drop_front(*axis + 1)) != elementsOf(to.drop_front(*features + 1)))
    return std::nullopt;
  // A row has whole heads, and they begin where rows do.
  int64_t together = lanes / each;
  if (together > number)
    together = number;
  if (together < 2 || number % together != 0 || (together != number && together * each != lanes))
    return std::nullopt;
  return Split{heads, together};
}

/// A shape with several heads side by side.
Extents wide(llvm::ArrayRef<int64_t> shape, const Split &split) {
  Extents result(shape);
  result[split.heads] /= split.together;
  result[split.features()] *= split.together;
  return result;
}

/// A value with an axis of heads, behind transposes and maps of what a reshape takes apart.
struct HeadsOf {
  Value whole;   ///< with all heads along its data dimension
  Extents apart; ///< its shape with heads and features
  llvm::SmallVector<Operation *>
      steps;                        ///< transposes, and maps of this value alone, in their order
  Split split;                      ///< of `apart`
  unsigned heads = 0, features = 0; ///< axes of the value
};

std::optional<HeadsOf> headsOf(Value value, int64_t lanes) {
  HeadsOf found;
  Operation *step = value.getDefiningOp();
  while (step && (llvm::isa<TransposeOp>(step) ||
                  (llvm::isa<MapOp>(step) && step->getNumOperands() == 1))) {
    found.steps.insert(found.steps.begin(), step);
    value = step->getOperand(0);
    step = value.getDefiningOp();
  }
  auto reshape = value.getDefiningOp<ReshapeOp>();
  if (!reshape)
    return std::nullopt;
  found.whole = reshape.getInput();
  found.apart = Extents(shapeOf(value));
  const auto split = splitOf(found.whole, value, lanes);
  if (!split)
    return std::nullopt;
  found.split = *split;
  found.heads = split->heads;
  found.features = split->features();
  for (Operation *one : found.steps)
    if (auto transpose = llvm::dyn_cast<TransposeOp>(one)) {
      const auto order = transpose.getPermutation();
      found.heads = llvm::find(order, found.heads) - order.begin();
      found.features = llvm::find(order, found.features) - order.begin();
    }
  return found;
}

class Rewriting {
public:
  Rewriting(Operation *product, IndexSpaceInterface spaced, int64_t lanes)
      : product(product), space(spaced.indexSpace()), lanes(lanes), builder(product),
        where(product->getLoc()) {}

  bool run() { return scores() || sums(); }

private:
  Operation *product;
  const space::IndexSpace space;
  const int64_t lanes;
  OpBuilder builder;
  Location where;

  /// The same elements with another shape, along an axis.
  Value reshaped(Value value, llvm::ArrayRef<int64_t> shape, unsigned dim) {
    return withDim(builder.create<ReshapeOp>(where, value, shape), dim);
  }
  Value transposed(Value value, llvm::ArrayRef<int64_t> order) {
    return LineWriter(builder, where).transpose(value, order);
  }

  /// For each head all heads of its row.
  Value rowsOf(const HeadsOf &value) {
    Value rows = reshaped(value.whole, wide(value.apart, value.split), value.split.features());
    for (Operation *step : value.steps)
      rows = llvm::isa<MapOp>(step)
                 ? cloneWith(step, builder, rows, rows.getType())->getResult(0)
                 : transposed(rows, llvm::cast<TransposeOp>(step).getPermutation());
    Extents counts(typeOf(rows).getRank(), 1);
    counts[value.heads] = value.split.together;
    return withDim(builder.create<RepeatOp>(where, rows, counts), value.features);
  }

  /// A value whose axis `heads` is the head, or the head in its row, without what other heads of
  /// the row have along `features`.
  Value alone(Value value, unsigned heads, unsigned features, int64_t together) {
    const auto shape = shapeOf(value);
    reference::Shape small(shape.size(), 1);
    small[heads] = shape[heads];
    small[features] = shape[features];
    reference::Tensor mask(small);
    const int64_t each = small[features] / together;
    // Of the two axes the last one runs fastest.
    for (int64_t head = 0; head < small[heads]; ++head)
      for (int64_t lane = 0; lane < small[features]; ++lane)
        mask.values[heads < features ? head * small[features] + lane : lane * small[heads] + head] =
            lane / each == head % together ? 1 : 0;
    return LineWriter(builder, where).product(value, builder.create<ConstantOp>(where, mask));
  }

  [[nodiscard]] std::optional<unsigned> loopOf(unsigned operand, unsigned axis) const {
    return space.operands[operand].loopAlong(axis);
  }
  [[nodiscard]] bool isSummed(unsigned loop) const {
    return space.loops[loop].kind == space::LoopKind::Reduced;
  }

  /// Products of the features of both sides: one side is masked, so the rows of the other one need
  /// not be taken apart.
  bool scores() {
    const auto left = headsOf(product->getOperand(0), lanes),
               right = headsOf(product->getOperand(1), lanes);
    if (!left || !right || left->split.together != right->split.together)
      return false;
    const auto heads = loopOf(0, left->heads), features = loopOf(0, left->features);
    if (!heads || !features || heads != loopOf(1, right->heads) ||
        features != loopOf(1, right->features) || isSummed(*heads) || !isSummed(*features))
      return false;
    // The side with the lanes of the result becomes weights, and is written once for all heads of
    // its rows.
    const auto dim = dataDim(product->getResult(0));
    const auto out = dim ? space.results.front().loopAlong(*dim) : std::nullopt;
    if (!out)
      return false;
    const bool weightsLeft = space.operands[0].moves(*out);
    const HeadsOf &x = weightsLeft ? *right : *left, &weights = weightsLeft ? *left : *right;
    const Value masked = alone(rowsOf(x), x.heads, x.features, x.split.together);
    const Value rows = rowsOf(weights);
    product->setOperands(weightsLeft ? ValueRange{rows, masked} : ValueRange{masked, rows});
    return true;
  }

  /// Products that give the features, put side by side again behind transposes: all of a row are
  /// computed for each of its heads, and the heads' own are taken.
  bool sums() {
    for (const unsigned side : {0U, 1U}) {
      const auto weights = headsOf(product->getOperand(side), lanes);
      const auto heads = weights ? loopOf(side, weights->heads) : std::nullopt,
                 features = weights ? loopOf(side, weights->features) : std::nullopt;
      if (heads && features && !isSummed(*heads) && !isSummed(*features) &&
          !space.operands[1 - side].moves(*features) && together(side, *weights, *heads, *features))
        return true;
    }
    return false;
  }

  bool together(unsigned side, const HeadsOf &weights, unsigned headLoop, unsigned featureLoop) {
    Value result = product->getResult(0);
    std::optional<unsigned> heads, features;
    for (unsigned axis = 0; axis < shapeOf(result).size(); ++axis) {
      if (space.results.front().loopAlong(axis) == headLoop)
        heads = axis;
      if (space.results.front().loopAlong(axis) == featureLoop)
        features = axis;
    }
    if (!heads || !features || dataDim(result) != int64_t{*features})
      return false;
    // To where the heads are one axis again.
    llvm::SmallVector<TransposeOp> transposes;
    Value end = result;
    unsigned headsThere = *heads, featuresThere = *features;
    while (end.hasOneUse() && llvm::isa<TransposeOp>(*end.user_begin())) {
      transposes.push_back(llvm::cast<TransposeOp>(*end.user_begin()));
      end = transposes.back().getResult();
      const auto order = transposes.back().getPermutation();
      headsThere = llvm::find(order, headsThere) - order.begin();
      featuresThere = llvm::find(order, featuresThere) - order.begin();
    }
    auto merge = end.hasOneUse() ? llvm::dyn_cast<ReshapeOp>(*end.user_begin()) : ReshapeOp();
    if (!merge || featuresThere != headsThere + 1)
      return false;
    const auto split = splitOf(merge.getResult(), end, lanes);
    if (!split || split->heads != headsThere || split->together != weights.split.together)
      return false;

    Extents shape(shapeOf(result));
    shape[*features] *= split->together;
    product->setOperand(side, rowsOf(weights));
    result.setType(withShape(typeOf(result), shape, *features));
    forgetModelTensor(product);
    builder.setInsertionPointAfter(product);
    // The heads of a row apart from each other, added up.
    Extents apart(shape);
    apart[*heads] /= split->together;
    apart.insert(apart.begin() + *heads + 1, split->together);
    const unsigned lane = *features + (*features > *heads ? 1 : 0);
    const Value own = alone(reshaped(result, apart, lane), *heads + 1, lane, split->together);
    Value whole = withDim(builder.create<ReduceOp>(where, Monoid::Sum, own,
                                                   llvm::ArrayRef<int64_t>{int64_t{*heads} + 1},
                                                   /*keepdims=*/false),
                          *features);
    for (TransposeOp transpose : transposes)
      whole = transposed(whole, transpose.getPermutation());
    whole = reshaped(whole, merge.getType().getShape(), *dataDim(merge.getResult()));
    replaceOp(merge, whole);
    for (TransposeOp transpose : llvm::reverse(transposes))
      transpose.erase();
    return true;
  }
};

struct HeadsInRows : impl::HeadsInRowsBase<HeadsInRows> {
  using HeadsInRowsBase::HeadsInRowsBase;
  void runOnOperation() override { headsInRows(getOperation(), lanes); }
};

} // namespace

/// The products of a function.
static llvm::SmallVector<Operation *> productsOf(FunctionOpInterface function) {
  llvm::SmallVector<Operation *> products;
  for (Operation &op : function.getFunctionBody().front()) {
    auto spaced = llvm::dyn_cast<IndexSpaceInterface>(op);
    if (spaced && op.getNumOperands() == 2 && spaced.indexSpace().work == space::Work::Product)
      products.push_back(&op);
  }
  return products;
}

bool readsHeads(FunctionOpInterface function, int64_t lanes) {
  return llvm::any_of(productsOf(function), [&](Operation *product) {
    return llvm::any_of(product->getOperands(),
                        [&](Value side) { return headsOf(side, lanes).has_value(); });
  });
}

unsigned headsInRows(FunctionOpInterface function, int64_t lanes) {
  const llvm::SmallVector<Operation *> products = productsOf(function);
  unsigned changed = 0;
  for (Operation *product : products)
    changed += Rewriting(product, llvm::cast<IndexSpaceInterface>(product), lanes).run() ? 1 : 0;
  return changed;
}

} // namespace sluice::ir
