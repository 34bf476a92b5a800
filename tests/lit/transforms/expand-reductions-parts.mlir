// A single line is divided into parts with a maximum and a sum each.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-expand-reductions{lanes=8 cores=6}))" | FileCheck %s

// 64 rows: four parts of 16.
// CHECK-LABEL: func.func @line(
// CHECK-SAME: %[[X:.*]]: tensor<1x512xbf16, #sluice<[1 512!]>>)
// CHECK-NEXT: %[[P:.*]] = sluice.reshape %[[X]] : {{.*}} -> tensor<4x128xbf16, #sluice<[4 128!]>>
// CHECK-NEXT: %[[R:.*]] = sluice.reduce max %[[P]] axes [1] keepdims : {{.*}} -> tensor<4x1xbf16, #sluice<[4 1!]>>
// CHECK-NEXT: %[[M:.*]] = sluice.map (%{{.*}} = %[[R]])
// CHECK: %[[B:.*]] = sluice.broadcast %[[M]] : {{.*}} -> tensor<4x128xbf16, #sluice<[4 128!]>>
// CHECK-NEXT: %[[E:.*]] = sluice.map (%{{.*}} = %[[P]], %{{.*}} = %[[B]])
// CHECK: %[[S:.*]] = sluice.reduce sum %[[E]] axes [1] keepdims : {{.*}} -> tensor<4x1xbf16, #sluice<[4 1!]>>
// CHECK-NEXT: %[[T:.*]] = sluice.reduce max %[[M]] axes [0] keepdims : {{.*}} -> tensor<1x1xbf16, #sluice<[1 1!]>>
// CHECK-NEXT: %[[A:.*]] = sluice.broadcast %[[T]]
// CHECK-NEXT: %[[W:.*]] = sluice.map (%{{.*}} = %[[M]], %{{.*}} = %[[A]])
// CHECK: math.exp
// CHECK: %[[Q:.*]] = sluice.map (%{{.*}} = %[[S]], %{{.*}} = %[[W]])
// CHECK-NEXT: arith.mulf
// CHECK: %[[U:.*]] = sluice.reduce sum %[[Q]] axes [0] keepdims : {{.*}} -> tensor<1x1xbf16, #sluice<[1 1!]>>
// CHECK-NEXT: %[[Y:.*]] = sluice.map (%{{.*}} = %[[U]], %{{.*}} = %[[T]])
// CHECK-NEXT: math.log
// CHECK: %[[Z:.*]] = sluice.squeeze %[[Y]]{{.*}} -> tensor<1xbf16, #sluice<[1!]>>
// CHECK-NEXT: return %[[Z]]
func.func @line(%x: tensor<1x512xbf16, #sluice<[1 512!]>>) -> tensor<1xbf16, #sluice<[1!]>> {
  %y = sluice.reduce logsumexp %x axes [1] : (tensor<1x512xbf16, #sluice<[1 512!]>>) -> tensor<1xbf16, #sluice<[1!]>>
  return %y : tensor<1xbf16, #sluice<[1!]>>
}

// Two lines, a line of few rows, a line that parts of whole rows do not make up, and lines across the lanes stay.
// CHECK-LABEL: func.func @whole(
// CHECK-NOT: sluice.reshape
func.func @whole(%x: tensor<2x512xbf16, #sluice<[2 512!]>>, %y: tensor<1x248xbf16, #sluice<[1 248!]>>, %z: tensor<1x1023xbf16, #sluice<[1 1023!]>>, %w: tensor<1x512xbf16, #sluice<[1! 512]>>)
    -> (tensor<2x1xbf16, #sluice<[2 1!]>>, tensor<1x1xbf16, #sluice<[1 1!]>>, tensor<1x1xbf16, #sluice<[1 1!]>>, tensor<1x1xbf16, #sluice<[1! 1]>>) {
  %0 = sluice.reduce logsumexp %x axes [1] keepdims : (tensor<2x512xbf16, #sluice<[2 512!]>>) -> tensor<2x1xbf16, #sluice<[2 1!]>>
  %1 = sluice.reduce logsumexp %y axes [1] keepdims : (tensor<1x248xbf16, #sluice<[1 248!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>>
  %2 = sluice.reduce logsumexp %z axes [1] keepdims : (tensor<1x1023xbf16, #sluice<[1 1023!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>>
  %3 = sluice.reduce logsumexp %w axes [1] keepdims : (tensor<1x512xbf16, #sluice<[1! 512]>>) -> tensor<1x1xbf16, #sluice<[1! 1]>>
  return %0, %1, %2, %3 : tensor<2x1xbf16, #sluice<[2 1!]>>, tensor<1x1xbf16, #sluice<[1 1!]>>, tensor<1x1xbf16, #sluice<[1 1!]>>, tensor<1x1xbf16, #sluice<[1! 1]>>
}
