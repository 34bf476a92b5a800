// What every operation answers for itself, so that no pass knows operations by
// name.
#ifndef SLUICE_INTERFACES_TD
#define SLUICE_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Sluice_LayoutInterface : OpInterface<"LayoutInterface"> {
  let cppNamespace = "::sluice::ir";
  let description = [{
    The data-dimension rule of an operation, as a relation over its operands and result. Shapes
    come from the query, not from the types, so a solver can ask about variants of an operation.
  }];
  let methods = [
    InterfaceMethod<"adds every tuple of data dimensions the rule allows",
      "void", "layouts", (ins "const ::sluice::ir::LayoutQuery &":$query,
                              "::sluice::ir::LayoutRelation &":$relation)>,
    InterfaceMethod<"of a product: the axes of one of its operands that it sums over",
      "void", "summedAxes", (ins "unsigned":$operand, "int64_t":$lanes,
        "::llvm::SmallVectorImpl<::sluice::ir::SummedAxis> &":$axes),
      "", "return;">,
    InterfaceMethod<[{
        What to say when no tuple fits. Only asked of operations that restrict their operands: one
        that allows every data dimension of its operand is never the last step of a conflict.
      }],
      "::sluice::ir::LayoutRefusal", "layoutRefusal",
      (ins "const ::sluice::ir::LayoutQuery &":$query), "",
      [{ ::llvm::report_fatal_error("an operation without restrictions was refused"); }]>,
    InterfaceMethod<"variants of the operation that may satisfy what it refuses as it is",
      "void", "layoutFixes", (ins "const ::sluice::ir::LayoutQuery &":$query,
        "::llvm::SmallVectorImpl<::sluice::ir::LayoutFix> &":$fixes),
      "", "return;">,
    InterfaceMethod<[{
        The result of the operation in the form that a tuple with `rewrite` stands for, made from
        the same operands.
      }],
      "::mlir::Value", "rewriteLayout", (ins "::mlir::OpBuilder &":$builder,
                                            "const ::sluice::ir::LayoutTuple &":$tuple),
      "", [{ ::llvm::report_fatal_error("an operation without another form was rewritten"); }]>
  ];
}

def Sluice_IndexSpaceInterface : OpInterface<"IndexSpaceInterface"> {
  let cppNamespace = "::sluice::ir";
  let description = [{
    The loops of an operation, and the region of each operand and result that a point of them
    stands for; see compiler/index_space. Views have one too: their map is a projection. Whoever
    wants to know which axes are contracted, reduced or shared asks this.
  }];
  let methods = [
    InterfaceMethod<"the index space, with a projection for every operand and result in order",
      "::sluice::space::IndexSpace", "indexSpace">,
    InterfaceMethod<[{
        The operation with `extent` steps of the loop that runs along `axis` of its result, made of
        operands that begin with the first element that those steps read and end with the last one:
        along that loop nothing lies outside.
      }],
      "::mlir::Operation *", "resized", (ins "::mlir::OpBuilder &":$builder,
        "::mlir::ValueRange":$operands, "int64_t":$axis, "int64_t":$extent),
      "", "return ::sluice::ir::withExtent($_op, builder, operands, axis, extent);">,
    InterfaceMethod<"whether `merged` can",
      "bool", "canMergeAxes", (ins), "", "return false;">,
    InterfaceMethod<[{
        What the operation computes of operands whose neighbouring axes are one, as axes of the
        result are then: `axes` says which, of every operand and then of the result. Only of axes
        that the index space does not tell apart.
      }],
      "::mlir::Value", "merged", (ins "::mlir::OpBuilder &":$builder,
        "::mlir::ValueRange":$operands, "::llvm::ArrayRef<::sluice::ir::AxisPlaces>":$axes),
      "", [{ ::llvm::report_fatal_error("an operation that merges no axes was asked to"); }]>
  ];
}

def Sluice_ViewInterface : OpInterface<"ViewInterface"> {
  let cppNamespace = "::sluice::ir";
  let description = [{
    A selection of its operand's elements: nothing is computed.
  }];
  let methods = [
    InterfaceMethod<[{
        If every element of the operand is in the result once: a view of `value`, which has the
        result's shape, that this view would turn back into it. Else null.
      }],
      "::mlir::Value", "undo", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$value),
      "", "return nullptr;">,
    InterfaceMethod<"whether `undo` can",
      "bool", "isRearrangement", (ins), "", "return false;">
  ];
}

def Sluice_ReferenceInterface : OpInterface<"ReferenceInterface"> {
  let cppNamespace = "::sluice::ir";
  let description = [{
    What an operation computes, on plain tensors: the definition of its numerics, used by constant
    folding and tests.
  }];
  let methods = [
    InterfaceMethod<[{
        The results, in double. `operands` are what `readValues` lists: the operands, then what the
        regions read from around the operation.
      }],
      "::sluice::reference::Tensors", "evaluate",
      (ins "::llvm::ArrayRef<const ::sluice::reference::Tensor *>":$operands)>
  ];
}

#endif
