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
  let summary = "what a network computes: maps, monoids, contractions and selections of tensors";
  let description = [{
    Tensors are static, of rank 0 or more, every extent at least 1. Before layout they are
    `tensor<..xf32>`. After layout a runtime tensor is `tensor<2x3x4xbf16, #sluice<[2 3! 4]>>`,
    where the axis marked `!` is its data dimension; constants stay f32 and have none. A runtime
    tensor of rank 0 keeps its type `tensor<bf16, #sluice<[1!]>>` and is carried as if its shape
    were [1].

    Before layout an encoding on a type is a pin: the solver must give that tensor that data
    dimension.

    Function arguments and results carry the name of the ONNX tensor as the attribute
    `sluice.name`. Locations carry `#sluice.node` attributes; see node.h.
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
  let summary = "data dimension of a runtime tensor, as its type's encoding";
  let description = [{
    The axis whose elements lie along the lanes of a row of tensor RAM. It is written with the
    extents, as `#sluice<[2 3! 4]>`, which must be those of the tensor; as a pin also without
    them, as `#sluice.dim<1>`.
  }];
  let parameters = (ins "int64_t":$axis,
                        OptionalArrayRefParameter<"int64_t", "may be empty">:$extents);
  let builders = [AttrBuilder<(ins "int64_t":$axis), [{
    return $_get($_ctxt, axis, ::llvm::ArrayRef<int64_t>());
  }]>];
  let hasCustomAssemblyFormat = 1;
}

def Sluice_NodeAttr : Sluice_Attr<"Node", "node"> {
  let summary = "node of the ONNX graph, as the metadata of a fused location";
  let description = [{
    Position in the graph's node list, name (may be empty) and operator. An operation made from
    several nodes has a location that fuses theirs; see node.h.
  }];
  let parameters = (ins "int64_t":$index, "::mlir::StringAttr":$nodeName,
                        "::mlir::StringAttr":$opType);
  let assemblyFormat = "`<` $index `,` $nodeName `,` $opType `>`";
}

def Sluice_MonoidAttr : I32EnumAttr<"Monoid", "how a reduction merges elements", [
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
