// DD-MM-DYN, with --allow-dynamic-weights: every accepted form.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension{allow-dynamic-weights=true}))" | FileCheck %s

// constant [5 3], [3 4!] -> [5 4!]
// CHECK-LABEL: func.func @const_left_kept(
// CHECK-SAME: %{{.*}}: tensor<3x4xbf16, #sluice<[3 4!]>>) -> tensor<5x4xbf16, #sluice<[5 4!]>>
func.func @const_left_kept(%y: tensor<3x4xf32, #sluice.dim<1>>) -> tensor<5x4xf32> {
  %x = sluice.constant dense<1.0> : tensor<5x3xf32>
  %r = sluice.matmul %x, %y : (tensor<5x3xf32>, tensor<3x4xf32, #sluice.dim<1>>) -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

// [4! 3], constant [3 5] -> [4! 5]
// CHECK-LABEL: func.func @const_right_kept(
// CHECK-SAME: %{{.*}}: tensor<4x3xbf16, #sluice<[4! 3]>>) -> tensor<4x5xbf16, #sluice<[4! 5]>>
func.func @const_right_kept(%x: tensor<4x3xf32, #sluice.dim<0>>) -> tensor<4x5xf32> {
  %y = sluice.constant dense<1.0> : tensor<3x5xf32>
  %r = sluice.matmul %x, %y : (tensor<4x3xf32, #sluice.dim<0>>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}

// constant [5 3], [3! 4] -> [5! 4]
// CHECK-LABEL: func.func @const_left_replaced(
// CHECK-SAME: %{{.*}}: tensor<3x4xbf16, #sluice<[3! 4]>>) -> tensor<5x4xbf16, #sluice<[5! 4]>>
func.func @const_left_replaced(%y: tensor<3x4xf32, #sluice.dim<0>>) -> tensor<5x4xf32> {
  %x = sluice.constant dense<1.0> : tensor<5x3xf32>
  %r = sluice.matmul %x, %y : (tensor<5x3xf32>, tensor<3x4xf32, #sluice.dim<0>>) -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

// [5! 3], [3!] -> [5!]
// CHECK-LABEL: func.func @matrix_vector_rows(
// CHECK-SAME: %{{.*}}: tensor<5x3xbf16, #sluice<[5! 3]>>, %{{.*}}: tensor<3xbf16, #sluice<[3!]>>) -> tensor<5xbf16, #sluice<[5!]>>
func.func @matrix_vector_rows(%x: tensor<5x3xf32, #sluice.dim<0>>, %y: tensor<3xf32, #sluice.dim<0>>) -> tensor<5xf32> {
  %r = sluice.matmul %x, %y : (tensor<5x3xf32, #sluice.dim<0>>, tensor<3xf32, #sluice.dim<0>>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// [5 3!], [3!] -> [5!]
// CHECK-LABEL: func.func @matrix_vector_columns(
// CHECK-SAME: %{{.*}}: tensor<5x3xbf16, #sluice<[5 3!]>>, %{{.*}}: tensor<3xbf16, #sluice<[3!]>>) -> tensor<5xbf16, #sluice<[5!]>>
func.func @matrix_vector_columns(%x: tensor<5x3xf32, #sluice.dim<1>>, %y: tensor<3xf32, #sluice.dim<0>>) -> tensor<5xf32> {
  %r = sluice.matmul %x, %y : (tensor<5x3xf32, #sluice.dim<1>>, tensor<3xf32, #sluice.dim<0>>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// [3!], [3! 4] -> [4!]
// CHECK-LABEL: func.func @vector_matrix_rows(
// CHECK-SAME: %{{.*}}: tensor<3xbf16, #sluice<[3!]>>, %{{.*}}: tensor<3x4xbf16, #sluice<[3! 4]>>) -> tensor<4xbf16, #sluice<[4!]>>
func.func @vector_matrix_rows(%x: tensor<3xf32, #sluice.dim<0>>, %y: tensor<3x4xf32, #sluice.dim<0>>) -> tensor<4xf32> {
  %r = sluice.matmul %x, %y : (tensor<3xf32, #sluice.dim<0>>, tensor<3x4xf32, #sluice.dim<0>>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// [3!], [3 4!] -> [4!]
// CHECK-LABEL: func.func @vector_matrix_columns(
// CHECK-SAME: %{{.*}}: tensor<3xbf16, #sluice<[3!]>>, %{{.*}}: tensor<3x4xbf16, #sluice<[3 4!]>>) -> tensor<4xbf16, #sluice<[4!]>>
func.func @vector_matrix_columns(%x: tensor<3xf32, #sluice.dim<0>>, %y: tensor<3x4xf32, #sluice.dim<1>>) -> tensor<4xf32> {
  %r = sluice.matmul %x, %y : (tensor<3xf32, #sluice.dim<0>>, tensor<3x4xf32, #sluice.dim<1>>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// [5! 3], [3! 4] -> [5! 4]
// CHECK-LABEL: func.func @opposite_left(
// CHECK-SAME: %{{.*}}: tensor<5x3xbf16, #sluice<[5! 3]>>, %{{.*}}: tensor<3x4xbf16, #sluice<[3! 4]>>) -> tensor<5x4xbf16, #sluice<[5! 4]>>
func.func @opposite_left(%x: tensor<5x3xf32, #sluice.dim<0>>, %y: tensor<3x4xf32, #sluice.dim<0>>) -> tensor<5x4xf32> {
  %r = sluice.matmul %x, %y : (tensor<5x3xf32, #sluice.dim<0>>, tensor<3x4xf32, #sluice.dim<0>>) -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

// [5 3!], [3 4!] -> [5 4!]
// CHECK-LABEL: func.func @opposite_right(
// CHECK-SAME: %{{.*}}: tensor<5x3xbf16, #sluice<[5 3!]>>, %{{.*}}: tensor<3x4xbf16, #sluice<[3 4!]>>) -> tensor<5x4xbf16, #sluice<[5 4!]>>
func.func @opposite_right(%x: tensor<5x3xf32, #sluice.dim<1>>, %y: tensor<3x4xf32, #sluice.dim<1>>) -> tensor<5x4xf32> {
  %r = sluice.matmul %x, %y : (tensor<5x3xf32, #sluice.dim<1>>, tensor<3x4xf32, #sluice.dim<1>>) -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

// [2 5! 3], [2 3! 4] -> [2 5! 4]
// CHECK-LABEL: func.func @opposite_batch(
// CHECK-SAME: %{{.*}}: tensor<2x5x3xbf16, #sluice<[2 5! 3]>>, %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3! 4]>>) -> tensor<2x5x4xbf16, #sluice<[2 5! 4]>>
func.func @opposite_batch(%x: tensor<2x5x3xf32, #sluice.dim<1>>, %y: tensor<2x3x4xf32, #sluice.dim<1>>) -> tensor<2x5x4xf32> {
  %r = sluice.matmul %x, %y : (tensor<2x5x3xf32, #sluice.dim<1>>, tensor<2x3x4xf32, #sluice.dim<1>>) -> tensor<2x5x4xf32>
  return %r : tensor<2x5x4xf32>
}

// [5 3!], [3! 4] -> [5 4!]
// CHECK-LABEL: func.func @both_contracted(
// CHECK-SAME: %{{.*}}: tensor<5x3xbf16, #sluice<[5 3!]>>, %{{.*}}: tensor<3x4xbf16, #sluice<[3! 4]>>) -> tensor<5x4xbf16, #sluice<[5 4!]>>
func.func @both_contracted(%x: tensor<5x3xf32, #sluice.dim<1>>, %y: tensor<3x4xf32, #sluice.dim<0>>) -> tensor<5x4xf32> {
  %r = sluice.matmul %x, %y : (tensor<5x3xf32, #sluice.dim<1>>, tensor<3x4xf32, #sluice.dim<0>>) -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

// [4 3!], [5 3!] -> [4 5!]
// CHECK-LABEL: func.func @contract_both(
// CHECK-SAME: %{{.*}}: tensor<4x3xbf16, #sluice<[4 3!]>>, %{{.*}}: tensor<5x3xbf16, #sluice<[5 3!]>>) -> tensor<4x5xbf16, #sluice<[4 5!]>>
func.func @contract_both(%x: tensor<4x3xf32, #sluice.dim<1>>, %y: tensor<5x3xf32, #sluice.dim<1>>) -> tensor<4x5xf32> {
  %r = sluice.contract [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] %x, %y : (tensor<4x3xf32, #sluice.dim<1>>, tensor<5x3xf32, #sluice.dim<1>>) -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}
