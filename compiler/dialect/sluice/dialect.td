// The sluice dialect and its attributes.
#ifndef SLUICE_DIALECT_TD
#define SLUICE_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"

def Sluice_Dialect : Dialect {
  let name = "sluice";
  let cppNamespace = "::sluice::ir";
  let summary = "networks as maps, reductions, contractions and views of tensors";
  let description = [{
    Tensors have static shapes, rank 0 or more, and extents of at least 1. Before layout their type
    is `tensor<..xf32>`. After layout a runtime tensor has the type
    `tensor<2x3x4xbf16, #sluice<[2 3! 4]>>`, where `!` marks the data dimension. Constants stay f32
    and have no data dimension. A runtime tensor of rank 0 has the type
    `tensor<bf16, #sluice<[1!]>>` and is treated as if its shape were [1].

    Before layout, an encoding on a type is a pin: the solver must choose that data dimension.

    The attribute `sluice.name` gives arguments and results of the function the names of the ONNX
    tensors. The attribute `sluice.host` says what the host does with them: their types, tables,
    quantisations and codes. Locations carry `#sluice.node` attributes; see node.h.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let extraClassDeclaration = [{
    void registerAttributes();
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter &printer) const override;
  }];
  let hasConstantMaterializer = 1;
}

class Sluice_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Sluice_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Sluice_DimAttr : Sluice_Attr<"Dim", "dim",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "data dimension of a runtime tensor, as the encoding of its type";
  let description = [{
    The axis whose elements lie along the lanes of a row of tensor RAM. The syntax includes the
    extents of the tensor, `#sluice<[2 3! 4]>`. A pin may leave them out: `#sluice.dim<1>`.
  }];
  let parameters = (ins "int64_t":$axis,
                        OptionalArrayRefParameter<"int64_t", "may be empty">:$extents);
  let builders = [AttrBuilder<(ins "int64_t":$axis), [{
    return $_get($_ctxt, axis, ::llvm::ArrayRef<int64_t>());
  }]>];
  let assemblyFormat = "`<` $axis `>`";
}

def Sluice_NodeAttr : Sluice_Attr<"Node", "node"> {
  let summary = "ONNX node, as the metadata of a fused location";
  let description = [{
    Holds the index in the node list of the graph, the name (may be empty) and the operator. The
    location of an operation made from several nodes fuses their locations; see node.h.
  }];
  let parameters = (ins "int64_t":$index, "::mlir::StringAttr":$nodeName,
                        "::mlir::StringAttr":$opType);
  let assemblyFormat = "`<` $index `,` $nodeName `,` $opType `>`";
}

def Sluice_PieceAttr : Sluice_Attr<"Piece", "piece"> {
  let summary = "elements of a view that come from one operand";
  let description = [{
    The index of the operand, the extents of the loops, and the maps from the loops to the index in
    the operand and to the index in the result.
  }];
  let parameters = (ins "unsigned":$operand, OptionalArrayRefParameter<"int64_t">:$loops,
                        "::mlir::AffineMap":$from, "::mlir::AffineMap":$to);
  let assemblyFormat = "`<` $operand `loops` `[` (`]`) : ($loops^ `]`)? `from` $from `to` $to `>`";
}

def Sluice_PiecesAttr : TypedArrayAttrBase<Sluice_PieceAttr, "pieces of a view">;

def Sluice_MonoidAttr : I32EnumAttr<"Monoid", "how a reduction combines elements", [
    I32EnumAttrCase<"Sum", 0, "sum">,
    I32EnumAttrCase<"Product", 1, "product">,
    I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"Mean", 4, "mean">,
    I32EnumAttrCase<"Variance", 5, "variance">,
    I32EnumAttrCase<"LogSumExp", 6, "logsumexp">,
    I32EnumAttrCase<"ArgMax", 7, "argmax">
  ]> {
  let cppNamespace = "::sluice::ir";
}

#endif
