// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-centre-variances))" | FileCheck %s

// The difference of a mean of squares and the square of a mean cancels.
// CHECK-LABEL: func.func @variance(
// CHECK-SAME: %[[X:.*]]: tensor<2x8xbf16, #sluice<[2 8!]>>)
// CHECK: %[[M:.*]] = sluice.reduce mean %[[X]] axes [1] keepdims
// CHECK-NEXT: %[[B:.*]] = sluice.broadcast %[[M]]
// CHECK-NEXT: %[[D:.*]] = sluice.map (%{{.*}} = %[[X]], %{{.*}} = %[[B]])
// CHECK: %[[Q:.*]] = sluice.map (%[[P:.*]] = %[[D]])
// CHECK-NEXT: arith.mulf %[[P]], %[[P]]
// CHECK: %[[V:.*]] = sluice.reduce mean %[[Q]] axes [1] {sluice.tensor = "variance"}
// CHECK: return %[[V]]
func.func @variance(%x: tensor<2x8xbf16, #sluice<[2 8!]>>) -> tensor<2xbf16, #sluice<[2!]>> {
  %s = sluice.map (%p = %x) : (tensor<2x8xbf16, #sluice<[2 8!]>>) -> tensor<2x8xbf16, #sluice<[2 8!]>> {
    %c = arith.constant 2.0 : f32
    %0 = math.powf %p, %c : f32
    sluice.yield %0
  }
  %e = sluice.reduce mean %s axes [1] : (tensor<2x8xbf16, #sluice<[2 8!]>>) -> tensor<2xbf16, #sluice<[2!]>>
  %m = sluice.reduce mean %x axes [1] : (tensor<2x8xbf16, #sluice<[2 8!]>>) -> tensor<2xbf16, #sluice<[2!]>>
  %q = sluice.map (%p = %m) : (tensor<2xbf16, #sluice<[2!]>>) -> tensor<2xbf16, #sluice<[2!]>> {
    %0 = arith.mulf %p, %p : f32
    sluice.yield %0
  }
  %v = sluice.map (%p = %e, %r = %q) {sluice.tensor = "variance"} : (tensor<2xbf16, #sluice<[2!]>>, tensor<2xbf16, #sluice<[2!]>>) -> tensor<2xbf16, #sluice<[2!]>> {
    %0 = arith.subf %p, %r : f32
    sluice.yield %0
  }
  return %v : tensor<2xbf16, #sluice<[2!]>>
}

// Of another tensor, or over other axes, it is no variance.
// CHECK-LABEL: func.func @no_variance(
// CHECK: %[[V:.*]] = sluice.map (%[[P:.*]] = %{{.*}}, %[[Q:.*]] = %{{.*}})
// CHECK-NEXT: arith.subf %[[P]], %[[Q]]
// CHECK: return %[[V]]
func.func @no_variance(%x: tensor<8x8xbf16, #sluice<[8 8!]>>) -> tensor<8xbf16, #sluice<[8!]>> {
  %s = sluice.map (%p = %x) : (tensor<8x8xbf16, #sluice<[8 8!]>>) -> tensor<8x8xbf16, #sluice<[8 8!]>> {
    %0 = arith.mulf %p, %p : f32
    sluice.yield %0
  }
  %e = sluice.reduce mean %s axes [1] : (tensor<8x8xbf16, #sluice<[8 8!]>>) -> tensor<8xbf16, #sluice<[8!]>>
  %m = sluice.reduce mean %x axes [0] : (tensor<8x8xbf16, #sluice<[8 8!]>>) -> tensor<8xbf16, #sluice<[8!]>>
  %q = sluice.map (%p = %m) : (tensor<8xbf16, #sluice<[8!]>>) -> tensor<8xbf16, #sluice<[8!]>> {
    %0 = arith.mulf %p, %p : f32
    sluice.yield %0
  }
  %v = sluice.map (%p = %e, %r = %q) : (tensor<8xbf16, #sluice<[8!]>>, tensor<8xbf16, #sluice<[8!]>>) -> tensor<8xbf16, #sluice<[8!]>> {
    %0 = arith.subf %p, %r : f32
    sluice.yield %0
  }
  return %v : tensor<8xbf16, #sluice<[8!]>>
}
