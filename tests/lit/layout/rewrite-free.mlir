// What costs nothing is changed without --rewrite-layout, where there is no solution else.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension))" 2>/dev/null | FileCheck %s
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension))" 2>&1 | FileCheck %s --check-prefix=REMARK

// The product on the left leaves [1! 8], which loses its axis; on the right [8 1!].
// REMARK: remark: vector multiplied from the other side, at no cost
// CHECK-LABEL: func.func @vector(
// CHECK-SAME: tensor<5x8xbf16, #sluice<[5! 8]>>) -> tensor<8xbf16, #sluice<[8!]>>
// CHECK: %[[T:.*]] = sluice.transpose %{{.*}} [1, 0] : (tensor<5x8xbf16, #sluice<[5! 8]>>) -> tensor<8x5xbf16, #sluice<[8 5!]>>
// CHECK-NEXT: sluice.matmul %[[T]], %{{.*}} : (tensor<8x5xbf16, #sluice<[8 5!]>>, tensor<5xf32>) -> tensor<8xbf16, #sluice<[8!]>>
func.func @vector(%x: tensor<5x8xf32>) -> tensor<8xf32> {
  %v = sluice.constant dense<1.0> : tensor<5xf32>
  %y = sluice.matmul %v, %x : (tensor<5xf32>, tensor<5x8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
