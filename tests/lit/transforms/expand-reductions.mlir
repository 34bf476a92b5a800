// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-expand-reductions))" | FileCheck %s

// CHECK-LABEL: func.func @kept(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xbf16, #sluice<[2 3!]>>)
// CHECK-NEXT: %[[R:.*]] = sluice.reduce max %[[X]] axes [1] keepdims : {{.*}} -> tensor<2x1xbf16, #sluice<[2 1!]>>
// Distances from a finite number: exp of them is 0 where all elements are minus infinity.
// CHECK-NEXT: %[[M:.*]] = sluice.map (%[[P:.*]] = %[[R]]) : {{.*}} -> tensor<2x1xbf16, #sluice<[2 1!]>>
// CHECK-NEXT: %[[C:.*]] = arith.constant -3.38953139E+38 : f32
// CHECK-NEXT: %[[A:.*]] = arith.maximumf %[[P]], %[[C]]
// CHECK-NEXT: sluice.yield %[[A]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[B:.*]] = sluice.broadcast %[[M]] : {{.*}} -> tensor<2x3xbf16, #sluice<[2 3!]>>
// CHECK-NEXT: %[[E:.*]] = sluice.map (%[[P:.*]] = %[[X]], %[[Q:.*]] = %[[B]]) : {{.*}} -> tensor<2x3xbf16, #sluice<[2 3!]>>
// CHECK-NEXT: %[[D:.*]] = arith.subf %[[P]], %[[Q]]
// CHECK-NEXT: %[[F:.*]] = math.exp %[[D]]
// CHECK-NEXT: sluice.yield %[[F]]
// CHECK: %[[S:.*]] = sluice.reduce sum %[[E]] axes [1] keepdims
// CHECK-NEXT: %[[Y:.*]] = sluice.map (%[[P:.*]] = %[[S]], %[[Q:.*]] = %[[M]])
// CHECK-NEXT: %[[L:.*]] = math.log %[[P]]
// CHECK-NEXT: %[[A:.*]] = arith.addf %[[L]], %[[Q]]
// CHECK-NEXT: sluice.yield %[[A]]
// CHECK: return %[[Y]] : tensor<2x1xbf16, #sluice<[2 1!]>>
func.func @kept(%x: tensor<2x3xbf16, #sluice<[2 3!]>>) -> tensor<2x1xbf16, #sluice<[2 1!]>> {
  %y = sluice.reduce logsumexp %x axes [1] keepdims : (tensor<2x3xbf16, #sluice<[2 3!]>>) -> tensor<2x1xbf16, #sluice<[2 1!]>>
  return %y : tensor<2x1xbf16, #sluice<[2 1!]>>
}

// CHECK-LABEL: func.func @dropped(
// CHECK: sluice.reduce max {{.*}} keepdims
// CHECK: %[[Y:.*]] = sluice.squeeze %{{.*}} : (tensor<2x1xbf16, #sluice<[2 1!]>>) -> tensor<2xbf16, #sluice<[2!]>>
// CHECK-NEXT: return %[[Y]]
func.func @dropped(%x: tensor<2x3xbf16, #sluice<[2 3!]>>) -> tensor<2xbf16, #sluice<[2!]>> {
  %y = sluice.reduce logsumexp %x axes [1] : (tensor<2x3xbf16, #sluice<[2 3!]>>) -> tensor<2xbf16, #sluice<[2!]>>
  return %y : tensor<2xbf16, #sluice<[2!]>>
}

// CHECK-LABEL: func.func @others(
// CHECK-NEXT: sluice.reduce sum
func.func @others(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %y = sluice.reduce sum %x axes [1] : (tensor<2x3xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
