// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-fuse-maps))" | FileCheck %s

// The bias is not a splat and stays an operand; the slope becomes a scalar.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK: %[[B:.*]] = sluice.constant dense<[
// CHECK-NEXT: %[[M:.*]] = sluice.map (%[[P:.*]] = %[[X]], %[[Q:.*]] = %[[B]]) :
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[P]], %[[Q]]
// CHECK-NEXT: %[[K:.*]] = arith.constant 5.000000e-01
// CHECK-NEXT: %[[L:.*]] = arith.mulf %[[S]], %[[K]]
// CHECK-NEXT: %[[R:.*]] = arith.maximumf %[[S]], %[[L]]
// CHECK-NEXT: sluice.yield %[[R]]
// CHECK-NOT: sluice.map
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = sluice.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %k = sluice.constant dense<0.5> : tensor<1xf32>
  %kb = sluice.broadcast %k : (tensor<1xf32>) -> tensor<4xf32>
  %0 = sluice.map (%p = %x, %q = %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    %s = arith.addf %p, %q : f32
    sluice.yield %s
  }
  %1 = sluice.map (%p = %0, %q = %kb) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    %s = arith.mulf %p, %q : f32
    %r = arith.maximumf %p, %s : f32
    sluice.yield %r
  }
  return %1 : tensor<4xf32>
}

// A map somebody else reads is not inlined.
// CHECK-LABEL: func.func @shared(
// CHECK-COUNT-2: sluice.map
func.func @shared(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = sluice.map (%p = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %s = math.exp %p : f32
    sluice.yield %s
  }
  %1 = sluice.map (%p = %0) : (tensor<4xf32>) -> tensor<4xf32> {
    %s = math.exp %p : f32
    sluice.yield %s
  }
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// One map read twice by the same map is inlined once.
// CHECK-LABEL: func.func @twice(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: sluice.map (%[[P:.*]] = %[[X]]) :
// CHECK-NEXT: %[[E:.*]] = math.exp %[[P]]
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[E]], %[[E]]
// CHECK-NEXT: sluice.yield %[[M]]
func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sluice.map (%p = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %s = math.exp %p : f32
    sluice.yield %s
  }
  %1 = sluice.map (%p = %0, %q = %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    %s = arith.mulf %p, %q : f32
    sluice.yield %s
  }
  return %1 : tensor<4xf32>
}

// A map keeps an operand even if all are splats.
// CHECK-LABEL: func.func @splats(
// CHECK: sluice.map (%{{.*}} = %{{[^,]*}}) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: arith.constant 3.000000e+00
func.func @splats() -> tensor<4xf32> {
  %a = sluice.constant dense<2.0> : tensor<4xf32>
  %b = sluice.constant dense<3.0> : tensor<4xf32>
  %0 = sluice.map (%p = %a, %q = %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    %s = arith.subf %p, %q : f32
    sluice.yield %s
  }
  return %0 : tensor<4xf32>
}

// After layout the result keeps its type.
// CHECK-LABEL: func.func @laid_out(
// CHECK: sluice.map ({{.*}}) : (tensor<4xbf16, #sluice.dim<0>>) -> tensor<4xbf16, #sluice.dim<0>>
// CHECK-NOT: sluice.map
func.func @laid_out(%x: tensor<4xbf16, #sluice.dim<0>>) -> tensor<4xbf16, #sluice.dim<0>> {
  %k = sluice.constant dense<0.5> : tensor<4xf32>
  %0 = sluice.map (%p = %x) : (tensor<4xbf16, #sluice.dim<0>>) -> tensor<4xbf16, #sluice.dim<0>> {
    %s = math.exp %p : f32
    sluice.yield %s
  }
  %1 = sluice.map (%p = %k, %q = %0) : (tensor<4xf32>, tensor<4xbf16, #sluice.dim<0>>) -> tensor<4xbf16, #sluice.dim<0>> {
    %s = arith.subf %p, %q : f32
    sluice.yield %s
  }
  return %1 : tensor<4xbf16, #sluice.dim<0>>
}

// A mask of ones has become a scalar, and the map does not read what it does not select.
// CHECK-LABEL: func.func @known_mask(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>
// CHECK: sluice.map (%[[A:.*]] = %[[X]]) : (tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %[[E:.*]] = math.exp %[[A]]
// CHECK-NEXT: sluice.yield %[[E]]
func.func @known_mask(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %ones = sluice.constant dense<1.0> : tensor<4xf32>
  %0 = sluice.map (%m = %ones, %a = %x, %b = %y) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    %zero = arith.constant 0.0 : f32
    %test = arith.cmpf une, %m, %zero : f32
    %s = arith.select %test, %a, %b : f32
    %e = math.exp %s : f32
    sluice.yield %e
  }
  return %0 : tensor<4xf32>
}
