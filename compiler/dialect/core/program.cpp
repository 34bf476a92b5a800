// core.program, core.core and core.host: the checks of a whole program against its machine.
#include <fmt/format.h>

#include "mlir/IR/Builders.h"

#include "compiler/dialect/core/dialect.h"
#include "compiler/dialect/core/instruction.h"
#include "runtime/format/checks.h"
#include "runtime/format/targets.h"

#include "compiler/dialect/core/dialect.cpp.inc"

#define GET_OP_CLASSES
#include "compiler/dialect/core/ops.cpp.inc"

namespace sluice::core {
namespace {

/// Every operation of a list is an instruction.
mlir::LogicalResult verifyList(mlir::Region &body) {
  for (mlir::Operation &op : body.front())
    if (!instructionOf(&op))
      return op.emitOpError("is not an instruction");
  return mlir::success();
}

/// The words of a list; nothing, with an error, if one does not encode.
std::optional<std::vector<isa::Words>> encodeList(mlir::Region &body) {
  std::vector<isa::Words> words;
  for (mlir::Operation &op : body.front()) {
    const std::optional<isa::Words> one = encode(&op);
    if (!one)
      return std::nullopt;
    words.push_back(*one);
  }
  return words;
}

} // namespace

void CoreDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/core/ops.cpp.inc"
      >();
}

mlir::DictionaryAttr geometryAttr(mlir::MLIRContext *context, const format::Geometry &geometry) {
  mlir::Builder builder(context);
  llvm::SmallVector<mlir::NamedAttribute> fields;
  fields.push_back(builder.getNamedAttr("rtl", builder.getStringAttr(geometry.rtl)));
  for (const format::GeometryField &field : format::geometryFields())
    fields.push_back(
        builder.getNamedAttr(field.name, builder.getI64IntegerAttr(geometry.*field.value)));
  if (geometry.clockSource != format::Geometry().clockSource)
    fields.push_back(
        builder.getNamedAttr("clock_source", builder.getStringAttr(geometry.clockSource)));
  for (const isa::StageInfo &stage : isa::kStages)
    if (const uint32_t value = geometry.stages.*stage.value; value != isa::Stages().*stage.value)
      fields.push_back(builder.getNamedAttr(stage.name, builder.getI64IntegerAttr(value)));
  return builder.getDictionaryAttr(fields);
}

std::optional<format::Geometry> geometryOf(mlir::Operation *program, llvm::StringRef target,
                                           mlir::DictionaryAttr fields) {
  format::Geometry geometry;
  geometry.name = target.str();
  const auto bad = [&](const llvm::Twine &what) {
    program->emitOpError() << what;
    return std::nullopt;
  };
  const auto rtl = fields.getAs<mlir::StringAttr>("rtl");
  if (!rtl)
    return bad("geometry has no rtl");
  geometry.rtl = rtl.str();
  for (const format::GeometryField &field : format::geometryFields()) {
    const auto value = fields.getAs<mlir::IntegerAttr>(field.name);
    if (!value || value.getInt() < 0 || value.getInt() > UINT32_MAX)
      return bad("geometry has no " + llvm::Twine(field.name));
    geometry.*field.value = static_cast<uint32_t>(value.getInt());
  }
  const auto source = fields.getAs<mlir::StringAttr>("clock_source");
  if (source)
    geometry.clockSource = source.str();
  size_t stages = 0;
  for (const isa::StageInfo &stage : isa::kStages)
    if (const auto value = fields.getAs<mlir::IntegerAttr>(stage.name)) {
      if (value.getInt() < 0 || value.getInt() > UINT32_MAX)
        return bad("geometry has no valid " + llvm::Twine(stage.name));
      geometry.stages.*stage.value = static_cast<uint32_t>(value.getInt());
      ++stages;
    }
  if (fields.size() != format::geometryFields().size() + stages + (source ? 2 : 1))
    return bad("geometry has an unknown field");
  if (const auto problem = format::checkGeometry(geometry))
    return bad(*problem);
  return geometry;
}

std::optional<format::Geometry> geometryOf(ProgramOp program) {
  return geometryOf(program, program.getTarget(), program.getGeometry());
}

mlir::LogicalResult CoreOp::verifyRegions() { return verifyList(getBody()); }
mlir::LogicalResult HostOp::verifyRegions() { return verifyList(getBody()); }

mlir::LogicalResult ProgramOp::verifyRegions() {
  const std::optional<format::Geometry> geometry = geometryOf(*this);
  if (!geometry)
    return mlir::failure();
  format::Program program;
  program.geometry = *geometry;
  program.models.resize(1);
  format::HostTensor output;
  output.rows = static_cast<uint32_t>(getOutputRows());
  program.models[0].outputs.push_back(output);
  bool host = false;
  for (mlir::Operation &op : getBody().front()) {
    auto core = llvm::dyn_cast<CoreOp>(op);
    if (host || (!core && !llvm::isa<HostOp>(op)))
      return op.emitOpError(
          "is misplaced; core.program has one core.core per core and then one core.host");
    if (core && core.getNumber() != program.cores.size())
      return op.emitOpError() << "is number " << core.getNumber() << ", expected "
                              << program.cores.size();
    std::optional<std::vector<isa::Words>> words = encodeList(op.getRegion(0));
    if (!words)
      return mlir::failure();
    host = !core;
    if (core)
      program.cores.emplace_back().instructions = std::move(*words);
    else
      program.hostInstructions = std::move(*words);
  }
  if (!host || program.cores.size() != geometry->cores)
    return emitOpError() << "has " << program.cores.size() << " cores and " << (host ? 1 : 0)
                         << " host ports, expected " << geometry->cores << " and 1";
  format::ProblemList problems(20);
  format::checkLists(program, problems);
  bool good = true;
  for (const format::FileProblem &problem : problems.take()) {
    emitOpError() << problem.message;
    good = false;
  }
  return mlir::success(good);
}

} // namespace sluice::core
