// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-stream{inputs=x=0}))" --split-input-file | FileCheck %s

// Each position reads itself and the two before it: what a step keeps are two rows of keys, two of
// values, and whether those have been; what has not is masked, but for the position itself.
// CHECK-LABEL: @attention(%arg0: tensor<1x4xf32> {sluice.name = "x"}) -> (tensor<1x4xf32> {sluice.name = "y"})
// CHECK: %[[QUERY:.*]] = sluice.transpose %arg0 [1, 0]
// CHECK: %[[KEYS:.*]] = sluice.state : tensor<4x2xf32>
// CHECK: %[[ALL:.*]] = sluice.concat %[[KEYS]], %[[QUERY]] axis 1 : (tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
// CHECK: sluice.matmul %arg0, %[[ALL]] : (tensor<1x4xf32>, tensor<4x3xf32>) -> tensor<1x3xf32>
// CHECK: %[[INSIDE:.*]] = sluice.constant dense<0.000000e+00> : tensor<1x3xf32>
// CHECK: %[[STATE:.*]] = sluice.state : tensor<1x2xf32>
// CHECK: %[[BEEN:.*]] = sluice.concat %[[STATE]], %{{.*}} axis 1 : (tensor<1x2xf32>, tensor<1x1xf32>) -> tensor<1x3xf32>
// CHECK: %[[OUTSIDE:.*]] = sluice.constant dense<{{\[\[}}-1.000000e+09, -1.000000e+09, 0.000000e+00]]> : tensor<1x3xf32>
// CHECK: sluice.map (%{{.*}} = %[[BEEN]], %{{.*}} = %[[INSIDE]], %{{.*}} = %[[OUTSIDE]])
// CHECK: sluice.reduce max %{{.*}} axes [1] keepdims : (tensor<1x3xf32>) -> tensor<1x1xf32>
// CHECK: sluice.reduce sum %{{.*}} axes [1] keepdims : (tensor<1x3xf32>) -> tensor<1x1xf32>
// CHECK: %[[VALUES:.*]] = sluice.concat %{{.*}}, %arg0 axis 0 : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
// CHECK: sluice.matmul %{{.*}}, %[[VALUES]] : (tensor<1x3xf32>, tensor<3x4xf32>) -> tensor<1x4xf32>
func.func @attention(%x: tensor<5x4xf32> {sluice.name = "x"}) -> (tensor<5x4xf32> {sluice.name = "y"}) {
  %t = sluice.transpose %x [1, 0] : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %s = sluice.matmul %x, %t : (tensor<5x4xf32>, tensor<4x5xf32>) -> tensor<5x5xf32>
  %c = sluice.constant dense<[[0.0, -1.0e9, -1.0e9, -1.0e9, -1.0e9], [0.0, 0.0, -1.0e9, -1.0e9, -1.0e9],
                              [0.0, 0.0, 0.0, -1.0e9, -1.0e9], [-1.0e9, 0.0, 0.0, 0.0, -1.0e9],
                              [-1.0e9, -1.0e9, 0.0, 0.0, 0.0]]> : tensor<5x5xf32>
  %m = sluice.map (%a = %s, %b = %c) : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32> {
    %0 = arith.addf %a, %b : f32
    sluice.yield %0
  }
  %h = sluice.reduce max %m axes [1] keepdims : (tensor<5x5xf32>) -> tensor<5x1xf32>
  %hb = sluice.broadcast %h : (tensor<5x1xf32>) -> tensor<5x5xf32>
  %e = sluice.map (%a = %m, %b = %hb) : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32> {
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    sluice.yield %1
  }
  %n = sluice.reduce sum %e axes [1] keepdims : (tensor<5x5xf32>) -> tensor<5x1xf32>
  %nb = sluice.broadcast %n : (tensor<5x1xf32>) -> tensor<5x5xf32>
  %w = sluice.map (%a = %e, %b = %nb) : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32> {
    %0 = arith.divf %a, %b : f32
    sluice.yield %0
  }
  %y = sluice.matmul %w, %x : (tensor<5x5xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// -----

// The same with the positions along the other axis of the scores.
// CHECK-LABEL: @transposed(%arg0: tensor<1x4xf32>
// CHECK: sluice.matmul %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4x1xf32>) -> tensor<2x1xf32>
// CHECK: sluice.reduce sum %{{.*}} axes [0] keepdims : (tensor<2x1xf32>) -> tensor<1x1xf32>
func.func @transposed(%x: tensor<3x4xf32> {sluice.name = "x"}) -> (tensor<1x3xf32> {sluice.name = "y"}) {
  %t = sluice.transpose %x [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %s = sluice.matmul %x, %t : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  %c = sluice.constant dense<[[0.0, 0.0, -1.0e9], [-1.0e9, 0.0, 0.0], [-1.0e9, -1.0e9, 0.0]]> : tensor<3x3xf32>
  %e = sluice.map (%a = %s, %b = %c) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32> {
    %0 = arith.addf %a, %b : f32
    %1 = math.exp %0 : f32
    sluice.yield %1
  }
  %n = sluice.reduce sum %e axes [0] keepdims : (tensor<3x3xf32>) -> tensor<1x3xf32>
  return %n : tensor<1x3xf32>
}
