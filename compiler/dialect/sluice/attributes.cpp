#include "compiler/dialect/sluice/attributes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/layout.h"

using namespace mlir;

#include "compiler/dialect/sluice/enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/sluice/attributes.cpp.inc"

namespace sluice::ir {

void SluiceDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/dialect/sluice/attributes.cpp.inc"
      >();
}

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
  parser.emitError(parser.getNameLoc()) << "unknown sluice attribute '" << mnemonic << "'";
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
    return emitError() << "the data dimension is for a tensor " << notation(getExtents(), getAxis())
                       << ", but this tensor is " << notation(shape);
  const auto rank = static_cast<int64_t>(carried.size());
  if (getAxis() >= 0 && getAxis() < rank)
    return success();
  return emitError() << "data dimension " << getAxis() << " is outside a tensor of rank "
                     << shape.size();
}

} // namespace sluice::ir
