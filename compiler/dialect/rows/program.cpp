// The verifier of a whole program: every family and every host row is written once,
// before it is read.
#include "mlir/IR/BuiltinTypes.h"

#include "compiler/dialect/core/dialect.h"
#include "compiler/dialect/rows/verify.h"
#include "runtime/addressing/addressing.h"

namespace sluice::rows {
namespace {

class Checker {
public:
  explicit Checker(ProgramOp program) : program(program) {}

  mlir::LogicalResult run() {
    for (mlir::Operation &op : program.getBody().front())
      if (mlir::failed(check(op)))
        return mlir::failure();
    for (auto output : program.getBody().getOps<OutputOp>())
      for (uint64_t row = 0; row < output.getRows(); ++row)
        if (!sent.contains(output.getFirstRow() + row))
          return output.emitOpError() << "row " << row << " is never written";
    for (auto state : program.getBody().getOps<StateOp>())
      for (const auto &[uses, how] : {std::pair(&recalled, "recalled"), std::pair(&kept, "kept")})
        if (const unsigned times = uses->lookup(state.getSymNameAttr()); times != 1)
          return state.emitOpError() << "is " << how << " " << times << " times, expected 1";
    return mlir::success();
  }

private:
  mlir::LogicalResult check(mlir::Operation &op) {
    if (op.getDialect() != program->getDialect() || !op.getParentOp() ||
        (!llvm::isa<BodyOp>(op) && !llvm::isa<mlir::SymbolOpInterface>(op)))
      return op.emitOpError("is neither a loop body nor an object of the program");
    if (auto block = llvm::dyn_cast<BlockOp>(op); block && !block.getDynamic())
      return distinct(op, block.getElements());
    if (auto bias = llvm::dyn_cast<BiasOp>(op))
      return distinct(op, bias.getElements());
    if (auto table = llvm::dyn_cast<TableOp>(op))
      return distinct(
          op, mlir::ArrayAttr::get(op.getContext(), {table.getHeaderAttr(), table.getEntries()}));
    if (auto family = llvm::dyn_cast<FamilyOp>(op);
        family && (family.getInputAttr() || family.getConstantAttr()))
      written.insert(family.getSymNameAttr());
    else if (family)
      missing[family.getSymNameAttr()] = family.getTrips() * family.getRows();
    if (auto body = llvm::dyn_cast<BodyOp>(op))
      return check(body);
    return mlir::success();
  }

  /// Attributes are unique, so equal ones are one.
  mlir::LogicalResult distinct(mlir::Operation &op, mlir::Attribute value) {
    const auto [known, added] = objects.try_emplace({op.getName(), value}, &op);
    if (added)
      return mlir::success();
    mlir::InFlightDiagnostic error = op.emitOpError("is a duplicate");
    error.attachNote(known->second->getLoc()) << "first defined here";
    return error;
  }

  mlir::LogicalResult check(BodyOp body) {
    llvm::DenseMap<mlir::Attribute, bool> filled; // by block, whether before its first product
    uint64_t group = 0;
    llvm::SmallVector<mlir::StringAttr> families;
    for (mlir::Operation &op : body.getRows().front()) {
      if (auto read = llvm::dyn_cast<ReadOp>(op);
          read && !written.contains(read.getFamilyAttr().getAttr()))
        return op.emitOpError() << "reads " << read.getFamilyAttr()
                                << ", which no earlier body writes";
      if (auto recall = llvm::dyn_cast<RecallOp>(op))
        ++recalled[recall.getStateAttr().getAttr()];
      if (auto keep = llvm::dyn_cast<KeepOp>(op))
        ++kept[keep.getStateAttr().getAttr()];
      if (llvm::isa<RecallOp, KeepOp>(op) && body.getTrips() != 1)
        return op.emitOpError() << "is in a body with trip count " << body.getTrips()
                                << ", expected 1";
      if (auto fill = llvm::dyn_cast<FillOp>(op);
          fill && !filled.try_emplace(fill.getBlockAttr().getAttr(), true).second)
        return op.emitOpError() << "fills " << fill.getBlockAttr() << " twice";
      if (auto linear = llvm::dyn_cast<LinearOp>(op); linear && !areFilled(linear, filled))
        return mlir::failure();
      if (auto own = op.getAttrOfType<mlir::IntegerAttr>("group")) {
        if (own.getValue().ult(group))
          return op.emitOpError() << "is in group " << own.getInt() << " but comes after group "
                                  << group;
        group = own.getValue().getZExtValue();
      }
      if (auto write = llvm::dyn_cast<WriteOp>(op)) {
        if (mlir::failed(send(write, body.getTrips())))
          return mlir::failure();
        if (!write.getFamilyAttr())
          continue;
        const mlir::StringAttr name = write.getFamilyAttr().getAttr();
        const bool whole = !write.getFirst();
        if (written.contains(name) || llvm::is_contained(families, name) ||
            (whole && places.contains(name)))
          return op.emitOpError() << "writes " << write.getFamilyAttr() << " twice";
        if (whole)
          families.push_back(name);
        else if (mlir::failed(place(write, body.getTrips())))
          return mlir::failure();
      }
    }
    written.insert(families.begin(), families.end());
    for (const auto &[name, known] : places)
      if (known.size() == missing.lookup(name))
        written.insert(name);
    return mlir::success();
  }

  /// Calls `visit` with the row and the iteration of each row that a write with indices writes,
  /// until one fails.
  static mlir::LogicalResult
  forEachRow(WriteOp write, uint64_t trips,
             llvm::function_ref<mlir::LogicalResult(int64_t row, uint64_t trip)> visit) {
    const llvm::ArrayRef<int64_t> firsts = *write.getFirst();
    for (const int64_t first : firsts)
      for (uint64_t trip = 0; trip < trips; ++trip)
        if (mlir::failed(visit(first + static_cast<int64_t>(trip * write.getStride()), trip)))
          return mlir::failure();
    return mlir::success();
  }

  /// Writes part of a family.
  mlir::LogicalResult place(WriteOp write, uint64_t trips) {
    const mlir::StringAttr name = write.getFamilyAttr().getAttr();
    const auto total = static_cast<int64_t>(missing.lookup(name));
    return forEachRow(write, trips, [&](int64_t row, uint64_t trip) -> mlir::LogicalResult {
      if (row < 0 || row >= total)
        return write.emitOpError() << "writes index " << row << " in iteration " << trip
                                   << " of a family of " << total << " rows";
      if (!places[name].insert(static_cast<uint64_t>(row)).second)
        return write.emitOpError()
               << "writes index " << row << " of " << write.getFamilyAttr() << " twice";
      return mlir::success();
    });
  }

  /// Dynamic blocks are filled before they are multiplied by.
  bool areFilled(LinearOp linear, const llvm::DenseMap<mlir::Attribute, bool> &filled) {
    for (const auto name : linear.getBlocks().getAsRange<mlir::FlatSymbolRefAttr>()) {
      auto block = objectNamed<BlockOp>(symbols, linear, name);
      if (!block.getDynamic() || filled.contains(name.getAttr()))
        continue;
      linear.emitOpError() << "multiplies by " << name << " before it is filled";
      return false;
    }
    return true;
  }

  mlir::LogicalResult send(WriteOp write, uint64_t trips) {
    if (!write.getOutputAttr())
      return mlir::success();
    auto output = objectNamed<OutputOp>(symbols, write, write.getOutputAttr());
    const auto start = static_cast<int64_t>(output.getFirstRow());
    const auto last = start + static_cast<int64_t>(output.getRows()) - 1;
    return forEachRow(write, trips, [&](int64_t row, uint64_t trip) -> mlir::LogicalResult {
      if (row < start || row > last)
        return write.emitOpError() << "writes host row " << row << " in iteration " << trip
                                   << "; the output has rows " << start << " to " << last;
      if (!sent.insert(static_cast<uint64_t>(row)).second)
        return write.emitOpError() << "writes host row " << row << " twice";
      return mlir::success();
    });
  }

  ProgramOp program;
  mlir::SymbolTableCollection symbols;
  llvm::DenseMap<std::pair<mlir::OperationName, mlir::Attribute>, mlir::Operation *> objects;
  llvm::DenseSet<mlir::StringAttr> written;           ///< families
  llvm::DenseMap<mlir::StringAttr, uint64_t> missing; ///< rows of families that bodies write
  llvm::DenseMap<mlir::StringAttr, llvm::DenseSet<uint64_t>> places; ///< written one by one
  llvm::DenseSet<uint64_t> sent;                                     ///< host rows
  llvm::DenseMap<mlir::StringAttr, unsigned> recalled, kept;         ///< how often, by state
};

} // namespace

/// Whether an attribute says a tensor's name, shape, maybe how it is packed, and data dimension.
static bool isTensor(mlir::Attribute entry) {
  const auto tensor = llvm::dyn_cast<mlir::DictionaryAttr>(entry);
  const auto shape = tensor ? tensor.getAs<mlir::DenseI64ArrayAttr>("shape") : nullptr;
  const auto dim = tensor ? tensor.getAs<mlir::IntegerAttr>("data_dim") : nullptr;
  if (!shape || !dim || !tensor.getAs<mlir::StringAttr>("name") ||
      !llvm::all_of(shape.asArrayRef(), [](int64_t extent) { return extent > 0; }))
    return false;
  const auto packed = tensor.getAs<mlir::DenseI64ArrayAttr>("packed");
  const int64_t rank = (packed ? packed : shape).size();
  return tensor.size() == (packed ? 4 : 3) && dim.getInt() >= 0 &&
         dim.getInt() < std::max<int64_t>(rank, 1) &&
         (!packed || isShapeOf(packed, addressing::elementsOf(shape.asArrayRef())));
}

mlir::LogicalResult ProgramOp::verify() {
  if (!core::geometryOf(*this, getTarget(), getGeometry()))
    return mlir::failure();
  for (const mlir::Attribute entry : getNodes()) {
    const auto node = llvm::dyn_cast<mlir::DictionaryAttr>(entry);
    if (!node || node.size() != 3 || !node.getAs<mlir::IntegerAttr>("index") ||
        !node.getAs<mlir::StringAttr>("name") || !node.getAs<mlir::StringAttr>("op"))
      return emitOpError() << "has a node " << entry << ", expected {index, name, op}";
  }
  if (getTensorsAttr())
    for (const mlir::Attribute entry : getTensorsAttr())
      if (!isTensor(entry))
        return emitOpError() << "has a tensor " << entry
                             << ", expected {name, shape, data_dim} and optionally packed";
  return mlir::success();
}

mlir::LogicalResult ProgramOp::verifyRegions() { return Checker(*this).run(); }

} // namespace sluice::rows
