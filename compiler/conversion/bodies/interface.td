// Reductions of the tiles of an operand, over the iterations of a loop.
#ifndef SLUICE_BODIES_INTERFACE_TD
#define SLUICE_BODIES_INTERFACE_TD

include "mlir/IR/OpBase.td"

def Sluice_FoldInterface : OpInterface<"FoldInterface"> {
  let cppNamespace = "::sluice::bodies";
  let description = [{
    A reduction whose operand is tiled combines the partial results of the tiles.
  }];
  let methods = [
    InterfaceMethod<[{
        The reduction that combines the results of single tiles of an operand into the result of
        all; nothing if there is none.
      }],
      "std::optional<::sluice::rows::Fold>", "foldOf",
      (ins "const ::sluice::bodies::Cut &":$cut)>,
    InterfaceMethod<"the partial result of one tile of the operand, of the type of the result",
      "::mlir::Value", "makePart", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$block)>,
    InterfaceMethod<"combines partial results, stacked along a first axis, into the result",
      "::mlir::Value", "mergeParts", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$parts)>
  ];
}

#endif
