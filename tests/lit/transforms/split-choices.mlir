// RUN: sluice-opt %s --pass-pipeline='builtin.module(func.func(sluice-split-choices{lanes=2}))' | FileCheck %s

// Rows 0 and 2 are those of x, row 1 that of z.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:.*]]: tensor<3x2xf32, #sluice<[3 2!]>>, %[[Z:.*]]: tensor<3x2xf32, #sluice<[3 2!]>>
// CHECK-SAME: attributes {sluice.split_choices}
// CHECK-DAG: %[[A:.*]] = sluice.slice %[[X]] starts [0, 0] sizes [1, 2]
// CHECK-DAG: %[[B:.*]] = sluice.slice %[[Z]] starts [1, 0] sizes [1, 2]
// CHECK-DAG: %[[C:.*]] = sluice.slice %[[X]] starts [2, 0] sizes [1, 2]
// CHECK: %[[Y:.*]] = sluice.concat %[[A]], %[[B]], %[[C]] axis 0 {sluice.tensor = "y"}
// CHECK-NOT: sluice.map
// CHECK: return %[[Y]]
func.func @rows(%x: tensor<3x2xf32, #sluice<[3 2!]>>, %z: tensor<3x2xf32, #sluice<[3 2!]>>) -> tensor<3x2xf32, #sluice<[3 2!]>> {
  %c = sluice.constant dense<[[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]> : tensor<3x2xf32>
  %0 = sluice.map (%m = %c, %a = %x, %b = %z) {sluice.tensor = "y"} : (tensor<3x2xf32>, tensor<3x2xf32, #sluice<[3 2!]>>, tensor<3x2xf32, #sluice<[3 2!]>>) -> tensor<3x2xf32, #sluice<[3 2!]>> {
    %zero = arith.constant 0.0 : f32
    %1 = arith.cmpf une, %m, %zero : f32
    %2 = arith.select %1, %a, %b : f32
    sluice.yield %2
  }
  return %0 : tensor<3x2xf32, #sluice<[3 2!]>>
}

// Two rows along the data dimension, the second of which has one element. The select within the
// first row stays.
// CHECK-LABEL: func.func @lanes(
// CHECK-SAME: %[[X:.*]]: tensor<3x2xf32, #sluice<[3! 2]>>)
// CHECK-DAG: %[[R:.*]] = sluice.slice %[[X]] starts [2, 0] sizes [1, 2]
// CHECK-DAG: %[[S:.*]] = sluice.slice %[[X]] starts [0, 0] sizes [2, 2]
// CHECK: %[[M:.*]] = sluice.map (%{{.*}} = %{{.*}}, %{{.*}} = %[[S]])
// CHECK: arith.select
// CHECK: sluice.concat %[[M]], %[[R]] axis 0
func.func @lanes(%x: tensor<3x2xf32, #sluice<[3! 2]>>) -> tensor<3x2xf32, #sluice<[3! 2]>> {
  %c = sluice.constant dense<[[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]> : tensor<3x2xf32>
  %0 = sluice.map (%m = %c, %a = %x) : (tensor<3x2xf32>, tensor<3x2xf32, #sluice<[3! 2]>>) -> tensor<3x2xf32, #sluice<[3! 2]>> {
    %zero = arith.constant 0.0 : f32
    %1 = arith.cmpf une, %m, %zero : f32
    %2 = arith.select %1, %a, %zero : f32
    sluice.yield %2
  }
  return %0 : tensor<3x2xf32, #sluice<[3! 2]>>
}

// Only selects within rows: nothing changes.
// CHECK-LABEL: func.func @within(
// CHECK-NOT: sluice.split_choices
// CHECK: sluice.map
// CHECK: arith.select
// CHECK-NOT: sluice.concat
// CHECK: return
func.func @within(%x: tensor<2x2xf32, #sluice<[2 2!]>>) -> tensor<2x2xf32, #sluice<[2 2!]>> {
  %c = sluice.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
  %0 = sluice.map (%m = %c, %a = %x) : (tensor<2x2xf32>, tensor<2x2xf32, #sluice<[2 2!]>>) -> tensor<2x2xf32, #sluice<[2 2!]>> {
    %zero = arith.constant 0.0 : f32
    %1 = arith.cmpf une, %m, %zero : f32
    %2 = arith.select %1, %a, %zero : f32
    sluice.yield %2
  }
  return %0 : tensor<2x2xf32, #sluice<[2 2!]>>
}

// Functions before and after the select are in a map for each operand; all rows of one are in one
// map.
// CHECK-LABEL: func.func @functions(
// CHECK-SAME: %[[X:.*]]: tensor<3x2xf32, #sluice<[3 2!]>>, %[[Z:.*]]: tensor<3x2xf32, #sluice<[3 2!]>>
// CHECK: %[[XS:.*]] = sluice.slice %[[X]] starts [0, 0] sizes [2, 2] steps [2, 1]
// CHECK: %[[OFX:.*]] = sluice.map (%[[A:.*]] = %[[XS]])
// CHECK-NEXT: math.exp %[[A]]
// CHECK-NEXT: math.tanh
// CHECK-NEXT: sluice.yield
// CHECK-DAG: %[[FIRST:.*]] = sluice.slice %[[OFX]] starts [0, 0] sizes [1, 2]
// CHECK-DAG: %[[LAST:.*]] = sluice.slice %[[OFX]] starts [1, 0] sizes [1, 2]
// CHECK-DAG: %[[ZS:.*]] = sluice.slice %[[Z]] starts [1, 0] sizes [1, 2]
// CHECK: %[[OFZ:.*]] = sluice.map (%[[B:.*]] = %[[ZS]])
// CHECK-NEXT: math.tanh %[[B]]
// CHECK-NEXT: sluice.yield
// CHECK: sluice.concat %[[FIRST]], %[[OFZ]], %[[LAST]] axis 0
func.func @functions(%x: tensor<3x2xf32, #sluice<[3 2!]>>, %z: tensor<3x2xf32, #sluice<[3 2!]>>) -> tensor<3x2xf32, #sluice<[3 2!]>> {
  %c = sluice.constant dense<[[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]> : tensor<3x2xf32>
  %0 = sluice.map (%m = %c, %a = %x, %b = %z) : (tensor<3x2xf32>, tensor<3x2xf32, #sluice<[3 2!]>>, tensor<3x2xf32, #sluice<[3 2!]>>) -> tensor<3x2xf32, #sluice<[3 2!]>> {
    %zero = arith.constant 0.0 : f32
    %1 = arith.cmpf une, %m, %zero : f32
    %e = math.exp %a : f32
    %2 = arith.select %1, %e, %b : f32
    %3 = math.tanh %2 : f32
    sluice.yield %3
  }
  return %0 : tensor<3x2xf32, #sluice<[3 2!]>>
}

// Infinity times 0 is NaN: only the rows whose factor is 1 move.
// CHECK-LABEL: func.func @factor(
// CHECK-SAME: %[[X:.*]]: tensor<2x2xf32, #sluice<[2 2!]>>
// CHECK-DAG: %[[ALL:.*]] = sluice.slice %[[X]] starts [1, 0] sizes [1, 2]
// CHECK-DAG: %[[NONE:.*]] = sluice.slice %[[X]] starts [0, 0] sizes [1, 2]
// CHECK: %[[M:.*]] = sluice.map (%{{.*}} = %[[NONE]])
// CHECK: arith.mulf
// CHECK: sluice.concat %[[M]], %[[ALL]] axis 0
func.func @factor(%x: tensor<2x2xf32, #sluice<[2 2!]>>) -> tensor<2x2xf32, #sluice<[2 2!]>> {
  %c = sluice.constant dense<[[0.0, 0.0], [1.0, 1.0]]> : tensor<2x2xf32>
  %0 = sluice.map (%m = %c, %a = %x) : (tensor<2x2xf32>, tensor<2x2xf32, #sluice<[2 2!]>>) -> tensor<2x2xf32, #sluice<[2 2!]>> {
    %1 = arith.mulf %a, %m : f32
    sluice.yield %1
  }
  return %0 : tensor<2x2xf32, #sluice<[2 2!]>>
}

// Any other factor makes it no mask.
// CHECK-LABEL: func.func @scale(
// CHECK-NOT: sluice.slice
// CHECK: return
func.func @scale(%x: tensor<2x2xf32, #sluice<[2 2!]>>) -> tensor<2x2xf32, #sluice<[2 2!]>> {
  %c = sluice.constant dense<[[2.0, 2.0], [1.0, 1.0]]> : tensor<2x2xf32>
  %0 = sluice.map (%m = %c, %a = %x) : (tensor<2x2xf32>, tensor<2x2xf32, #sluice<[2 2!]>>) -> tensor<2x2xf32, #sluice<[2 2!]>> {
    %1 = arith.mulf %a, %m : f32
    sluice.yield %1
  }
  return %0 : tensor<2x2xf32, #sluice<[2 2!]>>
}

// A scatter of two updates to rows 2 and 0 of three, before the select of what was there.
// CHECK-LABEL: func.func @scatter(
// CHECK-SAME: %[[U:.*]]: tensor<2x3x2xf32, #sluice<[2 3 2!]>>
// CHECK-DAG: %[[A:.*]] = sluice.slice %[[U]] starts [1, 0, 0] sizes [1, 1, 2]
// CHECK-DAG: %[[B:.*]] = sluice.slice %[[U]] starts [0, 2, 0] sizes [1, 1, 2]
// CHECK-DAG: %[[NONE:.*]] = sluice.constant dense<0.000000e+00> : tensor<1x1x2xf32>
// CHECK: %[[ALL:.*]] = sluice.concat %[[A]], %[[NONE]], %[[B]] axis 1
// CHECK: sluice.squeeze %[[ALL]] axes [0]
// CHECK-NOT: sluice.reduce
// CHECK: return
func.func @scatter(%u: tensor<2x3x2xf32, #sluice<[2 3 2!]>>) -> tensor<3x2xf32, #sluice<[3 2!]>> {
  %c = sluice.constant dense<[[[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]], [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]]> : tensor<2x3x2xf32>
  %0 = sluice.map (%m = %c, %a = %u) : (tensor<2x3x2xf32>, tensor<2x3x2xf32, #sluice<[2 3 2!]>>) -> tensor<2x3x2xf32, #sluice<[2 3 2!]>> {
    %zero = arith.constant 0.0 : f32
    %1 = arith.cmpf une, %m, %zero : f32
    %2 = arith.select %1, %a, %zero : f32
    sluice.yield %2
  }
  %1 = sluice.reduce sum %0 axes [0] : (tensor<2x3x2xf32, #sluice<[2 3 2!]>>) -> tensor<3x2xf32, #sluice<[3 2!]>>
  return %1 : tensor<3x2xf32, #sluice<[3 2!]>>
}

// Two updates of one row are added.
// CHECK-LABEL: func.func @added(
// CHECK-SAME: %[[U:.*]]: tensor
// CHECK: sluice.reduce sum %[[U]]
func.func @added(%u: tensor<2x2xf32, #sluice<[2 2!]>>) -> tensor<2xf32, #sluice<[2!]>> {
  %c = sluice.constant dense<1.0> : tensor<2x2xf32>
  %0 = sluice.map (%m = %c, %a = %u) : (tensor<2x2xf32>, tensor<2x2xf32, #sluice<[2 2!]>>) -> tensor<2x2xf32, #sluice<[2 2!]>> {
    %zero = arith.constant 0.0 : f32
    %1 = arith.cmpf une, %m, %zero : f32
    %2 = arith.select %1, %a, %zero : f32
    sluice.yield %2
  }
  %1 = sluice.reduce sum %0 axes [0] : (tensor<2x2xf32, #sluice<[2 2!]>>) -> tensor<2xf32, #sluice<[2!]>>
  return %1 : tensor<2xf32, #sluice<[2!]>>
}

// A product whose sums only the map reads: the map reads them before they are rounded to rows.
// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[X:.*]]: tensor
// CHECK-DAG: %[[S:.*]] = sluice.slice %[[X]] starts [0, 0] sizes [1, 2]
// CHECK: %[[P:.*]] = sluice.matmul %[[S]]
// CHECK: %[[E:.*]] = sluice.map (%{{.*}} = %[[P]])
// CHECK: sluice.concat %[[E]], %{{.*}} axis 0
func.func @product(%x: tensor<2x2xf32, #sluice<[2 2!]>>) -> tensor<2x2xf32, #sluice<[2 2!]>> {
  %w = sluice.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %c = sluice.constant dense<[[1.0, 1.0], [0.0, 0.0]]> : tensor<2x2xf32>
  %p = sluice.matmul %x, %w : (tensor<2x2xf32, #sluice<[2 2!]>>, tensor<2x2xf32>) -> tensor<2x2xf32, #sluice<[2 2!]>>
  %0 = sluice.map (%m = %c, %a = %p) : (tensor<2x2xf32>, tensor<2x2xf32, #sluice<[2 2!]>>) -> tensor<2x2xf32, #sluice<[2 2!]>> {
    %zero = arith.constant 0.0 : f32
    %1 = arith.cmpf une, %m, %zero : f32
    %e = math.exp %a : f32
    %2 = arith.select %1, %e, %zero : f32
    sluice.yield %2
  }
  return %0 : tensor<2x2xf32, #sluice<[2 2!]>>
}

// Two functions of the sums would need rows of them.
// CHECK-LABEL: func.func @two(
// CHECK: arith.select
// CHECK-NOT: sluice.concat
// CHECK: return
func.func @two(%x: tensor<2x2xf32, #sluice<[2 2!]>>) -> tensor<2x2xf32, #sluice<[2 2!]>> {
  %w = sluice.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %c = sluice.constant dense<[[1.0, 1.0], [0.0, 0.0]]> : tensor<2x2xf32>
  %p = sluice.matmul %x, %w : (tensor<2x2xf32, #sluice<[2 2!]>>, tensor<2x2xf32>) -> tensor<2x2xf32, #sluice<[2 2!]>>
  %0 = sluice.map (%m = %c, %a = %p) : (tensor<2x2xf32>, tensor<2x2xf32, #sluice<[2 2!]>>) -> tensor<2x2xf32, #sluice<[2 2!]>> {
    %zero = arith.constant 0.0 : f32
    %1 = arith.cmpf une, %m, %zero : f32
    %e = math.exp %a : f32
    %2 = arith.select %1, %e, %a : f32
    sluice.yield %2
  }
  return %0 : tensor<2x2xf32, #sluice<[2 2!]>>
}
