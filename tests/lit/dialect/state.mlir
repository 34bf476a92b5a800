// States print and parse; nothing folds them or drops them.
// RUN: sluice-opt %s | sluice-opt | FileCheck %s
// RUN: sluice-opt %s --pass-pipeline='builtin.module(func.func(sluice-fold-constants,sluice-remove-dead-code,canonicalize))' \
// RUN:   | FileCheck %s

// CHECK-LABEL: @state
func.func @state(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[A:.*]] = sluice.state : tensor<4xf32>
  %a = sluice.state : tensor<4xf32>
  // CHECK: %[[B:.*]] = sluice.state initial dense<2.000000e+00> : tensor<4xf32> : tensor<4xf32>
  %b = sluice.state initial dense<2.0> : tensor<4xf32> : tensor<4xf32>
  // CHECK: sluice.keep %{{.*}} in %[[A]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %0 = sluice.keep %x in %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: sluice.keep %[[A]] in %[[B]]
  %1 = sluice.keep %a in %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}
