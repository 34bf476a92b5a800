// The operations of the sluice dialect.
#ifndef SLUICE_OPS_TD
#define SLUICE_OPS_TD

include "compiler/dialect/sluice/dialect.td"
include "compiler/dialect/sluice/interfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sluice_Tensor : Type<CPred<"::sluice::ir::isSluiceTensor($_self)">,
    "static tensor of f32 or bf16 with every extent at least 1, encoded by nothing or #sluice.dim",
    "::mlir::RankedTensorType">;

class Sluice_Op<string mnemonic, list<Trait> traits = []>
    : Op<Sluice_Dialect, mnemonic, traits>;

/// The name of a layout rule, and what it says.
class Sluice_Rule<string rule, string why> {
  code definition = [{
    ::sluice::ir::LayoutRule $cppClass::layoutRule() { return {"}] # rule # [{", "}] # why # [{"}; }
  }];
}

/// Why no tuple of data dimensions fits an operation, by the rule of this id.
class Sluice_Refusal<string rule, string why> {
  code definition = [{
    ::sluice::ir::LayoutRefusal $cppClass::layoutRefusal(const ::sluice::ir::LayoutQuery &) {
      return ::sluice::ir::refusal("}] # rule # [{", "}] # why # [{");
    }
  }];
}

/// Builds an operation of the type that its shape gives before layout. `shape` is as in
/// Sluice_TensorOp, `like` an operand with the type of the elements. Must not be called with what
/// the function of shapes.h rejects.
class Sluice_Builder<dag arguments, string shape, string like, string passed>
    : OpBuilder<arguments, [{
  std::string why;
  build($_builder, $_state,
        resultType(}] # shape # ", why), why, " # like # "), " # passed # ");">;

/// A pure operation on tensors that implements its own rules. From `shape`, `golden` and `merges`
/// follow its verifier, ReferenceInterface::evaluate and IndexSpaceInterface::canMergeAxes.
class Sluice_TensorOp<string mnemonic, list<Trait> traits = [],
                      list<string> layoutMethods = ["layouts"],
                      list<string> spaceMethods = ["indexSpace"]>
    : Sluice_Op<mnemonic, [
    Pure, DeclareOpInterfaceMethods<Sluice_LayoutInterface, layoutMethods>,
    DeclareOpInterfaceMethods<Sluice_IndexSpaceInterface, spaceMethods>,
    DeclareOpInterfaceMethods<Sluice_ReferenceInterface>] # traits> {
  let results = (outs Sluice_Tensor:$result);
  let hasVerifier = 1;

  string shape = "";  ///< call of a function of shapes.h, up to `why`; empty: verified otherwise
  string golden = ""; ///< call of a function of compiler/reference; empty: evaluated otherwise
  bit merges = 0;     ///< whether `merged` is supported
  bit keeps = 0;      ///< whether the operation folds where its type is that of the operand, only
  code rule = "";     ///< Sluice_Rule::definition, of a view whose layouts follow from its pieces
  code refusal = "";  ///< Sluice_Refusal::definition
  code definitions = "";
  let hasFolder = keeps;
  let extraClassDefinition = !if(!empty(shape), "", [{
    ::llvm::LogicalResult $cppClass::verify() {
      std::string why;
      return verifyResult(*this, }] # shape # [{, why), why);
    }
  }]) # !if(!empty(golden), "", [{
    Tensors $cppClass::evaluate(Operands operands) { return one(reference::}] # golden # [{); }
  }]) # !if(merges, "bool $cppClass::canMergeAxes() { return true; }", "") # !if(keeps, [{
    ::mlir::OpFoldResult $cppClass::fold(FoldAdaptor) {
      return sameAs((*this)->getOperand(0), getResult());
    }
  }], "")
    # rule # refusal # definitions;
}

/// A view: rearranges or selects elements of its operands.
class Sluice_View<string mnemonic, list<string> layoutMethods = [],
                  list<string> viewMethods = ["layoutRule"], list<string> spaceMethods = []>
    : Sluice_TensorOp<mnemonic, [DeclareOpInterfaceMethods<Sluice_ViewInterface, viewMethods>],
                      layoutMethods, spaceMethods>;

/// A view that has an inverse.
class Sluice_Rearrangement<string mnemonic, list<string> layoutMethods = [],
                           list<string> viewMethods = []>
    : Sluice_View<mnemonic, layoutMethods, ["undo", "isRearrangement"] # viewMethods,
                  ["canMergeAxes", "merged"]> {
  let merges = 1;
  let definitions = "bool $cppClass::isRearrangement() { return true; }";
}

/// A view that keeps the row-major order of all elements.
class Sluice_Reshaping<string mnemonic, list<string> layoutMethods>
    : Sluice_Rearrangement<mnemonic, layoutMethods> {
  let definitions = [{
    bool $cppClass::isRearrangement() { return true; }
    space::Pieces $cppClass::pieces() {
      return space::reshaped(shapeOf(getInput()), shapeOf(getResult()));
    }
    ::mlir::Value $cppClass::undo(::mlir::OpBuilder &builder, ::mlir::Value value) {
      return builder.create<ReshapeOp>(value.getLoc(), value, shapeOf(getInput()));
    }
    ::mlir::Value $cppClass::merged(::mlir::OpBuilder &builder, ::mlir::ValueRange operands,
                                    ::llvm::ArrayRef<AxisPlaces> axes) {
      return mergedReshape(*this, builder, operands.front(), axes.back());
    }
  }];
}

/// A view that is defined by numbers for each axis. `lists` names the attributes that hold them;
/// `infer` is the function of shapes.h, `function` that of compiler/reference.
class Sluice_ByAxis<string infer, string function, list<string> lists> {
  list<string> values = !foreach(
      name, lists, "get" # !toupper(!substr(name, 0, 1)) # !substr(name, 1) # "()");
  string shape = infer # "(shapeOf(getInput()), " # !interleave(values, ", ");
  string golden = function # "(*operands[0], "
      # !interleave(!foreach(value, values, "plain(" # value # ")"), ", ") # ")";
  dag arguments = !con((ins Sluice_Tensor:$input),
                       !dag(ins, !listsplat(DenseI64ArrayAttr, !size(lists)), lists));
  string assemblyFormat = "$input "
      # !interleave(!foreach(name, lists, "`" # name # "` $" # name), " ")
      # " attr-dict `:` functional-type(operands, results)";
  list<OpBuilder> builders = [Sluice_Builder<
      !con((ins "::mlir::Value":$input),
           !dag(ins, !listsplat("::llvm::ArrayRef<int64_t>", !size(lists)), lists)),
      infer # "(shapeOf(input), " # !interleave(lists, ", "), "input",
      "input, " # !interleave(lists, ", ")>];
}

/// A view of several operands along an axis. `infer` and `function` as in Sluice_ByAxis.
class Sluice_Joining<string infer, string function> {
  string shape = infer # "(shapesOf(getInputs()), static_cast<int64_t>(getAxis())";
  string golden = function
      # "({operands.begin(), operands.end()}, static_cast<int64_t>(getAxis()))";
  dag arguments = (ins Variadic<Sluice_Tensor>:$inputs, I64Attr:$axis);
  string assemblyFormat = "$inputs `axis` $axis attr-dict `:` functional-type(operands, results)";
  list<OpBuilder> builders = [Sluice_Builder<(ins "::mlir::ValueRange":$inputs, "int64_t":$axis),
      infer # "(shapesOf(inputs), axis", "inputs.front()", "inputs, axis">];
}

def Sluice_ConstantOp : Sluice_Op<"constant", [Pure, ConstantLike,
    AllTypesMatch<["value", "result"]>]> {
  let summary = "tensor known at compile time";
  let description = "A constant has no data dimension, neither before nor after layout.";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Sluice_Tensor:$result);
  let assemblyFormat = "$value attr-dict";
  let builders = [OpBuilder<(ins "const ::sluice::reference::Tensor &":$tensor), [{
    build($_builder, $_state, ::mlir::ElementsAttr(toElements(tensor, $_builder.getContext())));
  }]>];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Sluice_MapOp : Sluice_TensorOp<"map", [IsolatedFromAbove,
    SingleBlockImplicitTerminator<"::sluice::ir::YieldOp">], ["layouts", "layoutRefusal"],
    ["indexSpace", "canMergeAxes"]> {
  let merges = 1;
  let refusal = Sluice_Refusal<"DD-PW",
      "operands of a pointwise operation have different data dimensions">.definition;
  let summary = "elementwise function of tensors of one shape";
  let description = [{
    The body takes one f32 per operand and yields one f32. It contains only scalar `arith` and `math`
    operations. Elements are widened to f32 before the body and rounded after it.

    ```mlir
    %y = sluice.map (%x = %a, %w = %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
      %0 = arith.addf %x, %w : f32
      sluice.yield %0
    }
    ```
  }];
  let arguments = (ins Variadic<Sluice_Tensor>:$inputs);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$inputs,
      "::llvm::function_ref<::mlir::Value(::mlir::OpBuilder &, ::mlir::Location, ::mlir::ValueRange)>":$body)>];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Sluice_YieldOp : Sluice_Op<"yield", [Pure, Terminator, HasParent<"::sluice::ir::MapOp">]> {
  let summary = "the result of the body of a map";
  let arguments = (ins F32:$value);
  let assemblyFormat = "$value attr-dict";
  // The implicit terminator's builder; a yield without a value does not verify.
  let builders = [OpBuilder<(ins), [{}]>];
}

def Sluice_ReduceOp : Sluice_TensorOp<"reduce", [], ["layouts", "layoutRefusal", "layoutFixes"],
                                      ["indexSpace", "canMergeAxes", "merged"]> {
  let merges = 1;
  let shape = "inferReduce(shapeOf(getInput()), getAxes(), getKeepdims()";
  let golden = "reduce(*operands[0], definedBy(getMonoid()), plain(getAxes()), getKeepdims())";
  let refusal = Sluice_Refusal<"DD-REDUCE",
      "the reduction removes the axis of the data dimension">.definition;
  let summary = "reduction along axes by a monoid";
  let description = [{
    `mean` and `variance` (of the population) divide by the number of elements. `argmax` returns the
    row-major index of the first maximum among the reduced elements. Axes are ascending. With
    `keepdims` they stay in the result with extent 1.
  }];
  let arguments = (ins Sluice_MonoidAttr:$monoid, Sluice_Tensor:$input,
                       DenseI64ArrayAttr:$axes, UnitAttr:$keepdims);
  let assemblyFormat = [{
    $monoid $input `axes` $axes (`keepdims` $keepdims^)? attr-dict `:` functional-type(operands, results)
  }];
  let builders = [Sluice_Builder<(ins "Monoid":$monoid, "::mlir::Value":$input,
      "::llvm::ArrayRef<int64_t>":$axes, "bool":$keepdims),
      "inferReduce(shapeOf(input), axes, keepdims", "input", "monoid, input, axes, keepdims">];
}

/// A sum of products of elements of two operands.
class Sluice_Product<string mnemonic, list<string> layoutMethods = [],
                     list<string> spaceMethods = []>
    : Sluice_TensorOp<mnemonic, [], ["layouts", "summedAxes", "layoutRefusal"] # layoutMethods,
                      ["indexSpace"] # spaceMethods> {
  let definitions = [{
    void $cppClass::summedAxes(unsigned operand, int64_t lanes,
                               ::llvm::SmallVectorImpl<::sluice::ir::SummedAxis> &axes) {
      addSummedAxes(indexSpace(), operand, lanes, axes);
    }
    ::sluice::ir::LayoutRefusal $cppClass::layoutRefusal(const ::sluice::ir::LayoutQuery &query) {
      return productRefusal(query);
    }
  }];
}

def Sluice_MatmulOp : Sluice_Product<"matmul", ["rewriteLayout"]> {
  let shape = "inferMatmul(shapeOf(getLhs()), shapeOf(getRhs())";
  let golden = "matmul(*operands[0], *operands[1])";
  let summary = "matrix product by the rules of numpy";
  let description = [{
    The last two axes form matrices; the others broadcast. A rank-1 operand is a vector, whose axis
    does not appear in the result.
  }];
  let arguments = (ins Sluice_Tensor:$lhs, Sluice_Tensor:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let builders = [Sluice_Builder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs),
      "inferMatmul(shapeOf(lhs), shapeOf(rhs)", "lhs", "lhs, rhs">];
}

def Sluice_ContractOp : Sluice_Product<"contract", [], ["canMergeAxes", "merged"]> {
  let shape = "inferContract(maps(), shapeOf(getLhs()), shapeOf(getRhs())";
  let extraClassDeclaration = [{
    /// The maps from the loops to the axes of lhs, rhs and result.
    ::llvm::SmallVector<::mlir::AffineMap> maps() {
      return ::llvm::to_vector(getIndexingMaps().getAsValueRange<::mlir::AffineMapAttr>());
    }
  }];
  let summary = "sum of products over a loop nest";
  let description = [{
    `indexing_maps` maps the loops to the axes of lhs, rhs and result; each axis is one loop. Loops
    that are not in the result are summed over. A `banded` contraction, such as a convolution, may
    keep the data dimension of the operand that is not constant (DD-MM-BAND). Its weight blocks are
    then banded or diagonal, and few of them are needed.

    ```mlir
    %y = sluice.contract [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>,
                          affine_map<(i, j, k) -> (i, j)>] %a, %b : ...
    ```
  }];
  let arguments = (ins AffineMapArrayAttr:$indexing_maps, Sluice_Tensor:$lhs, Sluice_Tensor:$rhs,
                       UnitAttr:$banded);
  let assemblyFormat = [{
    (`banded` $banded^)? $indexing_maps $lhs `,` $rhs attr-dict `:` functional-type(operands, results)
  }];
  let builders = [Sluice_Builder<(ins "::llvm::ArrayRef<::mlir::AffineMap>":$maps,
      "::mlir::Value":$lhs, "::mlir::Value":$rhs, CArg<"bool", "false">:$banded),
      "inferContract(maps, shapeOf(lhs), shapeOf(rhs)", "lhs", "$_builder.getAffineMapArrayAttr(maps), lhs, rhs, banded">];
}

def Sluice_TransposeOp : Sluice_Rearrangement<"transpose", [], ["layoutRule"]>,
      Sluice_ByAxis<"inferTranspose", "transpose", ["permutation"]> {
  let rule = Sluice_Rule<"DD-TRANS", "the data dimension moves with its axis">.definition;
  let summary = "permutes the axes";
  let description = "Axis i of the result is axis `permutation[i]` of the input.";
  let assemblyFormat = [{
    $input $permutation attr-dict `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
}

def Sluice_SliceOp : Sluice_View<"slice", [], ["layoutRule"], ["resized", "canMergeAxes", "merged"]>,
      Sluice_ByAxis<"inferSlice", "slice", ["starts", "sizes", "steps"]> {
  let merges = 1;
  let rule = Sluice_Rule<"DD-SLICE", "a slice keeps the data dimension">.definition;
  let summary = "every step-th element from a start along each axis";
  let description = [{
    Along each axis, element i of the result is element `start + i * step` of the input. Steps may be
    negative but not 0.
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Sluice_ReshapeOp : Sluice_Reshaping<"reshape", ["layouts", "layoutRefusal", "layoutFixes"]> {
  let shape = "inferReshape(shapeOf(getInput()), shapeOf(getResult())";
  let refusal = Sluice_Refusal<"DD-RESHAPE",
      "no axis after the reshape has the stride of the data dimension">.definition;
  let golden = "reshape(*operands[0], plain(shapeOf(getResult())))";
  let summary = "changes the shape and keeps the row-major order of elements";
  let arguments = (ins Sluice_Tensor:$input);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let builders = [Sluice_Builder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$shape),
      "inferReshape(shapeOf(input), shape", "input", "input">];
  let hasFolder = 1;
}

def Sluice_UnsqueezeOp : Sluice_Reshaping<"unsqueeze", ["layouts"]>,
      Sluice_ByAxis<"inferUnsqueeze", "reshape", ["axes"]> {
  let golden = "reshape(*operands[0], plain(shapeOf(getResult())))";
  let summary = "inserts axes of extent 1";
  let description = "`axes` are positions in the result, ascending.";
}

def Sluice_SqueezeOp : Sluice_Reshaping<"squeeze", ["layouts", "layoutRefusal"]>,
      Sluice_ByAxis<"inferSqueeze", "reshape", ["axes"]> {
  let refusal = Sluice_Refusal<"DD-SQZ",
      "the squeeze removes the axis of the data dimension">.definition;
  let golden = "reshape(*operands[0], plain(shapeOf(getResult())))";
  let summary = "removes axes of extent 1";
  let description = "`axes` are positions in the input, ascending.";
  let hasFolder = 1;
}

def Sluice_BroadcastOp : Sluice_View<"broadcast", [], ["layoutRule"], ["canMergeAxes"]> {
  let merges = 1;
  let shape = "inferBroadcast(shapeOf(getInput()), shapeOf(getResult())";
  let golden = "broadcast(*operands[0], plain(shapeOf(getResult())))";
  let rule = Sluice_Rule<"DD-BCAST", "a broadcast keeps the data dimension">.definition;
  let summary = "repeats axes of extent 1";
  let description = "The result has the rank of the input; use `sluice.unsqueeze` to add axes.";
  let arguments = (ins Sluice_Tensor:$input);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let builders = [Sluice_Builder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$shape),
      "inferBroadcast(shapeOf(input), shape", "input", "input">];
  let hasFolder = 1;
}

def Sluice_RelayoutOp : Sluice_View<"relayout", ["layouts"], []> {
  let shape = "inferMap(shapeOf(getInput())";
  let golden = "Tensor(*operands[0])";
  let summary = "moves a tensor to another data dimension";
  let description = [{
    Layout rewriting inserts this operation. It multiplies by 0/1 matrices. With `dynamic` it writes
    the tensor as weights and multiplies unit vectors by them.
  }];
  let arguments = (ins Sluice_Tensor:$input, UnitAttr:$dynamic);
  let assemblyFormat = [{
    $input (`dynamic` $dynamic^)? attr-dict `:` functional-type(operands, results)
  }];
}

def Sluice_ConcatOp : Sluice_View<"concat", ["layouts", "layoutRefusal", "rewriteLayout"], ["layoutRule"],
                                   ["canMergeAxes", "merged"]>,
      Sluice_Joining<"inferConcat", "concat"> {
  let merges = 1;
  let refusal = Sluice_Refusal<"DD-CONCAT",
      "concatenated tensors have different data dimensions">.definition;
  let rule = Sluice_Rule<"DD-CONCAT", "concatenated tensors share one data dimension">.definition;
  let summary = "concatenates tensors along an axis";
  let hasFolder = 1;
}

def Sluice_TileOp : Sluice_View<"tile">,
      Sluice_ByAxis<"inferRepeat", "tile", ["counts"]> {
  let rule = Sluice_Rule<"DD-CONCAT", "a repetition keeps the data dimension">.definition;
  let summary = "repeats the whole tensor along each axis";
  let description = "`counts` has one number per axis; `sluice.repeat` repeats single elements.";
  let keeps = 1;
}

def Sluice_RepeatOp : Sluice_View<"repeat">,
      Sluice_ByAxis<"inferRepeat", "repeat", ["counts"]> {
  let rule = Sluice_Rule<"DD-CONCAT", "a repetition keeps the data dimension">.definition;
  let summary = "repeats every element along each axis";
  let description = "`counts` has one number per axis; `sluice.tile` repeats the whole tensor.";
  let keeps = 1;
}

def Sluice_InterleaveOp : Sluice_View<"interleave", ["layoutRefusal"]>,
      Sluice_Joining<"inferInterleave", "interleave"> {
  let refusal = Sluice_Refusal<"DD-CONCAT",
      "interleaved tensors have different data dimensions">.definition;
  let rule = Sluice_Rule<"DD-CONCAT", "interleaved tensors share one data dimension">.definition;
  let summary = "interleaves tensors of one shape along an axis";
  let description = "With n operands, element i * n + k of the result along the axis is element i of operand k.";
  let keeps = 1;
}

def Sluice_PadOp : Sluice_View<"pad", [], ["layoutRule", "addsElements"], ["resized", "canMergeAxes", "merged"]> {
  let merges = 1;
  let definitions = "bool $cppClass::addsElements() { return true; }";
  let shape = "inferPad(shapeOf(getInput()), getLow(), getHigh()";
  let golden = "pad(*operands[0], plain(getLow()), plain(getHigh()), getValue().convertToDouble())";
  let rule = Sluice_Rule<"DD-CONCAT", "padding keeps the data dimension">.definition;
  let summary = "pads a tensor with one value";
  let description = "`low` and `high` give the number of elements to add before and after, along each axis.";
  let arguments = (ins Sluice_Tensor:$input, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
                       F32Attr:$value);
  let assemblyFormat = [{
    $input `low` $low `high` $high `value` $value attr-dict
      `:` functional-type(operands, results)
  }];
  let builders = [Sluice_Builder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$low,
      "::llvm::ArrayRef<int64_t>":$high, "float":$value),
      "inferPad(shapeOf(input), low, high", "input", "input, low, high, ::llvm::APFloat(value)">];
  let hasFolder = 1;
}

def Sluice_WindowOp : Sluice_View<"window", ["layouts"], ["addsElements", "windowAxes"], ["resized"]> {
  let definitions = "bool $cppClass::addsElements() { return true; }";
  let shape = "inferWindow(shapeOf(getInput()), window()";
  let golden = "window(*operands[0], window(), getValue().convertToDouble())";
  let summary = "the elements of a sliding window at each of its positions";
  let description = [{
    A window of `sizes` elements slides along `axes` (ascending). It starts at `starts`, which may be
    negative, and moves by `strides`; its elements are `dilations` apart. In the result these axes
    hold the `counts` positions, and one axis for each of them, after all others, holds the elements
    of the window. Elements outside the input are `value`.

    Element `k` at position `i` is element `start + i * stride + k * dilation` of the input. A
    convolution is a contraction of a window, a pooling is a reduction of a window.

    ```mlir
    %v = sluice.window %x axes [2] sizes [3] counts [8] starts [-1] strides [1] dilations [1]
      value 0.0 : (tensor<1x4x8xf32>) -> tensor<1x4x8x3xf32>
    ```
  }];
  let arguments = (ins Sluice_Tensor:$input, DenseI64ArrayAttr:$axes, DenseI64ArrayAttr:$sizes,
                       DenseI64ArrayAttr:$counts, DenseI64ArrayAttr:$starts,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, F32Attr:$value);
  let assemblyFormat = [{
    $input `axes` $axes `sizes` $sizes `counts` $counts `starts` $starts `strides` $strides
      `dilations` $dilations `value` $value attr-dict `:` functional-type(operands, results)
  }];
  let builders = [Sluice_Builder<(ins "::mlir::Value":$input, "const ::sluice::reference::Window &":$window,
      "float":$value),
      "inferWindow(shapeOf(input), window", "input", "input, window.axes, window.sizes, window.counts, window.starts, window.strides, window.dilations, ::llvm::APFloat(value)">];
  let extraClassDeclaration = [{
    ::sluice::reference::Window window() {
      return {getAxes(), getSizes(), getCounts(), getStarts(), getStrides(), getDilations()};
    }
  }];
  let hasFolder = 1;
}

def Sluice_ViewOp : Sluice_View<"view", ["layoutRefusal"], ["layoutRule", "addsElements"]> {
  let refusal = Sluice_Refusal<"DD-CONCAT",
      "no axis of the view has the data dimensions of its operands">.definition;
  let rule = Sluice_Rule<"DD-CONCAT", "a view keeps the data dimension">.definition;
  let summary = "a view by its pieces";
  let description = [{
    Each piece copies elements of one operand, one at each point of its loops: from the index that
    the first map gives to the index that the second one gives. The pieces write each element of the
    result once. Elements outside an operand are `outside`. Any view can be written like this; the
    other views are names for common ones. The rules of pieces are in compiler/index_space/pieces.h.

    Every second element of each half, reversed:

    ```mlir
    %y = sluice.view %x pieces [#sluice.piece<0 loops[2, 2] from (i, j) -> (4 * i - 2 * j + 3)
      to (i, j) -> (2 * i + j)>] : (tensor<8xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<Sluice_Tensor>:$inputs, Sluice_PiecesAttr:$parts,
                       OptionalAttr<F32Attr>:$outside);
  let assemblyFormat = [{
    $inputs `pieces` $parts (`outside` $outside^)? attr-dict
      `:` functional-type(operands, results)
  }];
  let builders = [OpBuilder<(ins "::mlir::RankedTensorType":$type, "::mlir::ValueRange":$inputs,
      "const ::sluice::space::Pieces &":$view)>];
}

/// Access to a value that passes from one inference to the next. It has a memory effect, so that
/// it is neither folded nor removed.
class Sluice_StateAccess<string mnemonic, list<MemoryEffect> effects, list<string> layoutMethods = []>
    : Sluice_Op<mnemonic, [MemoryEffects<effects>,
    DeclareOpInterfaceMethods<Sluice_LayoutInterface, ["layouts"] # layoutMethods>,
    DeclareOpInterfaceMethods<Sluice_ReferenceInterface>]> {
  let results = (outs Sluice_Tensor:$result);
  let hasVerifier = 1;
  code refusal = "";
  let extraClassDefinition = [{
    void $cppClass::layouts(const ::sluice::ir::LayoutQuery &query,
                            ::sluice::ir::LayoutRelation &relation) {
      addEqual(query, relation, "DD-STATE", "a state and its next value share one data dimension",
               [](int64_t) { return int64_t{0}; });
    }
  }] # refusal;
}

def Sluice_StateOp : Sluice_StateAccess<"state", [MemRead]> {
  let summary = "the value that the previous inference kept";
  let description = [{
    In the first inference, and in the first after a reset, the value is `initial` (zeros by
    default). `sluice.keep` sets the value for the next inference.

    ```mlir
    %h = sluice.state : tensor<1x128xf32>
    ```
  }];
  let arguments = (ins OptionalAttr<ElementsAttr>:$initial);
  let assemblyFormat = "(`initial` $initial^)? attr-dict `:` type($result)";
}

def Sluice_KeepOp : Sluice_StateAccess<"keep", [MemWrite], ["layoutRefusal"]> {
  let refusal = Sluice_Refusal<"DD-STATE",
      "the next value of a state has a different data dimension than the state">.definition;
  let summary = "sets the value of a state for the next inference";
  let description = [{
    `state` is the result of a `sluice.state`. Every state is kept exactly once. The result is
    `value` itself.

    ```mlir
    %k = sluice.keep %new in %h : (tensor<1x128xf32>, tensor<1x128xf32>) -> tensor<1x128xf32>
    ```
  }];
  let arguments = (ins Sluice_Tensor:$value, Sluice_Tensor:$state);
  let assemblyFormat = "$value `in` $state attr-dict `:` functional-type(operands, results)";
}

def Sluice_LoopOp : Sluice_Op<"loop", [Pure, SingleBlock, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<Sluice_ReferenceInterface>]> {
  let summary = "an ordered loop with loop-carried values";
  let description = [{
    The body runs `trips` times. Its arguments are the carried values, which start as the values of
    `carry`, and then one element of each sequence of `slice` along its axis, without that axis. The
    elements come from first to last or, if `reversed`, from last to first. The body may read values
    defined outside the loop. `sluice.next` ends the body with the next carried values and then the
    element that the iteration adds to each stack.

    The results are the last carried values and then the stacks. A stack has a new axis in the order
    of the iterations or, if `reversed`, in the opposite order.

    ```mlir
    %h, %all = sluice.loop 5 carry (%s = %zero : tensor<1x4xf32>)
        slice (%x = %xs axis 0 : tensor<5x1x4xf32>) stack [0]
        -> (tensor<1x4xf32>, tensor<5x1x4xf32>) {
      %n = sluice.map (%a = %s, %b = %x) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> {
        %0 = arith.addf %a, %b : f32
        sluice.yield %0
      }
      sluice.next %n, %n : tensor<1x4xf32>, tensor<1x4xf32>
    }
    ```

    `sluice-unroll-loops` replaces the loop before layout, so it has no data dimensions.
  }];
  let arguments = (ins I64Attr:$trips, Variadic<Sluice_Tensor>:$initial,
                       Variadic<Sluice_Tensor>:$sequences, DenseI64ArrayAttr:$slice_axes,
                       DenseBoolArrayAttr:$slice_reversed, DenseI64ArrayAttr:$stack_axes,
                       DenseBoolArrayAttr:$stack_reversed);
  let results = (outs Variadic<Sluice_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    llvm::SmallVector<reference::LoopAxis> slices();
    llvm::SmallVector<reference::LoopAxis> stacks();
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Sluice_NextOp : Sluice_Op<"next", [Pure, Terminator, HasParent<"::sluice::ir::LoopOp">]> {
  let summary = "the next carried values and stack elements of an iteration";
  let arguments = (ins Variadic<Sluice_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
