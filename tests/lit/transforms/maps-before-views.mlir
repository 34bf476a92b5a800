// Maps on both sides of views become one.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-maps-before-views,sluice-fuse-maps))" | FileCheck %s

// The bias, reordered, and the map after the views join the one before them.
// CHECK-LABEL: func.func @merged(
// CHECK: %[[B:.*]] = sluice.transpose %{{.*}} [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
// CHECK: %[[M:.*]] = sluice.map
// CHECK: math.exp
// CHECK: arith.addf
// CHECK-NOT: sluice.map
// CHECK: sluice.transpose %[[M]] [1, 0] : (tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<3x2xbf16, #sluice<[3 2!]>>
func.func @merged(%x: tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<3x2xbf16, #sluice<[3 2!]>> {
  %c = sluice.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %0 = sluice.map (%p = %x) : (tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<2x3xbf16, #sluice<[2! 3]>> {
    %s = math.exp %p : f32
    sluice.yield %s
  }
  %1 = sluice.transpose %0 [1, 0] : (tensor<2x3xbf16, #sluice<[2! 3]>>) -> tensor<3x2xbf16, #sluice<[3 2!]>>
  %2 = sluice.map (%p = %1, %q = %c) : (tensor<3x2xbf16, #sluice<[3 2!]>>, tensor<3x2xf32>) -> tensor<3x2xbf16, #sluice<[3 2!]>> {
    %s = arith.addf %p, %q : f32
    sluice.yield %s
  }
  return %2 : tensor<3x2xbf16, #sluice<[3 2!]>>
}

// Through two views.
// CHECK-LABEL: func.func @twice(
// CHECK-SAME: %[[X:.*]]: tensor<4x5x
// CHECK: %[[M:.*]] = sluice.map (%{{.*}} = %[[X]])
// CHECK: math.exp
// CHECK: math.tanh
// CHECK: %[[R:.*]] = sluice.reshape %[[M]]
// CHECK: sluice.unsqueeze %[[R]]
func.func @twice(%x: tensor<4x5xbf16, #sluice<[4 5!]>>) -> tensor<1x2x2x5xbf16, #sluice<[1 2 2 5!]>> {
  %0 = sluice.map (%p = %x) : (tensor<4x5xbf16, #sluice<[4 5!]>>) -> tensor<4x5xbf16, #sluice<[4 5!]>> {
    %s = math.exp %p : f32
    sluice.yield %s
  }
  %1 = sluice.reshape %0 : (tensor<4x5xbf16, #sluice<[4 5!]>>) -> tensor<2x2x5xbf16, #sluice<[2 2 5!]>>
  %2 = sluice.unsqueeze %1 axes [0] : (tensor<2x2x5xbf16, #sluice<[2 2 5!]>>) -> tensor<1x2x2x5xbf16, #sluice<[1 2 2 5!]>>
  %3 = sluice.map (%p = %2) : (tensor<1x2x2x5xbf16, #sluice<[1 2 2 5!]>>) -> tensor<1x2x2x5xbf16, #sluice<[1 2 2 5!]>> {
    %s = math.tanh %p : f32
    sluice.yield %s
  }
  return %3 : tensor<1x2x2x5xbf16, #sluice<[1 2 2 5!]>>
}

// Nothing to merge with, a second reader, a reshape that moves lanes: as it was.
// CHECK-LABEL: func.func @kept(
// CHECK: sluice.transpose
// CHECK-NEXT: sluice.map
// CHECK: %[[M:.*]] = sluice.map
// CHECK: %[[T:.*]] = sluice.transpose %[[M]]
// CHECK-NEXT: sluice.map (%{{.*}} = %[[T]])
// CHECK: %[[R:.*]] = sluice.reshape
// CHECK-NEXT: sluice.map (%{{.*}} = %[[R]])
func.func @kept(%x: tensor<2x4xbf16, #sluice<[2 4!]>>)
    -> (tensor<4x2xbf16, #sluice<[4! 2]>>, tensor<4x2xbf16, #sluice<[4! 2]>>, tensor<4x2xbf16, #sluice<[4! 2]>>, tensor<8xbf16, #sluice<[8!]>>) {
  %0 = sluice.transpose %x [1, 0] : (tensor<2x4xbf16, #sluice<[2 4!]>>) -> tensor<4x2xbf16, #sluice<[4! 2]>>
  %1 = sluice.map (%p = %0) : (tensor<4x2xbf16, #sluice<[4! 2]>>) -> tensor<4x2xbf16, #sluice<[4! 2]>> {
    %s = math.exp %p : f32
    sluice.yield %s
  }
  %2 = sluice.map (%p = %x) : (tensor<2x4xbf16, #sluice<[2 4!]>>) -> tensor<2x4xbf16, #sluice<[2 4!]>> {
    %s = math.exp %p : f32
    sluice.yield %s
  }
  %3 = sluice.transpose %2 [1, 0] : (tensor<2x4xbf16, #sluice<[2 4!]>>) -> tensor<4x2xbf16, #sluice<[4! 2]>>
  %4 = sluice.map (%p = %3) : (tensor<4x2xbf16, #sluice<[4! 2]>>) -> tensor<4x2xbf16, #sluice<[4! 2]>> {
    %s = math.exp %p : f32
    sluice.yield %s
  }
  %5 = sluice.map (%p = %x) : (tensor<2x4xbf16, #sluice<[2 4!]>>) -> tensor<2x4xbf16, #sluice<[2 4!]>> {
    %s = math.tanh %p : f32
    sluice.yield %s
  }
  %6 = sluice.reshape %5 : (tensor<2x4xbf16, #sluice<[2 4!]>>) -> tensor<8xbf16, #sluice<[8!]>>
  %7 = sluice.map (%p = %6) : (tensor<8xbf16, #sluice<[8!]>>) -> tensor<8xbf16, #sluice<[8!]>> {
    %s = math.exp %p : f32
    sluice.yield %s
  }
  return %1, %3, %4, %7 : tensor<4x2xbf16, #sluice<[4! 2]>>, tensor<4x2xbf16, #sluice<[4! 2]>>, tensor<4x2xbf16, #sluice<[4! 2]>>, tensor<8xbf16, #sluice<[8!]>>
}
