// --rewrite-layout: what is inserted where no data dimensions satisfy every rule.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension{rewrite-layout=true}))" | FileCheck %s
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension{rewrite-layout=true allow-dynamic-weights=true}))" | FileCheck %s --check-prefix=DYNAMIC

// Nothing where there is a solution, even a dearer one.
// CHECK-LABEL: func.func @fits(
// CHECK-NOT: relayout
// CHECK: return
func.func @fits(%x: tensor<4x9xf32, #sluice.dim<0>>, %z: tensor<4x9xf32>) -> tensor<4x9xf32> {
  %y = sluice.concat %x, %z axis 0 : (tensor<4x9xf32, #sluice.dim<0>>, tensor<4x9xf32>) -> tensor<8x9xf32>
  %r = sluice.slice %y starts [2, 0] sizes [4, 9] steps [1, 1] : (tensor<8x9xf32>) -> tensor<4x9xf32>
  return %r : tensor<4x9xf32>
}

// The smaller side moves.
// CHECK-LABEL: func.func @pointwise(
// CHECK-SAME: %[[X:.*]]: tensor<4x9xbf16, #sluice<[4! 9]>>, %[[Z:.*]]: tensor<4x9xbf16, #sluice<[4 9!]>>
// CHECK: %[[M:.*]] = sluice.relayout %{{.*}} : (tensor<4x9xbf16, #sluice<{{.*}}>>) -> tensor<4x9xbf16, #sluice<{{.*}}>>
// CHECK: sluice.map
// DYNAMIC-LABEL: func.func @pointwise(
// DYNAMIC: sluice.relayout %{{.*}} dynamic :
func.func @pointwise(%x: tensor<4x9xf32, #sluice.dim<0>>, %z: tensor<4x9xf32, #sluice.dim<1>>) -> tensor<4x9xf32> {
  %y = sluice.map (%a = %x, %b = %z) : (tensor<4x9xf32, #sluice.dim<0>>, tensor<4x9xf32, #sluice.dim<1>>) -> tensor<4x9xf32> {
    %s = arith.addf %a, %b : f32
    sluice.yield %s
  }
  return %y : tensor<4x9xf32>
}

// The result is pinned to what the operation cannot give.
// CHECK-LABEL: func.func @result(
// CHECK: %[[U:.*]] = sluice.unsqueeze
// CHECK: %[[M:.*]] = sluice.relayout %[[U]] : (tensor<1x2x3xbf16, #sluice<[1 2 3!]>>) -> tensor<1x2x3xbf16, #sluice<[1! 2 3]>>
// CHECK: return %[[M]]
func.func @result(%x: tensor<2x3xf32>) -> tensor<1x2x3xf32, #sluice.dim<0>> {
  %y = sluice.unsqueeze %x axes [0] : (tensor<2x3xf32>) -> tensor<1x2x3xf32, #sluice.dim<0>>
  return %y : tensor<1x2x3xf32, #sluice.dim<0>>
}

// A reshape that loses the stride of its data dimension, read by a product with a
// constant and by another user: a tensor moves.
// CHECK-LABEL: func.func @used_otherwise(
// CHECK: sluice.relayout
// CHECK: return
func.func @used_otherwise(%x: tensor<4x5xf32>) -> (tensor<1x3xf32>, tensor<1x20xf32>) {
  %a = sluice.constant dense<1.0> : tensor<4x4xf32>
  %b = sluice.constant dense<1.0> : tensor<20x3xf32>
  %h = sluice.matmul %a, %x : (tensor<4x4xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %f = sluice.reshape %h : (tensor<4x5xf32>) -> tensor<1x20xf32>
  %y = sluice.matmul %f, %b : (tensor<1x20xf32>, tensor<20x3xf32>) -> tensor<1x3xf32>
  return %y, %f : tensor<1x3xf32>, tensor<1x20xf32>
}
