// DD-WIN-KEEP, DD-WIN-POS, DD-WIN-TAP, DD-MM-BAND: every accepted form, from the operands and from the result.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension))" | FileCheck %s

// [2 3! 4] -> [2 3! 4 3]
// CHECK-LABEL: func.func @keep(
// CHECK-SAME: %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3! 4]>>) -> tensor<2x3x4x3xbf16, #sluice<[2 3! 4 3]>>
func.func @keep(%x: tensor<2x3x4xf32, #sluice.dim<1>>) -> tensor<2x3x4x3xf32> {
  %r = sluice.window %x axes [2] sizes [3] counts [4] starts [-1] strides [1] dilations [1] value 0.0 : (tensor<2x3x4xf32, #sluice.dim<1>>) -> tensor<2x3x4x3xf32>
  return %r : tensor<2x3x4x3xf32>
}

// [2 3! 4] -> [2 3! 4 3], from the result
// CHECK-LABEL: func.func @keep_back(
// CHECK-SAME: %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3! 4]>>) -> tensor<2x3x4x3xbf16, #sluice<[2 3! 4 3]>>
func.func @keep_back(%x: tensor<2x3x4xf32>) -> tensor<2x3x4x3xf32, #sluice.dim<1>> {
  %r = sluice.window %x axes [2] sizes [3] counts [4] starts [-1] strides [1] dilations [1] value 0.0 : (tensor<2x3x4xf32>) -> tensor<2x3x4x3xf32, #sluice.dim<1>>
  return %r : tensor<2x3x4x3xf32, #sluice.dim<1>>
}

// [2 3 4!] -> [2 3 5! 3], from the result: positions
// CHECK-LABEL: func.func @positions_back(
// CHECK-SAME: %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3 4!]>>) -> tensor<2x3x5x3xbf16, #sluice<[2 3 5! 3]>>
func.func @positions_back(%x: tensor<2x3x4xf32>) -> tensor<2x3x5x3xf32, #sluice.dim<2>> {
  %r = sluice.window %x axes [2] sizes [3] counts [5] starts [-1] strides [1] dilations [1] value 0.0 : (tensor<2x3x4xf32>) -> tensor<2x3x5x3xf32, #sluice.dim<2>>
  return %r : tensor<2x3x5x3xf32, #sluice.dim<2>>
}

// [2 3 4!] -> [2 3 5 3!], from the result: elements
// CHECK-LABEL: func.func @elements_back(
// CHECK-SAME: %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3 4!]>>) -> tensor<2x3x5x3xbf16, #sluice<[2 3 5 3!]>>
func.func @elements_back(%x: tensor<2x3x4xf32>) -> tensor<2x3x5x3xf32, #sluice.dim<3>> {
  %r = sluice.window %x axes [2] sizes [3] counts [5] starts [-1] strides [1] dilations [1] value 0.0 : (tensor<2x3x4xf32>) -> tensor<2x3x5x3xf32, #sluice.dim<3>>
  return %r : tensor<2x3x5x3xf32, #sluice.dim<3>>
}

// Of two windows, the elements of the second one: [2 3 4!] -> [2 3 4 2 3!], from the result
// CHECK-LABEL: func.func @second_back(
// CHECK-SAME: %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3 4!]>>) -> tensor<2x2x4x2x3xbf16, #sluice<[2 2 4 2 3!]>>
func.func @second_back(%x: tensor<2x3x4xf32>) -> tensor<2x2x4x2x3xf32, #sluice.dim<4>> {
  %r = sluice.window %x axes [1, 2] sizes [2, 3] counts [2, 4] starts [0, -1] strides [1, 1] dilations [1, 1] value 0.0 : (tensor<2x3x4xf32>) -> tensor<2x2x4x2x3xf32, #sluice.dim<4>>
  return %r : tensor<2x2x4x2x3xf32, #sluice.dim<4>>
}

#seen = affine_map<(n, o, x, c, k) -> (n, c, x, k)>
#weights = affine_map<(n, o, x, c, k) -> (o, c, k)>
#result = affine_map<(n, o, x, c, k) -> (n, o, x)>

// [1 3! 8] -> [1 4! 8]: a product with weights, as DD-MM-CONST has it
// CHECK-LABEL: func.func @channels(
// CHECK-SAME: %{{.*}}: tensor<1x3x8xbf16, #sluice<[1 3! 8]>>) -> tensor<1x4x8xbf16, #sluice<[1 4! 8]>>
func.func @channels(%x: tensor<1x3x8xf32, #sluice.dim<1>>) -> tensor<1x4x8xf32> {
  %w = sluice.constant dense<1.0> : tensor<4x3x3xf32>
  %v = sluice.window %x axes [2] sizes [3] counts [8] starts [-1] strides [1] dilations [1] value 0.0 : (tensor<1x3x8xf32, #sluice.dim<1>>) -> tensor<1x3x8x3xf32>
  %r = sluice.contract banded [#seen, #weights, #result] %v, %w : (tensor<1x3x8x3xf32>, tensor<4x3x3xf32>) -> tensor<1x4x8xf32>
  return %r : tensor<1x4x8xf32>
}

// [1 3 8!] -> [1 4 8!]: the positions are kept
// CHECK-LABEL: func.func @positions(
// CHECK-SAME: %{{.*}}: tensor<1x3x8xbf16, #sluice<[1 3 8!]>>) -> tensor<1x4x8xbf16, #sluice<[1 4 8!]>>
func.func @positions(%x: tensor<1x3x8xf32, #sluice.dim<2>>) -> tensor<1x4x8xf32, #sluice.dim<2>> {
  %w = sluice.constant dense<1.0> : tensor<4x3x3xf32>
  %v = sluice.window %x axes [2] sizes [3] counts [8] starts [-1] strides [1] dilations [1] value 0.0 : (tensor<1x3x8xf32, #sluice.dim<2>>) -> tensor<1x3x8x3xf32>
  %r = sluice.contract banded [#seen, #weights, #result] %v, %w : (tensor<1x3x8x3xf32>, tensor<4x3x3xf32>) -> tensor<1x4x8xf32, #sluice.dim<2>>
  return %r : tensor<1x4x8xf32, #sluice.dim<2>>
}

// [1 3 8!] -> [1 4 8!], from the result, with the weights on the left
// CHECK-LABEL: func.func @positions_left(
// CHECK-SAME: %{{.*}}: tensor<1x3x8xbf16, #sluice<[1 3 8!]>>) -> tensor<1x4x8xbf16, #sluice<[1 4 8!]>>
func.func @positions_left(%x: tensor<1x3x8xf32>) -> tensor<1x4x8xf32, #sluice.dim<2>> {
  %w = sluice.constant dense<1.0> : tensor<4x3x3xf32>
  %v = sluice.window %x axes [2] sizes [3] counts [8] starts [-1] strides [1] dilations [1] value 0.0 : (tensor<1x3x8xf32>) -> tensor<1x3x8x3xf32>
  %r = sluice.contract banded [#weights, #seen, #result] %w, %v : (tensor<4x3x3xf32>, tensor<1x3x8x3xf32>) -> tensor<1x4x8xf32, #sluice.dim<2>>
  return %r : tensor<1x4x8xf32, #sluice.dim<2>>
}

// [1 3 8!] -> [1 4! 8]: the elements of the window are summed over
// CHECK-LABEL: func.func @elements(
// CHECK-SAME: %{{.*}}: tensor<1x3x8xbf16, #sluice<[1 3 8!]>>) -> tensor<1x4x8xbf16, #sluice<[1 4! 8]>>
// CHECK: sluice.window {{.*}} -> tensor<1x3x8x3xbf16, #sluice<[1 3 8 3!]>>
func.func @elements(%x: tensor<1x3x8xf32, #sluice.dim<2>>) -> tensor<1x4x8xf32, #sluice.dim<1>> {
  %w = sluice.constant dense<1.0> : tensor<4x3x3xf32>
  %v = sluice.window %x axes [2] sizes [3] counts [8] starts [-1] strides [1] dilations [1] value 0.0 : (tensor<1x3x8xf32, #sluice.dim<2>>) -> tensor<1x3x8x3xf32>
  %r = sluice.contract banded [#seen, #weights, #result] %v, %w : (tensor<1x3x8x3xf32>, tensor<4x3x3xf32>) -> tensor<1x4x8xf32, #sluice.dim<1>>
  return %r : tensor<1x4x8xf32, #sluice.dim<1>>
}
