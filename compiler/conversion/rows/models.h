// The operations' implementations of RowsInterface, one file per family.
#pragma once

#include "mlir/IR/MLIRContext.h"

namespace sluice::rows {

void attachMapModel(mlir::MLIRContext &context);
void attachContractionModels(mlir::MLIRContext &context);
void attachReductionModel(mlir::MLIRContext &context);
void attachViewModels(mlir::MLIRContext &context);
void attachStateModels(mlir::MLIRContext &context);

} // namespace sluice::rows
