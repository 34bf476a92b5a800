// Interfaces that every operation implements, so that no pass depends on operation
// names.
#ifndef SLUICE_INTERFACES_TD
#define SLUICE_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Sluice_LayoutInterface : OpInterface<"LayoutInterface"> {
  let cppNamespace = "::sluice::ir";
  let description = [{
    The layout rule of an operation: a relation over the data dimensions of its operands and result.
    Shapes come from the query, not from the types, so that a solver can ask about variants.
  }];
  let methods = [
    InterfaceMethod<[{
        Adds every tuple of data dimensions that the rule allows. Those of a view follow from its
        pieces.
      }],
      "void", "layouts", (ins "const ::sluice::ir::LayoutQuery &":$query,
                              "::sluice::ir::LayoutRelation &":$relation),
      "", "return ::sluice::ir::layoutsOfView($_op, query, relation);">,
    InterfaceMethod<"for a product: the contracted axes of one operand",
      "void", "summedAxes", (ins "unsigned":$operand, "int64_t":$lanes,
        "::llvm::SmallVectorImpl<::sluice::ir::SummedAxis> &":$axes),
      "", "return;">,
    InterfaceMethod<[{
        The error when no tuple fits. Called only for operations that restrict their operands: an
        operation that allows every data dimension is never the last step of a conflict.
      }],
      "::sluice::ir::LayoutRefusal", "layoutRefusal",
      (ins "const ::sluice::ir::LayoutQuery &":$query), "",
      [{ ::llvm::report_fatal_error("an operation without restrictions was rejected"); }]>,
    InterfaceMethod<"variants of the operation that may resolve a conflict",
      "void", "layoutFixes", (ins "const ::sluice::ir::LayoutQuery &":$query,
        "::llvm::SmallVectorImpl<::sluice::ir::LayoutFix> &":$fixes),
      "", "return;">,
    InterfaceMethod<[{
        Builds the operation, from the same operands, in the form that a tuple with `rewrite`
        describes, and returns its result.
      }],
      "::mlir::Value", "rewriteLayout", (ins "::mlir::OpBuilder &":$builder,
                                            "const ::sluice::ir::LayoutTuple &":$tuple),
      "", [{ ::llvm::report_fatal_error("an operation without another form was rewritten"); }]>
  ];
}

def Sluice_IndexSpaceInterface : OpInterface<"IndexSpaceInterface"> {
  let cppNamespace = "::sluice::ir";
  let description = [{
    The loops of an operation, and the region of each operand and result that one point of the loops
    reads or writes; see compiler/index_space. Views have an index space too: their map is a
    projection. Passes use it to find contracted, reduced and shared axes.
  }];
  let methods = [
    InterfaceMethod<[{
        The index space, with a projection for every operand and result in order. That of a view
        follows from its pieces.
      }],
      "::sluice::space::IndexSpace", "indexSpace", (ins), "",
      "return ::sluice::ir::spaceOfView($_op);">,
    InterfaceMethod<[{
        Builds the operation with `extent` steps of the loop along `axis` of its result. The
        operands start at the first element that these steps read and end at the last one, so
        that nothing lies outside along this loop.
      }],
      "::mlir::Operation *", "resized", (ins "::mlir::OpBuilder &":$builder,
        "::mlir::ValueRange":$operands, "int64_t":$axis, "int64_t":$extent),
      "", "return ::sluice::ir::withExtent($_op, builder, operands, axis, extent);">,
    InterfaceMethod<"whether `merged` is supported",
      "bool", "canMergeAxes", (ins), "", "return false;">,
    InterfaceMethod<[{
        Builds the operation on operands with merged adjacent axes and returns its result, whose
        type the caller sets. `axes` lists the merged axes of every operand and then of the result.
        The index space must treat the axes alike.
      }],
      "::mlir::Value", "merged", (ins "::mlir::OpBuilder &":$builder,
        "::mlir::ValueRange":$operands, "::llvm::ArrayRef<::sluice::ir::AxisPlaces>":$axes),
      "", [{
        return ::sluice::ir::cloneWith($_op, builder, operands, $_op->getResult(0).getType())
            ->getResult(0);
      }]>
  ];
}

def Sluice_ViewInterface : OpInterface<"ViewInterface"> {
  let cppNamespace = "::sluice::ir";
  let description = [{
    An operation that only rearranges or selects elements of its operands. All of their positions
    follow from its pieces.
  }];
  let methods = [
    InterfaceMethod<"where the elements of the result come from",
      "::sluice::space::Pieces", "pieces">,
    InterfaceMethod<"the name of the layout rule that follows from the pieces",
      "::sluice::ir::LayoutRule", "layoutRule", (ins), "",
      [{ ::llvm::report_fatal_error("the layouts of a view do not follow from its pieces"); }]>,
    InterfaceMethod<[{
        The axes of the operand along which a window slides: a loop over positions may begin here,
        and reads the operand with a halo.
      }],
      "::llvm::SmallVector<int64_t, 2>", "windowAxes", (ins), "", "return {};">,
    InterfaceMethod<[{
        The inverse view of `value`, which has the shape of the result; null if the result does not
        contain every element of the operand exactly once.
      }],
      "::mlir::Value", "undo", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$value),
      "", "return nullptr;">,
    InterfaceMethod<"whether `undo` is supported",
      "bool", "isRearrangement", (ins), "", "return false;">,
    InterfaceMethod<"whether elements of the result may be none of an operand",
      "bool", "addsElements", (ins), "", "return false;">
  ];
}

def Sluice_ReferenceInterface : OpInterface<"ReferenceInterface"> {
  let cppNamespace = "::sluice::ir";
  let description = [{
    The definition of the numerics of an operation, on plain tensors. Constant folding and tests use
    it.
  }];
  let methods = [
    InterfaceMethod<[{
        Returns the results in double precision. `operands` follows `readValues`: the operands,
        then the values that the regions read from outside the operation.
      }],
      "::sluice::reference::Tensors", "evaluate",
      (ins "::llvm::ArrayRef<const ::sluice::reference::Tensor *>":$operands)>
  ];
}

#endif
