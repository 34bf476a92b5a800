// What the pass writes: bf16 and a data dimension on runtime tensors, nothing on
// constants and on what is computed from constants alone.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension))" | FileCheck %s

// CHECK-LABEL: func.func @types(
// CHECK-SAME: %[[X:.*]]: tensor<1x5xbf16, #sluice<[1 5!]>> {sluice.name = "x"}) -> (tensor<1x4xbf16, #sluice<[1 4!]>>, tensor<bf16, #sluice<[1!]>>)
func.func @types(%x: tensor<1x5xf32> {sluice.name = "x"}) -> (tensor<1x4xf32>, tensor<f32>) {
  // CHECK: sluice.constant dense<1.000000e+00> : tensor<4x5xf32>
  %w = sluice.constant dense<1.0> : tensor<4x5xf32>
  // CHECK: sluice.transpose %{{.*}} [1, 0] : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %wt = sluice.transpose %w [1, 0] : (tensor<4x5xf32>) -> tensor<5x4xf32>
  // CHECK: sluice.matmul %[[X]], %{{.*}} : (tensor<1x5xbf16, #sluice<[1 5!]>>, tensor<5x4xf32>) -> tensor<1x4xbf16, #sluice<[1 4!]>>
  %0 = sluice.matmul %x, %wt : (tensor<1x5xf32>, tensor<5x4xf32>) -> tensor<1x4xf32>
  // CHECK: sluice.reduce sum %{{.*}} axes [0, 1] : (tensor<1x4xbf16, #sluice<[1 4!]>>) -> tensor<bf16, #sluice<[1!]>>
  %1 = sluice.reduce sum %0 axes [0, 1] : (tensor<1x4xf32>) -> tensor<f32>
  return %0, %1 : tensor<1x4xf32>, tensor<f32>
}

// What operations leave open is chosen by cost: [9 1] in 2 rows, not 9.
// CHECK-LABEL: func.func @cheapest(%{{.*}}: tensor<9x1xbf16, #sluice<[9! 1]>>)
func.func @cheapest(%x: tensor<9x1xf32>) -> tensor<9x1xf32> {
  %0 = sluice.slice %x starts [0, 0] sizes [9, 1] steps [1, -1] : (tensor<9x1xf32>) -> tensor<9x1xf32>
  return %0 : tensor<9x1xf32>
}

// Equal costs: the innermost axis, also of an argument nobody uses.
// CHECK-LABEL: func.func @innermost(
// CHECK-SAME: tensor<3x3xbf16, #sluice<[3 3!]>>, %{{.*}}: tensor<2x2x2xbf16, #sluice<[2 2 2!]>>
func.func @innermost(%x: tensor<3x3xf32>, %y: tensor<2x2x2xf32>) -> tensor<3x3xf32> {
  return %x : tensor<3x3xf32>
}
