// RUN: sluice-opt %s --pass-pipeline='builtin.module(func.func(sluice-merge-axes{lanes=8}))' | FileCheck %s

// CHECK-DAG: affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-NOT: affine_map

// What is done to each element is done to all axes as one.
// CHECK-LABEL: func.func @pointwise(
// CHECK-SAME: %[[X:.*]]: tensor<24xbf16, #sluice<[24!]>> {sluice.name = "x"}) -> tensor<24xbf16, #sluice<[24!]>>
// CHECK: %[[C:.*]] = sluice.reshape %{{.*}} : (tensor<2x3x4xf32>) -> tensor<24xf32>
// CHECK: sluice.map (%{{.*}} = %[[X]], %{{.*}} = %[[C]]) {sluice.tensor = "y", sluice.tensor_shape = array<i64: 2, 3, 4>}
func.func @pointwise(%x: tensor<2x3x4xbf16, #sluice<[2 3 4!]>> {sluice.name = "x"}) -> tensor<2x3x4xbf16, #sluice<[2 3 4!]>> {
  %c = sluice.constant dense<2.0> : tensor<2x3x4xf32>
  %0 = sluice.map (%a = %x, %b = %c) {sluice.tensor = "y"} : (tensor<2x3x4xbf16, #sluice<[2 3 4!]>>, tensor<2x3x4xf32>) -> tensor<2x3x4xbf16, #sluice<[2 3 4!]>> {
    %1 = arith.mulf %a, %b : f32
    sluice.yield %1
  }
  return %0 : tensor<2x3x4xbf16, #sluice<[2 3 4!]>>
}

// A softmax over the axis in front tells that one from the others, not those from each other.
// CHECK-LABEL: func.func @reduced(
// CHECK-SAME: %[[X:.*]]: tensor<5x12xbf16, #sluice<[5 12!]>>) -> tensor<5x12xbf16, #sluice<[5 12!]>>
// CHECK: %[[M:.*]] = sluice.reduce max %[[X]] axes [0] keepdims : {{.*}} -> tensor<1x12xbf16, #sluice<[1 12!]>>
// CHECK: sluice.broadcast %[[M]] : {{.*}} -> tensor<5x12xbf16, #sluice<[5 12!]>>
func.func @reduced(%x: tensor<5x3x4xbf16, #sluice<[5 3 4!]>>) -> tensor<5x3x4xbf16, #sluice<[5 3 4!]>> {
  %0 = sluice.reduce max %x axes [0] keepdims : (tensor<5x3x4xbf16, #sluice<[5 3 4!]>>) -> tensor<1x3x4xbf16, #sluice<[1 3 4!]>>
  %1 = sluice.broadcast %0 : (tensor<1x3x4xbf16, #sluice<[1 3 4!]>>) -> tensor<5x3x4xbf16, #sluice<[5 3 4!]>>
  return %1 : tensor<5x3x4xbf16, #sluice<[5 3 4!]>>
}

// Axes that are reduced together stay together where they are kept.
// CHECK-LABEL: func.func @kept(
// CHECK: sluice.reduce sum %{{.*}} axes [1] keepdims : (tensor<2x12xbf16, #sluice<[2 12!]>>) -> tensor<2x1xbf16, #sluice<[2 1!]>>
func.func @kept(%x: tensor<2x3x4xbf16, #sluice<[2 3 4!]>>) -> tensor<2x1x1xbf16, #sluice<[2 1 1!]>> {
  %0 = sluice.reduce sum %x axes [1, 2] keepdims : (tensor<2x3x4xbf16, #sluice<[2 3 4!]>>) -> tensor<2x1x1xbf16, #sluice<[2 1 1!]>>
  return %0 : tensor<2x1x1xbf16, #sluice<[2 1 1!]>>
}

// A reshape is gone, and no lanes move for it.
// CHECK-LABEL: func.func @flattened(
// CHECK-SAME: %[[X:.*]]: tensor<1x12xbf16, #sluice<[1 12!]>>)
// CHECK-NOT: sluice.reshape
// CHECK: sluice.map (%{{.*}} = %[[X]])
func.func @flattened(%x: tensor<1x3x4xbf16, #sluice<[1 3 4!]>>) -> tensor<1x12xbf16, #sluice<[1 12!]>> {
  %0 = sluice.reshape %x : (tensor<1x3x4xbf16, #sluice<[1 3 4!]>>) -> tensor<1x12xbf16, #sluice<[1 12!]>>
  %1 = sluice.map (%a = %0) : (tensor<1x12xbf16, #sluice<[1 12!]>>) -> tensor<1x12xbf16, #sluice<[1 12!]>> {
    %2 = math.exp %a : f32
    sluice.yield %2
  }
  return %1 : tensor<1x12xbf16, #sluice<[1 12!]>>
}

// A product that sums over neighbours sums over one axis.
// CHECK-LABEL: func.func @summed(
// CHECK: sluice.contract [#[[L:.*]], #[[R:.*]], #[[O:.*]]] %{{.*}}, %{{.*}} : (tensor<2x15xbf16, #sluice<[2 15!]>>, tensor<15x6xf32>) -> tensor<2x6xbf16, #sluice<[2 6!]>>
func.func @summed(%x: tensor<2x3x5xbf16, #sluice<[2 3 5!]>>) -> tensor<2x6xbf16, #sluice<[2 6!]>> {
  %w = sluice.constant dense<1.0> : tensor<3x5x6xf32>
  %0 = sluice.contract [affine_map<(b, i, j, k) -> (b, i, j)>, affine_map<(b, i, j, k) -> (i, j, k)>, affine_map<(b, i, j, k) -> (b, k)>] %x, %w
    : (tensor<2x3x5xbf16, #sluice<[2 3 5!]>>, tensor<3x5x6xf32>) -> tensor<2x6xbf16, #sluice<[2 6!]>>
  return %0 : tensor<2x6xbf16, #sluice<[2 6!]>>
}

// Rows that are full take no axis in.
// CHECK-LABEL: func.func @full(
// CHECK-SAME: tensor<3x16xbf16, #sluice<[3 16!]>>
func.func @full(%x: tensor<3x16xbf16, #sluice<[3 16!]>>) -> tensor<3x16xbf16, #sluice<[3 16!]>> {
  %0 = sluice.map (%a = %x) : (tensor<3x16xbf16, #sluice<[3 16!]>>) -> tensor<3x16xbf16, #sluice<[3 16!]>> {
    %1 = math.exp %a : f32
    sluice.yield %1
  }
  return %0 : tensor<3x16xbf16, #sluice<[3 16!]>>
}

// No more axes than nearly the fewest rows take: the others are one for loops to run along.
// CHECK-LABEL: func.func @enough(
// CHECK-SAME: tensor<30x8xbf16, #sluice<[30 8!]>>
func.func @enough(%x: tensor<5x6x2x4xbf16, #sluice<[5 6 2 4!]>>) -> tensor<5x6x2x4xbf16, #sluice<[5 6 2 4!]>> {
  %0 = sluice.map (%a = %x) : (tensor<5x6x2x4xbf16, #sluice<[5 6 2 4!]>>) -> tensor<5x6x2x4xbf16, #sluice<[5 6 2 4!]>> {
    %1 = math.exp %a : f32
    sluice.yield %1
  }
  return %0 : tensor<5x6x2x4xbf16, #sluice<[5 6 2 4!]>>
}

// What is known at compile time has the shape that each reader wants.
// CHECK-LABEL: func.func @known(
// CHECK: %[[V:.*]] = sluice.reshape %{{.*}} : (tensor<6xf32>) -> tensor<2x3xf32>
// CHECK: %[[W:.*]] = sluice.reshape %[[V]] : (tensor<2x3xf32>) -> tensor<6xf32>
// CHECK: sluice.map (%{{.*}} = %{{.*}}, %{{.*}} = %[[W]])
func.func @known(%x: tensor<2x3xbf16, #sluice<[2 3!]>>) -> tensor<2x3xbf16, #sluice<[2 3!]>> {
  %c = sluice.constant dense<2.0> : tensor<6xf32>
  %v = sluice.reshape %c : (tensor<6xf32>) -> tensor<2x3xf32>
  %0 = sluice.map (%a = %x, %b = %v) : (tensor<2x3xbf16, #sluice<[2 3!]>>, tensor<2x3xf32>) -> tensor<2x3xbf16, #sluice<[2 3!]>> {
    %1 = arith.mulf %a, %b : f32
    sluice.yield %1
  }
  return %0 : tensor<2x3xbf16, #sluice<[2 3!]>>
}

// Pinned.
// CHECK-LABEL: func.func @pinned(
// CHECK-SAME: tensor<2x3xbf16, #sluice<[2 3!]>> {sluice.pinned})
func.func @pinned(%x: tensor<2x3xbf16, #sluice<[2 3!]>> {sluice.pinned}) -> tensor<2x3xbf16, #sluice<[2 3!]>> {
  %0 = sluice.map (%a = %x) : (tensor<2x3xbf16, #sluice<[2 3!]>>) -> tensor<2x3xbf16, #sluice<[2 3!]>> {
    %1 = math.exp %a : f32
    sluice.yield %1
  }
  return %0 : tensor<2x3xbf16, #sluice<[2 3!]>>
}

// What takes part of an axis, moves it, or reads windows along it tells it from its neighbours.
// CHECK-LABEL: func.func @parts(
// CHECK-SAME: tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<2x3xbf16, #sluice<[2 3!]>>
func.func @parts(%x: tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<2x3xbf16, #sluice<[2 3!]>> {
  %0 = sluice.slice %x starts [1, 0] sizes [2, 3] steps [1, 1] : (tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<2x3xbf16, #sluice<[2 3!]>>
  return %0 : tensor<2x3xbf16, #sluice<[2 3!]>>
}

// CHECK-LABEL: func.func @moved(
// CHECK-SAME: tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<3x4xbf16, #sluice<[3! 4]>>
func.func @moved(%x: tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<3x4xbf16, #sluice<[3! 4]>> {
  %0 = sluice.transpose %x [1, 0] : (tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<3x4xbf16, #sluice<[3! 4]>>
  return %0 : tensor<3x4xbf16, #sluice<[3! 4]>>
}

// CHECK-LABEL: func.func @rotated(
// CHECK-SAME: tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<4x3xbf16, #sluice<[4 3!]>>
func.func @rotated(%x: tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<4x3xbf16, #sluice<[4 3!]>> {
  %0 = sluice.view %x pieces [#sluice.piece<0 loops[3, 3] from (i, j) -> (i + 1, j) to (i, j) -> (i, j)>,
    #sluice.piece<0 loops[1, 3] from (i, j) -> (i, j) to (i, j) -> (i + 3, j)>] : (tensor<4x3xbf16, #sluice<[4 3!]>>) -> tensor<4x3xbf16, #sluice<[4 3!]>>
  return %0 : tensor<4x3xbf16, #sluice<[4 3!]>>
}

// Axes beside others that are moved together go with them.
// CHECK-LABEL: func.func @beside(
// CHECK: sluice.transpose %{{.*}} [1, 0] : (tensor<3x6xbf16, #sluice<[3 6!]>>) -> tensor<6x3xbf16, #sluice<[6! 3]>>
// CHECK: sluice.pad %{{.*}} low [0, 1] high [0, 0] value 0.000000e+00 : (tensor<6x3xbf16, #sluice<[6! 3]>>) -> tensor<6x4xbf16, #sluice<[6! 4]>>
// CHECK: sluice.concat %{{.*}}, %{{.*}} axis 1 : {{.*}} -> tensor<6x8xbf16, #sluice<[6! 8]>>
func.func @beside(%x: tensor<3x2x3xbf16, #sluice<[3 2 3!]>>) -> tensor<2x3x8xbf16, #sluice<[2 3! 8]>> {
  %0 = sluice.transpose %x [1, 2, 0] : (tensor<3x2x3xbf16, #sluice<[3 2 3!]>>) -> tensor<2x3x3xbf16, #sluice<[2 3! 3]>>
  %1 = sluice.pad %0 low [0, 0, 1] high [0, 0, 0] value 0.0 : (tensor<2x3x3xbf16, #sluice<[2 3! 3]>>) -> tensor<2x3x4xbf16, #sluice<[2 3! 4]>>
  %2 = sluice.concat %1, %1 axis 2 : (tensor<2x3x4xbf16, #sluice<[2 3! 4]>>, tensor<2x3x4xbf16, #sluice<[2 3! 4]>>) -> tensor<2x3x8xbf16, #sluice<[2 3! 8]>>
  return %2 : tensor<2x3x8xbf16, #sluice<[2 3! 8]>>
}
