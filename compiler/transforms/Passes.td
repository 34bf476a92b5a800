// Passes inside the sluice dialect.
#ifndef SLUICE_TRANSFORMS_PASSES_TD
#define SLUICE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def InferDataDimension : InterfacePass<"sluice-infer-data-dimension", "::mlir::FunctionOpInterface"> {
  let summary = "give every runtime tensor its data dimension";
  let description = [{
    Solves the operations' layout relations together and writes the result on the types:
    `tensor<2x3xf32>` becomes `tensor<2x3xbf16, #sluice<[2! 3]>>`; constants keep theirs. Encodings
    that are there already are pins. Every independent conflict is an error that starts with its
    code; notes carry the chain of deductions and the fixes.
  }];
  let options = [
    ListOption<"pins", "pins", "std::string", "tensors with a given data dimension: name=axis">,
    Option<"allowDynamicWeights", "allow-dynamic-weights", "bool", "false",
           "allow activations as the weights of a product">,
    Option<"rewriteLayout", "rewrite-layout", "bool", "false",
           "change the function where no data dimensions satisfy every rule, at a cost in cycles">,
    Option<"offerRewrites", "offer-rewrites", "bool", "false",
           "name the cheapest of such changes in errors">,
    Option<"lanes", "lanes", "int64_t", "8", "lanes of the target, for costs">
  ];
}

def Stream : InterfacePass<"sluice-stream", "::mlir::FunctionOpInterface"> {
  let summary = "turn a network over a sequence into one that takes a few steps at a time";
  let description = [{
    Inputs get the extent of the steps of one inference along their axis of time, and everything
    that has positions along it too. Recurrences keep what they carry in states, windows the last
    positions they read. What cannot be streamed is error E0207, a wrong option E0120.
  }];
  let options = [
    ListOption<"inputs", "inputs", "std::string", "inputs along time: name=axis:steps">,
    Option<"delay", "delay", "int64_t", "0", "most steps that an output may be late">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def UnrollLoops : InterfacePass<"sluice-unroll-loops", "::mlir::FunctionOpInterface"> {
  let summary = "write loops out, trip by trip";
  let description = [{
    The body of a `sluice.loop` takes its place once for each trip, with slices of the sequences; the
    stacks are concatenations. What nobody reads is not written. A loop of more than 10,000
    operations, those inside it written out, is error E0415, and then none is changed.
  }];
}

def FoldConstants : InterfacePass<"sluice-fold-constants", "::mlir::FunctionOpInterface"> {
  let summary = "evaluate operations on constants";
  let description = [{
    Each operation whose operands are all constants is replaced by what its reference interface
    computes, rounded to f32. Constants that no operation uses any more are removed.
  }];
}

def ExpandReductions : InterfacePass<"sluice-expand-reductions", "::mlir::FunctionOpInterface"> {
  let summary = "express reductions that no machine has by those it has";
  let description = [{
    `logsumexp` becomes m + log(sum(exp(x - m))) with m the maximum: it does not overflow. Data
    dimensions and locations stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def ChooseInPairs : InterfacePass<"sluice-choose-in-pairs", "::mlir::FunctionOpInterface"> {
  let summary = "choose elements by a tree of selects";
  let description = [{
    The maximum of elements of which a constant masks all but one, which is how an element at a
    known index is taken along an axis: off the lanes it becomes a choice between neighbours, then
    between what is left of them, each a map on half as many. Masking all and comparing them takes
    twice the passes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def FuseMaps : InterfacePass<"sluice-fuse-maps", "::mlir::FunctionOpInterface"> {
  let summary = "merge maps into the maps that use them";
  let description = [{
    A map whose only user is another map is inlined into its body. An operand of which every
    element is the same constant becomes a scalar constant of the body, as long as an operand is
    left. An operand given twice is read once. Locations keep the nodes of both maps. A body stays
    within 64 operations.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def HoistScalars : InterfacePass<"sluice-hoist-scalars", "::mlir::FunctionOpInterface"> {
  let summary = "compute before a broadcast what depends on it alone";
  let description = [{
    What a map computes from a broadcast operand alone is computed before the broadcast, once
    instead of for every element; a division by it becomes a product with its reciprocal, which is
    how the machine divides. Only where the broadcast value comes from a map of its own, into which
    `sluice-fuse-maps` then merges it: no operation is added.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def MapsBeforeViews : InterfacePass<"sluice-maps-before-views", "::mlir::FunctionOpInterface"> {
  let summary = "move maps before the views that keep them from being merged";
  let description = [{
    A map that reads one activation, through views that keep every element and its lane, is computed
    before them where their source is a map that nothing else reads, into which `sluice-fuse-maps`
    then merges it. Its constants are reordered instead, which is free.
  }];
}

def SlicesBeforeProducts
    : InterfacePass<"sluice-slices-before-products", "::mlir::FunctionOpInterface"> {
  let summary = "multiply only what a slice keeps";
  let description = [{
    A slice of a product with weights that takes whole lines off the data dimension becomes a slice
    of what is multiplied. What it leaves out is not computed, and the products are made where their
    readers are, as the cropped shortcut of a residual connection is.
  }];
}

def SimplifyViews : InterfacePass<"sluice-simplify-views", "::mlir::FunctionOpInterface"> {
  let summary = "make one view of several, and take slices before they are computed";
  let description = [{
    Slices move up: through concats and interleavings to the operands they take from, pads and
    copies that they leave out, rotations, broadcasts, transposes, reversals, and maps and
    reductions that nobody else reads. Neighbouring slices in a concat, the end of a tensor before
    its beginning, concats of concats, pads of pads, broadcasts of broadcasts and phases that are
    interleaved again become one view or none. Lanes that a reader of several operands would move
    once are not moved before it. A slice of the features of a product is one of its weights.

    With `phases` a dilated or strided window becomes dense ones over the phases of its axis,
    interleaved, and a product of an interleaving an interleaving of products.

    It ends: a pattern leaves fewer operations, a slice nearer to the arguments, fewer axes along
    which windows have gaps or steps, or a product before an interleaving and not behind it.
  }];
  let options = [
    ListOption<"only", "only", "std::string", "labels of the patterns to apply, all if none">,
    ListOption<"without", "without", "std::string", "labels of patterns that are left out">,
    Option<"phases", "phases", "bool", "false", "also take windows apart by phases">
  ];
}

def SinkFactors : InterfacePass<"sluice-sink-factors", "::mlir::FunctionOpInterface"> {
  let summary = "multiply behind a matrix product instead of before it";
  let description = [{
    A broadcast factor (or divisor) of a map that only matrix products use, and that does not vary
    along the axis they sum over, becomes a factor of their results: the products need not wait for
    it, and no pass of the vector unit is left where the map was nothing else. The softmax of
    attention and the norm in front of a layer are such.
  }];
  let options = [
    Option<"constantWeights", "constant-weights", "bool", "true",
           "also where the other side of the product is constant">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def HeadsInRows : InterfacePass<"sluice-heads-in-rows", "::mlir::FunctionOpInterface"> {
  let summary = "leave the heads of attention side by side in rows";
  let description = [{
    A product with one activation as weights whose data dimension was taken apart into heads takes
    whole rows, with as many heads as have room in one. Where features are summed over, the other
    side is zero in the lanes of other heads; where they are the result, each head's own lanes are
    taken of it. No lanes are moved for the heads then, and fewer rows are written as weights.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "lanes of the target">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def MergeAxes : InterfacePass<"sluice-merge-axes", "::mlir::FunctionOpInterface"> {
  let summary = "lay neighbouring axes along the lanes that no operation tells apart";
  let description = [{
    Two neighbouring axes are one where every operation that reads or makes the tensor does the
    same along both: its index space has a loop for each, of one kind, next to each other wherever
    they are. Tensors at which the data dimension then takes fewer rows get it: `[3 5 6 4!]` is
    `[3 5 24!]`. A reshape between the two is gone. Arguments and results of the function are
    merged too: the host's arrays are the same. Tensors that are pinned (`sluice.pinned`) stay as
    they are.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "lanes of the target">];
}

def RemoveDeadCode : InterfacePass<"sluice-remove-dead-code", "::mlir::FunctionOpInterface"> {
  let summary = "remove operations whose results nobody uses";
}

#endif
