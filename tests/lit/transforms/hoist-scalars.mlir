// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-hoist-scalars,sluice-fuse-maps))" | FileCheck %s

// The reciprocal of the root is taken once, in the map that computes the root.
// CHECK-LABEL: func.func @divide(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %[[S:.*]]: tensor<1xf32>
// CHECK: %[[M:.*]] = sluice.map (%[[A:.*]] = %[[S]]) : (tensor<1xf32>) -> tensor<1xf32>
// CHECK-NEXT: %[[Q:.*]] = math.sqrt %[[A]]
// CHECK: %[[R:.*]] = arith.divf %{{.*}}, %[[Q]]
// CHECK-NEXT: sluice.yield %[[R]]
// CHECK: %[[B:.*]] = sluice.broadcast %[[M]]
// CHECK: sluice.map (%[[P:.*]] = %[[X]], %[[T:.*]] = %[[B]])
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[P]], %[[T]]
// CHECK-NEXT: sluice.yield %[[Y]]
func.func @divide(%x: tensor<8xf32>, %s: tensor<1xf32>) -> tensor<8xf32> {
  %r = sluice.map (%a = %s) : (tensor<1xf32>) -> tensor<1xf32> {
    %q = math.sqrt %a : f32
    sluice.yield %q
  }
  %b = sluice.broadcast %r : (tensor<1xf32>) -> tensor<8xf32>
  %y = sluice.map (%p = %x, %q = %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
    %d = arith.divf %p, %q : f32
    sluice.yield %d
  }
  return %y : tensor<8xf32>
}

// exp(s) with its constant factor goes, the product with x stays.
// CHECK-LABEL: func.func @factor(
// CHECK: sluice.map (%[[A:.*]] = %{{.*}}) : (tensor<1xf32>) -> tensor<1xf32>
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[A]]
// CHECK: %[[E:.*]] = math.exp %[[N]]
// CHECK: %[[F:.*]] = arith.mulf %[[E]]
// CHECK-NEXT: sluice.yield %[[F]]
// CHECK: sluice.broadcast
// CHECK: sluice.map (%[[P:.*]] = %{{.*}}, %[[T:.*]] = %{{.*}})
// CHECK-NOT: math.exp
// CHECK: arith.mulf %[[P]], %[[T]]
func.func @factor(%x: tensor<8xf32>, %s: tensor<1xf32>) -> tensor<8xf32> {
  %r = sluice.map (%a = %s) : (tensor<1xf32>) -> tensor<1xf32> {
    %n = arith.negf %a : f32
    sluice.yield %n
  }
  %b = sluice.broadcast %r : (tensor<1xf32>) -> tensor<8xf32>
  %y = sluice.map (%p = %x, %q = %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
    %k = arith.constant 3.0 : f32
    %e = math.exp %q : f32
    %f = arith.mulf %e, %k : f32
    %d = arith.mulf %p, %f : f32
    sluice.yield %d
  }
  return %y : tensor<8xf32>
}

// Nothing to compute, two values needed, or nobody to merge with: all stays.
// CHECK-LABEL: func.func @stays(
// CHECK: sluice.broadcast
// CHECK: sluice.map
// CHECK-NEXT: arith.addf
// CHECK: sluice.broadcast
// CHECK: sluice.map
// CHECK: math.exp
// CHECK: sluice.broadcast
// CHECK: sluice.map
// CHECK-NEXT: arith.divf
func.func @stays(%x: tensor<8xf32>, %s: tensor<1xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %r = sluice.map (%a = %s) : (tensor<1xf32>) -> tensor<1xf32> {
    %n = arith.negf %a : f32
    sluice.yield %n
  }
  %b = sluice.broadcast %r : (tensor<1xf32>) -> tensor<8xf32>
  %y = sluice.map (%p = %x, %q = %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
    %d = arith.addf %p, %q : f32
    sluice.yield %d
  }
  %r2 = sluice.map (%a = %s) : (tensor<1xf32>) -> tensor<1xf32> {
    %n = arith.negf %a : f32
    sluice.yield %n
  }
  %b2 = sluice.broadcast %r2 : (tensor<1xf32>) -> tensor<8xf32>
  %z = sluice.map (%p = %x, %q = %b2) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
    %e = math.exp %q : f32
    %f = arith.mulf %p, %e : f32
    %d = arith.addf %f, %q : f32
    sluice.yield %d
  }
  %b3 = sluice.broadcast %s : (tensor<1xf32>) -> tensor<8xf32>
  %w = sluice.map (%p = %x, %q = %b3) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
    %d = arith.divf %p, %q : f32
    sluice.yield %d
  }
  return %y, %z, %w : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
