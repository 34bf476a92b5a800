// How an operation of the sluice dialect is divided over the trips of a loop.
#ifndef SLUICE_BODIES_INTERFACE_TD
#define SLUICE_BODIES_INTERFACE_TD

include "mlir/IR/OpBase.td"

def Sluice_CutInterface : OpInterface<"CutInterface"> {
  let cppNamespace = "::sluice::bodies";
  let description = [{
    An operation whose result is cut into blocks computes block t from blocks t of some operands and
    all of others. Both directions follow from its projections.
  }];
  let methods = [
    InterfaceMethod<"the cut of the result that follows from one of an operand, if there is one",
      "std::optional<::sluice::bodies::Cut>", "resultCut",
      (ins "unsigned":$operand, "const ::sluice::bodies::Cut &":$cut)>,
    InterfaceMethod<[{
        What a block of the result reads of every operand. False if the blocks of the result do not
        come from blocks of the operands.
      }],
      "bool", "operandCuts",
      (ins "const ::sluice::bodies::Cut &":$cut, "::sluice::bodies::OperandCuts &":$operands)>,
    InterfaceMethod<[{
        The operation that makes a block of the result, of this type. With `missing` its operand is
        the slab it needs without so many elements at the beginning, and perhaps some at the end:
        those that lie outside. Otherwise operands are what operandCuts says; a slab that lies
        within its trip's block of the operand may be that block.
      }],
      "::mlir::Operation *", "makeBlock",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "::mlir::RankedTensorType":$type, "const ::sluice::bodies::Cut &":$cut,
           "std::optional<int64_t>":$missing)>,
    InterfaceMethod<[{
        The axes along which a trip reads a slab of the first operand, not a block: some of it may
        be read by other trips too, or lie outside.
      }],
      "::llvm::SmallVector<int64_t, 2>", "slabAxes", (ins), "", "return {};">,
    InterfaceMethod<[{
        How the result of all blocks of an operand follows from results of single blocks; nothing if
        it does not.
      }],
      "std::optional<::sluice::rows::Fold>", "foldOf",
      (ins "unsigned":$operand, "const ::sluice::bodies::Cut &":$cut), "",
      "return std::nullopt;">,
    InterfaceMethod<"what is folded: the result of one block of the operand, of the result's type",
      "::mlir::Value", "makePart", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$block), "",
      "return nullptr;">,
    InterfaceMethod<"the result, of parts that are folded already, along a first axis",
      "::mlir::Value", "mergeParts", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$parts),
      "", "return nullptr;">
  ];
}

#endif
