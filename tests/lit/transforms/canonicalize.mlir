// RUN: sluice-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @nothing(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
// CHECK-NEXT: return %[[X]]
func.func @nothing(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = sluice.transpose %x [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = sluice.reshape %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = sluice.slice %1 starts [0, 0] sizes [2, 3] steps [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = sluice.broadcast %2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = sluice.pad %3 low [0, 0] high [0, 0] value 1.0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = sluice.concat %4 axis 0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = sluice.reverse %5 axes [] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = sluice.map (%a = %6) : (tensor<2x3xf32>) -> tensor<2x3xf32> {
    sluice.yield %a
  }
  return %7 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @transposes(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4xf32>
// CHECK-NEXT: %[[T:.*]] = sluice.transpose %[[X]] [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
// CHECK-NEXT: return %[[X]], %[[T]]
func.func @transposes(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4x2x3xf32>) {
  %0 = sluice.transpose %x [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = sluice.transpose %0 [2, 0, 1] : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  %2 = sluice.transpose %0 [1, 2, 0] : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  return %1, %2 : tensor<2x3x4xf32>, tensor<4x2x3xf32>
}

// CHECK-LABEL: func.func @chains(
// CHECK-SAME: %[[X:.*]]: tensor<10x4xf32>
// CHECK-NEXT: %[[S:.*]] = sluice.slice %[[X]] starts [7, 0] sizes [2, 4] steps [-4, 1] : (tensor<10x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: %[[R:.*]] = sluice.reshape %[[X]] : (tensor<10x4xf32>) -> tensor<5x8xf32>
// CHECK-NEXT: return %[[S]], %[[R]], %[[X]]
func.func @chains(%x: tensor<10x4xf32>) -> (tensor<2x4xf32>, tensor<5x8xf32>, tensor<10x4xf32>) {
  %0 = sluice.slice %x starts [9, 0] sizes [4, 4] steps [-2, 1] : (tensor<10x4xf32>) -> tensor<4x4xf32>
  %1 = sluice.slice %0 starts [1, 0] sizes [2, 4] steps [2, 1] : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %2 = sluice.reshape %x : (tensor<10x4xf32>) -> tensor<40xf32>
  %3 = sluice.reshape %2 : (tensor<40xf32>) -> tensor<5x8xf32>
  %4 = sluice.reverse %x axes [0] : (tensor<10x4xf32>) -> tensor<10x4xf32>
  %5 = sluice.reverse %4 axes [0] : (tensor<10x4xf32>) -> tensor<10x4xf32>
  return %1, %3, %5 : tensor<2x4xf32>, tensor<5x8xf32>, tensor<10x4xf32>
}

// A slice backwards over everything is not the identity; a transpose that
// changes the data dimension's place is not either.
// CHECK-LABEL: func.func @something(
// CHECK: sluice.slice
// CHECK: sluice.transpose
func.func @something(%x: tensor<2x2xbf16, #sluice.dim<0>>) -> tensor<2x2xbf16, #sluice.dim<1>> {
  %0 = sluice.slice %x starts [1, 0] sizes [2, 2] steps [-1, 1]
       : (tensor<2x2xbf16, #sluice.dim<0>>) -> tensor<2x2xbf16, #sluice.dim<0>>
  %1 = sluice.transpose %0 [1, 0]
       : (tensor<2x2xbf16, #sluice.dim<0>>) -> tensor<2x2xbf16, #sluice.dim<1>>
  return %1 : tensor<2x2xbf16, #sluice.dim<1>>
}
