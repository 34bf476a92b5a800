// Verifiers of what a program's bodies refer to.
#include "compiler/dialect/rows/verify.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include "hw/isa/isa.h"
#include "runtime/addressing/addressing.h"

namespace sluice::rows {
namespace {

/// Rows of a tensor whose axis `dim` lies along the lanes; nothing if it has no such axis.
std::optional<int64_t> rowsOf(llvm::ArrayRef<int64_t> shape, int64_t dim, int64_t lanes) {
  if (dim < 0 || dim >= std::max<int64_t>(static_cast<int64_t>(shape.size()), 1))
    return std::nullopt;
  return addressing::rowsOf(shape, static_cast<size_t>(dim), lanes);
}

bool isHostInteger(mlir::Type type) {
  if (type.isInteger(1))
    return true;
  return (type.isSignedInteger() || type.isUnsignedInteger()) &&
         llvm::is_contained({8U, 16U, 32U, 64U}, type.getIntOrFloatBitWidth());
}

template <typename Tensor> mlir::LogicalResult verifyHostTensor(Tensor op) {
  const auto type = llvm::dyn_cast<mlir::RankedTensorType>(op.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() == 0)
    return op.emitOpError("must have the type of a non-empty static tensor");
  const mlir::Type element = type.getElementType();
  const bool isFloat = element.isF32() || element.isBF16() || element.isF16() || element.isF64();
  if (!isFloat && !isHostInteger(element))
    return op.emitOpError() << "has elements of " << element
                            << ", allowed: f32, bf16, f16, f64, i1, si8 to si64, ui8 to ui64";
  const auto limits = op.getLimits();
  if (limits && (isFloat || limits->size() != 2))
    return op.emitOpError("has limits that are not two integers of an integer tensor");
  const llvm::ArrayRef<int64_t> shape = op.getPacked().value_or(type.getShape());
  if (!isShapeOf(shape, type.getNumElements()))
    return op.emitOpError() << "is packed as [" << shape << "] but has " << type.getNumElements()
                            << " elements";
  const auto rows = rowsOf(shape, op.getDataDim(), lanesOf(op));
  if (!rows)
    return op.emitOpError() << "has data dimension " << op.getDataDim() << " but rank "
                            << shape.size();
  if (*rows != static_cast<int64_t>(op.getRows()))
    return op.emitOpError() << "has " << op.getRows() << " rows but its shape needs " << *rows;
  return mlir::success();
}

} // namespace

ProgramOp programOf(mlir::Operation *op) {
  if (auto program = llvm::dyn_cast<ProgramOp>(op))
    return program;
  return op->getParentOfType<ProgramOp>();
}

int64_t lanesOf(mlir::Operation *op) {
  return programOf(op).getGeometry().getAs<mlir::IntegerAttr>("lanes").getInt();
}

bool isShapeOf(llvm::ArrayRef<int64_t> shape, int64_t elements) {
  for (const int64_t extent : shape) {
    if (extent < 1 || elements % extent != 0)
      return false;
    elements /= extent;
  }
  return elements == 1;
}

mlir::LogicalResult InputOp::verify() { return verifyHostTensor(*this); }
mlir::LogicalResult OutputOp::verify() { return verifyHostTensor(*this); }

mlir::LogicalResult BlockOp::verify() {
  const int64_t lanes = lanesOf(*this);
  return verifyElements<mlir::BFloat16Type>(*this, getElements(), {lanes, lanes});
}

mlir::LogicalResult BiasOp::verify() {
  return verifyElements<mlir::Float32Type>(*this, getElements(), lanesOf(*this));
}

mlir::LogicalResult StateOp::verify() {
  return verifyElements<mlir::BFloat16Type>(*this, getInitial(), lanesOf(*this));
}

mlir::LogicalResult TableOp::verify() {
  if (getHeader().size() != 4)
    return emitOpError() << "has a header of " << getHeader().size() << " words, expected 4";
  return verifyElements<mlir::BFloat16Type>(*this, getEntries(), {isa::kTableEntries});
}

mlir::LogicalResult FamilyOp::verify() {
  if (getTrips() == 0 || getRows() == 0 || getTrips() > isa::kMostCount || getRows() > UINT32_MAX)
    return emitOpError() << "has " << getRows() << " rows and trip count " << getTrips()
                         << ", allowed: at least 1, and 1 to " << isa::kMostCount;
  if (getInputAttr() && getConstantAttr())
    return emitOpError("cannot be both an input and a constant");
  if (!getConstantAttr())
    return mlir::success();
  const auto total = static_cast<int64_t>(getTrips() * getRows());
  return verifyElements<mlir::BFloat16Type>(*this, *getConstant(), {total, lanesOf(*this)});
}

mlir::LogicalResult FamilyOp::verifySymbolUses(mlir::SymbolTableCollection &symbols) {
  if (!getInputAttr())
    return mlir::success();
  auto input = objectNamed<InputOp>(symbols, *this, getInputAttr());
  if (!input)
    return mlir::failure();
  const auto total = static_cast<int64_t>(getTrips() * getRows());
  if (static_cast<int64_t>(input.getRows()) != total)
    return emitOpError() << "has " << total << " rows but its input has " << input.getRows();
  return mlir::success();
}

} // namespace sluice::rows
