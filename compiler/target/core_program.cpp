#include "compiler/target/core_program.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

namespace sluice::core {
namespace {

/// The container of the next list: a core's, then the host port's.
mlir::Operation *createContainer(mlir::OpBuilder &builder, mlir::Location loc, size_t list,
                                 size_t cores) {
  mlir::Operation *container =
      list < cores ? builder.create<CoreOp>(loc, static_cast<uint64_t>(list)).getOperation()
                   : builder.create<HostOp>(loc).getOperation();
  container->getRegion(0).emplaceBlock();
  return container;
}

uint32_t outputRowsOf(const format::Program &program) {
  uint32_t rows = 0;
  for (const format::Model &model : program.models)
    for (const format::HostTensor &tensor : model.outputs)
      rows = std::max(rows, tensor.firstRow + tensor.rows);
  return rows;
}

std::string printed(mlir::Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream);
  stream << '\n';
  return text;
}

} // namespace

mlir::OwningOpRef<ProgramOp> buildProgram(mlir::MLIRContext &context,
                                          const format::Geometry &geometry, uint32_t outputRows,
                                          const Lists &lists) {
  context.loadDialect<CoreDialect>();
  mlir::OpBuilder builder(&context);
  const mlir::Location loc = builder.getUnknownLoc();
  auto program = builder.create<ProgramOp>(loc, geometry.name, geometryAttr(&context, geometry),
                                           static_cast<uint64_t>(outputRows));
  program.getBody().emplaceBlock();
  for (size_t list = 0; list < lists.size(); ++list) {
    builder.setInsertionPointToEnd(&program.getBody().front());
    mlir::Operation *container = createContainer(builder, loc, list, geometry.cores);
    builder.setInsertionPointToEnd(&container->getRegion(0).front());
    for (const ListedInstruction &one : lists[list]) {
      const llvm::SmallVector<int64_t> nodes(one.nodes.begin(), one.nodes.end());
      createInstruction(builder, loc, one.words, nodes);
    }
  }
  return program;
}

bool emitInstructions(ProgramOp source, format::Program &program) {
  const std::optional<format::Geometry> geometry = geometryOf(source);
  if (!geometry)
    return false;
  if (*geometry != program.geometry) {
    source.emitOpError("is for another machine than the program");
    return false;
  }
  program.cores.resize(geometry->cores);
  program.sourceMap.clear();
  uint32_t list = 0;
  for (mlir::Operation &container : source.getBody().front()) {
    std::vector<format::InstructionWords> words;
    for (mlir::Operation &op : container.getRegion(0).front()) {
      const std::optional<isa::Words> one = encode(&op);
      if (!one)
        return false;
      const auto index = static_cast<uint32_t>(words.size());
      words.push_back(*one);
      const auto nodes = op.getAttrOfType<mlir::DenseI64ArrayAttr>("nodes");
      if (!nodes || nodes.empty())
        continue;
      format::SourceEntry entry{list, index, {}};
      for (int64_t node : nodes.asArrayRef()) {
        if (node < 0 || static_cast<size_t>(node) >= program.nodes.size()) {
          op.emitOpError() << "names node " << node << ", the program has " << program.nodes.size();
          return false;
        }
        entry.nodes.push_back(static_cast<uint32_t>(node));
      }
      program.sourceMap.push_back(std::move(entry));
    }
    if (list < geometry->cores)
      program.cores[list].instructions = std::move(words);
    else
      program.hostInstructions = std::move(words);
    ++list;
  }
  return true;
}

mlir::OwningOpRef<ProgramOp> disassemble(mlir::MLIRContext &context,
                                         const format::Program &program) {
  Lists lists;
  for (const format::CoreImage &core : program.cores) {
    lists.emplace_back();
    for (const format::InstructionWords &words : core.instructions)
      lists.back().push_back({words, {}});
  }
  lists.emplace_back();
  for (const format::InstructionWords &words : program.hostInstructions)
    lists.back().push_back({words, {}});
  for (const format::SourceEntry &entry : program.sourceMap)
    lists[entry.core][entry.instruction].nodes = entry.nodes;
  return buildProgram(context, program.geometry, outputRowsOf(program), lists);
}

std::string disassembleText(const format::Program &program) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  return printed(disassemble(context, program).get());
}

std::optional<std::string> assembleText(const std::string &text, format::Program &program) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<CoreDialect>();
  std::string error;
  const mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    if (error.empty())
      error = diagnostic.str();
  });
  mlir::Block block;
  if (mlir::succeeded(mlir::parseSourceString(text, &block, mlir::ParserConfig(&context))) &&
      llvm::hasSingleElement(block))
    if (auto parsed = llvm::dyn_cast<ProgramOp>(block.front());
        parsed && emitInstructions(parsed, program))
      return std::nullopt;
  return error.empty() ? "the text is no core.program" : error;
}

} // namespace sluice::core
