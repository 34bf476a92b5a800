// Tiling of operations of the sluice dialect over the iterations of a loop.
#ifndef SLUICE_BODIES_INTERFACE_TD
#define SLUICE_BODIES_INTERFACE_TD

include "mlir/IR/OpBase.td"

def Sluice_CutInterface : OpInterface<"CutInterface"> {
  let cppNamespace = "::sluice::bodies";
  let description = [{
    An operation whose result is tiled computes tile t from tile t of some operands and all of the
    others. Both directions follow from its projections.
  }];
  let methods = [
    InterfaceMethod<"the tiling of the result that follows from the tiling of an operand, if any",
      "std::optional<::sluice::bodies::Cut>", "resultCut",
      (ins "unsigned":$operand, "const ::sluice::bodies::Cut &":$cut)>,
    InterfaceMethod<[{
        Determines what a tile of the result reads from every operand. Returns false if tiles of
        the result do not come from tiles of the operands.
      }],
      "bool", "operandCuts",
      (ins "const ::sluice::bodies::Cut &":$cut, "::sluice::bodies::OperandCuts &":$operands)>,
    InterfaceMethod<[{
        Builds the operation for one tile of the result, of this type. With `missing`, the operand
        is the tile with its halo, without that many elements at the start that lie outside (and
        perhaps some at the end). Otherwise the operands are as operandCuts describes them; a halo
        that lies within the tile of the iteration may be that tile.
      }],
      "::mlir::Operation *", "makeBlock",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "::mlir::RankedTensorType":$type, "const ::sluice::bodies::Cut &":$cut,
           "std::optional<int64_t>":$missing)>,
    InterfaceMethod<[{
        The axes along which an iteration reads a tile of the first operand with a halo. Other
        iterations may read the halo too, or it may lie outside.
      }],
      "::llvm::SmallVector<int64_t, 2>", "slabAxes", (ins), "", "return {};">,
    InterfaceMethod<[{
        The reduction that combines the results of single tiles of an operand into the result of
        all; nothing if there is none.
      }],
      "std::optional<::sluice::rows::Fold>", "foldOf",
      (ins "unsigned":$operand, "const ::sluice::bodies::Cut &":$cut), "",
      "return std::nullopt;">,
    InterfaceMethod<"the partial result of one tile of the operand, of the type of the result",
      "::mlir::Value", "makePart", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$block), "",
      "return nullptr;">,
    InterfaceMethod<"combines partial results, stacked along a first axis, into the result",
      "::mlir::Value", "mergeParts", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$parts),
      "", "return nullptr;">
  ];
}

#endif
