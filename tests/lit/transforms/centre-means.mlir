// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-centre-means{lanes=8}))" | FileCheck %s

// A mean that several rows read is rounded; what is left of it is taken off as well.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:.*]]: tensor<2x16xbf16, #sluice<[2 16!]>>)
// CHECK: %[[M:.*]] = sluice.reduce mean %[[X]] axes [1] keepdims
// CHECK: %[[B:.*]] = sluice.broadcast %[[M]]
// CHECK: %[[S:.*]] = sluice.reduce sum %[[X]] axes [1] keepdims : {{.*}} -> tensor<2x1xbf16, #sluice<[2 1!]>>
// CHECK: %[[R:.*]] = sluice.map (%[[P:.*]] = %[[S]], %[[Q:.*]] = %[[M]])
// CHECK: %[[C:.*]] = arith.constant 6.250000e-02 : f32
// CHECK: %[[T:.*]] = arith.mulf %[[P]], %[[C]]
// CHECK: arith.subf %[[T]], %[[Q]]
// CHECK: %[[BR:.*]] = sluice.broadcast %[[R]]
// CHECK: %[[D:.*]] = sluice.map (%[[P:.*]] = %[[X]], %[[Q:.*]] = %[[B]], %[[T:.*]] = %[[BR]]) {sluice.tensor = "distance"}
// CHECK: %[[F:.*]] = arith.subf %[[P]], %[[Q]]
// CHECK: arith.subf %[[F]], %[[T]]
// CHECK: return %[[D]]
func.func @rows(%x: tensor<2x16xbf16, #sluice<[2 16!]>>) -> tensor<2x16xbf16, #sluice<[2 16!]>> {
  %m = sluice.reduce mean %x axes [1] keepdims : (tensor<2x16xbf16, #sluice<[2 16!]>>) -> tensor<2x1xbf16, #sluice<[2 1!]>>
  %b = sluice.broadcast %m : (tensor<2x1xbf16, #sluice<[2 1!]>>) -> tensor<2x16xbf16, #sluice<[2 16!]>>
  %d = sluice.map (%p = %x, %q = %b) {sluice.tensor = "distance"} : (tensor<2x16xbf16, #sluice<[2 16!]>>, tensor<2x16xbf16, #sluice<[2 16!]>>) -> tensor<2x16xbf16, #sluice<[2 16!]>> {
    %0 = arith.subf %p, %q : f32
    sluice.yield %0
  }
  return %d : tensor<2x16xbf16, #sluice<[2 16!]>>
}

// In one row the difference is made in the pass behind the sum, of the fp32 sum.
// CHECK-LABEL: func.func @one_row(
// CHECK: %[[S:.*]] = sluice.reduce sum
// CHECK-NEXT: %[[B:.*]] = sluice.broadcast %[[S]]
// CHECK-NEXT: sluice.map (%[[P:.*]] = %{{.*}}, %[[Q:.*]] = %[[B]])
// CHECK: %[[T:.*]] = arith.mulf %[[Q]]
// CHECK: arith.subf %[[P]], %[[T]]
func.func @one_row(%x: tensor<2x6xbf16, #sluice<[2 6!]>>) -> tensor<2x6xbf16, #sluice<[2 6!]>> {
  %m = sluice.reduce mean %x axes [1] keepdims : (tensor<2x6xbf16, #sluice<[2 6!]>>) -> tensor<2x1xbf16, #sluice<[2 1!]>>
  %b = sluice.broadcast %m : (tensor<2x1xbf16, #sluice<[2 1!]>>) -> tensor<2x6xbf16, #sluice<[2 6!]>>
  %d = sluice.map (%p = %x, %q = %b) : (tensor<2x6xbf16, #sluice<[2 6!]>>, tensor<2x6xbf16, #sluice<[2 6!]>>) -> tensor<2x6xbf16, #sluice<[2 6!]>> {
    %0 = arith.subf %p, %q : f32
    sluice.yield %0
  }
  return %d : tensor<2x6xbf16, #sluice<[2 6!]>>
}

// Weights have a power of two: nothing is rounded as it is.
// CHECK-LABEL: func.func @exact(
// CHECK-NOT: sluice.reduce sum
// CHECK: return
func.func @exact(%x: tensor<2x8xbf16, #sluice<[2 8!]>>) -> tensor<2x8xbf16, #sluice<[2 8!]>> {
  %m = sluice.reduce mean %x axes [1] keepdims : (tensor<2x8xbf16, #sluice<[2 8!]>>) -> tensor<2x1xbf16, #sluice<[2 1!]>>
  %b = sluice.broadcast %m : (tensor<2x1xbf16, #sluice<[2 1!]>>) -> tensor<2x8xbf16, #sluice<[2 8!]>>
  %d = sluice.map (%p = %x, %q = %b) : (tensor<2x8xbf16, #sluice<[2 8!]>>, tensor<2x8xbf16, #sluice<[2 8!]>>) -> tensor<2x8xbf16, #sluice<[2 8!]>> {
    %0 = arith.subf %p, %q : f32
    sluice.yield %0
  }
  return %d : tensor<2x8xbf16, #sluice<[2 8!]>>
}

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
