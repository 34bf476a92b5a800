// Heads that are taken apart for products of two activations stay side by side in rows.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-heads-in-rows{lanes=8},sluice-remove-dead-code))" | FileCheck %s

// Two heads of four features have room in a row: one side has zeros in the lanes of the other head.
// CHECK-LABEL: func.func @scores(
// CHECK-SAME: %[[Q:.*]]: tensor<5x16xbf16, {{.*}}>, %[[K:.*]]: tensor<5x16xbf16, {{.*}}>)
// CHECK-NEXT: %[[R:.*]] = sluice.reshape %[[Q]] : {{.*}} -> tensor<5x2x8xbf16, #sluice<[5 2 8!]>>
// CHECK-NEXT: %[[T:.*]] = sluice.transpose %[[R]] [1, 0, 2]
// CHECK-NEXT: %[[E:.*]] = sluice.map (%{{.*}} = %[[T]]) :
// CHECK-NEXT: math.exp
// CHECK: %[[X:.*]] = sluice.repeat %[[E]] counts [2, 1, 1] : {{.*}} -> tensor<4x5x8xbf16, #sluice<[4 5 8!]>>
// CHECK: %[[C:.*]] = sluice.constant dense<{{\[\[\[}}1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]], {{\[\[}}0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00,
// CHECK-NEXT: %[[B:.*]] = sluice.broadcast %[[C]]
// CHECK-NEXT: %[[M:.*]] = sluice.map (%{{.*}} = %[[X]], %{{.*}} = %[[B]])
// CHECK-NEXT: arith.mulf
// CHECK: %[[S:.*]] = sluice.reshape %[[K]] : {{.*}} -> tensor<5x2x8xbf16, #sluice<[5 2 8!]>>
// CHECK-NEXT: %[[U:.*]] = sluice.transpose %[[S]] [1, 2, 0]
// CHECK-NEXT: %[[W:.*]] = sluice.repeat %[[U]] counts [2, 1, 1] : {{.*}} -> tensor<4x8x5xbf16, #sluice<[4 8! 5]>>
// CHECK-NEXT: sluice.matmul %[[M]], %[[W]] {sluice.tensor = "scores"} : {{.*}} -> tensor<4x5x5xbf16, #sluice<[4 5 5!]>>
func.func @scores(%q: tensor<5x16xbf16, #sluice<[5 16!]>>, %k: tensor<5x16xbf16, #sluice<[5 16!]>>) -> tensor<4x5x5xbf16, #sluice<[4 5 5!]>> {
  %0 = sluice.reshape %q : (tensor<5x16xbf16, #sluice<[5 16!]>>) -> tensor<5x4x4xbf16, #sluice<[5 4 4!]>>
  %1 = sluice.transpose %0 [1, 0, 2] : (tensor<5x4x4xbf16, #sluice<[5 4 4!]>>) -> tensor<4x5x4xbf16, #sluice<[4 5 4!]>>
  %2 = sluice.map (%a = %1) {sluice.tensor = "e"} : (tensor<4x5x4xbf16, #sluice<[4 5 4!]>>) -> tensor<4x5x4xbf16, #sluice<[4 5 4!]>> {
    %e = math.exp %a : f32
    sluice.yield %e
  }
  %3 = sluice.reshape %k : (tensor<5x16xbf16, #sluice<[5 16!]>>) -> tensor<5x4x4xbf16, #sluice<[5 4 4!]>>
  %4 = sluice.transpose %3 [1, 2, 0] : (tensor<5x4x4xbf16, #sluice<[5 4 4!]>>) -> tensor<4x4x5xbf16, #sluice<[4 4! 5]>>
  %5 = sluice.matmul %2, %4 {sluice.tensor = "scores"} : (tensor<4x5x4xbf16, #sluice<[4 5 4!]>>, tensor<4x4x5xbf16, #sluice<[4 4! 5]>>) -> tensor<4x5x5xbf16, #sluice<[4 5 5!]>>
  return %5 : tensor<4x5x5xbf16, #sluice<[4 5 5!]>>
}

// Of what a row of the values gives each head's own lanes are taken; that sum is the tensor with
// all heads again.
// CHECK-LABEL: func.func @sums(
// CHECK-SAME: %[[P:.*]]: tensor<4x5x5xbf16, {{.*}}>, %[[V:.*]]: tensor<5x16xbf16, {{.*}}>)
// CHECK: %[[W:.*]] = sluice.repeat %{{.*}} counts [2, 1, 1] : {{.*}} -> tensor<4x5x8xbf16, #sluice<[4 5 8!]>>
// CHECK-NEXT: %[[Y:.*]] = sluice.matmul %[[P]], %[[W]] : {{.*}} -> tensor<4x5x8xbf16, #sluice<[4 5 8!]>>
// CHECK-NEXT: %[[A:.*]] = sluice.reshape %[[Y]] : {{.*}} -> tensor<2x2x5x8xbf16, #sluice<[2 2 5 8!]>>
// CHECK: %[[M:.*]] = sluice.map (%{{.*}} = %[[A]],
// CHECK: %[[S:.*]] = sluice.reduce sum %[[M]] axes [1] : {{.*}} -> tensor<2x5x8xbf16, #sluice<[2 5 8!]>>
// CHECK-NEXT: %[[T:.*]] = sluice.transpose %[[S]] [1, 0, 2] : {{.*}} -> tensor<5x2x8xbf16, #sluice<[5 2 8!]>>
// CHECK-NEXT: %[[O:.*]] = sluice.reshape %[[T]] {sluice.tensor = "all"} : {{.*}} -> tensor<5x16xbf16, #sluice<[5 16!]>>
// CHECK-NEXT: return %[[O]]
func.func @sums(%p: tensor<4x5x5xbf16, #sluice<[4 5 5!]>>, %v: tensor<5x16xbf16, #sluice<[5 16!]>>) -> tensor<5x16xbf16, #sluice<[5 16!]>> {
  %0 = sluice.reshape %v : (tensor<5x16xbf16, #sluice<[5 16!]>>) -> tensor<5x4x4xbf16, #sluice<[5 4 4!]>>
  %1 = sluice.transpose %0 [1, 0, 2] : (tensor<5x4x4xbf16, #sluice<[5 4 4!]>>) -> tensor<4x5x4xbf16, #sluice<[4 5 4!]>>
  %2 = sluice.matmul %p, %1 {sluice.tensor = "own"} : (tensor<4x5x5xbf16, #sluice<[4 5 5!]>>, tensor<4x5x4xbf16, #sluice<[4 5 4!]>>) -> tensor<4x5x4xbf16, #sluice<[4 5 4!]>>
  %3 = sluice.transpose %2 [1, 0, 2] : (tensor<4x5x4xbf16, #sluice<[4 5 4!]>>) -> tensor<5x4x4xbf16, #sluice<[5 4 4!]>>
  %4 = sluice.reshape %3 {sluice.tensor = "all"} : (tensor<5x4x4xbf16, #sluice<[5 4 4!]>>) -> tensor<5x16xbf16, #sluice<[5 16!]>>
  return %4 : tensor<5x16xbf16, #sluice<[5 16!]>>
}

// Three heads, of which a row has room for two, would not end where rows do; and who reads the
// heads apart gets them apart.
// CHECK-LABEL: func.func @uneven(
// CHECK-NOT: sluice.repeat
// CHECK-LABEL: func.func @apart(
// CHECK-NOT: sluice.repeat
func.func @uneven(%p: tensor<3x5x5xbf16, #sluice<[3 5 5!]>>, %v: tensor<5x12xbf16, #sluice<[5 12!]>>) -> tensor<5x12xbf16, #sluice<[5 12!]>> {
  %0 = sluice.reshape %v : (tensor<5x12xbf16, #sluice<[5 12!]>>) -> tensor<5x3x4xbf16, #sluice<[5 3 4!]>>
  %1 = sluice.transpose %0 [1, 0, 2] : (tensor<5x3x4xbf16, #sluice<[5 3 4!]>>) -> tensor<3x5x4xbf16, #sluice<[3 5 4!]>>
  %2 = sluice.matmul %p, %1 : (tensor<3x5x5xbf16, #sluice<[3 5 5!]>>, tensor<3x5x4xbf16, #sluice<[3 5 4!]>>) -> tensor<3x5x4xbf16, #sluice<[3 5 4!]>>
  %3 = sluice.transpose %2 [1, 0, 2] : (tensor<3x5x4xbf16, #sluice<[3 5 4!]>>) -> tensor<5x3x4xbf16, #sluice<[5 3 4!]>>
  %4 = sluice.reshape %3 : (tensor<5x3x4xbf16, #sluice<[5 3 4!]>>) -> tensor<5x12xbf16, #sluice<[5 12!]>>
  return %4 : tensor<5x12xbf16, #sluice<[5 12!]>>
}
func.func @apart(%p: tensor<4x5x5xbf16, #sluice<[4 5 5!]>>, %v: tensor<5x16xbf16, #sluice<[5 16!]>>) -> tensor<4x5x4xbf16, #sluice<[4 5 4!]>> {
  %0 = sluice.reshape %v : (tensor<5x16xbf16, #sluice<[5 16!]>>) -> tensor<5x4x4xbf16, #sluice<[5 4 4!]>>
  %1 = sluice.transpose %0 [1, 0, 2] : (tensor<5x4x4xbf16, #sluice<[5 4 4!]>>) -> tensor<4x5x4xbf16, #sluice<[4 5 4!]>>
  %2 = sluice.matmul %p, %1 : (tensor<4x5x5xbf16, #sluice<[4 5 5!]>>, tensor<4x5x4xbf16, #sluice<[4 5 4!]>>) -> tensor<4x5x4xbf16, #sluice<[4 5 4!]>>
  return %2 : tensor<4x5x4xbf16, #sluice<[4 5 4!]>>
}
