// DD-RESHAPE, DD-UNSQ, DD-SQZ: every accepted form, from the operands and from the result.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension))" | FileCheck %s

// [2! 12] -> [2! 3 4]
// CHECK-LABEL: func.func @split_right(
// CHECK-SAME: %{{.*}}: tensor<2x12xbf16, #sluice<[2! 12]>>) -> tensor<2x3x4xbf16, #sluice<[2! 3 4]>>
func.func @split_right(%x: tensor<2x12xf32, #sluice.dim<0>>) -> tensor<2x3x4xf32> {
  %r = sluice.reshape %x : (tensor<2x12xf32, #sluice.dim<0>>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// [2! 12] -> [2! 3 4], from the result
// CHECK-LABEL: func.func @split_right_back(
// CHECK-SAME: %{{.*}}: tensor<2x12xbf16, #sluice<[2! 12]>>) -> tensor<2x3x4xbf16, #sluice<[2! 3 4]>>
func.func @split_right_back(%x: tensor<2x12xf32>) -> tensor<2x3x4xf32, #sluice.dim<0>> {
  %r = sluice.reshape %x : (tensor<2x12xf32>) -> tensor<2x3x4xf32, #sluice.dim<0>>
  return %r : tensor<2x3x4xf32, #sluice.dim<0>>
}

// [2 3 4!] -> [3 2 4!]
// CHECK-LABEL: func.func @swap_left(
// CHECK-SAME: %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3 4!]>>) -> tensor<3x2x4xbf16, #sluice<[3 2 4!]>>
func.func @swap_left(%x: tensor<2x3x4xf32, #sluice.dim<2>>) -> tensor<3x2x4xf32> {
  %r = sluice.reshape %x : (tensor<2x3x4xf32, #sluice.dim<2>>) -> tensor<3x2x4xf32>
  return %r : tensor<3x2x4xf32>
}

// [2 3 4!] -> [3 2 4!], from the result
// CHECK-LABEL: func.func @swap_left_back(
// CHECK-SAME: %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3 4!]>>) -> tensor<3x2x4xbf16, #sluice<[3 2 4!]>>
func.func @swap_left_back(%x: tensor<2x3x4xf32>) -> tensor<3x2x4xf32, #sluice.dim<2>> {
  %r = sluice.reshape %x : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32, #sluice.dim<2>>
  return %r : tensor<3x2x4xf32, #sluice.dim<2>>
}

// [2 3! 4] -> [6! 4]
// CHECK-LABEL: func.func @merge_left(
// CHECK-SAME: %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3! 4]>>) -> tensor<6x4xbf16, #sluice<[6! 4]>>
func.func @merge_left(%x: tensor<2x3x4xf32, #sluice.dim<1>>) -> tensor<6x4xf32> {
  %r = sluice.reshape %x : (tensor<2x3x4xf32, #sluice.dim<1>>) -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}

// [2 3! 4] -> [6! 4], from the result
// CHECK-LABEL: func.func @merge_left_back(
// CHECK-SAME: %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3! 4]>>) -> tensor<6x4xbf16, #sluice<[6! 4]>>
func.func @merge_left_back(%x: tensor<2x3x4xf32>) -> tensor<6x4xf32, #sluice.dim<0>> {
  %r = sluice.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32, #sluice.dim<0>>
  return %r : tensor<6x4xf32, #sluice.dim<0>>
}

// [2 12! 4] -> [2 3 4! 4]
// CHECK-LABEL: func.func @split_inner(
// CHECK-SAME: %{{.*}}: tensor<2x12x4xbf16, #sluice<[2 12! 4]>>) -> tensor<2x3x4x4xbf16, #sluice<[2 3 4! 4]>>
func.func @split_inner(%x: tensor<2x12x4xf32, #sluice.dim<1>>) -> tensor<2x3x4x4xf32> {
  %r = sluice.reshape %x : (tensor<2x12x4xf32, #sluice.dim<1>>) -> tensor<2x3x4x4xf32>
  return %r : tensor<2x3x4x4xf32>
}

// [2 12! 4] -> [2 3 4! 4], from the result
// CHECK-LABEL: func.func @split_inner_back(
// CHECK-SAME: %{{.*}}: tensor<2x12x4xbf16, #sluice<[2 12! 4]>>) -> tensor<2x3x4x4xbf16, #sluice<[2 3 4! 4]>>
func.func @split_inner_back(%x: tensor<2x12x4xf32>) -> tensor<2x3x4x4xf32, #sluice.dim<2>> {
  %r = sluice.reshape %x : (tensor<2x12x4xf32>) -> tensor<2x3x4x4xf32, #sluice.dim<2>>
  return %r : tensor<2x3x4x4xf32, #sluice.dim<2>>
}

// [2! 3] -> [2! 1 3]
// CHECK-LABEL: func.func @leftmost_candidate(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<2x1x3xbf16, #sluice<[2! 1 3]>>
func.func @leftmost_candidate(%x: tensor<2x3xf32, #sluice.dim<0>>) -> tensor<2x1x3xf32> {
  %r = sluice.reshape %x : (tensor<2x3xf32, #sluice.dim<0>>) -> tensor<2x1x3xf32>
  return %r : tensor<2x1x3xf32>
}

// [2! 3] -> [2! 1 3], from the result
// CHECK-LABEL: func.func @leftmost_candidate_back(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<2x1x3xbf16, #sluice<[2! 1 3]>>
func.func @leftmost_candidate_back(%x: tensor<2x3xf32>) -> tensor<2x1x3xf32, #sluice.dim<0>> {
  %r = sluice.reshape %x : (tensor<2x3xf32>) -> tensor<2x1x3xf32, #sluice.dim<0>>
  return %r : tensor<2x1x3xf32, #sluice.dim<0>>
}

// [6!] -> [6! 1 1]
// CHECK-LABEL: func.func @leftmost_of_ones(
// CHECK-SAME: %{{.*}}: tensor<6xbf16, #sluice<[6!]>>) -> tensor<6x1x1xbf16, #sluice<[6! 1 1]>>
func.func @leftmost_of_ones(%x: tensor<6xf32, #sluice.dim<0>>) -> tensor<6x1x1xf32> {
  %r = sluice.reshape %x : (tensor<6xf32, #sluice.dim<0>>) -> tensor<6x1x1xf32>
  return %r : tensor<6x1x1xf32>
}

// [6!] -> [6! 1 1], from the result
// CHECK-LABEL: func.func @leftmost_of_ones_back(
// CHECK-SAME: %{{.*}}: tensor<6xbf16, #sluice<[6!]>>) -> tensor<6x1x1xbf16, #sluice<[6! 1 1]>>
func.func @leftmost_of_ones_back(%x: tensor<6xf32>) -> tensor<6x1x1xf32, #sluice.dim<0>> {
  %r = sluice.reshape %x : (tensor<6xf32>) -> tensor<6x1x1xf32, #sluice.dim<0>>
  return %r : tensor<6x1x1xf32, #sluice.dim<0>>
}

// [2 3 4!] -> [24!]
// CHECK-LABEL: func.func @flatten_last(
// CHECK-SAME: %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3 4!]>>) -> tensor<24xbf16, #sluice<[24!]>>
func.func @flatten_last(%x: tensor<2x3x4xf32, #sluice.dim<2>>) -> tensor<24xf32> {
  %r = sluice.reshape %x : (tensor<2x3x4xf32, #sluice.dim<2>>) -> tensor<24xf32>
  return %r : tensor<24xf32>
}

// [2 3 4!] -> [24!], from the result
// CHECK-LABEL: func.func @flatten_last_back(
// CHECK-SAME: %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3 4!]>>) -> tensor<24xbf16, #sluice<[24!]>>
func.func @flatten_last_back(%x: tensor<2x3x4xf32>) -> tensor<24xf32, #sluice.dim<0>> {
  %r = sluice.reshape %x : (tensor<2x3x4xf32>) -> tensor<24xf32, #sluice.dim<0>>
  return %r : tensor<24xf32, #sluice.dim<0>>
}

// [1!] -> rank-0 []
// CHECK-LABEL: func.func @to_scalar(
// CHECK-SAME: %{{.*}}: tensor<1xbf16, #sluice<[1!]>>) -> tensor<bf16, #sluice<[1!]>>
func.func @to_scalar(%x: tensor<1xf32, #sluice.dim<0>>) -> tensor<f32> {
  %r = sluice.reshape %x : (tensor<1xf32, #sluice.dim<0>>) -> tensor<f32>
  return %r : tensor<f32>
}

// [1!] -> rank-0 [], from the result
// CHECK-LABEL: func.func @to_scalar_back(
// CHECK-SAME: %{{.*}}: tensor<1xbf16, #sluice<[1!]>>) -> tensor<bf16, #sluice<[1!]>>
func.func @to_scalar_back(%x: tensor<1xf32>) -> tensor<f32, #sluice.dim<0>> {
  %r = sluice.reshape %x : (tensor<1xf32>) -> tensor<f32, #sluice.dim<0>>
  return %r : tensor<f32, #sluice.dim<0>>
}

// rank-0 [] -> [1! 1]
// CHECK-LABEL: func.func @from_scalar(
// CHECK-SAME: %{{.*}}: tensor<bf16, #sluice<[1!]>>) -> tensor<1x1xbf16, #sluice<[1! 1]>>
func.func @from_scalar(%x: tensor<f32, #sluice.dim<0>>) -> tensor<1x1xf32> {
  %r = sluice.reshape %x : (tensor<f32, #sluice.dim<0>>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}

// rank-0 [] -> [1! 1], from the result
// CHECK-LABEL: func.func @from_scalar_back(
// CHECK-SAME: %{{.*}}: tensor<bf16, #sluice<[1!]>>) -> tensor<1x1xbf16, #sluice<[1! 1]>>
func.func @from_scalar_back(%x: tensor<f32>) -> tensor<1x1xf32, #sluice.dim<0>> {
  %r = sluice.reshape %x : (tensor<f32>) -> tensor<1x1xf32, #sluice.dim<0>>
  return %r : tensor<1x1xf32, #sluice.dim<0>>
}

// [2! 3] -> [1 2! 3]
// CHECK-LABEL: func.func @unsqueeze_front(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<1x2x3xbf16, #sluice<[1 2! 3]>>
func.func @unsqueeze_front(%x: tensor<2x3xf32, #sluice.dim<0>>) -> tensor<1x2x3xf32> {
  %r = sluice.unsqueeze %x axes [0] : (tensor<2x3xf32, #sluice.dim<0>>) -> tensor<1x2x3xf32>
  return %r : tensor<1x2x3xf32>
}

// [2! 3] -> [1 2! 3], from the result
// CHECK-LABEL: func.func @unsqueeze_front_back(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<1x2x3xbf16, #sluice<[1 2! 3]>>
func.func @unsqueeze_front_back(%x: tensor<2x3xf32>) -> tensor<1x2x3xf32, #sluice.dim<1>> {
  %r = sluice.unsqueeze %x axes [0] : (tensor<2x3xf32>) -> tensor<1x2x3xf32, #sluice.dim<1>>
  return %r : tensor<1x2x3xf32, #sluice.dim<1>>
}

// [2 3!] -> [2 3! 1]
// CHECK-LABEL: func.func @unsqueeze_back(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2 3!]>>) -> tensor<2x3x1xbf16, #sluice<[2 3! 1]>>
func.func @unsqueeze_back(%x: tensor<2x3xf32, #sluice.dim<1>>) -> tensor<2x3x1xf32> {
  %r = sluice.unsqueeze %x axes [2] : (tensor<2x3xf32, #sluice.dim<1>>) -> tensor<2x3x1xf32>
  return %r : tensor<2x3x1xf32>
}

// [2 3!] -> [2 3! 1], from the result
// CHECK-LABEL: func.func @unsqueeze_back_back(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2 3!]>>) -> tensor<2x3x1xbf16, #sluice<[2 3! 1]>>
func.func @unsqueeze_back_back(%x: tensor<2x3xf32>) -> tensor<2x3x1xf32, #sluice.dim<1>> {
  %r = sluice.unsqueeze %x axes [2] : (tensor<2x3xf32>) -> tensor<2x3x1xf32, #sluice.dim<1>>
  return %r : tensor<2x3x1xf32, #sluice.dim<1>>
}

// rank-0 [] -> [1 1!]
// CHECK-LABEL: func.func @unsqueeze_scalar(
// CHECK-SAME: %{{.*}}: tensor<bf16, #sluice<[1!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>>
func.func @unsqueeze_scalar(%x: tensor<f32, #sluice.dim<0>>) -> tensor<1x1xf32> {
  %r = sluice.unsqueeze %x axes [0, 1] : (tensor<f32, #sluice.dim<0>>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}

// rank-0 [] -> [1! 1], from the result
// CHECK-LABEL: func.func @unsqueeze_scalar_back(
// CHECK-SAME: %{{.*}}: tensor<bf16, #sluice<[1!]>>) -> tensor<1x1xbf16, #sluice<[1! 1]>>
func.func @unsqueeze_scalar_back(%x: tensor<f32>) -> tensor<1x1xf32, #sluice.dim<0>> {
  %r = sluice.unsqueeze %x axes [0, 1] : (tensor<f32>) -> tensor<1x1xf32, #sluice.dim<0>>
  return %r : tensor<1x1xf32, #sluice.dim<0>>
}

// A single element lies along the axis that its reader needs: [] -> [1 1!] -> [1 4!] beside [1 4!]
// CHECK-LABEL: func.func @unsqueeze_scalar_beside(
// CHECK: sluice.unsqueeze %{{.*}} : (tensor<bf16, #sluice<[1!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>>
// CHECK-LABEL: func.func @unsqueeze_scalar_above(
// CHECK: sluice.unsqueeze %{{.*}} : (tensor<bf16, #sluice<[1!]>>) -> tensor<1x1xbf16, #sluice<[1! 1]>>
func.func @unsqueeze_scalar_beside(%x: tensor<f32>, %y: tensor<1x4xf32, #sluice.dim<1>>) -> tensor<1x4xf32> {
  %0 = sluice.unsqueeze %x axes [0, 1] : (tensor<f32>) -> tensor<1x1xf32>
  %1 = sluice.broadcast %0 : (tensor<1x1xf32>) -> tensor<1x4xf32>
  %2 = sluice.map (%a = %y, %b = %1) : (tensor<1x4xf32, #sluice.dim<1>>, tensor<1x4xf32>) -> tensor<1x4xf32> {
    %s = arith.addf %a, %b : f32
    sluice.yield %s
  }
  return %2 : tensor<1x4xf32>
}
func.func @unsqueeze_scalar_above(%x: tensor<f32>, %y: tensor<4x1xf32, #sluice.dim<0>>) -> tensor<4x1xf32> {
  %0 = sluice.unsqueeze %x axes [0, 1] : (tensor<f32>) -> tensor<1x1xf32>
  %1 = sluice.broadcast %0 : (tensor<1x1xf32>) -> tensor<4x1xf32>
  %2 = sluice.map (%a = %y, %b = %1) : (tensor<4x1xf32, #sluice.dim<0>>, tensor<4x1xf32>) -> tensor<4x1xf32> {
    %s = arith.addf %a, %b : f32
    sluice.yield %s
  }
  return %2 : tensor<4x1xf32>
}

// [1 3!] -> [3!]
// CHECK-LABEL: func.func @squeeze_front(
// CHECK-SAME: %{{.*}}: tensor<1x3xbf16, #sluice<[1 3!]>>) -> tensor<3xbf16, #sluice<[3!]>>
func.func @squeeze_front(%x: tensor<1x3xf32, #sluice.dim<1>>) -> tensor<3xf32> {
  %r = sluice.squeeze %x axes [0] : (tensor<1x3xf32, #sluice.dim<1>>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// [1 3!] -> [3!], from the result
// CHECK-LABEL: func.func @squeeze_front_back(
// CHECK-SAME: %{{.*}}: tensor<1x3xbf16, #sluice<[1 3!]>>) -> tensor<3xbf16, #sluice<[3!]>>
func.func @squeeze_front_back(%x: tensor<1x3xf32>) -> tensor<3xf32, #sluice.dim<0>> {
  %r = sluice.squeeze %x axes [0] : (tensor<1x3xf32>) -> tensor<3xf32, #sluice.dim<0>>
  return %r : tensor<3xf32, #sluice.dim<0>>
}

// [1! 1] -> [1!]
// CHECK-LABEL: func.func @squeeze_ones(
// CHECK-SAME: %{{.*}}: tensor<1x1xbf16, #sluice<[1! 1]>>) -> tensor<1xbf16, #sluice<[1!]>>
func.func @squeeze_ones(%x: tensor<1x1xf32, #sluice.dim<0>>) -> tensor<1xf32> {
  %r = sluice.squeeze %x axes [0] : (tensor<1x1xf32, #sluice.dim<0>>) -> tensor<1xf32>
  return %r : tensor<1xf32>
}
