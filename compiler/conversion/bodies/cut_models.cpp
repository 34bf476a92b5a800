// What a cut of the operands or of the result of an operation makes of the others.
#include "compiler/conversion/bodies/cut.h"

#include <numeric>

#include "compiler/conversion/rows/contraction_loops.h"
#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

#include "compiler/conversion/bodies/interface.cpp.inc"

namespace sluice::bodies {

RankedTensorType blockType(RankedTensorType type, const Cut &cut) {
  llvm::SmallVector<int64_t, 4> shape(type.getShape());
  shape[cut.axis] = cut.block;
  Attribute encoding;
  if (const std::optional<int64_t> dim = ir::dataDim(type))
    encoding = ir::DimAttr::get(type.getContext(), *dim, shape);
  return RankedTensorType::get(shape, type.getElementType(), encoding);
}

namespace {

using Axes = llvm::ArrayRef<int64_t>;

bool contains(Axes axes, int64_t axis) { return llvm::is_contained(axes, axis); }

int64_t product(Axes extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

/// Everything but the cuts is that of the operation itself.
template <typename Model, typename Op> struct Base : CutInterface::ExternalModel<Model, Op> {
  Operation *makeBlock(Operation *op, OpBuilder &builder, ValueRange operands,
                       RankedTensorType type, const Cut &, std::optional<int64_t>) const {
    Operation *block = builder.clone(*op);
    block->setOperands(operands); // one value may be read in two ways
    block->getResult(0).setType(type);
    return block;
  }
};

/// Operations whose axes are those of every operand.
template <typename Model, typename Op> struct SameAxes : Base<Model, Op> {
  /// Whether the operation does the same at every index of an axis.
  static bool uniform(Op, int64_t) { return true; }

  std::optional<Cut> resultCut(Operation *op, unsigned operand, const Cut &cut) const {
    OperandCuts all;
    if (!operandCuts(op, cut, all) || all[operand].cut != cut)
      return std::nullopt;
    return cut;
  }
  bool operandCuts(Operation *op, const Cut &cut, OperandCuts &operands) const {
    if (!Model::uniform(llvm::cast<Op>(op), cut.axis))
      return false;
    const int64_t extent = ir::shapeOf(op->getResult(0))[cut.axis];
    for (Value operand : op->getOperands())
      operands.emplace_back(ir::shapeOf(operand)[cut.axis] == extent ? std::optional(cut)
                                                                     : std::nullopt);
    return true;
  }
};

struct Map : SameAxes<Map, ir::MapOp> {};
struct Broadcast : SameAxes<Broadcast, ir::BroadcastOp> {};
struct Relayout : SameAxes<Relayout, ir::RelayoutOp> {};
/// Along a reversed axis the blocks come in the opposite order.
struct Reverse : Base<Reverse, ir::ReverseOp> {
  static Cut turned(Operation *op, const Cut &cut) {
    const bool along = contains(llvm::cast<ir::ReverseOp>(op).getAxes(), cut.axis);
    return {cut.axis, cut.block, cut.mirrored != along};
  }
  std::optional<Cut> resultCut(Operation *op, unsigned, const Cut &cut) const {
    return turned(op, cut);
  }
  bool operandCuts(Operation *op, const Cut &cut, OperandCuts &operands) const {
    operands.emplace_back(turned(op, cut));
    return true;
  }
};
struct Concat : SameAxes<Concat, ir::ConcatOp> {
  static bool uniform(ir::ConcatOp op, int64_t axis) {
    return static_cast<int64_t>(op.getAxis()) != axis;
  }
};
struct Rotate : SameAxes<Rotate, ir::RotateOp> {
  static bool uniform(ir::RotateOp op, int64_t axis) { return op.getBy()[axis] == 0; }
};
/// Blocks of whole turns come from blocks of what takes turns.
template <typename Model, typename Op> struct Turns : Base<Model, Op> {
  std::optional<Cut> resultCut(Operation *op, unsigned, const Cut &cut) const {
    return Cut{cut.axis, cut.block * Model::turns(llvm::cast<Op>(op), cut.axis), cut.mirrored};
  }
  bool operandCuts(Operation *op, const Cut &cut, OperandCuts &operands) const {
    const int64_t turns = Model::turns(llvm::cast<Op>(op), cut.axis);
    if (cut.block % turns != 0)
      return false;
    operands.append(op->getNumOperands(), Cut{cut.axis, cut.block / turns, cut.mirrored});
    return true;
  }
};
struct Repeat : Turns<Repeat, ir::RepeatOp> {
  static int64_t turns(ir::RepeatOp op, int64_t axis) { return op.getCounts()[axis]; }
};
struct Interleave : Turns<Interleave, ir::InterleaveOp> {
  static int64_t turns(ir::InterleaveOp op, int64_t axis) {
    return axis == static_cast<int64_t>(op.getAxis()) ? static_cast<int64_t>(op.getInputs().size())
                                                      : 1;
  }
};
/// Along a repeated axis a block has several whole tensors, or there are none.
struct Tile : Base<Tile, ir::TileOp> {
  std::optional<Cut> resultCut(Operation *op, unsigned, const Cut &cut) const {
    return llvm::cast<ir::TileOp>(op).getCounts()[cut.axis] == 1 ? std::optional(cut)
                                                                 : std::nullopt;
  }
  bool operandCuts(Operation *op, const Cut &cut, OperandCuts &operands) const {
    auto tile = llvm::cast<ir::TileOp>(op);
    const bool repeats = tile.getCounts()[cut.axis] != 1;
    if (repeats && cut.block % ir::shapeOf(tile.getInput())[cut.axis] != 0)
      return false;
    operands.emplace_back(repeats ? std::nullopt : std::optional(cut));
    return true;
  }
  Operation *makeBlock(Operation *op, OpBuilder &builder, ValueRange operands,
                       RankedTensorType type, const Cut &cut,
                       std::optional<int64_t> missing) const {
    auto block = llvm::cast<ir::TileOp>(Base::makeBlock(op, builder, operands, type, cut, missing));
    llvm::SmallVector<int64_t, 4> counts(block.getCounts());
    if (counts[cut.axis] != 1)
      counts[cut.axis] = cut.block / ir::shapeOf(operands[0])[cut.axis];
    block.setCounts(counts);
    return block;
  }
};
struct Pad : SameAxes<Pad, ir::PadOp> {
  static bool uniform(ir::PadOp op, int64_t axis) {
    return op.getLow()[axis] == 0 && op.getHigh()[axis] == 0;
  }
};
/// All elements of an axis, in their order or the opposite one; or others, as a window of one
/// element sees them.
struct Slice : Base<Slice, ir::SliceOp> {
  static std::optional<Cut> turned(Operation *op, const Cut &cut) {
    auto slice = llvm::cast<ir::SliceOp>(op);
    const int64_t extent = ir::shapeOf(slice.getInput())[cut.axis];
    const int64_t start = slice.getStarts()[cut.axis], step = slice.getSteps()[cut.axis];
    if (slice.getSizes()[cut.axis] != extent || (step != 1 && step != -1) ||
        start != (step == 1 ? 0 : extent - 1))
      return std::nullopt;
    return Cut{cut.axis, cut.block, cut.mirrored != (step == -1)};
  }
  std::optional<Cut> resultCut(Operation *op, unsigned, const Cut &cut) const {
    if (const auto whole = turned(op, cut))
      return whole;
    const bool forward = llvm::cast<ir::SliceOp>(op).getSteps()[cut.axis] > 0 && !cut.mirrored;
    return forward ? std::optional(Cut{cut.axis, 1}) : std::nullopt;
  }
  bool operandCuts(Operation *op, const Cut &cut, OperandCuts &operands) const {
    if (const auto whole = turned(op, cut))
      return operands.emplace_back(*whole), true;
    auto slice = llvm::cast<ir::SliceOp>(op);
    const int64_t step = slice.getSteps()[cut.axis];
    if (step < 0 || cut.mirrored)
      return false;
    operands.emplace_back(
        Slab{cut.axis, slice.getStarts()[cut.axis], cut.block * step, step, cut.block});
    return true;
  }
  Operation *makeBlock(Operation *op, OpBuilder &builder, ValueRange operands,
                       RankedTensorType type, const Cut &cut,
                       std::optional<int64_t> missing) const {
    auto block =
        llvm::cast<ir::SliceOp>(Base::makeBlock(op, builder, operands, type, cut, missing));
    llvm::SmallVector<int64_t, 4> starts(block.getStarts()), steps(block.getSteps());
    if (missing) {
      starts[cut.axis] = 0;
      steps[cut.axis] = 1;
    } else if (turned(op, cut)) {
      starts[cut.axis] = steps[cut.axis] == 1 ? 0 : cut.block - 1;
    }
    block.setStarts(starts);
    block.setSteps(steps);
    block.setSizes(type.getShape());
    return block;
  }
};

/// Along an axis that a window runs along, a block of positions sees a slab.
struct Window : Base<Window, ir::WindowOp> {
  /// Of the windows that run along an axis; nothing: none does.
  static std::optional<size_t> along(ir::WindowOp op, int64_t axis) {
    const auto *found = llvm::find(op.getAxes(), axis);
    return found == op.getAxes().end() ? std::nullopt
                                       : std::optional<size_t>(found - op.getAxes().begin());
  }
  llvm::SmallVector<int64_t, 2> slabAxes(Operation *op) const {
    const auto axes = llvm::cast<ir::WindowOp>(op).getAxes();
    return {axes.begin(), axes.end()};
  }
  std::optional<Cut> resultCut(Operation *op, unsigned, const Cut &cut) const {
    auto window = llvm::cast<ir::WindowOp>(op);
    const auto i = along(window, cut.axis);
    if (!i)
      return cut;
    if (cut.mirrored)
      return std::nullopt;
    const int64_t stride = window.getStrides()[*i];
    // As many blocks, whatever is left over behind them.
    const bool blocks =
        cut.block % stride == 0 && ir::shapeOf(window.getInput())[cut.axis] / cut.block ==
                                       window.getCounts()[*i] / (cut.block / stride);
    return Cut{cut.axis, blocks ? cut.block / stride : 1};
  }
  bool operandCuts(Operation *op, const Cut &cut, OperandCuts &operands) const {
    auto window = llvm::cast<ir::WindowOp>(op);
    const auto axes = static_cast<int64_t>(ir::shapeOf(window.getInput()).size());
    if (cut.axis >= axes)
      return false;
    const auto i = along(window, cut.axis);
    if (!i)
      return operands.emplace_back(cut), true;
    if (cut.mirrored)
      return false;
    const int64_t stride = window.getStrides()[*i], apart = window.getDilations()[*i];
    const int64_t spacing = spacingOf(window, *i, cut);
    const int64_t last = (cut.block - 1) * stride + (window.getSizes()[*i] - 1) * apart;
    operands.emplace_back(
        Slab{cut.axis, window.getStarts()[*i], cut.block * stride, spacing, last / spacing + 1});
    return true;
  }
  Operation *makeBlock(Operation *op, OpBuilder &builder, ValueRange operands,
                       RankedTensorType type, const Cut &cut,
                       std::optional<int64_t> missing) const {
    auto block =
        llvm::cast<ir::WindowOp>(Base::makeBlock(op, builder, operands, type, cut, missing));
    const auto i = along(block, cut.axis);
    if (!i)
      return block;
    reference::Window window = block.window();
    window.counts[*i] = cut.block;
    if (missing) {
      const int64_t spacing = spacingOf(block, *i, cut);
      window.starts[*i] = -*missing;
      window.strides[*i] = cut.block == 1 ? 1 : window.strides[*i] / spacing;
      window.dilations[*i] = window.sizes[*i] == 1 ? 1 : window.dilations[*i] / spacing;
    }
    block.setCounts(window.counts);
    block.setStarts(window.starts);
    block.setStrides(window.strides);
    block.setDilations(window.dilations);
    return block;
  }

private:
  /// Elements between which no position of a block sees any.
  static int64_t spacingOf(ir::WindowOp op, size_t i, const Cut &cut) {
    const int64_t stride = op.getStrides()[i], apart = op.getDilations()[i];
    if (op.getSizes()[i] == 1)
      return cut.block == 1 ? 1 : stride;
    return cut.block == 1 ? apart : std::gcd(stride, apart);
  }
};

struct Transpose : Base<Transpose, ir::TransposeOp> {
  std::optional<Cut> resultCut(Operation *op, unsigned, const Cut &cut) const {
    const auto permutation = llvm::cast<ir::TransposeOp>(op).getPermutation();
    return Cut{llvm::find(permutation, cut.axis) - permutation.begin(), cut.block, cut.mirrored};
  }
  bool operandCuts(Operation *op, const Cut &cut, OperandCuts &operands) const {
    operands.emplace_back(
        Cut{llvm::cast<ir::TransposeOp>(op).getPermutation()[cut.axis], cut.block, cut.mirrored});
    return true;
  }
};

/// The cut of a tensor of the same elements in the same order: block t of both is the
/// same run of elements at every index of the axes before.
std::optional<Cut> sameRuns(Axes from, const Cut &cut, Axes to) {
  const int64_t outer = product(from.take_front(cut.axis));
  const int64_t trips = from[cut.axis] / cut.block;
  const int64_t run = cut.block * product(from.drop_front(cut.axis + 1));
  for (int64_t axis = 0; axis < static_cast<int64_t>(to.size()); ++axis) {
    const int64_t inner = product(to.drop_front(axis + 1));
    if (product(to.take_front(axis)) == outer && run % inner == 0 &&
        to[axis] == trips * (run / inner))
      return Cut{axis, run / inner, cut.mirrored};
  }
  return std::nullopt;
}

template <typename Op> struct SameElements : Base<SameElements<Op>, Op> {
  std::optional<Cut> resultCut(Operation *op, unsigned, const Cut &cut) const {
    return sameRuns(ir::shapeOf(op->getOperand(0)), cut, ir::shapeOf(op->getResult(0)));
  }
  bool operandCuts(Operation *op, const Cut &cut, OperandCuts &operands) const {
    operands.emplace_back(
        sameRuns(ir::shapeOf(op->getResult(0)), cut, ir::shapeOf(op->getOperand(0))));
    return operands.back().cut.has_value();
  }
};

struct Reduce : Base<Reduce, ir::ReduceOp> {
  /// Axis of the result by axis of the input; -1 where it is reduced.
  static llvm::SmallVector<int64_t, 4> resultAxes(ir::ReduceOp op) {
    llvm::SmallVector<int64_t, 4> axes;
    int64_t next = 0;
    for (size_t axis = 0; axis < ir::shapeOf(op.getInput()).size(); ++axis) {
      const bool reduced = contains(op.getAxes(), static_cast<int64_t>(axis));
      axes.push_back(reduced ? -1 : next);
      next += !reduced || op.getKeepdims();
    }
    return axes;
  }
  std::optional<Cut> resultCut(Operation *op, unsigned, const Cut &cut) const {
    const int64_t axis = resultAxes(llvm::cast<ir::ReduceOp>(op))[cut.axis];
    return axis < 0 ? std::nullopt : std::optional(Cut{axis, cut.block, cut.mirrored});
  }
  bool operandCuts(Operation *op, const Cut &cut, OperandCuts &operands) const {
    const auto axes = resultAxes(llvm::cast<ir::ReduceOp>(op));
    const auto *axis = llvm::find(axes, cut.axis);
    if (axis == axes.end())
      return false;
    operands.emplace_back(Cut{axis - axes.begin(), cut.block, cut.mirrored});
    return true;
  }

  std::optional<rows::Fold> foldOf(Operation *op, unsigned, const Cut &cut) const {
    auto reduce = llvm::cast<ir::ReduceOp>(op);
    if (!contains(reduce.getAxes(), cut.axis))
      return std::nullopt;
    switch (reduce.getMonoid()) {
    case ir::Monoid::Sum:
    case ir::Monoid::Mean:
      return rows::Fold::Sum;
    case ir::Monoid::Max:
      return rows::Fold::Max;
    case ir::Monoid::Min:
      return rows::Fold::Min;
    case ir::Monoid::Product:
      return rows::Fold::Product;
    default: // of parts alone the result does not follow
      return std::nullopt;
    }
  }
  /// Means are divided at the end.
  static ir::Monoid monoidOf(ir::ReduceOp op) {
    return op.getMonoid() == ir::Monoid::Mean ? ir::Monoid::Sum : op.getMonoid();
  }
  Value makePart(Operation *op, OpBuilder &builder, Value block) const {
    auto reduce = llvm::cast<ir::ReduceOp>(op);
    return builder.create<ir::ReduceOp>(op->getLoc(), reduce.getType(), monoidOf(reduce), block,
                                        reduce.getAxes(), reduce.getKeepdims());
  }
  Value mergeParts(Operation *op, OpBuilder &builder, Value parts) const {
    auto reduce = llvm::cast<ir::ReduceOp>(op);
    const RankedTensorType type = reduce.getType();
    // A tensor of rank 0 is carried as one of rank 1.
    llvm::SmallVector<int64_t, 2> axes{0};
    if (type.getRank() == 0)
      axes.push_back(1);
    auto merged = builder.create<ir::ReduceOp>(op->getLoc(), type, monoidOf(reduce), parts, axes,
                                               /*keepdims=*/false);
    if (reduce.getMonoid() != ir::Monoid::Mean)
      return merged.getResult();
    const auto whole = llvm::cast<RankedTensorType>(reduce.getInput().getType());
    const double share =
        static_cast<double>(type.getNumElements()) / static_cast<double>(whole.getNumElements());
    auto mean =
        builder.create<ir::MapOp>(op->getLoc(), ValueRange{merged.getResult()},
                                  [&](OpBuilder &body, Location where, ValueRange sum) -> Value {
                                    const Value factor = body.create<arith::ConstantOp>(
                                        where, body.getF32FloatAttr(static_cast<float>(share)));
                                    return body.create<arith::MulFOp>(where, sum[0], factor);
                                  });
    mean.getResult().setType(type);
    return mean.getResult();
  }
};

/// Contractions: an axis is one loop, a block of it a part of that loop.
template <typename Op> struct Contraction : Base<Contraction<Op>, Op> {
  /// The loop along an axis; nothing where one index serves all trips.
  static std::optional<size_t> loopOf(const rows::Loops &loops, const std::vector<size_t> &axes,
                                      Axes shape, int64_t axis) {
    if (static_cast<size_t>(axis) >= axes.size() || axes[axis] == rows::kNoLoop ||
        shape[axis] != loops.extents[axes[axis]])
      return std::nullopt;
    return axes[axis];
  }
  static std::optional<Cut> axisOf(const rows::Loops &loops, const std::vector<size_t> &axes,
                                   Axes shape, size_t loop, const Cut &cut) {
    for (size_t axis = 0; axis < axes.size() && axis < shape.size(); ++axis)
      if (axes[axis] == loop && shape[axis] == loops.extents[loop])
        return Cut{static_cast<int64_t>(axis), cut.block, cut.mirrored};
    return std::nullopt;
  }
  std::optional<Cut> resultCut(Operation *op, unsigned operand, const Cut &cut) const {
    const rows::Loops loops = rows::loopsOf(op);
    const auto loop = loopOf(loops, operand == 0 ? loops.lhsAxes : loops.rhsAxes,
                             ir::shapeOf(op->getOperand(operand)), cut.axis);
    return loop ? axisOf(loops, loops.resultAxes, ir::shapeOf(op->getResult(0)), *loop, cut)
                : std::nullopt;
  }
  bool operandCuts(Operation *op, const Cut &cut, OperandCuts &operands) const {
    const rows::Loops loops = rows::loopsOf(op);
    const auto loop = loopOf(loops, loops.resultAxes, ir::shapeOf(op->getResult(0)), cut.axis);
    if (!loop)
      return false;
    operands.emplace_back(axisOf(loops, loops.lhsAxes, ir::shapeOf(op->getOperand(0)), *loop, cut));
    operands.emplace_back(axisOf(loops, loops.rhsAxes, ir::shapeOf(op->getOperand(1)), *loop, cut));
    return true;
  }
};

} // namespace

void registerCutModels(MLIRContext &context) {
  context.loadDialect<ir::SluiceDialect>();
  ir::MapOp::attachInterface<Map>(context);
  ir::BroadcastOp::attachInterface<Broadcast>(context);
  ir::RelayoutOp::attachInterface<Relayout>(context);
  ir::ReverseOp::attachInterface<Reverse>(context);
  ir::ConcatOp::attachInterface<Concat>(context);
  ir::RotateOp::attachInterface<Rotate>(context);
  ir::TileOp::attachInterface<Tile>(context);
  ir::RepeatOp::attachInterface<Repeat>(context);
  ir::InterleaveOp::attachInterface<Interleave>(context);
  ir::PadOp::attachInterface<Pad>(context);
  ir::SliceOp::attachInterface<Slice>(context);
  ir::WindowOp::attachInterface<Window>(context);
  ir::TransposeOp::attachInterface<Transpose>(context);
  ir::ReshapeOp::attachInterface<SameElements<ir::ReshapeOp>>(context);
  ir::SqueezeOp::attachInterface<SameElements<ir::SqueezeOp>>(context);
  ir::UnsqueezeOp::attachInterface<SameElements<ir::UnsqueezeOp>>(context);
  ir::ReduceOp::attachInterface<Reduce>(context);
  ir::MatmulOp::attachInterface<Contraction<ir::MatmulOp>>(context);
  ir::ContractOp::attachInterface<Contraction<ir::ContractOp>>(context);
}

} // namespace sluice::bodies
