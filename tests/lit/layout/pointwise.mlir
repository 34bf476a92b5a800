// DD-PW and DD-BCAST: every accepted form, from the operands and from the result.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension))" | FileCheck %s

// [2 3! 4], [2 3! 4] -> [2 3! 4]
// CHECK-LABEL: func.func @pw_binary(
// CHECK-SAME: %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3! 4]>>, %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3! 4]>>) -> tensor<2x3x4xbf16, #sluice<[2 3! 4]>>
func.func @pw_binary(%x: tensor<2x3x4xf32, #sluice.dim<1>>, %y: tensor<2x3x4xf32, #sluice.dim<1>>) -> tensor<2x3x4xf32> {
  %r = sluice.map (%a = %x, %b = %y) : (tensor<2x3x4xf32, #sluice.dim<1>>, tensor<2x3x4xf32, #sluice.dim<1>>) -> tensor<2x3x4xf32> {
    %s = arith.addf %a, %b : f32
    sluice.yield %s
  }
  return %r : tensor<2x3x4xf32>
}

// [2 3! 4], [2 3! 4] -> [2 3! 4], from the result
// CHECK-LABEL: func.func @pw_binary_back(
// CHECK-SAME: %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3! 4]>>, %{{.*}}: tensor<2x3x4xbf16, #sluice<[2 3! 4]>>) -> tensor<2x3x4xbf16, #sluice<[2 3! 4]>>
func.func @pw_binary_back(%x: tensor<2x3x4xf32>, %y: tensor<2x3x4xf32>) -> tensor<2x3x4xf32, #sluice.dim<1>> {
  %r = sluice.map (%a = %x, %b = %y) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32, #sluice.dim<1>> {
    %s = arith.addf %a, %b : f32
    sluice.yield %s
  }
  return %r : tensor<2x3x4xf32, #sluice.dim<1>>
}

// [2! 3] -> [2! 3]
// CHECK-LABEL: func.func @pw_unary(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<2x3xbf16, #sluice<[2! 3]>>
func.func @pw_unary(%x: tensor<2x3xf32, #sluice.dim<0>>) -> tensor<2x3xf32> {
  %r = sluice.map (%a = %x) : (tensor<2x3xf32, #sluice.dim<0>>) -> tensor<2x3xf32> {
    %s = math.exp %a : f32
    sluice.yield %s
  }
  return %r : tensor<2x3xf32>
}

// [2! 3] -> [2! 3], from the result
// CHECK-LABEL: func.func @pw_unary_back(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<2x3xbf16, #sluice<[2! 3]>>
func.func @pw_unary_back(%x: tensor<2x3xf32>) -> tensor<2x3xf32, #sluice.dim<0>> {
  %r = sluice.map (%a = %x) : (tensor<2x3xf32>) -> tensor<2x3xf32, #sluice.dim<0>> {
    %s = math.exp %a : f32
    sluice.yield %s
  }
  return %r : tensor<2x3xf32, #sluice.dim<0>>
}

// [2! 3], constant [2 3] -> [2! 3]
// CHECK-LABEL: func.func @pw_constant_right(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<2x3xbf16, #sluice<[2! 3]>>
func.func @pw_constant_right(%x: tensor<2x3xf32, #sluice.dim<0>>) -> tensor<2x3xf32> {
  %y = sluice.constant dense<1.0> : tensor<2x3xf32>
  %r = sluice.map (%a = %x, %b = %y) : (tensor<2x3xf32, #sluice.dim<0>>, tensor<2x3xf32>) -> tensor<2x3xf32> {
    %s = arith.addf %a, %b : f32
    sluice.yield %s
  }
  return %r : tensor<2x3xf32>
}

// [2! 3], constant [2 3] -> [2! 3], from the result
// CHECK-LABEL: func.func @pw_constant_right_back(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<2x3xbf16, #sluice<[2! 3]>>
func.func @pw_constant_right_back(%x: tensor<2x3xf32>) -> tensor<2x3xf32, #sluice.dim<0>> {
  %y = sluice.constant dense<1.0> : tensor<2x3xf32>
  %r = sluice.map (%a = %x, %b = %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32, #sluice.dim<0>> {
    %s = arith.addf %a, %b : f32
    sluice.yield %s
  }
  return %r : tensor<2x3xf32, #sluice.dim<0>>
}

// constant [2 3], [2! 3] -> [2! 3]
// CHECK-LABEL: func.func @pw_constant_left(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<2x3xbf16, #sluice<[2! 3]>>
func.func @pw_constant_left(%y: tensor<2x3xf32, #sluice.dim<0>>) -> tensor<2x3xf32> {
  %x = sluice.constant dense<1.0> : tensor<2x3xf32>
  %r = sluice.map (%a = %x, %b = %y) : (tensor<2x3xf32>, tensor<2x3xf32, #sluice.dim<0>>) -> tensor<2x3xf32> {
    %s = arith.addf %a, %b : f32
    sluice.yield %s
  }
  return %r : tensor<2x3xf32>
}

// constant [2 3], [2! 3] -> [2! 3], from the result
// CHECK-LABEL: func.func @pw_constant_left_back(
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<2x3xbf16, #sluice<[2! 3]>>
func.func @pw_constant_left_back(%y: tensor<2x3xf32>) -> tensor<2x3xf32, #sluice.dim<0>> {
  %x = sluice.constant dense<1.0> : tensor<2x3xf32>
  %r = sluice.map (%a = %x, %b = %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32, #sluice.dim<0>> {
    %s = arith.addf %a, %b : f32
    sluice.yield %s
  }
  return %r : tensor<2x3xf32, #sluice.dim<0>>
}

// rank-0 [] -> rank-0 []
// CHECK-LABEL: func.func @pw_scalar(
// CHECK-SAME: %{{.*}}: tensor<bf16, #sluice<[1!]>>) -> tensor<bf16, #sluice<[1!]>>
func.func @pw_scalar(%x: tensor<f32, #sluice.dim<0>>) -> tensor<f32> {
  %r = sluice.map (%a = %x) : (tensor<f32, #sluice.dim<0>>) -> tensor<f32> {
    %s = math.exp %a : f32
    sluice.yield %s
  }
  return %r : tensor<f32>
}

// rank-0 [] -> rank-0 [], from the result
// CHECK-LABEL: func.func @pw_scalar_back(
// CHECK-SAME: %{{.*}}: tensor<bf16, #sluice<[1!]>>) -> tensor<bf16, #sluice<[1!]>>
func.func @pw_scalar_back(%x: tensor<f32>) -> tensor<f32, #sluice.dim<0>> {
  %r = sluice.map (%a = %x) : (tensor<f32>) -> tensor<f32, #sluice.dim<0>> {
    %s = math.exp %a : f32
    sluice.yield %s
  }
  return %r : tensor<f32, #sluice.dim<0>>
}

// [1 3!] -> [2 3!]
// CHECK-LABEL: func.func @bcast_off(
// CHECK-SAME: %{{.*}}: tensor<1x3xbf16, #sluice<[1 3!]>>) -> tensor<2x3xbf16, #sluice<[2 3!]>>
func.func @bcast_off(%x: tensor<1x3xf32, #sluice.dim<1>>) -> tensor<2x3xf32> {
  %r = sluice.broadcast %x : (tensor<1x3xf32, #sluice.dim<1>>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// [1 3!] -> [2 3!], from the result
// CHECK-LABEL: func.func @bcast_off_back(
// CHECK-SAME: %{{.*}}: tensor<1x3xbf16, #sluice<[1 3!]>>) -> tensor<2x3xbf16, #sluice<[2 3!]>>
func.func @bcast_off_back(%x: tensor<1x3xf32>) -> tensor<2x3xf32, #sluice.dim<1>> {
  %r = sluice.broadcast %x : (tensor<1x3xf32>) -> tensor<2x3xf32, #sluice.dim<1>>
  return %r : tensor<2x3xf32, #sluice.dim<1>>
}

// [3 1!] -> [3 4!]
// CHECK-LABEL: func.func @bcast_along(
// CHECK-SAME: %{{.*}}: tensor<3x1xbf16, #sluice<[3 1!]>>) -> tensor<3x4xbf16, #sluice<[3 4!]>>
func.func @bcast_along(%x: tensor<3x1xf32, #sluice.dim<1>>) -> tensor<3x4xf32> {
  %r = sluice.broadcast %x : (tensor<3x1xf32, #sluice.dim<1>>) -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// [3 1!] -> [3 4!], from the result
// CHECK-LABEL: func.func @bcast_along_back(
// CHECK-SAME: %{{.*}}: tensor<3x1xbf16, #sluice<[3 1!]>>) -> tensor<3x4xbf16, #sluice<[3 4!]>>
func.func @bcast_along_back(%x: tensor<3x1xf32>) -> tensor<3x4xf32, #sluice.dim<1>> {
  %r = sluice.broadcast %x : (tensor<3x1xf32>) -> tensor<3x4xf32, #sluice.dim<1>>
  return %r : tensor<3x4xf32, #sluice.dim<1>>
}
