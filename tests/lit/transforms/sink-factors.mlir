// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-sink-factors))" | FileCheck %s
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-sink-factors{constant-weights=false}))" | FileCheck %s --check-prefix=DYNAMIC

// A norm: the products are of x and the constant factors of the norm, its root
// comes behind.
// CHECK-LABEL: func.func @norm(
// CHECK-SAME: %[[X:.*]]: tensor<1x8xbf16, {{.*}}>, %[[R:.*]]: tensor<1x1xbf16, {{.*}}>
// CHECK: %[[G:.*]] = sluice.constant
// CHECK: %[[M:.*]] = sluice.map (%[[A:.*]] = %[[X]], %[[C:.*]] = %[[G]])
// CHECK-NEXT: %[[T:.*]] = arith.mulf %[[A]], %[[C]]
// CHECK-NEXT: sluice.yield %[[T]]
// CHECK: %[[P:.*]] = sluice.matmul %[[M]], %{{.*}} -> tensor<1x4xbf16, #sluice.dim<1>>
// CHECK-NEXT: %[[B:.*]] = sluice.broadcast %[[R]] : {{.*}} -> tensor<1x4xbf16, #sluice<[1 4!]>>
// CHECK-NEXT: %[[Y:.*]] = sluice.map (%[[V:.*]] = %[[P]], %[[F:.*]] = %[[B]])
// CHECK-NEXT: arith.mulf %[[V]], %[[F]]
// CHECK: return %[[Y]]
// Its weights are constant.
// DYNAMIC-LABEL: func.func @norm(
// DYNAMIC: sluice.broadcast %{{.*}} -> tensor<1x8xbf16, #sluice.dim<1>>
// DYNAMIC: sluice.matmul
// DYNAMIC-NEXT: return
func.func @norm(%x: tensor<1x8xbf16, #sluice.dim<1>>, %r: tensor<1x1xbf16, #sluice.dim<1>>) -> tensor<1x4xbf16, #sluice.dim<1>> {
  %g = sluice.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]> : tensor<1x8xf32>
  %w = sluice.constant dense<0.5> : tensor<8x4xf32>
  %b = sluice.broadcast %r : (tensor<1x1xbf16, #sluice.dim<1>>) -> tensor<1x8xbf16, #sluice.dim<1>>
  %n = sluice.map (%p = %x, %q = %b, %s = %g) : (tensor<1x8xbf16, #sluice.dim<1>>, tensor<1x8xbf16, #sluice.dim<1>>, tensor<1x8xf32>) -> tensor<1x8xbf16, #sluice.dim<1>> {
    %0 = arith.mulf %p, %q : f32
    %1 = arith.mulf %0, %s : f32
    sluice.yield %1
  }
  %y = sluice.matmul %n, %w : (tensor<1x8xbf16, #sluice.dim<1>>, tensor<8x4xf32>) -> tensor<1x4xbf16, #sluice.dim<1>>
  return %y : tensor<1x4xbf16, #sluice.dim<1>>
}

// The division of a softmax, whose quotients two products need.
// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: %[[E:.*]]: tensor<2x4x8xbf16, {{.*}}>, %[[S:.*]]: tensor<2x4x1xbf16, {{.*}}>, %[[V:.*]]: tensor<2x8x3xbf16
// CHECK-NOT: sluice.map
// CHECK: %[[P:.*]] = sluice.matmul %[[E]], %[[V]]
// CHECK: %[[B:.*]] = sluice.broadcast %[[S]] : {{.*}} -> tensor<2x4x3xbf16
// CHECK: sluice.map (%[[L:.*]] = %[[P]], %[[R:.*]] = %[[B]])
// CHECK-NEXT: arith.divf %[[L]], %[[R]]
// CHECK: sluice.matmul %[[E]],
// DYNAMIC-LABEL: func.func @softmax(
// DYNAMIC-SAME: %[[E:.*]]: tensor<2x4x8xbf16, {{.*}}>, %{{.*}}: tensor<2x4x1xbf16, {{.*}}>, %[[V:.*]]: tensor<2x8x3xbf16
// DYNAMIC: sluice.matmul %[[E]], %[[V]]
func.func @softmax(%e: tensor<2x4x8xbf16, #sluice.dim<1>>, %s: tensor<2x4x1xbf16, #sluice.dim<1>>, %v: tensor<2x8x3xbf16, #sluice.dim<1>>) -> (tensor<2x4x3xbf16, #sluice.dim<1>>, tensor<2x4x3xbf16, #sluice.dim<1>>) {
  %b = sluice.broadcast %s : (tensor<2x4x1xbf16, #sluice.dim<1>>) -> tensor<2x4x8xbf16, #sluice.dim<1>>
  %p = sluice.map (%a = %e, %c = %b) : (tensor<2x4x8xbf16, #sluice.dim<1>>, tensor<2x4x8xbf16, #sluice.dim<1>>) -> tensor<2x4x8xbf16, #sluice.dim<1>> {
    %0 = arith.divf %a, %c : f32
    sluice.yield %0
  }
  %y = sluice.matmul %p, %v : (tensor<2x4x8xbf16, #sluice.dim<1>>, tensor<2x8x3xbf16, #sluice.dim<1>>) -> tensor<2x4x3xbf16, #sluice.dim<1>>
  %z = sluice.matmul %p, %v : (tensor<2x4x8xbf16, #sluice.dim<1>>, tensor<2x8x3xbf16, #sluice.dim<1>>) -> tensor<2x4x3xbf16, #sluice.dim<1>>
  return %y, %z : tensor<2x4x3xbf16, #sluice.dim<1>>, tensor<2x4x3xbf16, #sluice.dim<1>>
}

// A factor that varies along the summed axis, one that somebody else needs, a
// divided factor, a sum: all stay.
// CHECK-LABEL: func.func @stays(
// CHECK-COUNT-2: sluice.broadcast
// CHECK-NOT: sluice.broadcast
// CHECK: return
func.func @stays(%x: tensor<4x8xbf16, #sluice.dim<1>>, %r: tensor<1x8xbf16, #sluice.dim<1>>, %s: tensor<4x1xbf16, #sluice.dim<1>>) -> (tensor<4x2xbf16, #sluice.dim<1>>, tensor<4x2xbf16, #sluice.dim<1>>, tensor<4x8xbf16, #sluice.dim<1>>, tensor<4x2xbf16, #sluice.dim<1>>, tensor<4x2xbf16, #sluice.dim<1>>) {
  %w = sluice.constant dense<0.5> : tensor<8x2xf32>
  %b = sluice.broadcast %r : (tensor<1x8xbf16, #sluice.dim<1>>) -> tensor<4x8xbf16, #sluice.dim<1>>
  %m = sluice.map (%p = %x, %q = %b) : (tensor<4x8xbf16, #sluice.dim<1>>, tensor<4x8xbf16, #sluice.dim<1>>) -> tensor<4x8xbf16, #sluice.dim<1>> {
    %0 = arith.mulf %p, %q : f32
    sluice.yield %0
  }
  %y0 = sluice.matmul %m, %w : (tensor<4x8xbf16, #sluice.dim<1>>, tensor<8x2xf32>) -> tensor<4x2xbf16, #sluice.dim<1>>
  %c = sluice.broadcast %s : (tensor<4x1xbf16, #sluice.dim<1>>) -> tensor<4x8xbf16, #sluice.dim<1>>
  %n = sluice.map (%p = %x, %q = %c) : (tensor<4x8xbf16, #sluice.dim<1>>, tensor<4x8xbf16, #sluice.dim<1>>) -> tensor<4x8xbf16, #sluice.dim<1>> {
    %0 = arith.mulf %p, %q : f32
    sluice.yield %0
  }
  %y1 = sluice.matmul %n, %w : (tensor<4x8xbf16, #sluice.dim<1>>, tensor<8x2xf32>) -> tensor<4x2xbf16, #sluice.dim<1>>
  %o = sluice.map (%p = %x, %q = %c) : (tensor<4x8xbf16, #sluice.dim<1>>, tensor<4x8xbf16, #sluice.dim<1>>) -> tensor<4x8xbf16, #sluice.dim<1>> {
    %0 = arith.divf %q, %p : f32
    sluice.yield %0
  }
  %y2 = sluice.matmul %o, %w : (tensor<4x8xbf16, #sluice.dim<1>>, tensor<8x2xf32>) -> tensor<4x2xbf16, #sluice.dim<1>>
  %t = sluice.map (%p = %x, %q = %c) : (tensor<4x8xbf16, #sluice.dim<1>>, tensor<4x8xbf16, #sluice.dim<1>>) -> tensor<4x8xbf16, #sluice.dim<1>> {
    %0 = arith.addf %p, %q : f32
    sluice.yield %0
  }
  %y3 = sluice.matmul %t, %w : (tensor<4x8xbf16, #sluice.dim<1>>, tensor<8x2xf32>) -> tensor<4x2xbf16, #sluice.dim<1>>
  return %y0, %y1, %n, %y2, %y3 : tensor<4x2xbf16, #sluice.dim<1>>, tensor<4x2xbf16, #sluice.dim<1>>, tensor<4x8xbf16, #sluice.dim<1>>, tensor<4x2xbf16, #sluice.dim<1>>, tensor<4x2xbf16, #sluice.dim<1>>
}

// The same through the loops of a contraction, whose rows are those of its result.
// CHECK-LABEL: func.func @contraction(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xbf16, {{.*}}>, %[[R:.*]]: tensor<4x1xbf16
// CHECK: %[[P:.*]] = sluice.contract {{.*}} %[[X]], %{{.*}} -> tensor<4x3xbf16, #sluice.dim<1>>
// CHECK-NEXT: %[[B:.*]] = sluice.broadcast %[[R]]
// CHECK-NEXT: sluice.map (%{{.*}} = %[[P]], %{{.*}} = %[[B]])
// CHECK-LABEL: func.func @turned(
// CHECK: sluice.broadcast
// CHECK: sluice.contract
// CHECK-NEXT: return
func.func @contraction(%x: tensor<4x8xbf16, #sluice.dim<1>>, %r: tensor<4x1xbf16, #sluice.dim<1>>) -> tensor<4x3xbf16, #sluice.dim<1>> {
  %w = sluice.constant dense<0.5> : tensor<3x8xf32>
  %b = sluice.broadcast %r : (tensor<4x1xbf16, #sluice.dim<1>>) -> tensor<4x8xbf16, #sluice.dim<1>>
  %n = sluice.map (%p = %x, %q = %b) : (tensor<4x8xbf16, #sluice.dim<1>>, tensor<4x8xbf16, #sluice.dim<1>>) -> tensor<4x8xbf16, #sluice.dim<1>> {
    %0 = arith.mulf %p, %q : f32
    sluice.yield %0
  }
  %y = sluice.contract [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] %n, %w : (tensor<4x8xbf16, #sluice.dim<1>>, tensor<3x8xf32>) -> tensor<4x3xbf16, #sluice.dim<1>>
  return %y : tensor<4x3xbf16, #sluice.dim<1>>
}
func.func @turned(%x: tensor<4x8xbf16, #sluice.dim<1>>, %r: tensor<4x1xbf16, #sluice.dim<1>>) -> tensor<4x4xbf16, #sluice.dim<1>> {
  %w = sluice.constant dense<0.5> : tensor<4x8xf32>
  %b = sluice.broadcast %r : (tensor<4x1xbf16, #sluice.dim<1>>) -> tensor<4x8xbf16, #sluice.dim<1>>
  %n = sluice.map (%p = %x, %q = %b) : (tensor<4x8xbf16, #sluice.dim<1>>, tensor<4x8xbf16, #sluice.dim<1>>) -> tensor<4x8xbf16, #sluice.dim<1>> {
    %0 = arith.mulf %p, %q : f32
    sluice.yield %0
  }
  // The rows of x are columns here.
  %y = sluice.contract [affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j)>] %n, %w : (tensor<4x8xbf16, #sluice.dim<1>>, tensor<4x8xf32>) -> tensor<4x4xbf16, #sluice.dim<1>>
  return %y : tensor<4x4xbf16, #sluice.dim<1>>
}
