// Verifiers of a trip's operations.
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include "compiler/dialect/rows/step.h"
#include "compiler/dialect/rows/verify.h"
#include "hw/isa/isa.h"
#include "runtime/addressing/addressing.h"

namespace sluice::rows {
namespace {

/// Rows of a tensor: those of its lanes, as often as it has other elements.
int64_t rowsOf(mlir::DictionaryAttr tensor, int64_t lanes) {
  const auto packed = tensor.getAs<mlir::DenseI64ArrayAttr>("packed");
  const llvm::ArrayRef<int64_t> shape =
      packed ? packed : tensor.getAs<mlir::DenseI64ArrayAttr>("shape");
  return addressing::rowsOf({shape.data(), shape.size()},
                            tensor.getAs<mlir::IntegerAttr>("data_dim").getInt(), lanes);
}

/// Whether a row is one of a tensor that there is, in every trip.
template <typename Computed> mlir::LogicalResult verifyElements(Computed op) {
  if (op.getElements() && op.getPartOf())
    return op.emitOpError("cannot have both 'elements' and 'part_of'");
  const auto list = op.getElements() ? op.getElements() : op.getPartOf();
  if (!list)
    return mlir::success();
  const auto tensors = programOf(op).getTensorsAttr();
  const auto count = static_cast<int64_t>(tensors ? tensors.size() : 0);
  if (list->size() != 3 || (*list)[0] < 0 || (*list)[0] >= count)
    return op.emitOpError() << "has elements [" << *list << "], expected a tensor index below "
                            << count << ", a row and a step";
  const int64_t rows = rowsOf(llvm::cast<mlir::DictionaryAttr>(tensors[(*list)[0]]), lanesOf(op));
  const auto trips = static_cast<int64_t>(op->template getParentOfType<BodyOp>().getTrips());
  for (const int64_t row : {(*list)[1], (*list)[1] + (trips - 1) * (*list)[2]})
    if (row < 0 || row >= rows)
      return op.emitOpError() << "is row " << row << ", but the row count of the tensor is "
                              << rows;
  return mlir::success();
}

/// What a linear and a vector row have in common.
template <typename Computed> mlir::LogicalResult verifyComputed(Computed op) {
  if (auto problem = stepProblem(op.getStepAttr(), op.getB() != nullptr, op.getC() != nullptr))
    return op.emitOpError() << *problem;
  const auto count = static_cast<int64_t>(programOf(op).getNodes().size());
  for (const int64_t node : op.getNodes())
    if (node < 0 || node >= count)
      return op.emitOpError() << "refers to node " << node << "; the program has " << count
                              << " nodes";
  return verifyElements(op);
}

template <typename Computed>
mlir::LogicalResult verifyTable(mlir::SymbolTableCollection &symbols, Computed op) {
  return mlir::success(!op.getTableAttr() || objectNamed<TableOp>(symbols, op, op.getTableAttr()));
}

mlir::LogicalResult verifyFold(WriteOp op, FamilyOp family) {
  const llvm::StringRef fold = *op.getFold();
  if (!llvm::is_contained({"sum", "max", "min", "product"}, fold))
    return op.emitOpError() << "reduces by '" << fold << "', allowed: sum, max, min, product";
  const uint64_t trips = op->getParentOfType<BodyOp>().getTrips();
  const size_t rows = op.getRows().size() * (fold == "sum" ? 2 : 1);
  if (family.getTrips() > trips || family.getRows() != rows)
    return op.emitOpError() << "reduces " << trips << " iterations to " << rows
                            << " rows each; the family has " << family.getRows()
                            << " rows and trip count " << family.getTrips();
  return mlir::success();
}

/// The first index that is twice there or not below `limit`.
std::optional<int64_t> badIndex(llvm::ArrayRef<int64_t> indices, int64_t limit) {
  llvm::SmallDenseSet<int64_t> seen;
  for (const int64_t index : indices)
    if (index < 0 || index >= limit || !seen.insert(index).second)
      return index;
  return std::nullopt;
}

} // namespace

mlir::LogicalResult BodyOp::verify() {
  if (getTrips() == 0 || getTrips() > isa::kMostCount)
    return emitOpError() << "has trip count " << getTrips() << ", allowed: 1 to "
                         << isa::kMostCount;
  for (mlir::Operation &op : getRows().front())
    if (op.getDialect() != getOperation()->getDialect())
      return op.emitOpError("is not an operation on rows");
  return mlir::success();
}

mlir::LogicalResult ReadOp::verifySymbolUses(mlir::SymbolTableCollection &symbols) {
  auto family = objectNamed<FamilyOp>(symbols, *this, getFamilyAttr());
  if (!family)
    return mlir::failure();
  const auto results = static_cast<int64_t>(getNumResults());
  const auto total = static_cast<int64_t>(family.getTrips() * family.getRows());
  const uint64_t trips = (*this)->getParentOfType<BodyOp>().getTrips();
  if (!getAt()) {
    if (getStep() != 0)
      return emitOpError("has a step but no start index");
    if (family.getTrips() != trips)
      return emitOpError() << "reads a family of trip count " << family.getTrips()
                           << " in a body of trip count " << trips;
    if (static_cast<int64_t>(family.getRows()) != results)
      return emitOpError() << "has " << results << " results but the family has "
                           << family.getRows() << " rows per iteration";
    return mlir::success();
  }
  const llvm::ArrayRef<int64_t> places = *getAt();
  if (static_cast<int64_t>(places.size()) != results)
    return emitOpError() << "has " << results << " results for " << places.size() << " indices";
  const auto way = static_cast<int64_t>(trips - 1) * static_cast<int64_t>(getStep());
  for (const int64_t first : places)
    for (const int64_t place : {first, first + way})
      if (place < 0 || place >= total)
        return emitOpError() << "reads index " << place << " of a family of " << total << " rows";
  return mlir::success();
}

mlir::LogicalResult RecallOp::verifySymbolUses(mlir::SymbolTableCollection &symbols) {
  return mlir::success(objectNamed<StateOp>(symbols, *this, getStateAttr()));
}

mlir::LogicalResult KeepOp::verifySymbolUses(mlir::SymbolTableCollection &symbols) {
  return mlir::success(objectNamed<StateOp>(symbols, *this, getStateAttr()));
}

mlir::LogicalResult ConstantOp::verify() {
  return verifyElements<mlir::BFloat16Type>(*this, getLanes(), lanesOf(*this));
}

mlir::LogicalResult LinearOp::verify() {
  if (getTerms().empty() || getTerms().size() != getBlocks().size())
    return emitOpError() << "has " << getTerms().size() << " rows and " << getBlocks().size()
                         << " weight blocks, expected equal numbers, at least 1";
  return verifyComputed(*this);
}

mlir::LogicalResult LinearOp::verifySymbolUses(mlir::SymbolTableCollection &symbols) {
  for (const auto block : getBlocks().getAsRange<mlir::FlatSymbolRefAttr>())
    if (!objectNamed<BlockOp>(symbols, *this, block))
      return mlir::failure();
  if (getBiasAttr() && !objectNamed<BiasOp>(symbols, *this, getBiasAttr()))
    return mlir::failure();
  return verifyTable(symbols, *this);
}

mlir::LogicalResult VectorOp::verify() {
  if (getA().empty())
    return emitOpError("has no operand row");
  const auto reduce =
      getStepAttr() ? getStepAttr().getAs<mlir::StringAttr>("reduce") : mlir::StringAttr();
  if (getA().size() > 1 && (!reduce || reduce.getValue() == "none"))
    return emitOpError() << "has " << getA().size() << " rows to accumulate but no reduction";
  return verifyComputed(*this);
}

mlir::LogicalResult VectorOp::verifySymbolUses(mlir::SymbolTableCollection &symbols) {
  return verifyTable(symbols, *this);
}

mlir::LogicalResult FillOp::verifySymbolUses(mlir::SymbolTableCollection &symbols) {
  auto block = objectNamed<BlockOp>(symbols, *this, getBlockAttr());
  if (!block)
    return mlir::failure();
  if (!block.getDynamic())
    return emitOpError() << "writes to " << getBlockAttr() << ", which is not dynamic";
  return mlir::success();
}

mlir::LogicalResult FillOp::verify() {
  if (getAt().empty() || getAt().size() != getRows().size())
    return emitOpError() << "has " << getRows().size() << " rows for " << getAt().size()
                         << " indices, expected equal numbers, at least 1";
  if (const auto bad = badIndex(getAt(), lanesOf(*this)))
    return emitOpError() << "writes index " << *bad << " twice or outside the block";
  return mlir::success();
}

mlir::LogicalResult WriteOp::verify() {
  if (!getFamilyAttr() && !getOutputAttr())
    return emitOpError("writes neither to a family nor to an output");
  for (const auto [i, row] : llvm::enumerate(getRows())) {
    mlir::Operation *made = row.getDefiningOp();
    if (!llvm::isa<LinearOp, VectorOp>(made))
      return emitOpError() << "writes row " << i << ", which is not computed";
  }
  if ((getOutputAttr() || getFirst()) && (!getFirst() || getFirst()->size() != getRows().size()))
    return emitOpError() << "has indices for " << (getFirst() ? getFirst()->size() : 0) << " of "
                         << getRows().size() << " rows";
  if (getFold() && !getFamilyAttr())
    return emitOpError("reduces rows but writes no family");
  if (getFirst() && getFold())
    return emitOpError("cannot both reduce rows and give their indices");
  if (getOutputAttr() && getFamilyAttr())
    return emitOpError("writes to a family and to an output; only one is allowed");
  return mlir::success();
}

mlir::LogicalResult WriteOp::verifySymbolUses(mlir::SymbolTableCollection &symbols) {
  if (getOutputAttr() && !objectNamed<OutputOp>(symbols, *this, getOutputAttr()))
    return mlir::failure();
  if (!getFamilyAttr())
    return mlir::success();
  auto family = objectNamed<FamilyOp>(symbols, *this, getFamilyAttr());
  if (!family)
    return mlir::failure();
  if (getFold())
    return verifyFold(*this, family);
  if (getFirst())
    return mlir::success(); // the program knows who else writes it
  const uint64_t trips = (*this)->getParentOfType<BodyOp>().getTrips();
  if (family.getTrips() != trips || family.getRows() != getRows().size())
    return emitOpError() << "writes " << getRows().size() << " rows with trip count " << trips
                         << "; the family has " << family.getRows() << " with trip count "
                         << family.getTrips();
  return mlir::success();
}

} // namespace sluice::rows
