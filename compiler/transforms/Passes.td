// Passes inside the sluice dialect.
#ifndef SLUICE_TRANSFORMS_PASSES_TD
#define SLUICE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def InferDataDimension : Pass<"sluice-infer-data-dimension", "::mlir::func::FuncOp"> {
  let summary = "assign a data dimension to every runtime tensor";
  let description = [{
    Solves the layout relations of all operations together and writes the result into the types:
    `tensor<2x3xf32>` becomes `tensor<2x3xbf16, #sluice<[2! 3]>>`. Constants keep their types.
    Encodings in the input are pins. The pass reports every independent conflict as an error that
    starts with its code; notes list the chain of deductions and the fixes.
  }];
  let options = [
    ListOption<"pins", "pins", "std::string", "pinned data dimensions: name=axis">,
    Option<"allowDynamicWeights", "allow-dynamic-weights", "bool", "false",
           "let an activation serve as the weights of a product">,
    Option<"rewriteLayout", "rewrite-layout", "bool", "false",
           "insert relayouts if no data dimensions satisfy every rule, at a cost in cycles">,
    Option<"offerRewrites", "offer-rewrites", "bool", "false",
           "name the cheapest relayouts in errors">,
    Option<"lanes", "lanes", "int64_t", "8", "lanes of the target, for cost estimates">
  ];
}

def Stream : Pass<"sluice-stream", "::mlir::func::FuncOp"> {
  let summary = "rewrite a network over a sequence to take a few steps per inference";
  let description = [{
    Along the time axis, inputs and the tensors that depend on them shrink to the steps of one
    inference. States keep the carried values of recurrences and the past positions that windows
    read. A network that cannot be streamed is error E0207; a wrong option is E0120.
  }];
  let options = [
    ListOption<"inputs", "inputs", "std::string", "streamed inputs: name=axis:steps">,
    Option<"delay", "delay", "int64_t", "0", "maximum lag of an output, in steps">
  ];
}

def UnrollLoops : Pass<"sluice-unroll-loops", "::mlir::func::FuncOp"> {
  let summary = "unroll loops completely";
  let description = [{
    Replaces each `sluice.loop` by one copy of its body per iteration. The copies read slices of the
    sequences; concatenations build the stacks. Unused results are left out. A loop that unrolls to
    more than 10,000 operations, inner loops included, is error E0415, and the pass changes nothing.
  }];
}

def FoldConstants : Pass<"sluice-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "evaluate operations on constants";
  let description = [{
    Replaces each operation on constants by the result of its reference interface, rounded to f32,
    and removes constants that are no longer used. A result of the function that has become a
    constant has no data dimension.
  }];
}

def ExpandReductions : Pass<"sluice-expand-reductions", "::mlir::func::FuncOp"> {
  let summary = "expand reductions that the hardware lacks";
  let description = [{
    `logsumexp` becomes m + log(sum(exp(x - m))), where m is the maximum, so that it does not
    overflow. Data dimensions and locations stay the same. A single line along the lanes of 32 rows
    or more is divided into as many equal parts as there are cores, rounded up to a power of two: a
    part has a maximum and a sum of its own, which are then merged.
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", "8", "lanes of the target">,
    Option<"cores", "cores", "int64_t", "1", "cores of the target">
  ];
}

def SoftmaxInParts : Pass<"sluice-softmax-in-parts", "::mlir::func::FuncOp"> {
  let summary = "divide the softmax of a long line into parts with a maximum each";
  let description = [{
    exp(x - max(x)) of a single line along the lanes, and its sum, become those of equal parts, as
    many as there are cores, rounded up to a power of two. A part subtracts its own maximum, so its
    exponentials do not wait for the end of the line. exp(m - max(m)) of its maximum m scales its
    sum and its quotients. The pass leaves exponentials that are read otherwise, and short lines, as
    they are.
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", "8", "lanes of the target">,
    Option<"cores", "cores", "int64_t", "1", "cores of the target">
  ];
}

def ArgMaxBeforeMaps : Pass<"sluice-argmax-before-maps", "::mlir::func::FuncOp"> {
  let summary = "take the index of a maximum before maps that keep the order";
  let description = [{
    A map that increases strictly with one operand, and whose other operands are the same along the
    axis, has its maximum where that operand has it: `argmax(softmax(x))` becomes `argmax(x)`. The
    index does not wait for the map, and a map that only the index reads is not computed.
  }];
}

def ChooseInPairs : Pass<"sluice-choose-in-pairs", "::mlir::func::FuncOp"> {
  let summary = "select an element with a tree of selects";
  let description = [{
    Models select the element at a known index along an axis with a constant mask and a maximum. If
    the axis does not lie along the lanes, this pass replaces the maximum by a tree of maps: each map
    selects between adjacent elements and halves their number. Masking and comparing all elements
    takes twice the passes.
  }];
}

def SplitChoices : Pass<"sluice-split-choices", "::mlir::func::FuncOp"> {
  let summary = "replace selects by known conditions with slices and concats";
  let description = [{
    Applies to a map with a select whose condition depends on constants alone, such as a Where with a
    constant mask. If all elements of a row select the same operand, the row becomes a slice of this
    operand, or part of a map without the select; a concat joins the rows. Rows whose elements differ
    keep the select. A product with a constant of zeros and ones is a choice too: where the factor is
    1, the row moves. The rows where the factor is 0 stay products, because infinity times 0 is NaN.

    A sum, product, maximum or minimum along another axis of such a map becomes the one row that is
    not neutral, if there is at most one. Scatters with constant indices are such sums.

    The pass then moves the slices towards the inputs. It leaves maps with more than 1,024 pieces, and
    maps for which a sum would be rounded to a row in an additional pass.
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", "8", "lanes of the target">,
    ListOption<"without", "without", "std::string", "labels of patterns of views to skip">,
    Option<"slicesBeforeProducts", "slices-before-products", "bool", "true",
           "move the slices before products too">
  ];
}

def FuseMaps : Pass<"sluice-fuse-maps", "::mlir::func::FuncOp"> {
  let summary = "fuse maps into the maps that use them";
  let description = [{
    Inlines a map into its only user if that is a map too. An operand whose elements are all the
    same constant becomes a scalar constant of the body, as long as one operand remains. Duplicate
    operands are merged. A select by a scalar constant becomes the value that it selects, and a map
    loses the operands that its result does not depend on. Locations keep the nodes of both maps. A
    body has at most 64 operations.
  }];
}

def CentreVariances : Pass<"sluice-centre-variances", "::mlir::func::FuncOp"> {
  let summary = "compute variances from distances to the mean";
  let description = [{
    Replaces mean(x * x) - mean(x) * mean(x) by the mean of the squared distances from the mean. The
    difference loses all its digits where the mean is large against the deviations.
  }];
}

def HoistScalars : Pass<"sluice-hoist-scalars", "::mlir::func::FuncOp"> {
  let summary = "compute functions of a broadcast operand before the broadcast";
  let description = [{
    If a map computes a value from a broadcast operand alone, the pass moves that computation before
    the broadcast, where it runs once. A division by the operand becomes a product with its
    reciprocal, which is how the hardware divides. The pass does this only if a map produces the
    broadcast value, so that `sluice-fuse-maps` can fuse the two and no operation is added.
  }];
}

def MapsBeforeViews : Pass<"sluice-maps-before-views", "::mlir::func::FuncOp"> {
  let summary = "move maps before views that prevent fusion";
  let description = [{
    Applies to a map that reads one activation through views that keep every element in its lane. If
    the source of the views is a map without other users, the pass moves the map before the views,
    and `sluice-fuse-maps` then fuses the two maps. The constants of the map are reordered at
    compile time.
  }];
}

def SplitFeatures : Pass<"sluice-split-features", "::mlir::func::FuncOp"> {
  let summary = "compute the parts of a tensor that slices select along the lanes";
  let description = [{
    Applies to tensors that only slices along the data dimension read, such as the gates of a
    recurrent cell that one product computes. Each product, map and view between the weights and the
    slices becomes one operation for each part, with its own part of the weights. No element changes
    lanes. The pass does nothing where the parts fill more rows than the moves between lanes would
    cost.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "lanes of the target">];
}

def SlicesBeforeProducts : Pass<"sluice-slices-before-products", "::mlir::func::FuncOp"> {
  let summary = "slice the operands of a product instead of its result";
  let description = [{
    Applies to a slice of a product with weights that removes whole lines away from the data
    dimension, such as the cropped shortcut of a residual connection. The slice moves to the
    activation, so the product computes only the elements that are used, on the cores that read
    them.
  }];
}

def SimplifyViews : Pass<"sluice-simplify-views", "::mlir::func::FuncOp"> {
  let summary = "merge views and move slices towards the inputs";
  let description = [{
    Slices move towards the arguments: through views, and through maps and reductions without other
    users. Adjacent slices in a concat become one, and so do views of the same view. The pass does not
    move lanes before an operation of several operands that would move them once. A slice of the
    features of a product becomes a slice of its weights.

    The pass terminates because every pattern makes progress: it leaves fewer operations, or a slice
    nearer to the arguments.
  }];
  let options = [
    ListOption<"only", "only", "std::string", "labels of the patterns to apply (default: all)">,
    ListOption<"without", "without", "std::string", "labels of patterns to skip">
  ];
}

def SinkFactors : Pass<"sluice-sink-factors", "::mlir::func::FuncOp"> {
  let summary = "multiply after a matrix product instead of before it";
  let description = [{
    Applies to a map that only matrix products use and that multiplies or divides by a broadcast
    factor, such as the softmax of attention or the norm before a layer. If the factor does not vary
    along the contracted axis, the pass applies it to the results of the products instead. The
    products no longer wait for the factor, and a map that did nothing else disappears.
  }];
  let options = [
    Option<"constantWeights", "constant-weights", "bool", "true",
           "also if the other operand of the product is constant">
  ];
}

def HeadsInRows : Pass<"sluice-heads-in-rows", "::mlir::func::FuncOp"> {
  let summary = "keep the heads of attention side by side in rows";
  let description = [{
    Applies to a product of two activations whose data dimension was split into heads. The product
    reads whole rows, which hold as many heads as fit. If the product contracts the features, the
    other operand is zero in the lanes of other heads. If the features are in the result, each head
    selects its own lanes. No lanes move between heads, and fewer rows are written as weights.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "lanes of the target">];
}

def MergeAxes : Pass<"sluice-merge-axes", "::mlir::func::FuncOp"> {
  let summary = "merge adjacent axes to fill the lanes";
  let description = [{
    Merges two adjacent axes of a tensor if every operation that reads or writes it treats them
    alike: its index space has a loop for each, both of one kind and adjacent everywhere. The pass
    does so where the data dimension then needs fewer rows: `[3 5 6 4!]` becomes `[3 5 24!]`. A
    reshape between the two shapes disappears. Arguments and results of the function are merged too;
    the arrays of the host stay the same. Pinned tensors (`sluice.pinned`) stay as they are.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "lanes of the target">];
}

def SelectInputs : Pass<"sluice-select-inputs", "::mlir::func::FuncOp"> {
  let summary = "take the parts of inputs that are read";
  let description = [{
    If only slices read an argument, the pass replaces it by an argument for each part that they
    read, or by the box around these parts, whichever has the fewest rows. A part consists of whole
    rows: along the data dimension it begins and ends at the border of a row. A slice of a part, if
    anything is left of it, reads the part. An argument that nothing reads is removed. The host sends
    the arguments alone, so it sends no row that nothing reads.

    If other operations read an argument, but no result depends on some of its rows, the pass
    replaces it by a concat of parts and of zeros in the place of those rows. In a function with
    windows it does so only if these are at least half of all rows, because loops over positions
    read an input in equal tiles.

    Only arguments with the attribute `sluice.input` change. It holds the number of the input; a part
    also has the first index (`sluice.starts`), the number of elements (`sluice.sizes`) and the step
    (`sluice.steps`) along each axis.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "lanes of the target">];
}

def RemoveDeadCode : Pass<"sluice-remove-dead-code", "::mlir::func::FuncOp"> {
  let summary = "remove operations whose results are unused";
}

#endif
