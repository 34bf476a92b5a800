// Verifier and syntax of loops.
#include "compiler/dialect/sluice/interpret.h"
#include "compiler/dialect/sluice/selection.h"
#include "compiler/dialect/sluice/shapes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

namespace sluice::ir {
namespace {

using reference::LoopAxis;

llvm::SmallVector<LoopAxis> loopAxes(llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<bool> reversed) {
  return llvm::map_to_vector(llvm::zip_equal(axes, reversed),
                             [](auto one) { return LoopAxis{std::get<0>(one), std::get<1>(one)}; });
}

/// What a loop says of its axes.
struct Axes {
  llvm::SmallVector<int64_t> axes;
  llvm::SmallVector<bool> reversed;
};

/// "1 reversed"
ParseResult parseAxis(OpAsmParser &parser, Axes &axes) {
  if (parser.parseInteger(axes.axes.emplace_back()))
    return failure();
  axes.reversed.push_back(succeeded(parser.parseOptionalKeyword("reversed")));
  return success();
}

void printAxis(OpAsmPrinter &printer, const LoopAxis &axis) {
  printer << axis.axis << (axis.reversed ? " reversed" : "");
}

} // namespace

llvm::SmallVector<LoopAxis> LoopOp::slices() {
  return loopAxes(getSliceAxes(), getSliceReversed());
}

llvm::SmallVector<LoopAxis> LoopOp::stacks() {
  return loopAxes(getStackAxes(), getStackReversed());
}

LogicalResult LoopOp::verify() {
  if (getTripsAttr().getInt() < 1)
    return emitOpError("has trip count ") << getTripsAttr().getInt() << "; it must be at least 1";
  const auto checkLists = [&](const char *what, size_t axes, size_t directions,
                              size_t tensors) -> LogicalResult {
    if (axes == tensors && directions == tensors)
      return success();
    return emitOpError("has ") << tensors << ' ' << what << ", " << axes << " axes and "
                               << directions << " directions; the numbers must be equal";
  };
  const size_t carried = getInitial().size();
  if (getNumResults() < carried)
    return emitOpError("has ") << getNumResults() << " results for " << carried
                               << " carried values";
  if (failed(checkLists("sequences", getSliceAxes().size(), getSliceReversed().size(),
                        getSequences().size())) ||
      failed(checkLists("stacks", getStackAxes().size(), getStackReversed().size(),
                        getNumResults() - carried)))
    return failure();
  for (auto [i, value] : llvm::enumerate(getInitial()))
    if (withShape(typeOf(value), shapeOf(value)) != getResult(i).getType())
      return emitOpError("result ") << i << " is " << getResult(i).getType()
                                    << ", but the initial value is " << value.getType();
  std::string why;
  for (auto [sequence, slice] : llvm::zip_equal(getSequences(), slices()))
    if (failed(inferElement(shapeOf(sequence), slice.axis, static_cast<int64_t>(getTrips()), why)))
      return emitOpError(why);
  return success();
}

LogicalResult LoopOp::verifyRegions() {
  Block &block = getBody().front();
  const size_t carried = getInitial().size();
  llvm::SmallVector<Type> arguments(TypeRange(getResultTypes()).take_front(carried));
  std::string why;
  for (auto [sequence, slice] : llvm::zip_equal(getSequences(), slices()))
    arguments.push_back(
        withShape(typeOf(sequence), *inferElement(shapeOf(sequence), slice.axis,
                                                  static_cast<int64_t>(getTrips()), why)));
  if (block.getArgumentTypes() != TypeRange(arguments))
    return emitOpError("body takes ")
           << block.getArgumentTypes() << ", but the loop passes " << arguments;
  for (Operation &op : block.without_terminator())
    if (!isComputable(&op))
      return emitOpError("'") << op.getName() << "' is not an operation on tensors";
  auto next = llvm::dyn_cast<NextOp>(block.getTerminator());
  if (!next)
    return emitOpError("body ends with '")
           << block.getTerminator()->getName() << "', it must end with 'sluice.next'";
  if (next.getNumOperands() != getNumResults())
    return next.emitOpError("passes on ") << next.getNumOperands() << " values, but the loop has "
                                          << getNumResults() << " results";
  const auto stacks = this->stacks();
  for (auto [i, value] : llvm::enumerate(next.getValues())) {
    const RankedTensorType result = llvm::cast<RankedTensorType>(getResult(i).getType());
    ShapeOr shape = Extents(shapeOf(value));
    if (i >= carried)
      shape = inferStack(shapeOf(value), stacks[i - carried].axis, static_cast<int64_t>(getTrips()),
                         why);
    if (failed(shape))
      return emitOpError(why);
    if (withShape(typeOf(value), *shape) != result)
      return next.emitOpError("value ")
             << i << " is " << value.getType() << ", but the "
             << (i < carried ? "carried value is " : "stack is ") << result;
  }
  return success();
}

ParseResult LoopOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  int64_t trips = 0;
  llvm::SmallVector<OpAsmParser::Argument> arguments;
  llvm::SmallVector<Value> initial, sequences;
  Axes slices, stacks;
  // "%a = %value", then what `rest` reads, ": type"
  const auto binding = [&](llvm::SmallVector<Value> &values,
                           llvm::function_ref<ParseResult()> rest) -> ParseResult {
    OpAsmParser::UnresolvedOperand operand;
    Type type;
    if (parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
        parser.parseOperand(operand) || rest())
      return failure();
    const llvm::SMLoc where = parser.getCurrentLocation();
    if (parser.parseColonType(type) || parser.resolveOperand(operand, type, values))
      return failure();
    const auto tensor = llvm::dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return parser.emitError(where, "a loop carries and slices tensors, not ") << type;
    arguments.back().type = withShape(tensor, tensor.getShape());
    return success();
  };
  const auto carry = [&] { return binding(initial, [] { return success(); }); };
  const auto slice = [&]() -> ParseResult {
    const llvm::SMLoc where = parser.getCurrentLocation();
    if (binding(sequences,
                [&] { return failure(parser.parseKeyword("axis") || parseAxis(parser, slices)); }))
      return failure();
    const auto whole = llvm::cast<RankedTensorType>(arguments.back().type);
    llvm::SmallVector<int64_t> shape(whole.getShape());
    const int64_t axis = slices.axes.back();
    if (axis < 0 || axis >= static_cast<int64_t>(shape.size()))
      return parser.emitError(where, "axis ")
             << axis << " is outside a tensor of rank " << shape.size();
    shape.erase(shape.begin() + axis);
    arguments.back().type = withShape(whole, shape);
    return success();
  };
  const auto stack = [&] { return parseAxis(parser, stacks); };
  using Delimiter = AsmParser::Delimiter;
  if (parser.parseInteger(trips) ||
      (succeeded(parser.parseOptionalKeyword("carry")) &&
       parser.parseCommaSeparatedList(Delimiter::Paren, carry)) ||
      (succeeded(parser.parseOptionalKeyword("slice")) &&
       parser.parseCommaSeparatedList(Delimiter::Paren, slice)) ||
      (succeeded(parser.parseOptionalKeyword("stack")) &&
       parser.parseCommaSeparatedList(Delimiter::Square, stack)) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseArrow() ||
      parser.parseLParen() || parser.parseTypeList(result.types) || parser.parseRParen() ||
      parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  result.addOperands(initial);
  result.addOperands(sequences);
  auto &properties = result.getOrAddProperties<LoopOp::Properties>();
  properties.trips = builder.getI64IntegerAttr(trips);
  properties.slice_axes = builder.getDenseI64ArrayAttr(slices.axes);
  properties.slice_reversed = builder.getDenseBoolArrayAttr(slices.reversed);
  properties.stack_axes = builder.getDenseI64ArrayAttr(stacks.axes);
  properties.stack_reversed = builder.getDenseBoolArrayAttr(stacks.reversed);
  properties.operandSegmentSizes = {static_cast<int32_t>(initial.size()),
                                    static_cast<int32_t>(sequences.size())};
  return success();
}

void LoopOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getTrips();
  const auto arguments = getBody().getArguments();
  const size_t carried = getInitial().size();
  if (carried != 0) {
    printer << " carry (";
    llvm::interleaveComma(
        llvm::zip(arguments.take_front(carried), getInitial()), printer, [&](auto one) {
          printer.printRegionArgument(std::get<0>(one), {}, true);
          printer << " = " << std::get<1>(one) << " : " << std::get<1>(one).getType();
        });
    printer << ')';
  }
  if (!getSequences().empty()) {
    printer << " slice (";
    const auto axes = slices();
    llvm::interleaveComma(llvm::zip_equal(arguments.drop_front(carried), getSequences(), axes),
                          printer, [&](auto one) {
                            printer.printRegionArgument(std::get<0>(one), {}, true);
                            printer << " = " << std::get<1>(one) << " axis ";
                            printAxis(printer, std::get<2>(one));
                            printer << " : " << std::get<1>(one).getType();
                          });
    printer << ')';
  }
  if (!getStackAxes().empty()) {
    printer << " stack [";
    llvm::interleaveComma(stacks(), printer,
                          [&](const LoopAxis &axis) { printAxis(printer, axis); });
    printer << ']';
  }
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"trips", "operandSegmentSizes", "slice_axes", "slice_reversed",
                                 "stack_axes", "stack_reversed"});
  printer << " -> (";
  llvm::interleaveComma(getResultTypes(), printer);
  printer << ") ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

} // namespace sluice::ir
