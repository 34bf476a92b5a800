#include "compiler/target/core_program.h"

#include <map>

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "compiler/target/save_state.h"

namespace sluice::core {
namespace {

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

ProgramBuilder::ProgramBuilder(mlir::MLIRContext &context, const format::Geometry &geometry,
                               uint32_t outputRows)
    : builder((context.loadDialect<CoreDialect>(), &context)), cores(geometry.cores) {
  program = builder.create<ProgramOp>(builder.getUnknownLoc(), geometry.name,
                                      geometryAttr(&context, geometry),
                                      static_cast<uint64_t>(outputRows));
  program->getBody().emplaceBlock();
}

void ProgramBuilder::beginList() {
  const mlir::Location where = builder.getUnknownLoc();
  builder.setInsertionPointToEnd(&program->getBody().front());
  mlir::Operation *container =
      lists < cores ? builder.create<CoreOp>(where, static_cast<uint64_t>(lists)).getOperation()
                    : builder.create<HostOp>(where).getOperation();
  ++lists;
  builder.setInsertionPointToEnd(&container->getRegion(0).emplaceBlock());
}

void ProgramBuilder::add(mlir::Location where, const isa::Words &words,
                         const std::vector<uint32_t> &nodes) {
  createInstruction(builder, where, words, llvm::SmallVector<int64_t>(nodes.begin(), nodes.end()));
}

bool emitInstructions(ProgramOp source, format::Program &program) {
  const std::optional<format::Geometry> geometry = geometryOf(source);
  if (!geometry)
    return false;
  if (*geometry != program.geometry) {
    source.emitOpError("is for a different machine than the program");
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
          op.emitOpError() << "refers to node " << node << "; the program has "
                           << program.nodes.size() << " nodes";
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
  std::map<std::pair<uint32_t, uint32_t>, const std::vector<uint32_t> *> nodes;
  for (const format::SourceEntry &entry : program.sourceMap)
    nodes[{entry.core, entry.instruction}] = &entry.nodes;
  ProgramBuilder builder(context, program.geometry, outputRowsOf(program));
  const mlir::Location where = mlir::UnknownLoc::get(&context);
  for (uint32_t list = 0; list <= program.cores.size(); ++list) {
    builder.beginList();
    const auto &instructions =
        list < program.cores.size() ? program.cores[list].instructions : program.hostInstructions;
    const uint32_t save = program.state.save.empty() ? 0 : program.state.save[list];
    const size_t end = save == 0 ? instructions.size() : save;
    for (uint32_t index = 0; index < end; ++index) {
      const auto found = nodes.find({list, index});
      builder.add(where, instructions[index],
                  found == nodes.end() ? std::vector<uint32_t>() : *found->second);
    }
  }
  return builder.take();
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
        parsed && emitInstructions(parsed, program)) {
      if (!program.state.save.empty() && !appendSave(program))
        return "the instructions that save the state do not fit";
      return std::nullopt;
    }
  return error.empty() ? "the text is not a core.program" : error;
}

} // namespace sluice::core
