#include "compiler/dialect/sluice/dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "compiler/dialect/sluice/dialect.cpp.inc"
#include "compiler/dialect/sluice/enums.cpp.inc"
#include "compiler/dialect/sluice/interfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/sluice/attributes.cpp.inc"

namespace sluice::ir {

void SluiceDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/sluice/ops.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/dialect/sluice/attributes.cpp.inc"
      >();
}

Operation *SluiceDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                              Location loc) {
  auto elements = llvm::dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return builder.create<ConstantOp>(loc, elements);
}

/// `#sluice.dim<1>`.
Attribute DimAttr::parse(AsmParser &parser, Type) {
  int64_t axis = 0;
  if (parser.parseLess() || parser.parseInteger(axis) || parser.parseGreater())
    return {};
  return DimAttr::get(parser.getContext(), axis);
}

void DimAttr::print(AsmPrinter &printer) const { printer << '<' << getAxis() << '>'; }

/// The attribute of "[2 3! 4]", or nothing. The lexer does not know "!" alone,
/// so this reads characters.
static DimAttr parseNotation(MLIRContext *context, llvm::StringRef text) {
  if (!text.consume_front("[") || !text.consume_back("]"))
    return {};
  llvm::SmallVector<llvm::StringRef> words;
  llvm::SplitString(text, words);
  llvm::SmallVector<int64_t, 4> extents;
  std::optional<int64_t> axis;
  for (llvm::StringRef word : words) {
    if (word.consume_back("!")) {
      if (axis)
        return {};
      axis = static_cast<int64_t>(extents.size());
    }
    if (word.getAsInteger(10, extents.emplace_back()))
      return {};
  }
  return axis ? DimAttr::get(context, *axis, extents) : DimAttr();
}

Attribute SluiceDialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  if (parser.getFullSymbolSpec().starts_with("[")) {
    const DimAttr dim = parseNotation(getContext(), parser.getFullSymbolSpec());
    if (!dim)
      parser.emitError(parser.getNameLoc())
          << "'" << parser.getFullSymbolSpec()
          << "' is not a list of extents with one data dimension, such as [2 3! 4]";
    return dim;
  }
  llvm::StringRef mnemonic;
  Attribute attribute;
  if (auto parsed = generatedAttributeParser(parser, &mnemonic, type, attribute);
      parsed.has_value())
    return attribute;
  parser.emitError(parser.getNameLoc()) << "unknown attribute '" << mnemonic << "' of sluice";
  return {};
}

void SluiceDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  if (auto dim = llvm::dyn_cast<DimAttr>(attribute); dim && !dim.getExtents().empty())
    printer << notation(dim.getExtents(), dim.getAxis());
  else
    (void)generatedAttributePrinter(attribute, printer);
}

LogicalResult DimAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                      function_ref<InFlightDiagnostic()> emitError) const {
  // Rank 0 is carried as [1].
  llvm::SmallVector<int64_t, 4> carried(shape);
  if (carried.empty())
    carried.push_back(1);
  if (!getExtents().empty() && getExtents() != llvm::ArrayRef<int64_t>(carried))
    return emitError() << "the data dimension is of a tensor " << notation(getExtents(), getAxis())
                       << ", this one is " << notation(shape, std::nullopt);
  const auto rank = static_cast<int64_t>(carried.size());
  if (getAxis() >= 0 && getAxis() < rank)
    return success();
  return emitError() << "data dimension " << getAxis() << " is outside a tensor of rank "
                     << shape.size();
}

bool isSluiceTensor(Type type) {
  auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  return tensor && (tensor.getElementType().isF32() || tensor.getElementType().isBF16()) &&
         llvm::all_of(tensor.getShape(), [](int64_t extent) { return extent >= 1; }) &&
         (!tensor.getEncoding() || llvm::isa<DimAttr>(tensor.getEncoding()));
}

std::optional<int64_t> dataDim(Type type) {
  auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  auto dim = tensor ? llvm::dyn_cast_if_present<DimAttr>(tensor.getEncoding()) : DimAttr();
  return dim ? std::optional<int64_t>(dim.getAxis()) : std::nullopt;
}

llvm::SmallVector<int64_t, 4> carriedShape(Value value) {
  llvm::SmallVector<int64_t, 4> shape(shapeOf(value));
  if (shape.empty())
    shape.push_back(1);
  return shape;
}

/// LayoutQuery::summed of a value.
static llvm::SmallVector<SummedAxis, 1>
summedAxes(Value value, llvm::function_ref<bool(Value)> constant, int64_t lanes) {
  llvm::SmallVector<SummedAxis, 1> common;
  bool first = true;
  for (OpOperand &use : value.getUses()) {
    auto rules = llvm::dyn_cast<LayoutInterface>(use.getOwner());
    llvm::SmallVector<SummedAxis> axes;
    if (rules && llvm::count_if(use.getOwner()->getOperands(), constant) == 1)
      rules.summedAxes(use.getOperandNumber(), lanes, axes);
    if (first)
      for (const SummedAxis &one : axes)
        common.push_back({one.axis, 0});
    first = false;
    llvm::erase_if(common, [&](SummedAxis &known) {
      const auto *same =
          llvm::find_if(axes, [&](const SummedAxis &one) { return one.axis == known.axis; });
      if (same == axes.end())
        return true;
      known.products += same->products;
      return false;
    });
    if (common.empty())
      break;
  }
  return common;
}

LayoutQuery layoutQuery(Operation *op, llvm::function_ref<bool(Value)> constant, int64_t lanes) {
  LayoutQuery query;
  query.lanes = lanes;
  query.summed = summedAxes(op->getResult(0), constant, lanes);
  for (Value operand : op->getOperands()) {
    query.operands.push_back(carriedShape(operand));
    query.constant.push_back(constant(operand));
  }
  query.result = carriedShape(op->getResult(0));
  return query;
}

reference::Tensor toTensor(ElementsAttr elements) {
  auto shape = elements.getShapedType().getShape();
  reference::Tensor tensor(reference::Shape(shape.begin(), shape.end()));
  if (auto values = elements.tryGetValues<float>()) {
    llvm::copy(*values, tensor.values.begin());
  } else {
    auto reals = llvm::cast<DenseElementsAttr>(elements).getValues<APFloat>();
    llvm::transform(reals, tensor.values.begin(),
                    [](const APFloat &value) { return value.convertToDouble(); });
  }
  return tensor;
}

DenseElementsAttr toElements(const reference::Tensor &tensor, MLIRContext *context) {
  auto type = RankedTensorType::get(tensor.shape, Float32Type::get(context));
  llvm::SmallVector<float> values;
  values.reserve(tensor.values.size());
  for (double value : tensor.values)
    values.push_back(static_cast<float>(value));
  return DenseElementsAttr::get(type, llvm::ArrayRef<float>(values));
}

} // namespace sluice::ir
