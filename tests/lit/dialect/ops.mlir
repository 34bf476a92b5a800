// Every operation prints what it parses.
// RUN: sluice-opt %s | sluice-opt | FileCheck %s
// RUN: sluice-opt %s --mlir-print-op-generic | sluice-opt | FileCheck %s

// CHECK-DAG: #[[L:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[R:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[O:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-LABEL: func.func @all
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32> {sluice.name = "x"})
func.func @all(%x: tensor<2x3xf32> {sluice.name = "x"}) -> tensor<2x3xf32> {
  // CHECK: sluice.constant dense<{{.*}}> : tensor<4x3xf32>
  %w = sluice.constant dense<1.5> : tensor<4x3xf32>
  // CHECK: sluice.contract [#[[L]], #[[R]], #[[O]]] %[[X]], %{{.*}} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  %0 = sluice.contract [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>,
                        affine_map<(i, j, k) -> (i, j)>] %x, %w
       : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  // CHECK: %[[T:.*]] = sluice.transpose %{{.*}} [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = sluice.transpose %w [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  // CHECK: %[[M:.*]] = sluice.matmul %[[X]], %[[T]] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = sluice.matmul %x, %1 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  // CHECK: sluice.map (%[[A:.*]] = %{{.*}}, %[[B:.*]] = %[[M]]) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[B]] : f32
  // CHECK-NEXT: sluice.yield %[[S]]
  // CHECK-NEXT: }
  %3 = sluice.map (%a = %0, %b = %2) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> {
    %s = arith.addf %a, %b : f32
    sluice.yield %s
  }
  // CHECK: sluice.slice %{{.*}} starts [1, 3] sizes [2, 4] steps [-1, -1] :
  %4 = sluice.slice %3 starts [1, 3] sizes [2, 4] steps [-1, -1] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: sluice.slice %{{.*}} starts [0, 3] sizes [2, 2] steps [1, -2] : (tensor<2x4xf32>) -> tensor<2x2xf32>
  %5 = sluice.slice %4 starts [0, 3] sizes [2, 2] steps [1, -2] : (tensor<2x4xf32>) -> tensor<2x2xf32>
  // CHECK: sluice.concat %{{.*}}, %{{.*}} axis 1 : (tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x6xf32>
  %6 = sluice.concat %5, %4 axis 1 : (tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x6xf32>
  // CHECK: sluice.tile %{{.*}} counts [2, 1] : (tensor<2x6xf32>) -> tensor<4x6xf32>
  %17 = sluice.tile %6 counts [2, 1] : (tensor<2x6xf32>) -> tensor<4x6xf32>
  // CHECK: sluice.repeat %{{.*}} counts [1, 3] : (tensor<4x6xf32>) -> tensor<4x18xf32>
  %18 = sluice.repeat %17 counts [1, 3] : (tensor<4x6xf32>) -> tensor<4x18xf32>
  // CHECK: sluice.interleave %{{.*}}, %{{.*}} axis 1 : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x12xf32>
  %19 = sluice.interleave %6, %6 axis 1 : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x12xf32>
  // CHECK: sluice.view %{{.*}} pieces [#sluice.piece<0 loops[2, 6] from (d0, d1) -> (d0, -d1 + 5) to (d0, d1) -> (d0, d1)>] : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %20 = sluice.view %6 pieces [#sluice.piece<0 loops[2, 6] from (i, j) -> (i, 5 - j) to (i, j) -> (i, j)>] : (tensor<2x6xf32>) -> tensor<2x6xf32>
  // CHECK: sluice.view %{{.*}}, %{{.*}} pieces [#sluice.piece<0 loops[] from () -> (0, 0) to () -> (0)>, #sluice.piece<1 loops[] from () -> (2, 0) to () -> (1)>] outside -1.000000e+00 : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2xf32>
  %21 = sluice.view %6, %6 pieces [#sluice.piece<0 loops[] from () -> (0, 0) to () -> (0)>, #sluice.piece<1 loops[] from () -> (2, 0) to () -> (1)>] outside -1.0 : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2xf32>
  // CHECK: sluice.reshape %{{.*}} : (tensor<2x6xf32>) -> tensor<2x2x3xf32>
  %7 = sluice.reshape %6 : (tensor<2x6xf32>) -> tensor<2x2x3xf32>
  // CHECK: sluice.reduce max %{{.*}} axes [1] : (tensor<2x2x3xf32>) -> tensor<2x3xf32>
  %8 = sluice.reduce max %7 axes [1] : (tensor<2x2x3xf32>) -> tensor<2x3xf32>
  // CHECK: sluice.reduce logsumexp %{{.*}} axes [0, 1] keepdims : (tensor<2x3xf32>) -> tensor<1x1xf32>
  %9 = sluice.reduce logsumexp %8 axes [0, 1] keepdims : (tensor<2x3xf32>) -> tensor<1x1xf32>
  // CHECK: sluice.squeeze %{{.*}} axes [0, 1] : (tensor<1x1xf32>) -> tensor<f32>
  %10 = sluice.squeeze %9 axes [0, 1] : (tensor<1x1xf32>) -> tensor<f32>
  // CHECK: sluice.unsqueeze %{{.*}} axes [0, 1] : (tensor<f32>) -> tensor<1x1xf32>
  %11 = sluice.unsqueeze %10 axes [0, 1] : (tensor<f32>) -> tensor<1x1xf32>
  // CHECK: sluice.pad %{{.*}} low [1, 0] high [0, 2] value -1.000000e+00 : (tensor<1x1xf32>) -> tensor<2x3xf32>
  %12 = sluice.pad %11 low [1, 0] high [0, 2] value -1.0 : (tensor<1x1xf32>) -> tensor<2x3xf32>
  // CHECK: sluice.broadcast %{{.*}} : (tensor<1x1xf32>) -> tensor<2x3xf32>
  %13 = sluice.broadcast %11 : (tensor<1x1xf32>) -> tensor<2x3xf32>
  // CHECK: sluice.window %{{.*}} axes [1] sizes [2] counts [3] starts [-1] strides [2] dilations [1] value 0.000000e+00 : (tensor<2x3xf32>) -> tensor<2x3x2xf32>
  %14 = sluice.window %13 axes [1] sizes [2] counts [3] starts [-1] strides [2] dilations [1] value 0.0 : (tensor<2x3xf32>) -> tensor<2x3x2xf32>
  // CHECK: sluice.contract banded [#{{.*}}, #{{.*}}, #{{.*}}] %{{.*}}, %{{.*}} : (tensor<2x3x2xf32>, tensor<2x3xf32>) -> tensor<3x2xf32>
  %15 = sluice.contract banded [affine_map<(i, j, k) -> (k, i, j)>, affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (i, j)>] %14, %13 : (tensor<2x3x2xf32>, tensor<2x3xf32>) -> tensor<3x2xf32>
  return %12 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @laid_out
// CHECK-SAME: tensor<2x3xbf16, #sluice.dim<1>>
func.func @laid_out(%x: tensor<2x3xbf16, #sluice.dim<1>>, %s: tensor<bf16, #sluice.dim<0>>)
    -> tensor<3x2xbf16, #sluice.dim<0>> {
  %0 = sluice.transpose %x [1, 0]
       : (tensor<2x3xbf16, #sluice.dim<1>>) -> tensor<3x2xbf16, #sluice.dim<0>>
  return %0 : tensor<3x2xbf16, #sluice.dim<0>>
}

// The data dimension, with the extents or without.
// CHECK-LABEL: func.func private @data_dimension(tensor<2x3x4xbf16, #sluice<[2 3! 4]>>, tensor<f32, #sluice<[1!]>>, tensor<2x3xf32, #sluice.dim<0>>)
func.func private @data_dimension(tensor<2x3x4xbf16, #sluice<[2  3! 4]>>, tensor<f32, #sluice<[1!]>>, tensor<2x3xf32, #sluice.dim<0>>)

// CHECK-LABEL: func.func @loop
// CHECK-SAME: (%[[H:.*]]: tensor<4xf32>, %[[X:.*]]: tensor<3x4xf32>, %[[Z:.*]]: tensor<4x3x2xf32>)
func.func @loop(%h: tensor<4xf32>, %x: tensor<3x4xf32>, %z: tensor<4x3x2xf32>)
    -> (tensor<4xf32>, tensor<4x3xf32>, tensor<3x4x2xf32>) {
  // CHECK: %{{.*}}:3 = sluice.loop 3 carry (%[[S:.*]] = %[[H]] : tensor<4xf32>) slice (%[[E:.*]] = %[[X]] axis 0 : tensor<3x4xf32>, %[[F:.*]] = %[[Z]] axis 1 reversed : tensor<4x3x2xf32>) stack [1 reversed, 0] -> (tensor<4xf32>, tensor<4x3xf32>, tensor<3x4x2xf32>) {
  %0:3 = sluice.loop 3 carry (%s = %h : tensor<4xf32>)
      slice (%e = %x axis 0 : tensor<3x4xf32>, %f = %z axis 1 reversed : tensor<4x3x2xf32>) stack [1 reversed, 0]
      -> (tensor<4xf32>, tensor<4x3xf32>, tensor<3x4x2xf32>) {
    %n = sluice.slice %e starts [3] sizes [4] steps [-1] : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: sluice.next %{{.*}}, %[[S]], %[[F]] : tensor<4xf32>, tensor<4xf32>, tensor<4x2xf32>
    sluice.next %n, %s, %f : tensor<4xf32>, tensor<4xf32>, tensor<4x2xf32>
  }
  // CHECK: sluice.loop 1 stack [0] -> (tensor<1x4xf32>) {
  // CHECK-NEXT: sluice.next %[[H]] : tensor<4xf32>
  %1 = sluice.loop 1 stack [0] -> (tensor<1x4xf32>) {
    sluice.next %h : tensor<4xf32>
  }
  return %0#0, %0#1, %0#2 : tensor<4xf32>, tensor<4x3xf32>, tensor<3x4x2xf32>
}
