// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-remove-dead-code))" | FileCheck %s

// CHECK-LABEL: func.func @dead(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[R:.*]] = sluice.slice %[[X]]
// CHECK-NEXT: return %[[R]]
func.func @dead(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = sluice.constant dense<1.0> : tensor<4xf32>
  %r = sluice.slice %x starts [3] sizes [4] steps [-1] : (tensor<4xf32>) -> tensor<4xf32>
  %0 = sluice.map (%p = %r, %q = %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    %s = arith.addf %p, %q : f32
    sluice.yield %s
  }
  %1 = sluice.slice %0 starts [3] sizes [4] steps [-1] : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
