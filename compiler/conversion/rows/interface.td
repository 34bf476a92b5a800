// What an operation of the sluice dialect does to become rows.
#ifndef SLUICE_ROWS_INTERFACE_TD
#define SLUICE_ROWS_INTERFACE_TD

include "mlir/IR/OpBase.td"

def Sluice_RowsInterface : OpInterface<"RowsInterface"> {
  let cppNamespace = "::sluice::rows";
  let description = [{
    Lowering of one operation whose result depends on the model's inputs. Operations on constants
    alone are evaluated by their reference interface instead.
  }];
  let methods = [
    InterfaceMethod<"defines the result in the lowering, at once or when it is needed",
      "void", "lowerToRows", (ins "::sluice::rows::Lowering &":$lowering)>,
    InterfaceMethod<"whether the operands may be scaled and shifted elements of rows",
      "bool", "takesAffine", (ins "::sluice::rows::Lowering &":$lowering)>
  ];
}

#endif
