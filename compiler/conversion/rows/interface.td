// Lowering of operations of the sluice dialect to rows.
#ifndef SLUICE_ROWS_INTERFACE_TD
#define SLUICE_ROWS_INTERFACE_TD

include "mlir/IR/OpBase.td"

def Sluice_RowsInterface : OpInterface<"RowsInterface"> {
  let cppNamespace = "::sluice::rows";
  let description = [{
    Lowers one operation whose result depends on inputs of the model. Operations on constants alone
    are evaluated by their reference interface instead.
  }];
  let methods = [
    InterfaceMethod<"defines the result in the lowering, now or on first use",
      "void", "lowerToRows", (ins "::sluice::rows::Lowering &":$lowering)>,
    InterfaceMethod<"whether the operands may be scaled and shifted elements of rows",
      "bool", "takesAffine", (ins "::sluice::rows::Lowering &":$lowering)>
  ];
}

#endif
