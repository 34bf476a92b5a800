// The softmax of a single long line is divided into parts with a maximum and a sum each.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-softmax-in-parts{lanes=8 cores=6}, sluice-remove-dead-code))" | FileCheck %s
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-softmax-in-parts{lanes=8 cores=3}))" | FileCheck %s --check-prefix=FEW

// 64 rows: four parts of 16.
// CHECK-LABEL: func.func @line(
// CHECK-SAME: %[[X:.*]]: tensor<1x512xbf16, #sluice<[1 512!]>>)
// CHECK-NEXT: %[[L:.*]] = sluice.reshape %[[X]] : {{.*}} -> tensor<4x128xbf16, #sluice<[4 128!]>>
// CHECK-NEXT: %[[R:.*]] = sluice.reduce max %[[L]] axes [1] keepdims : {{.*}} -> tensor<4x1xbf16, #sluice<[4 1!]>>
// CHECK-NEXT: %[[M:.*]] = sluice.map (%{{.*}} = %[[R]])
// CHECK: arith.maximumf
// CHECK: %[[B:.*]] = sluice.broadcast %[[M]] : {{.*}} -> tensor<4x128xbf16, #sluice<[4 128!]>>
// CHECK-NEXT: %[[E:.*]] = sluice.map (%{{.*}} = %[[L]], %{{.*}} = %[[B]])
// CHECK: math.exp
// CHECK: %[[P:.*]] = sluice.reduce max %[[M]] axes [0] keepdims : {{.*}} -> tensor<1x1xbf16, #sluice<[1 1!]>>
// CHECK-NEXT: %[[A:.*]] = sluice.broadcast %[[P]]
// CHECK-NEXT: %[[C:.*]] = sluice.map (%{{.*}} = %[[M]], %{{.*}} = %[[A]])
// CHECK: math.exp
// CHECK: %[[S:.*]] = sluice.reduce sum %[[E]] axes [1] keepdims : {{.*}} -> tensor<4x1xbf16, #sluice<[4 1!]>>
// CHECK-NEXT: %[[T:.*]] = sluice.map (%{{.*}} = %[[S]], %{{.*}} = %[[C]])
// CHECK-NEXT: arith.mulf
// CHECK: %[[U:.*]] = sluice.reduce sum %[[T]] axes [0] keepdims : {{.*}} -> tensor<1x1xbf16, #sluice<[1 1!]>>
// CHECK: %[[V:.*]] = sluice.broadcast %[[U]]
// CHECK-NEXT: %[[Q:.*]] = sluice.map (%{{.*}} = %[[C]], %{{.*}} = %[[V]])
// CHECK-NEXT: arith.divf
// CHECK: %[[W:.*]] = sluice.broadcast %[[Q]]
// CHECK-NEXT: %[[Y:.*]] = sluice.map (%{{.*}} = %[[E]], %{{.*}} = %[[W]])
// CHECK-NEXT: arith.mulf
// CHECK: %[[Z:.*]] = sluice.reshape %[[Y]] : {{.*}} -> tensor<1x512xbf16, #sluice<[1 512!]>>
// CHECK-NEXT: return %[[Z]]
// With three cores, at most two thirds of the rows would not wait: too few.
// FEW-LABEL: func.func @line(
// FEW-NOT: sluice.reshape
func.func @line(%x: tensor<1x512xbf16, #sluice<[1 512!]>>) -> tensor<1x512xbf16, #sluice<[1 512!]>> {
  %m = sluice.reduce max %x axes [1] keepdims : (tensor<1x512xbf16, #sluice<[1 512!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>>
  %b = sluice.broadcast %m : (tensor<1x1xbf16, #sluice<[1 1!]>>) -> tensor<1x512xbf16, #sluice<[1 512!]>>
  %e = sluice.map (%l = %x, %r = %b) : (tensor<1x512xbf16, #sluice<[1 512!]>>, tensor<1x512xbf16, #sluice<[1 512!]>>) -> tensor<1x512xbf16, #sluice<[1 512!]>> {
    %0 = arith.subf %l, %r : f32
    %1 = math.exp %0 : f32
    sluice.yield %1
  }
  %s = sluice.reduce sum %e axes [1] keepdims : (tensor<1x512xbf16, #sluice<[1 512!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>>
  %t = sluice.broadcast %s : (tensor<1x1xbf16, #sluice<[1 1!]>>) -> tensor<1x512xbf16, #sluice<[1 512!]>>
  %y = sluice.map (%l = %e, %r = %t) : (tensor<1x512xbf16, #sluice<[1 512!]>>, tensor<1x512xbf16, #sluice<[1 512!]>>) -> tensor<1x512xbf16, #sluice<[1 512!]>> {
    %0 = arith.divf %l, %r : f32
    sluice.yield %0
  }
  return %y : tensor<1x512xbf16, #sluice<[1 512!]>>
}

// The difference and the exponential are two maps, and nothing divides by the sum.
// CHECK-LABEL: func.func @sum(
// CHECK: sluice.reshape {{.*}} -> tensor<4x128xbf16
// CHECK-NOT: tensor<1x512xbf16, {{.*}} -> tensor<1x512xbf16
// CHECK: return
func.func @sum(%x: tensor<1x512xbf16, #sluice<[1 512!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>> {
  %m = sluice.reduce max %x axes [1] keepdims : (tensor<1x512xbf16, #sluice<[1 512!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>>
  %b = sluice.broadcast %m : (tensor<1x1xbf16, #sluice<[1 1!]>>) -> tensor<1x512xbf16, #sluice<[1 512!]>>
  %d = sluice.map (%l = %x, %r = %b) : (tensor<1x512xbf16, #sluice<[1 512!]>>, tensor<1x512xbf16, #sluice<[1 512!]>>) -> tensor<1x512xbf16, #sluice<[1 512!]>> {
    %0 = arith.subf %l, %r : f32
    sluice.yield %0
  }
  %e = sluice.map (%l = %d) : (tensor<1x512xbf16, #sluice<[1 512!]>>) -> tensor<1x512xbf16, #sluice<[1 512!]>> {
    %0 = math.exp %l : f32
    sluice.yield %0
  }
  %s = sluice.reduce sum %e axes [1] keepdims : (tensor<1x512xbf16, #sluice<[1 512!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>>
  return %s : tensor<1x1xbf16, #sluice<[1 1!]>>
}

// The exponentials are read otherwise, or they are not those of distances from the maximum of the same line.
// CHECK-LABEL: func.func @read(
// CHECK-NOT: sluice.reshape
// CHECK: return
func.func @read(%x: tensor<1x512xbf16, #sluice<[1 512!]>>) -> (tensor<1x1xbf16, #sluice<[1 1!]>>, tensor<1x512xbf16, #sluice<[1 512!]>>) {
  %m = sluice.reduce max %x axes [1] keepdims : (tensor<1x512xbf16, #sluice<[1 512!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>>
  %b = sluice.broadcast %m : (tensor<1x1xbf16, #sluice<[1 1!]>>) -> tensor<1x512xbf16, #sluice<[1 512!]>>
  %e = sluice.map (%l = %x, %r = %b) : (tensor<1x512xbf16, #sluice<[1 512!]>>, tensor<1x512xbf16, #sluice<[1 512!]>>) -> tensor<1x512xbf16, #sluice<[1 512!]>> {
    %0 = arith.subf %l, %r : f32
    %1 = math.exp %0 : f32
    sluice.yield %1
  }
  %s = sluice.reduce sum %e axes [1] keepdims : (tensor<1x512xbf16, #sluice<[1 512!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>>
  return %s, %e : tensor<1x1xbf16, #sluice<[1 1!]>>, tensor<1x512xbf16, #sluice<[1 512!]>>
}

// CHECK-LABEL: func.func @other(
// CHECK-NOT: sluice.reshape
// CHECK: return
func.func @other(%x: tensor<1x512xbf16, #sluice<[1 512!]>>, %z: tensor<1x512xbf16, #sluice<[1 512!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>> {
  %m = sluice.reduce max %z axes [1] keepdims : (tensor<1x512xbf16, #sluice<[1 512!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>>
  %b = sluice.broadcast %m : (tensor<1x1xbf16, #sluice<[1 1!]>>) -> tensor<1x512xbf16, #sluice<[1 512!]>>
  %e = sluice.map (%l = %x, %r = %b) : (tensor<1x512xbf16, #sluice<[1 512!]>>, tensor<1x512xbf16, #sluice<[1 512!]>>) -> tensor<1x512xbf16, #sluice<[1 512!]>> {
    %0 = arith.subf %l, %r : f32
    %1 = math.exp %0 : f32
    sluice.yield %1
  }
  %s = sluice.reduce sum %e axes [1] keepdims : (tensor<1x512xbf16, #sluice<[1 512!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>>
  return %s : tensor<1x1xbf16, #sluice<[1 1!]>>
}
