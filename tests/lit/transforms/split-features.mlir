// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-split-features{lanes=8}, canonicalize))" | FileCheck %s

// The gates of a cell: each part of a sum of two products has weights of its own. The rows of all
// steps are multiplied at once.
// CHECK-LABEL: func.func @gates(
// CHECK-SAME: %[[X:.*]]: tensor<3x4xbf16, #sluice<[3 4!]>>, %[[H:.*]]: tensor<1x5xbf16, #sluice<[1 5!]>>
// CHECK: %[[W:.*]] = sluice.constant dense<2.500000e-01> : tensor<4x10xf32>
// CHECK: %[[R:.*]] = sluice.constant dense<5.000000e-01> : tensor<5x10xf32>
// CHECK-DAG: %[[W0:.*]] = sluice.slice %[[W]] starts [0, 0] sizes [4, 5]
// CHECK-DAG: %[[W1:.*]] = sluice.slice %[[W]] starts [0, 5] sizes [4, 5]
// CHECK-DAG: %[[X0:.*]] = sluice.matmul %[[X]], %[[W0]] : {{.*}} -> tensor<3x5xbf16, #sluice<[3 5!]>>
// CHECK-DAG: %[[X1:.*]] = sluice.matmul %[[X]], %[[W1]]
// CHECK-DAG: %[[T0:.*]] = sluice.slice %[[X0]] starts [1, 0] sizes [1, 5]
// CHECK-DAG: %[[T1:.*]] = sluice.slice %[[X1]] starts [1, 0] sizes [1, 5]
// CHECK-DAG: %[[R0:.*]] = sluice.slice %[[R]] starts [0, 0] sizes [5, 5]
// CHECK-DAG: %[[R1:.*]] = sluice.slice %[[R]] starts [0, 5] sizes [5, 5]
// CHECK-DAG: %[[H0:.*]] = sluice.matmul %[[H]], %[[R0]]
// CHECK-DAG: %[[H1:.*]] = sluice.matmul %[[H]], %[[R1]]
// CHECK-DAG: %[[S0:.*]] = sluice.map (%{{.*}} = %[[T0]], %{{.*}} = %[[H0]])
// CHECK-DAG: %[[S1:.*]] = sluice.map (%{{.*}} = %[[T1]], %{{.*}} = %[[H1]])
// CHECK: return %[[S0]], %[[S1]]
func.func @gates(%x: tensor<3x4xbf16, #sluice<[3 4!]>>, %h: tensor<1x5xbf16, #sluice<[1 5!]>>)
    -> (tensor<1x5xbf16, #sluice<[1 5!]>>, tensor<1x5xbf16, #sluice<[1 5!]>>) {
  %w = sluice.constant dense<0.25> : tensor<4x10xf32>
  %r = sluice.constant dense<0.5> : tensor<5x10xf32>
  %all = sluice.matmul %x, %w : (tensor<3x4xbf16, #sluice<[3 4!]>>, tensor<4x10xf32>) -> tensor<3x10xbf16, #sluice<[3 10!]>>
  %own = sluice.slice %all starts [1, 0] sizes [1, 10] steps [1, 1] : (tensor<3x10xbf16, #sluice<[3 10!]>>) -> tensor<1x10xbf16, #sluice<[1 10!]>>
  %product = sluice.matmul %h, %r : (tensor<1x5xbf16, #sluice<[1 5!]>>, tensor<5x10xf32>) -> tensor<1x10xbf16, #sluice<[1 10!]>>
  %sum = sluice.map (%a = %own, %b = %product) : (tensor<1x10xbf16, #sluice<[1 10!]>>, tensor<1x10xbf16, #sluice<[1 10!]>>) -> tensor<1x10xbf16, #sluice<[1 10!]>> {
    %s = arith.addf %a, %b : f32
    sluice.yield %s
  }
  %0 = sluice.slice %sum starts [0, 0] sizes [1, 5] steps [1, 1] : (tensor<1x10xbf16, #sluice<[1 10!]>>) -> tensor<1x5xbf16, #sluice<[1 5!]>>
  %1 = sluice.slice %sum starts [0, 5] sizes [1, 5] steps [1, 1] : (tensor<1x10xbf16, #sluice<[1 10!]>>) -> tensor<1x5xbf16, #sluice<[1 5!]>>
  return %0, %1 : tensor<1x5xbf16, #sluice<[1 5!]>>, tensor<1x5xbf16, #sluice<[1 5!]>>
}

// A slice of a slice: the parts are those of both.
// CHECK-LABEL: func.func @nested(
// CHECK: sluice.slice %[[V:.*]] starts [0, 0] sizes [4, 3]
// CHECK: sluice.matmul
// CHECK: sluice.slice %[[V]] starts [0, 3] sizes [4, 4]
// CHECK: sluice.matmul
// CHECK: sluice.slice %[[V]] starts [0, 7] sizes [4, 5]
// CHECK: sluice.matmul
// CHECK-NOT: sluice.slice
// CHECK-NOT: sluice.matmul
// CHECK: return
func.func @nested(%x: tensor<1x4xbf16, #sluice<[1 4!]>>)
    -> (tensor<1x3xbf16, #sluice<[1 3!]>>, tensor<1x4xbf16, #sluice<[1 4!]>>, tensor<1x5xbf16, #sluice<[1 5!]>>) {
  %v = sluice.constant dense<0.25> : tensor<4x12xf32>
  %p = sluice.matmul %x, %v : (tensor<1x4xbf16, #sluice<[1 4!]>>, tensor<4x12xf32>) -> tensor<1x12xbf16, #sluice<[1 12!]>>
  %two = sluice.slice %p starts [0, 0] sizes [1, 7] steps [1, 1] : (tensor<1x12xbf16, #sluice<[1 12!]>>) -> tensor<1x7xbf16, #sluice<[1 7!]>>
  %both = sluice.map (%a = %two) : (tensor<1x7xbf16, #sluice<[1 7!]>>) -> tensor<1x7xbf16, #sluice<[1 7!]>> {
    %t = math.tanh %a : f32
    sluice.yield %t
  }
  %0 = sluice.slice %both starts [0, 0] sizes [1, 3] steps [1, 1] : (tensor<1x7xbf16, #sluice<[1 7!]>>) -> tensor<1x3xbf16, #sluice<[1 3!]>>
  %1 = sluice.slice %both starts [0, 3] sizes [1, 4] steps [1, 1] : (tensor<1x7xbf16, #sluice<[1 7!]>>) -> tensor<1x4xbf16, #sluice<[1 4!]>>
  %2 = sluice.slice %p starts [0, 7] sizes [1, 5] steps [1, 1] : (tensor<1x12xbf16, #sluice<[1 12!]>>) -> tensor<1x5xbf16, #sluice<[1 5!]>>
  return %0, %1, %2 : tensor<1x3xbf16, #sluice<[1 3!]>>, tensor<1x4xbf16, #sluice<[1 4!]>>, tensor<1x5xbf16, #sluice<[1 5!]>>
}

// Whole rows are read where they are; a tensor that something else reads, or that the host sends,
// is not taken apart; slices that overlap have no parts.
// CHECK-LABEL: func.func @whole(
// CHECK-COUNT-3: sluice.matmul
// CHECK-NOT: sluice.matmul
// CHECK-COUNT-8: sluice.slice
// CHECK-NOT: sluice.slice
func.func @whole(%x: tensor<1x4xbf16, #sluice<[1 4!]>>, %y: tensor<1x10xbf16, #sluice<[1 10!]>>)
    -> (tensor<1x8xbf16, #sluice<[1 8!]>>, tensor<1x8xbf16, #sluice<[1 8!]>>, tensor<1x5xbf16, #sluice<[1 5!]>>, tensor<1x5xbf16, #sluice<[1 5!]>>,
        tensor<1x10xbf16, #sluice<[1 10!]>>, tensor<1x5xbf16, #sluice<[1 5!]>>, tensor<1x5xbf16, #sluice<[1 5!]>>,
        tensor<1x6xbf16, #sluice<[1 6!]>>, tensor<1x6xbf16, #sluice<[1 6!]>>) {
  %w16 = sluice.constant dense<0.25> : tensor<4x16xf32>
  %w10 = sluice.constant dense<0.5> : tensor<4x10xf32>
  %p = sluice.matmul %x, %w16 : (tensor<1x4xbf16, #sluice<[1 4!]>>, tensor<4x16xf32>) -> tensor<1x16xbf16, #sluice<[1 16!]>>
  %q = sluice.matmul %x, %w10 : (tensor<1x4xbf16, #sluice<[1 4!]>>, tensor<4x10xf32>) -> tensor<1x10xbf16, #sluice<[1 10!]>>
  %o = sluice.matmul %x, %w10 : (tensor<1x4xbf16, #sluice<[1 4!]>>, tensor<4x10xf32>) -> tensor<1x10xbf16, #sluice<[1 10!]>>
  %z = sluice.map (%a = %y) : (tensor<1x10xbf16, #sluice<[1 10!]>>) -> tensor<1x10xbf16, #sluice<[1 10!]>> {
    %t = math.tanh %a : f32
    sluice.yield %t
  }
  %0 = sluice.slice %p starts [0, 0] sizes [1, 8] steps [1, 1] : (tensor<1x16xbf16, #sluice<[1 16!]>>) -> tensor<1x8xbf16, #sluice<[1 8!]>>
  %1 = sluice.slice %p starts [0, 8] sizes [1, 8] steps [1, 1] : (tensor<1x16xbf16, #sluice<[1 16!]>>) -> tensor<1x8xbf16, #sluice<[1 8!]>>
  %2 = sluice.slice %q starts [0, 0] sizes [1, 5] steps [1, 1] : (tensor<1x10xbf16, #sluice<[1 10!]>>) -> tensor<1x5xbf16, #sluice<[1 5!]>>
  %3 = sluice.slice %q starts [0, 5] sizes [1, 5] steps [1, 1] : (tensor<1x10xbf16, #sluice<[1 10!]>>) -> tensor<1x5xbf16, #sluice<[1 5!]>>
  %4 = sluice.slice %z starts [0, 0] sizes [1, 5] steps [1, 1] : (tensor<1x10xbf16, #sluice<[1 10!]>>) -> tensor<1x5xbf16, #sluice<[1 5!]>>
  %5 = sluice.slice %z starts [0, 5] sizes [1, 5] steps [1, 1] : (tensor<1x10xbf16, #sluice<[1 10!]>>) -> tensor<1x5xbf16, #sluice<[1 5!]>>
  %6 = sluice.slice %o starts [0, 0] sizes [1, 6] steps [1, 1] : (tensor<1x10xbf16, #sluice<[1 10!]>>) -> tensor<1x6xbf16, #sluice<[1 6!]>>
  %7 = sluice.slice %o starts [0, 4] sizes [1, 6] steps [1, 1] : (tensor<1x10xbf16, #sluice<[1 10!]>>) -> tensor<1x6xbf16, #sluice<[1 6!]>>
  return %0, %1, %2, %3, %q, %4, %5, %6, %7 : tensor<1x8xbf16, #sluice<[1 8!]>>, tensor<1x8xbf16, #sluice<[1 8!]>>, tensor<1x5xbf16, #sluice<[1 5!]>>, tensor<1x5xbf16, #sluice<[1 5!]>>, tensor<1x10xbf16, #sluice<[1 10!]>>, tensor<1x5xbf16, #sluice<[1 5!]>>, tensor<1x5xbf16, #sluice<[1 5!]>>, tensor<1x6xbf16, #sluice<[1 6!]>>, tensor<1x6xbf16, #sluice<[1 6!]>>
}
