// What a slice leaves out of a product is not computed.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-slices-before-products))" | FileCheck %s

// CHECK-LABEL: func.func @lines(
// CHECK-SAME: %[[X:.*]]: tensor<6x4xbf16
// CHECK: %[[S:.*]] = sluice.slice %[[X]] starts [1, 0] sizes [2, 4] steps [2, 1]
// CHECK-SAME: -> tensor<2x4xbf16, #sluice<[2 4!]>>
// CHECK: %[[P:.*]] = sluice.matmul %[[S]], %{{.*}} -> tensor<2x3xbf16, #sluice<[2 3!]>>
// CHECK: return %[[P]]
func.func @lines(%x: tensor<6x4xbf16, #sluice<[6 4!]>>) -> tensor<2x3xbf16, #sluice<[2 3!]>> {
  %w = sluice.constant dense<1.0> : tensor<4x3xf32>
  %0 = sluice.matmul %x, %w : (tensor<6x4xbf16, #sluice<[6 4!]>>, tensor<4x3xf32>) -> tensor<6x3xbf16, #sluice<[6 3!]>>
  %1 = sluice.slice %0 starts [1, 0] sizes [2, 3] steps [2, 1] : (tensor<6x3xbf16, #sluice<[6 3!]>>) -> tensor<2x3xbf16, #sluice<[2 3!]>>
  return %1 : tensor<2x3xbf16, #sluice<[2 3!]>>
}

// Not along the lanes, not backwards, and not where all of the product is read as well.
// CHECK-LABEL: func.func @lanes(
// CHECK: sluice.matmul
// CHECK-NEXT: sluice.slice
func.func @lanes(%x: tensor<6x4xbf16, #sluice<[6 4!]>>) -> tensor<6x2xbf16, #sluice<[6 2!]>> {
  %w = sluice.constant dense<1.0> : tensor<4x3xf32>
  %0 = sluice.matmul %x, %w : (tensor<6x4xbf16, #sluice<[6 4!]>>, tensor<4x3xf32>) -> tensor<6x3xbf16, #sluice<[6 3!]>>
  %1 = sluice.slice %0 starts [0, 1] sizes [6, 2] steps [1, 1] : (tensor<6x3xbf16, #sluice<[6 3!]>>) -> tensor<6x2xbf16, #sluice<[6 2!]>>
  return %1 : tensor<6x2xbf16, #sluice<[6 2!]>>
}

// CHECK-LABEL: func.func @backwards(
// CHECK: sluice.matmul
// CHECK-NEXT: sluice.slice
func.func @backwards(%x: tensor<6x4xbf16, #sluice<[6 4!]>>) -> tensor<2x3xbf16, #sluice<[2 3!]>> {
  %w = sluice.constant dense<1.0> : tensor<4x3xf32>
  %0 = sluice.matmul %x, %w : (tensor<6x4xbf16, #sluice<[6 4!]>>, tensor<4x3xf32>) -> tensor<6x3xbf16, #sluice<[6 3!]>>
  %1 = sluice.slice %0 starts [5, 0] sizes [2, 3] steps [-2, 1] : (tensor<6x3xbf16, #sluice<[6 3!]>>) -> tensor<2x3xbf16, #sluice<[2 3!]>>
  return %1 : tensor<2x3xbf16, #sluice<[2 3!]>>
}

// CHECK-LABEL: func.func @both(
// CHECK: sluice.matmul
// CHECK-NEXT: sluice.slice
func.func @both(%x: tensor<6x4xbf16, #sluice<[6 4!]>>) -> (tensor<6x3xbf16, #sluice<[6 3!]>>, tensor<2x3xbf16, #sluice<[2 3!]>>) {
  %w = sluice.constant dense<1.0> : tensor<4x3xf32>
  %0 = sluice.matmul %x, %w : (tensor<6x4xbf16, #sluice<[6 4!]>>, tensor<4x3xf32>) -> tensor<6x3xbf16, #sluice<[6 3!]>>
  %1 = sluice.slice %0 starts [1, 0] sizes [2, 3] steps [2, 1] : (tensor<6x3xbf16, #sluice<[6 3!]>>) -> tensor<2x3xbf16, #sluice<[2 3!]>>
  return %0, %1 : tensor<6x3xbf16, #sluice<[6 3!]>>, tensor<2x3xbf16, #sluice<[2 3!]>>
}
