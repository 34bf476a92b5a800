// What a rewrite puts in a tensor's place has its name, and nothing else has.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-sink-factors))" | FileCheck %s --check-prefix=SINK
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-slices-before-products))" | FileCheck %s --check-prefix=LINES
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-simplify-views))" | FileCheck %s --check-prefix=VIEWS
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-maps-before-views))" | FileCheck %s --check-prefix=BEFORE
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-fuse-maps))" | FileCheck %s --check-prefix=FUSE
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-hoist-scalars))" | FileCheck %s --check-prefix=HOIST
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-expand-reductions))" | FileCheck %s --check-prefix=EXPAND

// The product without the factor is no tensor of the model, the factor of the result is none either.
// SINK-LABEL: func.func @factor(
// SINK: %[[P:.*]] = sluice.matmul %{{.*}}, %{{[^ ]*}} :
// SINK-NEXT: %[[B:.*]] = sluice.broadcast %{{[^ ]*}} :
// SINK-NEXT: sluice.map (%{{.*}} = %[[P]], %{{.*}} = %[[B]]) {sluice.tensor = "product"}
func.func @factor(%x: tensor<6x4xbf16, #sluice<[6 4!]>>, %s: tensor<6x1xbf16, #sluice<[6 1!]>>) -> tensor<6x3xbf16, #sluice<[6 3!]>> {
  %w = sluice.constant dense<1.0> : tensor<4x3xf32>
  %b = sluice.broadcast %s {sluice.tensor = "wide"} : (tensor<6x1xbf16, #sluice<[6 1!]>>) -> tensor<6x4xbf16, #sluice<[6 4!]>>
  %m = sluice.map (%p = %x, %q = %b) {sluice.tensor = "scaled"} : (tensor<6x4xbf16, #sluice<[6 4!]>>, tensor<6x4xbf16, #sluice<[6 4!]>>) -> tensor<6x4xbf16, #sluice<[6 4!]>> {
    %d = arith.mulf %p, %q : f32
    sluice.yield %d
  }
  %0 = sluice.matmul %m, %w {sluice.tensor = "product"} : (tensor<6x4xbf16, #sluice<[6 4!]>>, tensor<4x3xf32>) -> tensor<6x3xbf16, #sluice<[6 3!]>>
  return %0 : tensor<6x3xbf16, #sluice<[6 3!]>>
}

// LINES-LABEL: func.func @lines(
// LINES: sluice.slice %{{.*}} starts [1, 0] sizes [2, 4] steps [2, 1] :
// LINES-NEXT: sluice.matmul %{{.*}}, %{{.*}} {sluice.tensor = "part"}
func.func @lines(%x: tensor<6x4xbf16, #sluice<[6 4!]>>) -> tensor<2x3xbf16, #sluice<[2 3!]>> {
  %w = sluice.constant dense<1.0> : tensor<4x3xf32>
  %0 = sluice.matmul %x, %w {sluice.tensor = "product"} : (tensor<6x4xbf16, #sluice<[6 4!]>>, tensor<4x3xf32>) -> tensor<6x3xbf16, #sluice<[6 3!]>>
  %1 = sluice.slice %0 starts [1, 0] sizes [2, 3] steps [2, 1] {sluice.tensor = "part"} : (tensor<6x3xbf16, #sluice<[6 3!]>>) -> tensor<2x3xbf16, #sluice<[2 3!]>>
  return %1 : tensor<2x3xbf16, #sluice<[2 3!]>>
}

// Of the features that are left the product has the name of the slice, not its own.
// VIEWS-LABEL: func.func @features(
// VIEWS: sluice.matmul %{{.*}}, %{{.*}} {sluice.tensor = "part"} : {{.*}} -> tensor<6x2xbf16
// VIEWS-NEXT: return
func.func @features(%x: tensor<6x4xbf16, #sluice<[6 4!]>>) -> tensor<6x2xbf16, #sluice<[6 2!]>> {
  %w = sluice.constant dense<1.0> : tensor<4x3xf32>
  %0 = sluice.matmul %x, %w {sluice.tensor = "product"} : (tensor<6x4xbf16, #sluice<[6 4!]>>, tensor<4x3xf32>) -> tensor<6x3xbf16, #sluice<[6 3!]>>
  %1 = sluice.slice %0 starts [0, 1] sizes [6, 2] steps [1, 1] {sluice.tensor = "part"} : (tensor<6x3xbf16, #sluice<[6 3!]>>) -> tensor<6x2xbf16, #sluice<[6 2!]>>
  return %1 : tensor<6x2xbf16, #sluice<[6 2!]>>
}

// A slice of a map is a map of less, and no longer the whole one.
// VIEWS-LABEL: func.func @slices(
// VIEWS-NOT: "whole"
// VIEWS: sluice.map {{.*}} {sluice.tensor = "left"} : {{.*}} -> tensor<6x1xbf16
// VIEWS-NOT: "whole"
// VIEWS: return
func.func @slices(%x: tensor<6x4xbf16, #sluice<[6! 4]>>) -> tensor<6x1xbf16, #sluice<[6! 1]>> {
  %0 = sluice.map (%p = %x) {sluice.tensor = "whole"} : (tensor<6x4xbf16, #sluice<[6! 4]>>) -> tensor<6x4xbf16, #sluice<[6! 4]>> {
    %s = math.exp %p : f32
    sluice.yield %s
  }
  %1 = sluice.slice %0 starts [0, 0] sizes [6, 1] steps [1, 1] {sluice.tensor = "left"} : (tensor<6x4xbf16, #sluice<[6! 4]>>) -> tensor<6x1xbf16, #sluice<[6! 1]>>
  return %1 : tensor<6x1xbf16, #sluice<[6! 1]>>
}

// The transposed one is what the second map was; before it stands what is no tensor of the model.
// BEFORE-LABEL: func.func @between(
// BEFORE: sluice.map (%{{.*}} = %{{.*}}) {sluice.tensor = "e"}
// BEFORE: sluice.map (%{{.*}} = %{{[^ )]*}}) :
// BEFORE: sluice.transpose %{{.*}} [1, 0] {sluice.tensor = "t"}
func.func @between(%x: tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<3x2xbf16, #sluice<[3 2!]>> {
  %0 = sluice.map (%p = %x) {sluice.tensor = "e"} : (tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<2x3xbf16, #sluice<[2! 3]>> {
    %s = math.exp %p : f32
    sluice.yield %s
  }
  %1 = sluice.transpose %0 [1, 0] {sluice.tensor = "v"} : (tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<3x2xbf16, #sluice<[3 2!]>>
  %2 = sluice.map (%p = %1) {sluice.tensor = "t"} : (tensor<3x2xbf16, #sluice<[3 2!]>>) -> tensor<3x2xbf16, #sluice<[3 2!]>> {
    %s = math.tanh %p : f32
    sluice.yield %s
  }
  return %2 : tensor<3x2xbf16, #sluice<[3 2!]>>
}

// Merged, two maps are the second one.
// FUSE-LABEL: func.func @merged(
// FUSE: sluice.map (%{{.*}} = %{{.*}}) {sluice.tensor = "t"}
// FUSE-NOT: sluice.map
// FUSE: return
func.func @merged(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sluice.map (%p = %x) {sluice.tensor = "e"} : (tensor<8xf32>) -> tensor<8xf32> {
    %s = math.exp %p : f32
    sluice.yield %s
  }
  %1 = sluice.map (%p = %0) {sluice.tensor = "t"} : (tensor<8xf32>) -> tensor<8xf32> {
    %s = math.tanh %p : f32
    sluice.yield %s
  }
  return %1 : tensor<8xf32>
}

// What moves behind the reciprocal is not the tensor that was broadcast.
// HOIST-LABEL: func.func @divide(
// HOIST: sluice.map (%{{.*}} = %{{.*}}) {sluice.tensor = "root"}
// HOIST: %[[R:.*]] = sluice.map (%{{.*}} = %{{[^ )]*}}) :
// HOIST: sluice.broadcast %[[R]] :
// HOIST: sluice.map (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) {sluice.tensor = "y"}
func.func @divide(%x: tensor<8xf32>, %s: tensor<1xf32>) -> tensor<8xf32> {
  %r = sluice.map (%a = %s) {sluice.tensor = "root"} : (tensor<1xf32>) -> tensor<1xf32> {
    %q = math.sqrt %a : f32
    sluice.yield %q
  }
  %b = sluice.broadcast %r {sluice.tensor = "wide"} : (tensor<1xf32>) -> tensor<8xf32>
  %y = sluice.map (%p = %x, %q = %b) {sluice.tensor = "y"} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
    %d = arith.divf %p, %q : f32
    sluice.yield %d
  }
  return %y : tensor<8xf32>
}

// EXPAND-LABEL: func.func @sum(
// EXPAND-NOT: {sluice.tensor = "l"}
// EXPAND: sluice.squeeze %{{.*}} {sluice.tensor = "l"}
// EXPAND-NEXT: return
func.func @sum(%x: tensor<2x3xbf16, #sluice<[2 3!]>>) -> tensor<2xbf16, #sluice<[2!]>> {
  %y = sluice.reduce logsumexp %x axes [1] {sluice.tensor = "l"} : (tensor<2x3xbf16, #sluice<[2 3!]>>) -> tensor<2xbf16, #sluice<[2!]>>
  return %y : tensor<2xbf16, #sluice<[2!]>>
}
