// The core dialect and program files: what the compiler emits and what the
// disassembler prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mlir/IR/OwningOpRef.h"

#include "compiler/dialect/core/dialect.h"
#include "runtime/format/program.h"

namespace sluice::core {

/// An instruction and the source nodes it serves, numbers of the node table.
struct ListedInstruction {
  isa::Words words{};
  std::vector<uint32_t> nodes;

  bool operator==(const ListedInstruction &) const = default;
};

/// Instruction lists by core, the host port's last.
using Lists = std::vector<std::vector<ListedInstruction>>;

/// Loads the dialect into `context` and builds core.program. The words decode.
mlir::OwningOpRef<ProgramOp> buildProgram(mlir::MLIRContext &context,
                                          const format::Geometry &geometry, uint32_t outputRows,
                                          const Lists &lists);

/// Puts the instructions and the source map of a verified core.program into
/// `program`. False, with an error at the operation, if the machine is another
/// one or a node number is none of program.nodes.
bool emitInstructions(ProgramOp source, format::Program &program);

/// core.program of a program file that passed the loader's checks.
mlir::OwningOpRef<ProgramOp> disassemble(mlir::MLIRContext &context,
                                         const format::Program &program);

/// Its text: parsed and emitted again it gives the same bytes.
std::string disassembleText(const format::Program &program);

/// The instructions and source map of a text, put into `program`; the first
/// error if the text is not a good program of that machine.
std::optional<std::string> assembleText(const std::string &text, format::Program &program);

} // namespace sluice::core
