// The core dialect: the instructions of every unit of every core.
#ifndef SLUICE_CORE_OPS_TD
#define SLUICE_CORE_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"

def Core_Dialect : Dialect {
  let name = "core";
  let cppNamespace = "::sluice::core";
  let summary = "programs for the hardware: one region per core, one operation per instruction";
  let description = [{
    hw/isa/isa.json defines the instructions and their fields; docs/machine.md defines their effect,
    cycle by cycle. An instruction prints the name and value of every field that differs from its
    default, with enumerated values as words:

        core.mm(n = [1, 1, 3, 16], x = 4, x_stride = [0, 0, 0, 1], init = zero, nodes = [0])

    `nodes` lists the source nodes that the instruction implements, as indices into the node table
    of the program. Memory images are sections of the program file, not part of the dialect.
  }];
}

class Core_Op<string mnemonic, list<Trait> traits = []> : Op<Core_Dialect, mnemonic, traits>;

def Core_ProgramOp : Core_Op<"program", [IsolatedFromAbove, NoRegionArguments, NoTerminator,
                                         SingleBlock]> {
  let summary = "instruction lists for a target";
  let description = [{
    Contains one `core.core` per core, in order, and one `core.host`. `geometry` gives every number
    of the target (hw/targets). `output_rows` is the number of rows that the host port delivers per
    inference. The verifier checks the limits of the target: field widths, memories, loops, masks.
  }];
  let arguments = (ins StrAttr:$target, DictionaryAttr:$geometry, I64Attr:$output_rows);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $target `geometry` $geometry `output_rows` $output_rows attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

def Core_CoreOp : Core_Op<"core", [HasParent<"ProgramOp">, NoRegionArguments, NoTerminator,
                                   SingleBlock]> {
  let summary = "the instructions of one core";
  let arguments = (ins I64Attr:$number);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$number attr-dict-with-keyword $body";
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
