#include "compiler/dialect/sluice/dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "compiler/dialect/sluice/operations.h"

using namespace mlir;

#include "compiler/dialect/sluice/dialect.cpp.inc"

namespace sluice::ir {

void SluiceDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/sluice/ops.cpp.inc"
      >();
  registerAttributes();
}

Operation *SluiceDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                              Location loc) {
  auto elements = llvm::dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return builder.create<ConstantOp>(loc, elements);
}

} // namespace sluice::ir
