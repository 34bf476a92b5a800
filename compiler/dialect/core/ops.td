// The core dialect: what every unit of every core is told to do.
#ifndef SLUICE_CORE_OPS_TD
#define SLUICE_CORE_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"

def Core_Dialect : Dialect {
  let name = "core";
  let cppNamespace = "::sluice::core";
  let summary = "programs of the machine: one region per core, one operation per instruction";
  let description = [{
    The instructions and their fields come from hw/isa/isa.json; what they do, cycle by cycle, is in
    docs/machine.md. An instruction prints every field that is not at its default, by name, with
    enumerated values as words:

        core.mm(n = [1, 1, 3, 16], x = 4, x_stride = [0, 0, 0, 1], init = zero, nodes = [0])

    `nodes` are the source nodes it serves, as numbers of the program's node table. Memory images are
    not part of the dialect; they are sections of the program file.
  }];
}

class Core_Op<string mnemonic, list<Trait> traits = []> : Op<Core_Dialect, mnemonic, traits>;

def Core_ProgramOp : Core_Op<"program", [IsolatedFromAbove, NoRegionArguments, NoTerminator,
                                         SingleBlock]> {
  let summary = "instruction lists of a machine";
  let description = [{
    Holds one `core.core` per core in order and one `core.host`. `geometry` names every number of
    the target (hw/targets). `output_rows` is how many rows the host port delivers per inference.
    The verifier knows the machine's limits: field widths, memories, loops, masks.
  }];
  let arguments = (ins StrAttr:$target, DictionaryAttr:$geometry, I64Attr:$output_rows);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def Core_CoreOp : Core_Op<"core", [HasParent<"ProgramOp">, NoRegionArguments, NoTerminator,
                                   SingleBlock]> {
  let summary = "the instructions of one core";
  let arguments = (ins I64Attr:$number);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def Core_HostOp : Core_Op<"host", [HasParent<"ProgramOp">, NoRegionArguments, NoTerminator,
                                   SingleBlock]> {
  let summary = "the instructions of the host port";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

class Core_Instruction<string mnemonic> : Core_Op<mnemonic, [ParentOneOf<["CoreOp", "HostOp"]>]> {
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser,
                                         ::mlir::OperationState &result) {
      return parseInstruction(parser, result);
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) { printInstruction(printer, *this); }
    ::llvm::LogicalResult $cppClass::verify() { return verifyInstruction(*this); }
  }];
}

include "hw/isa/isa_ops.td"

#endif
