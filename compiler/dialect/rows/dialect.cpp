#include "compiler/dialect/rows/dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "compiler/dialect/rows/dialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/rows/types.cpp.inc"

#define GET_OP_CLASSES
#include "compiler/dialect/rows/ops.cpp.inc"

namespace sluice::rows {

void RowsDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/dialect/rows/types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/rows/ops.cpp.inc"
      >();
}

} // namespace sluice::rows
