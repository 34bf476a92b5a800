// The core dialect and program files: what the compiler emits and what the
// disassembler prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"

#include "compiler/dialect/core/dialect.h"
#include "runtime/format/program.h"

namespace sluice::core {

/// Builds a core.program: list by list, those of the cores and then the host port's.
class ProgramBuilder {
public:
  /// Loads the dialect into `context`.
  ProgramBuilder(mlir::MLIRContext &context, const format::Geometry &geometry, uint32_t outputRows);

  void beginList();
  /// Appends an instruction and the source nodes it serves, numbers of the node table. The
  /// words decode.
  void add(mlir::Location where, const isa::Words &words, const std::vector<uint32_t> &nodes);
  mlir::OwningOpRef<ProgramOp> take() { return std::move(program); }

private:
  mlir::OpBuilder builder;
  mlir::OwningOpRef<ProgramOp> program;
  uint32_t cores, lists = 0;
};

/// Puts the instructions and the source map of a verified core.program into
/// `program`. False, with an error at the operation, if the machine is another
/// one or a node number is none of program.nodes.
bool emitInstructions(ProgramOp source, format::Program &program);

/// core.program of a program file that passed the loader's checks: what runs inferences. What
/// saves the state follows from its places (save_state.h).
mlir::OwningOpRef<ProgramOp> disassemble(mlir::MLIRContext &context,
                                         const format::Program &program);

/// Its text: parsed and emitted again it gives the same bytes.
std::string disassembleText(const format::Program &program);

/// The instructions and source map of a text, put into `program`; the first
/// error if the text is not a good program of that machine.
std::optional<std::string> assembleText(const std::string &text, format::Program &program);

} // namespace sluice::core
