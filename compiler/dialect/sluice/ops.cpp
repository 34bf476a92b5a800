// Verifiers, builders and the map's own syntax. What follows from one line of an operation is in
// ops.td.
#include "compiler/dialect/sluice/evaluate.h"
#include "compiler/dialect/sluice/monoids.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/ErrorHandling.h"

#include "compiler/reference/ops.h"
#include "compiler/reference/scalar.h"

using namespace mlir;

namespace sluice::ir {
namespace {

llvm::SmallVector<ExtentsRef> shapesOf(ValueRange values) {
  return llvm::map_to_vector(values, [](Value value) -> ExtentsRef { return shapeOf(value); });
}

/// Compares the shape an operation has with the one its operands give.
LogicalResult verifyResult(Operation *op, const ShapeOr &inferred, const std::string &why) {
  if (failed(inferred))
    return op->emitOpError(why);
  ExtentsRef found = shapeOf(op->getResult(0));
  if (found != ExtentsRef(*inferred))
    return op->emitOpError("result has shape ")
           << notation(found) << ", but the operands give " << notation(*inferred);
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

Value TransposeOp::undo(OpBuilder &builder, Value value) {
  return builder.create<TransposeOp>(value.getLoc(), value,
                                     invertPermutationVector(getPermutation()));
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
  return verifyResult(*this, inferMap(shapeOf(getState()), why), why);
}

} // namespace sluice::ir

#define GET_OP_CLASSES
#include "compiler/dialect/sluice/ops.cpp.inc"
