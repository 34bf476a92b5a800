// DD-REDUCE: every accepted form, from the operands and from the result.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension))" | FileCheck %s

// [2! 3] -> [1! 3]
// CHECK-LABEL: func.func @along_keepdims(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<1x3xbf16, #sluice<[1! 3]>>
func.func @along_keepdims(%x: tensor<2x3xf32, #sluice.dim<0>>) -> tensor<1x3xf32> {
  %r = sluice.reduce sum %x axes [0] keepdims : (tensor<2x3xf32, #sluice.dim<0>>) -> tensor<1x3xf32>
  return %r : tensor<1x3xf32>
}

// [2! 3] -> [1! 3], from the result
// CHECK-LABEL: func.func @along_keepdims_back(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<1x3xbf16, #sluice<[1! 3]>>
func.func @along_keepdims_back(%x: tensor<2x3xf32>) -> tensor<1x3xf32, #sluice.dim<0>> {
  %r = sluice.reduce sum %x axes [0] keepdims : (tensor<2x3xf32>) -> tensor<1x3xf32, #sluice.dim<0>>
  return %r : tensor<1x3xf32, #sluice.dim<0>>
}

// [2! 3] -> [2! 1]
// CHECK-LABEL: func.func @off_keepdims(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<2x1xbf16, #sluice<[2! 1]>>
func.func @off_keepdims(%x: tensor<2x3xf32, #sluice.dim<0>>) -> tensor<2x1xf32> {
  %r = sluice.reduce max %x axes [1] keepdims : (tensor<2x3xf32, #sluice.dim<0>>) -> tensor<2x1xf32>
  return %r : tensor<2x1xf32>
}

// [2! 3] -> [2! 1], from the result
// CHECK-LABEL: func.func @off_keepdims_back(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<2x1xbf16, #sluice<[2! 1]>>
func.func @off_keepdims_back(%x: tensor<2x3xf32>) -> tensor<2x1xf32, #sluice.dim<0>> {
  %r = sluice.reduce max %x axes [1] keepdims : (tensor<2x3xf32>) -> tensor<2x1xf32, #sluice.dim<0>>
  return %r : tensor<2x1xf32, #sluice.dim<0>>
}

// [2! 3] -> [2!]
// CHECK-LABEL: func.func @off(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<2xbf16, #sluice<[2!]>>
func.func @off(%x: tensor<2x3xf32, #sluice.dim<0>>) -> tensor<2xf32> {
  %r = sluice.reduce sum %x axes [1] : (tensor<2x3xf32, #sluice.dim<0>>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// [2 3! 4] -> [3! 4]
// CHECK-LABEL: func.func @off_left(
// CHECK-SAME: %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3! 4]>>) -> tensor<3x4xbf16, #sluice<[3! 4]>>
func.func @off_left(%x: tensor<2x3x4xf32, #sluice.dim<1>>) -> tensor<3x4xf32> {
  %r = sluice.reduce sum %x axes [0] : (tensor<2x3x4xf32, #sluice.dim<1>>) -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// [2 3! 4] -> [3! 4], from the result
// CHECK-LABEL: func.func @off_left_back(
// CHECK-SAME: %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3! 4]>>) -> tensor<3x4xbf16, #sluice<[3! 4]>>
func.func @off_left_back(%x: tensor<2x3x4xf32>) -> tensor<3x4xf32, #sluice.dim<0>> {
  %r = sluice.reduce sum %x axes [0] : (tensor<2x3x4xf32>) -> tensor<3x4xf32, #sluice.dim<0>>
  return %r : tensor<3x4xf32, #sluice.dim<0>>
}

// [2 3!] -> [2!]
// CHECK-LABEL: func.func @along_last(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2 3!]>>) -> tensor<2xbf16, #sluice<[2!]>>
func.func @along_last(%x: tensor<2x3xf32, #sluice.dim<1>>) -> tensor<2xf32> {
  %r = sluice.reduce sum %x axes [1] : (tensor<2x3xf32, #sluice.dim<1>>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// [2! 3 4] -> [3!]: the reduced data dimension takes the place of axis 2, which has extent 1 then (DD-ONE)
// CHECK-LABEL: func.func @along_first_of_two(
// CHECK-SAME: %{{.*}}: tensor<2x3x4xbf16, #sluice<[2! 3 4]>>) -> tensor<3xbf16, #sluice<[3!]>>
func.func @along_first_of_two(%x: tensor<2x3x4xf32, #sluice.dim<0>>) -> tensor<3xf32> {
  %r = sluice.reduce sum %x axes [0, 2] : (tensor<2x3x4xf32, #sluice.dim<0>>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// [1 3!] -> rank-0 []
// CHECK-LABEL: func.func @all(
// CHECK-SAME: %{{.*}}: tensor<1x3xbf16, #sluice<[1 3!]>>) -> tensor<bf16, #sluice<[1!]>>
func.func @all(%x: tensor<1x3xf32, #sluice.dim<1>>) -> tensor<f32> {
  %r = sluice.reduce mean %x axes [0, 1] : (tensor<1x3xf32, #sluice.dim<1>>) -> tensor<f32>
  return %r : tensor<f32>
}

// [3!] -> rank-0 []
// CHECK-LABEL: func.func @everything(
// CHECK-SAME: %{{.*}}: tensor<3xbf16, #sluice<[3!]>>) -> tensor<bf16, #sluice<[1!]>>
func.func @everything(%x: tensor<3xf32, #sluice.dim<0>>) -> tensor<f32> {
  %r = sluice.reduce sum %x axes [0] : (tensor<3xf32, #sluice.dim<0>>) -> tensor<f32>
  return %r : tensor<f32>
}

// [3!] -> rank-0 [], from the result
// CHECK-LABEL: func.func @everything_back(
// CHECK-SAME: %{{.*}}: tensor<3xbf16, #sluice<[3!]>>) -> tensor<bf16, #sluice<[1!]>>
func.func @everything_back(%x: tensor<3xf32>) -> tensor<f32, #sluice.dim<0>> {
  %r = sluice.reduce sum %x axes [0] : (tensor<3xf32>) -> tensor<f32, #sluice.dim<0>>
  return %r : tensor<f32, #sluice.dim<0>>
}

// A reduction costs the same with its axis removed at once or by a squeeze.
// CHECK-LABEL: func.func @removed(
// CHECK-SAME: tensor<43x8xbf16, #sluice<[43 8!]>>
func.func @removed(%x: tensor<43x8xf32>) -> tensor<43xf32> {
  %r = sluice.reduce max %x axes [1] : (tensor<43x8xf32>) -> tensor<43xf32>
  return %r : tensor<43xf32>
}

// CHECK-LABEL: func.func @squeezed(
// CHECK-SAME: tensor<43x8xbf16, #sluice<[43 8!]>>
func.func @squeezed(%x: tensor<43x8xf32>) -> tensor<43xf32> {
  %r = sluice.reduce max %x axes [1] keepdims : (tensor<43x8xf32>) -> tensor<43x1xf32>
  %s = sluice.squeeze %r axes [1] : (tensor<43x1xf32>) -> tensor<43xf32>
  return %s : tensor<43xf32>
}
