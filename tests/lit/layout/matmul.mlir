// DD-MM-CONST: every accepted form, from the operands and from the result.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension))" | FileCheck %s

// constant [5 3], [3! 4] -> [5! 4]
// CHECK-LABEL: func.func @constant_left(
// CHECK-SAME: %{{.*}}: tensor<3x4xbf16, #sluice<[3! 4]>>) -> tensor<5x4xbf16, #sluice<[5! 4]>>
func.func @constant_left(%y: tensor<3x4xf32, #sluice.dim<0>>) -> tensor<5x4xf32> {
  %x = sluice.constant dense<1.0> : tensor<5x3xf32>
  %r = sluice.matmul %x, %y : (tensor<5x3xf32>, tensor<3x4xf32, #sluice.dim<0>>) -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

// constant [5 3], [3! 4] -> [5! 4], from the result
// CHECK-LABEL: func.func @constant_left_back(
// CHECK-SAME: %{{.*}}: tensor<3x4xbf16, #sluice<[3! 4]>>) -> tensor<5x4xbf16, #sluice<[5! 4]>>
func.func @constant_left_back(%y: tensor<3x4xf32>) -> tensor<5x4xf32, #sluice.dim<0>> {
  %x = sluice.constant dense<1.0> : tensor<5x3xf32>
  %r = sluice.matmul %x, %y : (tensor<5x3xf32>, tensor<3x4xf32>) -> tensor<5x4xf32, #sluice.dim<0>>
  return %r : tensor<5x4xf32, #sluice.dim<0>>
}

// [4 3!], constant [3 5] -> [4 5!]
// CHECK-LABEL: func.func @constant_right(
// CHECK-SAME: %{{.*}}: tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<4x5xbf16, #sluice<[4 5!]>>
func.func @constant_right(%x: tensor<4x3xf32, #sluice.dim<1>>) -> tensor<4x5xf32> {
  %y = sluice.constant dense<1.0> : tensor<3x5xf32>
  %r = sluice.matmul %x, %y : (tensor<4x3xf32, #sluice.dim<1>>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}

// [4 3!], constant [3 5] -> [4 5!], from the result
// CHECK-LABEL: func.func @constant_right_back(
// CHECK-SAME: %{{.*}}: tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<4x5xbf16, #sluice<[4 5!]>>
func.func @constant_right_back(%x: tensor<4x3xf32>) -> tensor<4x5xf32, #sluice.dim<1>> {
  %y = sluice.constant dense<1.0> : tensor<3x5xf32>
  %r = sluice.matmul %x, %y : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32, #sluice.dim<1>>
  return %r : tensor<4x5xf32, #sluice.dim<1>>
}

// constant [5 3], [3!] -> [5!]
// CHECK-LABEL: func.func @linear_left(
// CHECK-SAME: %{{.*}}: tensor<3xbf16, #sluice<[3!]>>) -> tensor<5xbf16, #sluice<[5!]>>
func.func @linear_left(%y: tensor<3xf32, #sluice.dim<0>>) -> tensor<5xf32> {
  %x = sluice.constant dense<1.0> : tensor<5x3xf32>
  %r = sluice.matmul %x, %y : (tensor<5x3xf32>, tensor<3xf32, #sluice.dim<0>>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// constant [5 3], [3!] -> [5!], from the result
// CHECK-LABEL: func.func @linear_left_back(
// CHECK-SAME: %{{.*}}: tensor<3xbf16, #sluice<[3!]>>) -> tensor<5xbf16, #sluice<[5!]>>
func.func @linear_left_back(%y: tensor<3xf32>) -> tensor<5xf32, #sluice.dim<0>> {
  %x = sluice.constant dense<1.0> : tensor<5x3xf32>
  %r = sluice.matmul %x, %y : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5xf32, #sluice.dim<0>>
  return %r : tensor<5xf32, #sluice.dim<0>>
}

// [3!], constant [3 5] -> [5!]
// CHECK-LABEL: func.func @linear_right(
// CHECK-SAME: %{{.*}}: tensor<3xbf16, #sluice<[3!]>>) -> tensor<5xbf16, #sluice<[5!]>>
func.func @linear_right(%x: tensor<3xf32, #sluice.dim<0>>) -> tensor<5xf32> {
  %y = sluice.constant dense<1.0> : tensor<3x5xf32>
  %r = sluice.matmul %x, %y : (tensor<3xf32, #sluice.dim<0>>, tensor<3x5xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// [3!], constant [3 5] -> [5!], from the result
// CHECK-LABEL: func.func @linear_right_back(
// CHECK-SAME: %{{.*}}: tensor<3xbf16, #sluice<[3!]>>) -> tensor<5xbf16, #sluice<[5!]>>
func.func @linear_right_back(%x: tensor<3xf32>) -> tensor<5xf32, #sluice.dim<0>> {
  %y = sluice.constant dense<1.0> : tensor<3x5xf32>
  %r = sluice.matmul %x, %y : (tensor<3xf32>, tensor<3x5xf32>) -> tensor<5xf32, #sluice.dim<0>>
  return %r : tensor<5xf32, #sluice.dim<0>>
}

// [2 4 3!], constant [3 5] -> [2 4 5!]
// CHECK-LABEL: func.func @batch_runtime(
// CHECK-SAME: %{{.*}}: tensor<2x4x3xbf16, #sluice<[2 4 3!]>>) -> tensor<2x4x5xbf16, #sluice<[2 4 5!]>>
func.func @batch_runtime(%x: tensor<2x4x3xf32, #sluice.dim<2>>) -> tensor<2x4x5xf32> {
  %y = sluice.constant dense<1.0> : tensor<3x5xf32>
  %r = sluice.matmul %x, %y : (tensor<2x4x3xf32, #sluice.dim<2>>, tensor<3x5xf32>) -> tensor<2x4x5xf32>
  return %r : tensor<2x4x5xf32>
}

// [2 4 3!], constant [3 5] -> [2 4 5!], from the result
// CHECK-LABEL: func.func @batch_runtime_back(
// CHECK-SAME: %{{.*}}: tensor<2x4x3xbf16, #sluice<[2 4 3!]>>) -> tensor<2x4x5xbf16, #sluice<[2 4 5!]>>
func.func @batch_runtime_back(%x: tensor<2x4x3xf32>) -> tensor<2x4x5xf32, #sluice.dim<2>> {
  %y = sluice.constant dense<1.0> : tensor<3x5xf32>
  %r = sluice.matmul %x, %y : (tensor<2x4x3xf32>, tensor<3x5xf32>) -> tensor<2x4x5xf32, #sluice.dim<2>>
  return %r : tensor<2x4x5xf32, #sluice.dim<2>>
}

// constant [2 5 3], [3! 4] -> [2 5! 4]
// CHECK-LABEL: func.func @batch_constant(
// CHECK-SAME: %{{.*}}: tensor<3x4xbf16, #sluice<[3! 4]>>) -> tensor<2x5x4xbf16, #sluice<[2 5! 4]>>
func.func @batch_constant(%y: tensor<3x4xf32, #sluice.dim<0>>) -> tensor<2x5x4xf32> {
  %x = sluice.constant dense<1.0> : tensor<2x5x3xf32>
  %r = sluice.matmul %x, %y : (tensor<2x5x3xf32>, tensor<3x4xf32, #sluice.dim<0>>) -> tensor<2x5x4xf32>
  return %r : tensor<2x5x4xf32>
}

// constant [2 5 3], [3! 4] -> [2 5! 4], from the result
// CHECK-LABEL: func.func @batch_constant_back(
// CHECK-SAME: %{{.*}}: tensor<3x4xbf16, #sluice<[3! 4]>>) -> tensor<2x5x4xbf16, #sluice<[2 5! 4]>>
func.func @batch_constant_back(%y: tensor<3x4xf32>) -> tensor<2x5x4xf32, #sluice.dim<1>> {
  %x = sluice.constant dense<1.0> : tensor<2x5x3xf32>
  %r = sluice.matmul %x, %y : (tensor<2x5x3xf32>, tensor<3x4xf32>) -> tensor<2x5x4xf32, #sluice.dim<1>>
  return %r : tensor<2x5x4xf32, #sluice.dim<1>>
}

// [7 1 4 3!], constant [2 3 5] -> [7 2 4 5!]
// CHECK-LABEL: func.func @batch_broadcast(
// CHECK-SAME: %{{.*}}: tensor<7x1x4x3xbf16, #sluice<[7 1 4 3!]>>) -> tensor<7x2x4x5xbf16, #sluice<[7 2 4 5!]>>
func.func @batch_broadcast(%x: tensor<7x1x4x3xf32, #sluice.dim<3>>) -> tensor<7x2x4x5xf32> {
  %y = sluice.constant dense<1.0> : tensor<2x3x5xf32>
  %r = sluice.matmul %x, %y : (tensor<7x1x4x3xf32, #sluice.dim<3>>, tensor<2x3x5xf32>) -> tensor<7x2x4x5xf32>
  return %r : tensor<7x2x4x5xf32>
}

// [7 1 4 3!], constant [2 3 5] -> [7 2 4 5!], from the result
// CHECK-LABEL: func.func @batch_broadcast_back(
// CHECK-SAME: %{{.*}}: tensor<7x1x4x3xbf16, #sluice<[7 1 4 3!]>>) -> tensor<7x2x4x5xbf16, #sluice<[7 2 4 5!]>>
func.func @batch_broadcast_back(%x: tensor<7x1x4x3xf32>) -> tensor<7x2x4x5xf32, #sluice.dim<3>> {
  %y = sluice.constant dense<1.0> : tensor<2x3x5xf32>
  %r = sluice.matmul %x, %y : (tensor<7x1x4x3xf32>, tensor<2x3x5xf32>) -> tensor<7x2x4x5xf32, #sluice.dim<3>>
  return %r : tensor<7x2x4x5xf32, #sluice.dim<3>>
}

// [4 3!], constant [3] -> [4!]
// CHECK-LABEL: func.func @constant_vector_right(
// CHECK-SAME: %{{.*}}: tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<4xbf16, #sluice<[4!]>>
func.func @constant_vector_right(%x: tensor<4x3xf32, #sluice.dim<1>>) -> tensor<4xf32> {
  %y = sluice.constant dense<1.0> : tensor<3xf32>
  %r = sluice.matmul %x, %y : (tensor<4x3xf32, #sluice.dim<1>>, tensor<3xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// [4 3!], constant [3] -> [4!], from the result
// CHECK-LABEL: func.func @constant_vector_right_back(
// CHECK-SAME: %{{.*}}: tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<4xbf16, #sluice<[4!]>>
func.func @constant_vector_right_back(%x: tensor<4x3xf32>) -> tensor<4xf32, #sluice.dim<0>> {
  %y = sluice.constant dense<1.0> : tensor<3xf32>
  %r = sluice.matmul %x, %y : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4xf32, #sluice.dim<0>>
  return %r : tensor<4xf32, #sluice.dim<0>>
}

// [3!], constant [3] -> rank-0 []
// CHECK-LABEL: func.func @dot(
// CHECK-SAME: %{{.*}}: tensor<3xbf16, #sluice<[3!]>>) -> tensor<bf16, #sluice<[1!]>>
func.func @dot(%x: tensor<3xf32, #sluice.dim<0>>) -> tensor<f32> {
  %y = sluice.constant dense<1.0> : tensor<3xf32>
  %r = sluice.matmul %x, %y : (tensor<3xf32, #sluice.dim<0>>, tensor<3xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

// [3!], constant [3] -> rank-0 [], from the result
// CHECK-LABEL: func.func @dot_back(
// CHECK-SAME: %{{.*}}: tensor<3xbf16, #sluice<[3!]>>) -> tensor<bf16, #sluice<[1!]>>
func.func @dot_back(%x: tensor<3xf32>) -> tensor<f32, #sluice.dim<0>> {
  %y = sluice.constant dense<1.0> : tensor<3xf32>
  %r = sluice.matmul %x, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32, #sluice.dim<0>>
  return %r : tensor<f32, #sluice.dim<0>>
}

// [4 3!], constant [5 3] -> [4 5!]
// CHECK-LABEL: func.func @contract(
// CHECK-SAME: %{{.*}}: tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<4x5xbf16, #sluice<[4 5!]>>
func.func @contract(%x: tensor<4x3xf32, #sluice.dim<1>>) -> tensor<4x5xf32> {
  %y = sluice.constant dense<1.0> : tensor<5x3xf32>
  %r = sluice.contract [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] %x, %y : (tensor<4x3xf32, #sluice.dim<1>>, tensor<5x3xf32>) -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}

// [4 3!], constant [5 3] -> [4 5!], from the result
// CHECK-LABEL: func.func @contract_back(
// CHECK-SAME: %{{.*}}: tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<4x5xbf16, #sluice<[4 5!]>>
func.func @contract_back(%x: tensor<4x3xf32>) -> tensor<4x5xf32, #sluice.dim<1>> {
  %y = sluice.constant dense<1.0> : tensor<5x3xf32>
  %r = sluice.contract [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] %x, %y : (tensor<4x3xf32>, tensor<5x3xf32>) -> tensor<4x5xf32, #sluice.dim<1>>
  return %r : tensor<4x5xf32, #sluice.dim<1>>
}
