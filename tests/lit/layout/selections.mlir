// DD-SLICE, DD-CONCAT, DD-TRANS: every accepted form, from the operands and from the result.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension))" | FileCheck %s

// [2 3 4!] -> [2 3 2!]
// CHECK-LABEL: func.func @slice_along(
// CHECK-SAME: %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3 4!]>>) -> tensor<2x3x2xbf16, #sluice<[2 3 2!]>>
func.func @slice_along(%x: tensor<2x3x4xf32, #sluice.dim<2>>) -> tensor<2x3x2xf32> {
  %r = sluice.slice %x starts [0, 0, 1] sizes [2, 3, 2] steps [1, 1, 1] : (tensor<2x3x4xf32, #sluice.dim<2>>) -> tensor<2x3x2xf32>
  return %r : tensor<2x3x2xf32>
}

// [2 3 4!] -> [2 3 2!], from the result
// CHECK-LABEL: func.func @slice_along_back(
// CHECK-SAME: %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3 4!]>>) -> tensor<2x3x2xbf16, #sluice<[2 3 2!]>>
func.func @slice_along_back(%x: tensor<2x3x4xf32>) -> tensor<2x3x2xf32, #sluice.dim<2>> {
  %r = sluice.slice %x starts [0, 0, 1] sizes [2, 3, 2] steps [1, 1, 1] : (tensor<2x3x4xf32>) -> tensor<2x3x2xf32, #sluice.dim<2>>
  return %r : tensor<2x3x2xf32, #sluice.dim<2>>
}

// [2 3! 4] -> [2 3! 2]
// CHECK-LABEL: func.func @slice_off(
// CHECK-SAME: %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3! 4]>>) -> tensor<2x3x2xbf16, #sluice<[2 3! 2]>>
func.func @slice_off(%x: tensor<2x3x4xf32, #sluice.dim<1>>) -> tensor<2x3x2xf32> {
  %r = sluice.slice %x starts [0, 0, 0] sizes [2, 3, 2] steps [1, 1, 1] : (tensor<2x3x4xf32, #sluice.dim<1>>) -> tensor<2x3x2xf32>
  return %r : tensor<2x3x2xf32>
}

// [2 3! 4] -> [2 3! 2], from the result
// CHECK-LABEL: func.func @slice_off_back(
// CHECK-SAME: %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3! 4]>>) -> tensor<2x3x2xbf16, #sluice<[2 3! 2]>>
func.func @slice_off_back(%x: tensor<2x3x4xf32>) -> tensor<2x3x2xf32, #sluice.dim<1>> {
  %r = sluice.slice %x starts [0, 0, 0] sizes [2, 3, 2] steps [1, 1, 1] : (tensor<2x3x4xf32>) -> tensor<2x3x2xf32, #sluice.dim<1>>
  return %r : tensor<2x3x2xf32, #sluice.dim<1>>
}

// [8!] -> [4!]
// CHECK-LABEL: func.func @view_along(
// CHECK-SAME: %{{.*}}: tensor<8xbf16, #sluice<[8!]>>) -> tensor<4xbf16, #sluice<[4!]>>
func.func @view_along(%x: tensor<8xf32, #sluice.dim<0>>) -> tensor<4xf32> {
  %r = sluice.view %x pieces [#sluice.piece<0 loops [2, 2] from (i, j) -> (4 * i - 2 * j + 3) to (i, j) -> (2 * i + j)>] : (tensor<8xf32, #sluice.dim<0>>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// [4 8!] -> [8! 4], from the result
// CHECK-LABEL: func.func @view_off_back(
// CHECK-SAME: %{{.*}}: tensor<4x8xbf16, #sluice<[4 8!]>>) -> tensor<8x4xbf16, #sluice<[8! 4]>>
func.func @view_off_back(%x: tensor<4x8xf32>) -> tensor<8x4xf32, #sluice.dim<0>> {
  %r = sluice.view %x pieces [#sluice.piece<0 loops [8, 4] from (i, j) -> (3 - j, i) to (i, j) -> (i, j)>] : (tensor<4x8xf32>) -> tensor<8x4xf32, #sluice.dim<0>>
  return %r : tensor<8x4xf32, #sluice.dim<0>>
}

// [2! 3] -> [2! 3]
// CHECK-LABEL: func.func @slice_negative(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<2x3xbf16, #sluice<[2! 3]>>
func.func @slice_negative(%x: tensor<2x3xf32, #sluice.dim<0>>) -> tensor<2x3xf32> {
  %r = sluice.slice %x starts [1, 2] sizes [2, 3] steps [-1, -1] : (tensor<2x3xf32, #sluice.dim<0>>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// [2! 3] -> [2! 3], from the result
// CHECK-LABEL: func.func @slice_negative_back(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<2x3xbf16, #sluice<[2! 3]>>
func.func @slice_negative_back(%x: tensor<2x3xf32>) -> tensor<2x3xf32, #sluice.dim<0>> {
  %r = sluice.slice %x starts [1, 2] sizes [2, 3] steps [-1, -1] : (tensor<2x3xf32>) -> tensor<2x3xf32, #sluice.dim<0>>
  return %r : tensor<2x3xf32, #sluice.dim<0>>
}

// rank-0 [] -> rank-0 []
// CHECK-LABEL: func.func @slice_scalar(
// CHECK-SAME: %{{.*}}: tensor<bf16, #sluice<[1!]>>) -> tensor<bf16, #sluice<[1!]>>
func.func @slice_scalar(%x: tensor<f32, #sluice.dim<0>>) -> tensor<f32> {
  %r = sluice.slice %x starts [] sizes [] steps [] : (tensor<f32, #sluice.dim<0>>) -> tensor<f32>
  return %r : tensor<f32>
}

// rank-0 [] -> rank-0 [], from the result
// CHECK-LABEL: func.func @slice_scalar_back(
// CHECK-SAME: %{{.*}}: tensor<bf16, #sluice<[1!]>>) -> tensor<bf16, #sluice<[1!]>>
func.func @slice_scalar_back(%x: tensor<f32>) -> tensor<f32, #sluice.dim<0>> {
  %r = sluice.slice %x starts [] sizes [] steps [] : (tensor<f32>) -> tensor<f32, #sluice.dim<0>>
  return %r : tensor<f32, #sluice.dim<0>>
}

// rank-0 [] -> rank-0 []
// CHECK-LABEL: func.func @transpose_scalar(
// CHECK-SAME: %{{.*}}: tensor<bf16, #sluice<[1!]>>) -> tensor<bf16, #sluice<[1!]>>
func.func @transpose_scalar(%x: tensor<f32, #sluice.dim<0>>) -> tensor<f32> {
  %r = sluice.transpose %x [] : (tensor<f32, #sluice.dim<0>>) -> tensor<f32>
  return %r : tensor<f32>
}

// rank-0 [] -> rank-0 [], from the result
// CHECK-LABEL: func.func @transpose_scalar_back(
// CHECK-SAME: %{{.*}}: tensor<bf16, #sluice<[1!]>>) -> tensor<bf16, #sluice<[1!]>>
func.func @transpose_scalar_back(%x: tensor<f32>) -> tensor<f32, #sluice.dim<0>> {
  %r = sluice.transpose %x [] : (tensor<f32>) -> tensor<f32, #sluice.dim<0>>
  return %r : tensor<f32, #sluice.dim<0>>
}

// rank-0 [] -> rank-0 []
// CHECK-LABEL: func.func @pad_scalar(
// CHECK-SAME: %{{.*}}: tensor<bf16, #sluice<[1!]>>) -> tensor<bf16, #sluice<[1!]>>
func.func @pad_scalar(%x: tensor<f32, #sluice.dim<0>>) -> tensor<f32> {
  %r = sluice.pad %x low [] high [] value 0.0 : (tensor<f32, #sluice.dim<0>>) -> tensor<f32>
  return %r : tensor<f32>
}

// rank-0 [] -> rank-0 [], from the result
// CHECK-LABEL: func.func @pad_scalar_back(
// CHECK-SAME: %{{.*}}: tensor<bf16, #sluice<[1!]>>) -> tensor<bf16, #sluice<[1!]>>
func.func @pad_scalar_back(%x: tensor<f32>) -> tensor<f32, #sluice.dim<0>> {
  %r = sluice.pad %x low [] high [] value 0.0 : (tensor<f32>) -> tensor<f32, #sluice.dim<0>>
  return %r : tensor<f32, #sluice.dim<0>>
}

// [2 3!] -> [2 3!]
// CHECK-LABEL: func.func @reverse_along(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2 3!]>>) -> tensor<2x3xbf16, #sluice<[2 3!]>>
func.func @reverse_along(%x: tensor<2x3xf32, #sluice.dim<1>>) -> tensor<2x3xf32> {
  %r = sluice.slice %x starts [0, 2] sizes [2, 3] steps [1, -1] : (tensor<2x3xf32, #sluice.dim<1>>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// [2 3!] -> [2 3!], from the result
// CHECK-LABEL: func.func @reverse_along_back(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2 3!]>>) -> tensor<2x3xbf16, #sluice<[2 3!]>>
func.func @reverse_along_back(%x: tensor<2x3xf32>) -> tensor<2x3xf32, #sluice.dim<1>> {
  %r = sluice.slice %x starts [0, 2] sizes [2, 3] steps [1, -1] : (tensor<2x3xf32>) -> tensor<2x3xf32, #sluice.dim<1>>
  return %r : tensor<2x3xf32, #sluice.dim<1>>
}

// [2 3!] -> [2 3!]
// CHECK-LABEL: func.func @reverse_off(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2 3!]>>) -> tensor<2x3xbf16, #sluice<[2 3!]>>
func.func @reverse_off(%x: tensor<2x3xf32, #sluice.dim<1>>) -> tensor<2x3xf32> {
  %r = sluice.slice %x starts [1, 0] sizes [2, 3] steps [-1, 1] : (tensor<2x3xf32, #sluice.dim<1>>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// [2 3!] -> [2 3!], from the result
// CHECK-LABEL: func.func @reverse_off_back(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2 3!]>>) -> tensor<2x3xbf16, #sluice<[2 3!]>>
func.func @reverse_off_back(%x: tensor<2x3xf32>) -> tensor<2x3xf32, #sluice.dim<1>> {
  %r = sluice.slice %x starts [1, 0] sizes [2, 3] steps [-1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32, #sluice.dim<1>>
  return %r : tensor<2x3xf32, #sluice.dim<1>>
}

// [2! 3], [4! 3] -> [6! 3]
// CHECK-LABEL: func.func @concat_along(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>, %{{.*}}: tensor<4x3xbf16, #sluice<[4! 3]>>) -> tensor<6x3xbf16, #sluice<[6! 3]>>
func.func @concat_along(%x: tensor<2x3xf32, #sluice.dim<0>>, %y: tensor<4x3xf32, #sluice.dim<0>>) -> tensor<6x3xf32> {
  %r = sluice.concat %x, %y axis 0 : (tensor<2x3xf32, #sluice.dim<0>>, tensor<4x3xf32, #sluice.dim<0>>) -> tensor<6x3xf32>
  return %r : tensor<6x3xf32>
}

// [2! 3], [4! 3] -> [6! 3], from the result
// CHECK-LABEL: func.func @concat_along_back(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>, %{{.*}}: tensor<4x3xbf16, #sluice<[4! 3]>>) -> tensor<6x3xbf16, #sluice<[6! 3]>>
func.func @concat_along_back(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) -> tensor<6x3xf32, #sluice.dim<0>> {
  %r = sluice.concat %x, %y axis 0 : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32, #sluice.dim<0>>
  return %r : tensor<6x3xf32, #sluice.dim<0>>
}

// [2! 3], [2! 1] -> [2! 4]
// CHECK-LABEL: func.func @concat_off(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>, %{{.*}}: tensor<2x1xbf16, #sluice<[2! 1]>>) -> tensor<2x4xbf16, #sluice<[2! 4]>>
func.func @concat_off(%x: tensor<2x3xf32, #sluice.dim<0>>, %y: tensor<2x1xf32, #sluice.dim<0>>) -> tensor<2x4xf32> {
  %r = sluice.concat %x, %y axis 1 : (tensor<2x3xf32, #sluice.dim<0>>, tensor<2x1xf32, #sluice.dim<0>>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// [2! 3], [2! 1] -> [2! 4], from the result
// CHECK-LABEL: func.func @concat_off_back(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>, %{{.*}}: tensor<2x1xbf16, #sluice<[2! 1]>>) -> tensor<2x4xbf16, #sluice<[2! 4]>>
func.func @concat_off_back(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>) -> tensor<2x4xf32, #sluice.dim<0>> {
  %r = sluice.concat %x, %y axis 1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32, #sluice.dim<0>>
  return %r : tensor<2x4xf32, #sluice.dim<0>>
}

// constant [2 3], [2! 1] -> [2! 4]
// CHECK-LABEL: func.func @concat_constant(
// CHECK-SAME: %{{.*}}: tensor<2x1xbf16, #sluice<[2! 1]>>) -> tensor<2x4xbf16, #sluice<[2! 4]>>
func.func @concat_constant(%y: tensor<2x1xf32, #sluice.dim<0>>) -> tensor<2x4xf32> {
  %x = sluice.constant dense<1.0> : tensor<2x3xf32>
  %r = sluice.concat %x, %y axis 1 : (tensor<2x3xf32>, tensor<2x1xf32, #sluice.dim<0>>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// constant [2 3], [2! 1] -> [2! 4], from the result
// CHECK-LABEL: func.func @concat_constant_back(
// CHECK-SAME: %{{.*}}: tensor<2x1xbf16, #sluice<[2! 1]>>) -> tensor<2x4xbf16, #sluice<[2! 4]>>
func.func @concat_constant_back(%y: tensor<2x1xf32>) -> tensor<2x4xf32, #sluice.dim<0>> {
  %x = sluice.constant dense<1.0> : tensor<2x3xf32>
  %r = sluice.concat %x, %y axis 1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32, #sluice.dim<0>>
  return %r : tensor<2x4xf32, #sluice.dim<0>>
}

// [2 3!] -> [2 6!]
// CHECK-LABEL: func.func @pad_along(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2 3!]>>) -> tensor<2x6xbf16, #sluice<[2 6!]>>
func.func @pad_along(%x: tensor<2x3xf32, #sluice.dim<1>>) -> tensor<2x6xf32> {
  %r = sluice.pad %x low [0, 1] high [0, 2] value 0.0 : (tensor<2x3xf32, #sluice.dim<1>>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// [2 3!] -> [2 6!], from the result
// CHECK-LABEL: func.func @pad_along_back(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2 3!]>>) -> tensor<2x6xbf16, #sluice<[2 6!]>>
func.func @pad_along_back(%x: tensor<2x3xf32>) -> tensor<2x6xf32, #sluice.dim<1>> {
  %r = sluice.pad %x low [0, 1] high [0, 2] value 0.0 : (tensor<2x3xf32>) -> tensor<2x6xf32, #sluice.dim<1>>
  return %r : tensor<2x6xf32, #sluice.dim<1>>
}

// [2 3!] -> [3 3!]
// CHECK-LABEL: func.func @pad_off(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2 3!]>>) -> tensor<3x3xbf16, #sluice<[3 3!]>>
func.func @pad_off(%x: tensor<2x3xf32, #sluice.dim<1>>) -> tensor<3x3xf32> {
  %r = sluice.pad %x low [1, 0] high [0, 0] value 0.0 : (tensor<2x3xf32, #sluice.dim<1>>) -> tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}

// [2 3!] -> [3 3!], from the result
// CHECK-LABEL: func.func @pad_off_back(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2 3!]>>) -> tensor<3x3xbf16, #sluice<[3 3!]>>
func.func @pad_off_back(%x: tensor<2x3xf32>) -> tensor<3x3xf32, #sluice.dim<1>> {
  %r = sluice.pad %x low [1, 0] high [0, 0] value 0.0 : (tensor<2x3xf32>) -> tensor<3x3xf32, #sluice.dim<1>>
  return %r : tensor<3x3xf32, #sluice.dim<1>>
}

// [2! 3 4 5] -> [4 3 2! 5]
// CHECK-LABEL: func.func @transpose(
// CHECK-SAME: %{{.*}}: tensor<2x3x4x5xbf16, #sluice<[2! 3 4 5]>>) -> tensor<4x3x2x5xbf16, #sluice<[4 3 2! 5]>>
func.func @transpose(%x: tensor<2x3x4x5xf32, #sluice.dim<0>>) -> tensor<4x3x2x5xf32> {
  %r = sluice.transpose %x [2, 1, 0, 3] : (tensor<2x3x4x5xf32, #sluice.dim<0>>) -> tensor<4x3x2x5xf32>
  return %r : tensor<4x3x2x5xf32>
}

// [2! 3 4 5] -> [4 3 2! 5], from the result
// CHECK-LABEL: func.func @transpose_back(
// CHECK-SAME: %{{.*}}: tensor<2x3x4x5xbf16, #sluice<[2! 3 4 5]>>) -> tensor<4x3x2x5xbf16, #sluice<[4 3 2! 5]>>
func.func @transpose_back(%x: tensor<2x3x4x5xf32>) -> tensor<4x3x2x5xf32, #sluice.dim<2>> {
  %r = sluice.transpose %x [2, 1, 0, 3] : (tensor<2x3x4x5xf32>) -> tensor<4x3x2x5xf32, #sluice.dim<2>>
  return %r : tensor<4x3x2x5xf32, #sluice.dim<2>>
}

// [2 3 4 5!] -> [4 3 2 5!]
// CHECK-LABEL: func.func @transpose_other(
// CHECK-SAME: %{{.*}}: tensor<2x3x4x5xbf16, #sluice<[2 3 4 5!]>>) -> tensor<4x3x2x5xbf16, #sluice<[4 3 2 5!]>>
func.func @transpose_other(%x: tensor<2x3x4x5xf32, #sluice.dim<3>>) -> tensor<4x3x2x5xf32> {
  %r = sluice.transpose %x [2, 1, 0, 3] : (tensor<2x3x4x5xf32, #sluice.dim<3>>) -> tensor<4x3x2x5xf32>
  return %r : tensor<4x3x2x5xf32>
}

// [2 3 4 5!] -> [4 3 2 5!], from the result
// CHECK-LABEL: func.func @transpose_other_back(
// CHECK-SAME: %{{.*}}: tensor<2x3x4x5xbf16, #sluice<[2 3 4 5!]>>) -> tensor<4x3x2x5xbf16, #sluice<[4 3 2 5!]>>
func.func @transpose_other_back(%x: tensor<2x3x4x5xf32>) -> tensor<4x3x2x5xf32, #sluice.dim<3>> {
  %r = sluice.transpose %x [2, 1, 0, 3] : (tensor<2x3x4x5xf32>) -> tensor<4x3x2x5xf32, #sluice.dim<3>>
  return %r : tensor<4x3x2x5xf32, #sluice.dim<3>>
}

// [4! 3] -> [8! 3]
// CHECK-LABEL: func.func @tile_along(
// CHECK-SAME: %{{.*}}: tensor<4x3xbf16, #sluice<[4! 3]>>) -> tensor<8x3xbf16, #sluice<[8! 3]>>
func.func @tile_along(%x: tensor<4x3xf32, #sluice.dim<0>>) -> tensor<8x3xf32> {
  %r = sluice.tile %x counts [2, 1] : (tensor<4x3xf32, #sluice.dim<0>>) -> tensor<8x3xf32>
  return %r : tensor<8x3xf32>
}

// [4! 3] -> [8! 3], from the result
// CHECK-LABEL: func.func @tile_along_back(
// CHECK-SAME: %{{.*}}: tensor<4x3xbf16, #sluice<[4! 3]>>) -> tensor<8x3xbf16, #sluice<[8! 3]>>
func.func @tile_along_back(%x: tensor<4x3xf32>) -> tensor<8x3xf32, #sluice.dim<0>> {
  %r = sluice.tile %x counts [2, 1] : (tensor<4x3xf32>) -> tensor<8x3xf32, #sluice.dim<0>>
  return %r : tensor<8x3xf32, #sluice.dim<0>>
}

// [4! 3] -> [8! 3]
// CHECK-LABEL: func.func @repeat_along(
// CHECK-SAME: %{{.*}}: tensor<4x3xbf16, #sluice<[4! 3]>>) -> tensor<8x3xbf16, #sluice<[8! 3]>>
func.func @repeat_along(%x: tensor<4x3xf32, #sluice.dim<0>>) -> tensor<8x3xf32> {
  %r = sluice.repeat %x counts [2, 1] : (tensor<4x3xf32, #sluice.dim<0>>) -> tensor<8x3xf32>
  return %r : tensor<8x3xf32>
}

// [4! 3] -> [8! 3], from the result
// CHECK-LABEL: func.func @repeat_along_back(
// CHECK-SAME: %{{.*}}: tensor<4x3xbf16, #sluice<[4! 3]>>) -> tensor<8x3xbf16, #sluice<[8! 3]>>
func.func @repeat_along_back(%x: tensor<4x3xf32>) -> tensor<8x3xf32, #sluice.dim<0>> {
  %r = sluice.repeat %x counts [2, 1] : (tensor<4x3xf32>) -> tensor<8x3xf32, #sluice.dim<0>>
  return %r : tensor<8x3xf32, #sluice.dim<0>>
}

// [4! 3], [4! 3] -> [8! 3]
// CHECK-LABEL: func.func @interleave_along(
// CHECK-SAME: %{{.*}}: tensor<4x3xbf16, #sluice<[4! 3]>>, %{{.*}}: tensor<4x3xbf16, #sluice<[4! 3]>>) -> tensor<8x3xbf16, #sluice<[8! 3]>>
func.func @interleave_along(%x: tensor<4x3xf32, #sluice.dim<0>>, %y: tensor<4x3xf32, #sluice.dim<0>>) -> tensor<8x3xf32> {
  %r = sluice.interleave %x, %y axis 0 : (tensor<4x3xf32, #sluice.dim<0>>, tensor<4x3xf32, #sluice.dim<0>>) -> tensor<8x3xf32>
  return %r : tensor<8x3xf32>
}

// [4! 3], [4! 3] -> [8! 3], from the result
// CHECK-LABEL: func.func @interleave_along_back(
// CHECK-SAME: %{{.*}}: tensor<4x3xbf16, #sluice<[4! 3]>>, %{{.*}}: tensor<4x3xbf16, #sluice<[4! 3]>>) -> tensor<8x3xbf16, #sluice<[8! 3]>>
func.func @interleave_along_back(%x: tensor<4x3xf32>, %y: tensor<4x3xf32>) -> tensor<8x3xf32, #sluice.dim<0>> {
  %r = sluice.interleave %x, %y axis 0 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<8x3xf32, #sluice.dim<0>>
  return %r : tensor<8x3xf32, #sluice.dim<0>>
}

// [4 3!] -> [8 3!]
// CHECK-LABEL: func.func @tile_off(
// CHECK-SAME: %{{.*}}: tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<8x3xbf16, #sluice<[8 3!]>>
func.func @tile_off(%x: tensor<4x3xf32, #sluice.dim<1>>) -> tensor<8x3xf32> {
  %r = sluice.tile %x counts [2, 1] : (tensor<4x3xf32, #sluice.dim<1>>) -> tensor<8x3xf32>
  return %r : tensor<8x3xf32>
}

// [4 3!] -> [8 3!], from the result
// CHECK-LABEL: func.func @tile_off_back(
// CHECK-SAME: %{{.*}}: tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<8x3xbf16, #sluice<[8 3!]>>
func.func @tile_off_back(%x: tensor<4x3xf32>) -> tensor<8x3xf32, #sluice.dim<1>> {
  %r = sluice.tile %x counts [2, 1] : (tensor<4x3xf32>) -> tensor<8x3xf32, #sluice.dim<1>>
  return %r : tensor<8x3xf32, #sluice.dim<1>>
}

// [4 3!] -> [8 3!]
// CHECK-LABEL: func.func @repeat_off(
// CHECK-SAME: %{{.*}}: tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<8x3xbf16, #sluice<[8 3!]>>
func.func @repeat_off(%x: tensor<4x3xf32, #sluice.dim<1>>) -> tensor<8x3xf32> {
  %r = sluice.repeat %x counts [2, 1] : (tensor<4x3xf32, #sluice.dim<1>>) -> tensor<8x3xf32>
  return %r : tensor<8x3xf32>
}

// [4 3!] -> [8 3!], from the result
// CHECK-LABEL: func.func @repeat_off_back(
// CHECK-SAME: %{{.*}}: tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<8x3xbf16, #sluice<[8 3!]>>
func.func @repeat_off_back(%x: tensor<4x3xf32>) -> tensor<8x3xf32, #sluice.dim<1>> {
  %r = sluice.repeat %x counts [2, 1] : (tensor<4x3xf32>) -> tensor<8x3xf32, #sluice.dim<1>>
  return %r : tensor<8x3xf32, #sluice.dim<1>>
}

// [4 3!], [4 3!] -> [8 3!]
// CHECK-LABEL: func.func @interleave_off(
// CHECK-SAME: %{{.*}}: tensor<4x3xbf16, #sluice<[4 3!]>>, %{{.*}}: tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<8x3xbf16, #sluice<[8 3!]>>
func.func @interleave_off(%x: tensor<4x3xf32, #sluice.dim<1>>, %y: tensor<4x3xf32, #sluice.dim<1>>) -> tensor<8x3xf32> {
  %r = sluice.interleave %x, %y axis 0 : (tensor<4x3xf32, #sluice.dim<1>>, tensor<4x3xf32, #sluice.dim<1>>) -> tensor<8x3xf32>
  return %r : tensor<8x3xf32>
}

// [4 3!], [4 3!] -> [8 3!], from the result
// CHECK-LABEL: func.func @interleave_off_back(
// CHECK-SAME: %{{.*}}: tensor<4x3xbf16, #sluice<[4 3!]>>, %{{.*}}: tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<8x3xbf16, #sluice<[8 3!]>>
func.func @interleave_off_back(%x: tensor<4x3xf32>, %y: tensor<4x3xf32>) -> tensor<8x3xf32, #sluice.dim<1>> {
  %r = sluice.interleave %x, %y axis 0 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<8x3xf32, #sluice.dim<1>>
  return %r : tensor<8x3xf32, #sluice.dim<1>>
}
