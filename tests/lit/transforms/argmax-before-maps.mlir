// RUN: sluice-opt %s --pass-pipeline='builtin.module(func.func(sluice-argmax-before-maps))' | FileCheck %s

// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
// CHECK: sluice.reduce argmax %[[X]] axes [1]
func.func @softmax(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %m = sluice.reduce max %x axes [1] keepdims : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %b = sluice.broadcast %m : (tensor<2x1xf32>) -> tensor<2x3xf32>
  %e = sluice.map (%a = %x, %c = %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = arith.subf %a, %c : f32
    %1 = math.exp %0 : f32
    sluice.yield %1
  }
  %s = sluice.reduce sum %e axes [1] keepdims : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %t = sluice.broadcast %s : (tensor<2x1xf32>) -> tensor<2x3xf32>
  %p = sluice.map (%a = %e, %c = %t) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = arith.divf %a, %c : f32
    sluice.yield %0
  }
  %i = sluice.reduce argmax %p axes [1] : (tensor<2x3xf32>) -> tensor<2xf32>
  return %i : tensor<2xf32>
}

// A factor may be negative, and an offset is another one for each element.
// CHECK-LABEL: func.func @other_maps(
// CHECK: %[[FACTOR:.*]] = sluice.map
// CHECK: sluice.reduce argmax %[[FACTOR]]
// CHECK: %[[SUM:.*]] = sluice.map
// CHECK: sluice.reduce argmax %[[SUM]]
func.func @other_maps(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>, %z: tensor<2x3xf32>)
    -> (tensor<2xf32>, tensor<2xf32>) {
  %b = sluice.broadcast %y : (tensor<2x1xf32>) -> tensor<2x3xf32>
  %f = sluice.map (%a = %x, %c = %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = arith.mulf %a, %c : f32
    sluice.yield %0
  }
  %i = sluice.reduce argmax %f axes [1] : (tensor<2x3xf32>) -> tensor<2xf32>
  %o = sluice.map (%a = %x, %c = %z) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = arith.addf %a, %c : f32
    sluice.yield %0
  }
  %j = sluice.reduce argmax %o axes [1] : (tensor<2x3xf32>) -> tensor<2xf32>
  return %i, %j : tensor<2xf32>, tensor<2xf32>
}

// Along the other axis, the divisors differ; a map that others read is computed anyway.
// CHECK-LABEL: func.func @stays(
// CHECK: %[[MAP:.*]] = sluice.map
// CHECK: sluice.reduce argmax %[[MAP]]
// CHECK: %[[READ:.*]] = sluice.map
// CHECK: sluice.reduce argmax %[[READ]]
func.func @stays(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>)
    -> (tensor<3xf32>, tensor<2xf32>, tensor<2x3xf32>) {
  %b = sluice.broadcast %y : (tensor<2x1xf32>) -> tensor<2x3xf32>
  %f = sluice.map (%a = %x, %c = %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = arith.subf %a, %c : f32
    sluice.yield %0
  }
  %i = sluice.reduce argmax %f axes [0] : (tensor<2x3xf32>) -> tensor<3xf32>
  %g = sluice.map (%a = %x) : (tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = math.exp %a : f32
    sluice.yield %0
  }
  %j = sluice.reduce argmax %g axes [1] : (tensor<2x3xf32>) -> tensor<2xf32>
  return %i, %j, %g : tensor<3xf32>, tensor<2xf32>, tensor<2x3xf32>
}
