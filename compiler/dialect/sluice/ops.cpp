// Verifiers, builders and the map's own syntax.
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/ErrorHandling.h"

#include "compiler/reference/scalar.h"

using namespace mlir;

namespace sluice::ir {
namespace {

llvm::SmallVector<ExtentsRef> shapesOf(ValueRange values) {
  return llvm::map_to_vector(values, [](Value value) -> ExtentsRef { return shapeOf(value); });
}

std::string text(ExtentsRef shape) { return notation(shape, std::nullopt); }

/// Compares the shape an operation has with the one its operands give.
LogicalResult verifyResult(Operation *op, const ShapeOr &inferred, const std::string &why) {
  if (failed(inferred))
    return op->emitOpError(why);
  ExtentsRef found = shapeOf(op->getResult(0));
  if (found != ExtentsRef(*inferred))
    return op->emitOpError("result has shape ")
           << text(found) << ", but the operands give " << text(*inferred);
  return verifyIndexSpace(op);
}

/// Type of a result before layout. Builders that infer must not be called
/// with what shapes.h refuses.
RankedTensorType resultType(const ShapeOr &inferred, const std::string &why, Value like) {
  if (failed(inferred))
    llvm::report_fatal_error(llvm::StringRef("sluice builder: " + why));
  return RankedTensorType::get(*inferred, llvm::cast<ShapedType>(like.getType()).getElementType());
}

} // namespace

//===-- constant, map -------------------------------------------------------------------------===//

LogicalResult ConstantOp::verify() {
  if (getType() != getValue().getType())
    return emitOpError("value of type ")
           << getValue().getType() << " for a result of " << getType();
  if (dataDim(getResult()))
    return emitOpError("a constant has no data dimension");
  return success();
}

void MapOp::build(OpBuilder &builder, OperationState &state, ValueRange inputs,
                  llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  std::string why;
  state.addOperands(inputs);
  state.addTypes(resultType(inferMap(shapesOf(inputs), why), why, inputs.front()));
  OpBuilder::InsertionGuard guard(builder);
  Region *region = state.addRegion();
  llvm::SmallVector<Type> types(inputs.size(), builder.getF32Type());
  llvm::SmallVector<Location> locs(inputs.size(), state.location);
  Block *block = builder.createBlock(region, region->end(), types, locs);
  builder.create<YieldOp>(state.location, body(builder, state.location, block->getArguments()));
}

LogicalResult MapOp::verify() {
  std::string why;
  if (failed(verifyResult(*this, inferMap(shapesOf(getInputs()), why), why)))
    return failure();
  Block &block = getBody().front();
  if (block.getNumArguments() != getInputs().size())
    return emitOpError("body takes ") << block.getNumArguments() << " scalars, but the map has "
                                      << getInputs().size() << " operands";
  for (BlockArgument argument : block.getArguments())
    if (!argument.getType().isF32())
      return emitOpError("body takes a ") << argument.getType() << ", allowed: f32";
  for (Operation &op : block.without_terminator())
    if (!reference::isScalarOperation(&op)) {
      auto diagnostic = emitOpError("'") << op.getName() << "' is not a scalar operation of a map";
      diagnostic.attachNote(op.getLoc()) << "found here";
      return diagnostic;
    }
  return success();
}

ParseResult MapOp::parse(OpAsmParser &parser, OperationState &result) {
  llvm::SmallVector<OpAsmParser::Argument> arguments;
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> operands;
  auto binding = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  FunctionType type;
  const llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, binding) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), loc, result.operands))
    return failure();
  result.addTypes(type.getResults());
  for (OpAsmParser::Argument &argument : arguments)
    argument.type = parser.getBuilder().getF32Type();
  return parser.parseRegion(*result.addRegion(), arguments);
}

void MapOp::print(OpAsmPrinter &printer) {
  printer << " (";
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getInputs()), printer,
                        [&](auto binding) {
                          printer.printRegionArgument(std::get<0>(binding), {}, true);
                          printer << " = " << std::get<1>(binding);
                        });
  printer << ')';
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : ";
  printer.printFunctionalType(*this);
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===-- reductions and contractions -----------------------------------------------------------===//

void ReduceOp::build(OpBuilder &builder, OperationState &state, Monoid monoid, Value input,
                     llvm::ArrayRef<int64_t> axes, bool keepdims) {
  std::string why;
  build(builder, state, resultType(inferReduce(shapeOf(input), axes, keepdims, why), why, input),
        monoid, input, axes, keepdims);
}

LogicalResult ReduceOp::verify() {
  std::string why;
  return verifyResult(*this, inferReduce(shapeOf(getInput()), getAxes(), getKeepdims(), why), why);
}

void MatmulOp::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs) {
  std::string why;
  build(builder, state, resultType(inferMatmul(shapeOf(lhs), shapeOf(rhs), why), why, lhs), lhs,
        rhs);
}

LogicalResult MatmulOp::verify() {
  std::string why;
  return verifyResult(*this, inferMatmul(shapeOf(getLhs()), shapeOf(getRhs()), why), why);
}

void ContractOp::build(OpBuilder &builder, OperationState &state, llvm::ArrayRef<AffineMap> maps,
                       Value lhs, Value rhs, bool banded) {
  std::string why;
  build(builder, state, resultType(inferContract(maps, shapeOf(lhs), shapeOf(rhs), why), why, lhs),
        builder.getAffineMapArrayAttr(maps), lhs, rhs, banded);
}

LogicalResult ContractOp::verify() {
  std::string why;
  auto maps = llvm::to_vector(getIndexingMaps().getAsValueRange<AffineMapAttr>());
  return verifyResult(*this, inferContract(maps, shapeOf(getLhs()), shapeOf(getRhs()), why), why);
}

//===-- selections ----------------------------------------------------------------------------===//

void TransposeOp::build(OpBuilder &builder, OperationState &state, Value input,
                        llvm::ArrayRef<int64_t> permutation) {
  std::string why;
  build(builder, state, resultType(inferTranspose(shapeOf(input), permutation, why), why, input),
        input, permutation);
}

Value TransposeOp::undo(OpBuilder &builder, Value value) {
  llvm::SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [to, from] : llvm::enumerate(getPermutation()))
    inverse[from] = static_cast<int64_t>(to);
  return builder.create<TransposeOp>(value.getLoc(), value, inverse);
}

LogicalResult TransposeOp::verify() {
  std::string why;
  return verifyResult(*this, inferTranspose(shapeOf(getInput()), getPermutation(), why), why);
}

void ReverseOp::build(OpBuilder &builder, OperationState &state, Value input,
                      llvm::ArrayRef<int64_t> axes) {
  std::string why;
  build(builder, state, resultType(inferReverse(shapeOf(input), axes, why), why, input), input,
        axes);
}

LogicalResult ReverseOp::verify() {
  std::string why;
  return verifyResult(*this, inferReverse(shapeOf(getInput()), getAxes(), why), why);
}

void SliceOp::build(OpBuilder &builder, OperationState &state, Value input,
                    llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> sizes,
                    llvm::ArrayRef<int64_t> steps) {
  std::string why;
  build(builder, state,
        resultType(inferSlice(shapeOf(input), starts, sizes, steps, why), why, input), input,
        starts, sizes, steps);
}

LogicalResult SliceOp::verify() {
  std::string why;
  return verifyResult(
      *this, inferSlice(shapeOf(getInput()), getStarts(), getSizes(), getSteps(), why), why);
}

void ReshapeOp::build(OpBuilder &builder, OperationState &state, Value input,
                      llvm::ArrayRef<int64_t> shape) {
  std::string why;
  build(builder, state, resultType(inferReshape(shapeOf(input), shape, why), why, input), input);
}

static Value undoReshape(Value input, OpBuilder &builder, Value value) {
  return builder.create<ReshapeOp>(value.getLoc(), value, shapeOf(input));
}

Value ReshapeOp::undo(OpBuilder &builder, Value value) {
  return undoReshape(getInput(), builder, value);
}

Value UnsqueezeOp::undo(OpBuilder &builder, Value value) {
  return undoReshape(getInput(), builder, value);
}

Value SqueezeOp::undo(OpBuilder &builder, Value value) {
  return undoReshape(getInput(), builder, value);
}

LogicalResult ReshapeOp::verify() {
  std::string why;
  return verifyResult(*this, inferReshape(shapeOf(getInput()), shapeOf(getResult()), why), why);
}

void UnsqueezeOp::build(OpBuilder &builder, OperationState &state, Value input,
                        llvm::ArrayRef<int64_t> axes) {
  std::string why;
  build(builder, state, resultType(inferUnsqueeze(shapeOf(input), axes, why), why, input), input,
        axes);
}

LogicalResult UnsqueezeOp::verify() {
  std::string why;
  return verifyResult(*this, inferUnsqueeze(shapeOf(getInput()), getAxes(), why), why);
}

void SqueezeOp::build(OpBuilder &builder, OperationState &state, Value input,
                      llvm::ArrayRef<int64_t> axes) {
  std::string why;
  build(builder, state, resultType(inferSqueeze(shapeOf(input), axes, why), why, input), input,
        axes);
}

LogicalResult SqueezeOp::verify() {
  std::string why;
  return verifyResult(*this, inferSqueeze(shapeOf(getInput()), getAxes(), why), why);
}

void BroadcastOp::build(OpBuilder &builder, OperationState &state, Value input,
                        llvm::ArrayRef<int64_t> shape) {
  std::string why;
  build(builder, state, resultType(inferBroadcast(shapeOf(input), shape, why), why, input), input);
}

LogicalResult BroadcastOp::verify() {
  std::string why;
  return verifyResult(*this, inferBroadcast(shapeOf(getInput()), shapeOf(getResult()), why), why);
}

LogicalResult RelayoutOp::verify() {
  std::string why;
  return verifyResult(*this, inferReverse(shapeOf(getInput()), {}, why), why);
}

void ConcatOp::build(OpBuilder &builder, OperationState &state, ValueRange inputs, int64_t axis) {
  std::string why;
  build(builder, state, resultType(inferConcat(shapesOf(inputs), axis, why), why, inputs.front()),
        inputs, axis);
}

LogicalResult ConcatOp::verify() {
  std::string why;
  return verifyResult(
      *this, inferConcat(shapesOf(getInputs()), static_cast<int64_t>(getAxis()), why), why);
}

void RotateOp::build(OpBuilder &builder, OperationState &state, Value input,
                     llvm::ArrayRef<int64_t> by) {
  std::string why;
  build(builder, state, resultType(inferRotate(shapeOf(input), by, why), why, input), input, by);
}

LogicalResult RotateOp::verify() {
  std::string why;
  return verifyResult(*this, inferRotate(shapeOf(getInput()), getBy(), why), why);
}

void TileOp::build(OpBuilder &builder, OperationState &state, Value input,
                   llvm::ArrayRef<int64_t> counts) {
  std::string why;
  build(builder, state, resultType(inferRepeat(shapeOf(input), counts, why), why, input), input,
        counts);
}

LogicalResult TileOp::verify() {
  std::string why;
  return verifyResult(*this, inferRepeat(shapeOf(getInput()), getCounts(), why), why);
}

void RepeatOp::build(OpBuilder &builder, OperationState &state, Value input,
                     llvm::ArrayRef<int64_t> counts) {
  std::string why;
  build(builder, state, resultType(inferRepeat(shapeOf(input), counts, why), why, input), input,
        counts);
}

LogicalResult RepeatOp::verify() {
  std::string why;
  return verifyResult(*this, inferRepeat(shapeOf(getInput()), getCounts(), why), why);
}

void InterleaveOp::build(OpBuilder &builder, OperationState &state, ValueRange inputs,
                         int64_t axis) {
  std::string why;
  build(builder, state,
        resultType(inferInterleave(shapesOf(inputs), axis, why), why, inputs.front()), inputs,
        axis);
}

LogicalResult InterleaveOp::verify() {
  std::string why;
  return verifyResult(
      *this, inferInterleave(shapesOf(getInputs()), static_cast<int64_t>(getAxis()), why), why);
}

void PadOp::build(OpBuilder &builder, OperationState &state, Value input,
                  llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high, float value) {
  std::string why;
  build(builder, state, resultType(inferPad(shapeOf(input), low, high, why), why, input), input,
        low, high, llvm::APFloat(value));
}

LogicalResult PadOp::verify() {
  std::string why;
  return verifyResult(*this, inferPad(shapeOf(getInput()), getLow(), getHigh(), why), why);
}

void WindowOp::build(OpBuilder &builder, OperationState &state, Value input,
                     const reference::Window &window, float value) {
  std::string why;
  build(builder, state, resultType(inferWindow(shapeOf(input), window, why), why, input), input,
        window.axes, window.sizes, window.counts, window.starts, window.strides, window.dilations,
        llvm::APFloat(value));
}

reference::Window WindowOp::window() {
  return {getAxes(), getSizes(), getCounts(), getStarts(), getStrides(), getDilations()};
}

LogicalResult WindowOp::verify() {
  std::string why;
  return verifyResult(*this, inferWindow(shapeOf(getInput()), window(), why), why);
}

LogicalResult StateOp::verify() {
  if (getInitial() && llvm::cast<ShapedType>(getInitial()->getType()).getShape() !=
                          llvm::cast<ShapedType>(getResult().getType()).getShape())
    return emitOpError("has an initial value of a different shape");
  unsigned kept = 0;
  for (OpOperand &use : getResult().getUses())
    if (auto keep = llvm::dyn_cast<KeepOp>(use.getOwner()))
      kept += &use == &keep.getStateMutable();
  return kept == 1 ? success() : emitOpError("is kept ") << kept << " times, expected 1";
}

LogicalResult KeepOp::verify() {
  if (!getState().getDefiningOp<StateOp>())
    return emitOpError("keeps a value in an operand that is not a state");
  std::string why;
  if (shapeOf(getValue()) != shapeOf(getState()))
    return emitOpError("keeps a value whose shape differs from the state's");
  return verifyResult(*this, inferReverse(shapeOf(getState()), {}, why), why);
}

} // namespace sluice::ir

#define GET_OP_CLASSES
#include "compiler/dialect/sluice/ops.cpp.inc"
