// DD-STACK: slices of one tensor with a new axis behind the sliced one, concatenated along it, may lie
// side by side along the sliced data dimension, where an operation asks for it.
// RUN: not sluice-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension))" 2>/dev/null | FileCheck %s
// RUN: not sluice-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension))" 2>&1 | FileCheck %s --check-prefix=REMARK

// The product sums over the new axis. Element k of row i is element i + 2 k of x.
// REMARK: remark: stacked slices gathered side by side, at no cost
// CHECK-LABEL: func.func @product(
// CHECK-SAME: tensor<1x6xbf16, #sluice<[1 6!]>>) -> tensor<1x2x5xbf16, #sluice<[1 2 5!]>>
// CHECK: %[[A:.*]] = sluice.slice %{{.*}} starts [0, 0] sizes [1, 3] steps [1, 2]
// CHECK-NEXT: %[[B:.*]] = sluice.slice %{{.*}} starts [0, 1] sizes [1, 3] steps [1, 2]
// CHECK-NEXT: %[[C:.*]] = sluice.concat %[[A]], %[[B]] axis 1 {{.*}} -> tensor<1x6xbf16, #sluice<[1 6!]>>
// CHECK-NEXT: %[[R:.*]] = sluice.reshape %[[C]] {{.*}} -> tensor<1x2x3xbf16, #sluice<[1 2 3!]>>
// CHECK: sluice.matmul %[[R]]
func.func @product(%x: tensor<1x6xf32, #sluice<[1 6!]>>) -> tensor<1x2x5xf32> {
  %w = sluice.constant dense<0.5> : tensor<3x5xf32>
  %a = sluice.slice %x starts [0, 0] sizes [1, 2] steps [1, 1] : (tensor<1x6xf32, #sluice<[1 6!]>>) -> tensor<1x2xf32>
  %b = sluice.slice %x starts [0, 2] sizes [1, 2] steps [1, 1] : (tensor<1x6xf32, #sluice<[1 6!]>>) -> tensor<1x2xf32>
  %c = sluice.slice %x starts [0, 4] sizes [1, 2] steps [1, 1] : (tensor<1x6xf32, #sluice<[1 6!]>>) -> tensor<1x2xf32>
  %d = sluice.unsqueeze %a axes [2] : (tensor<1x2xf32>) -> tensor<1x2x1xf32>
  %e = sluice.unsqueeze %b axes [2] : (tensor<1x2xf32>) -> tensor<1x2x1xf32>
  %f = sluice.reshape %c : (tensor<1x2xf32>) -> tensor<1x2x1xf32>
  %s = sluice.concat %d, %e, %f axis 2 : (tensor<1x2x1xf32>, tensor<1x2x1xf32>, tensor<1x2x1xf32>) -> tensor<1x2x3xf32>
  %y = sluice.matmul %s, %w : (tensor<1x2x3xf32>, tensor<3x5xf32>) -> tensor<1x2x5xf32>
  return %y : tensor<1x2x5xf32>
}

// -----

// The pin of the result asks for the rule. The slices have a step of 2, and the second one starts first.
// REMARK: remark: stacked slices gathered side by side, at no cost
// CHECK-LABEL: func.func @pin(
// CHECK: %[[A:.*]] = sluice.slice %{{.*}} starts [2] sizes [2] steps [-1]
// CHECK-NEXT: %[[B:.*]] = sluice.slice %{{.*}} starts [4] sizes [2] steps [-1]
// CHECK-NEXT: sluice.concat %[[A]], %[[B]] axis 0 {{.*}} -> tensor<4xbf16, #sluice<[4!]>>
// CHECK-NEXT: sluice.reshape {{.*}} -> tensor<2x2xbf16, #sluice<[2 2!]>>
func.func @pin(%x: tensor<6xf32, #sluice<[6!]>>) -> tensor<2x2xf32, #sluice<[2 2!]>> {
  %a = sluice.slice %x starts [2] sizes [2] steps [2] : (tensor<6xf32, #sluice<[6!]>>) -> tensor<2xf32>
  %b = sluice.slice %x starts [1] sizes [2] steps [2] : (tensor<6xf32, #sluice<[6!]>>) -> tensor<2xf32>
  %c = sluice.unsqueeze %a axes [1] : (tensor<2xf32>) -> tensor<2x1xf32>
  %d = sluice.unsqueeze %b axes [1] : (tensor<2xf32>) -> tensor<2x1xf32>
  %s = sluice.concat %c, %d axis 1 : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x2xf32, #sluice<[2 2!]>>
  return %s : tensor<2x2xf32, #sluice<[2 2!]>>
}

// -----

// Where nothing asks, the concat keeps the data dimension.
// REMARK-NOT: remark
// CHECK-LABEL: func.func @nothing(
// CHECK: sluice.concat {{.*}} -> tensor<2x2xbf16, #sluice<[2! 2]>>
func.func @nothing(%x: tensor<6xf32, #sluice<[6!]>>) -> tensor<2x2xf32> {
  %a = sluice.slice %x starts [0] sizes [2] steps [1] : (tensor<6xf32, #sluice<[6!]>>) -> tensor<2xf32>
  %b = sluice.slice %x starts [2] sizes [2] steps [1] : (tensor<6xf32, #sluice<[6!]>>) -> tensor<2xf32>
  %c = sluice.unsqueeze %a axes [1] : (tensor<2xf32>) -> tensor<2x1xf32>
  %d = sluice.unsqueeze %b axes [1] : (tensor<2xf32>) -> tensor<2x1xf32>
  %s = sluice.concat %c, %d axis 1 : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  return %s : tensor<2x2xf32>
}

// -----

// The starts are at different distances: no such form.
// REMARK: error: E0308
// REMARK-NOT: remark
func.func @uneven(%x: tensor<6xf32, #sluice<[6!]>>) -> tensor<2x3xf32, #sluice<[2 3!]>> {
  %a = sluice.slice %x starts [0] sizes [2] steps [1] : (tensor<6xf32, #sluice<[6!]>>) -> tensor<2xf32>
  %b = sluice.slice %x starts [2] sizes [2] steps [1] : (tensor<6xf32, #sluice<[6!]>>) -> tensor<2xf32>
  %c = sluice.slice %x starts [3] sizes [2] steps [1] : (tensor<6xf32, #sluice<[6!]>>) -> tensor<2xf32>
  %d = sluice.unsqueeze %a axes [1] : (tensor<2xf32>) -> tensor<2x1xf32>
  %e = sluice.unsqueeze %b axes [1] : (tensor<2xf32>) -> tensor<2x1xf32>
  %f = sluice.unsqueeze %c axes [1] : (tensor<2xf32>) -> tensor<2x1xf32>
  %s = sluice.concat %d, %e, %f axis 1 : (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x3xf32, #sluice<[2 3!]>>
  return %s : tensor<2x3xf32, #sluice<[2 3!]>>
}
