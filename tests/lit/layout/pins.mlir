// Pins by name, and what is wrong with them.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension{pins=x=0,h=0}))" | FileCheck %s
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension))" | FileCheck %s --check-prefix=FREE
// RUN: not sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension{pins=x=0,x=1,h=2,w=0,nobody=0}))" 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension{pins=x=0,h=1}))" 2>&1 | FileCheck %s --check-prefix=CONFLICT
// RUN: not sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension{pins=x=zero}))" 2>&1 | FileCheck %s --check-prefix=FORM

// CHECK: @main(%{{.*}}: tensor<9x8xbf16, #sluice<[9! 8]>> {{.*}}) -> tensor<9x8xbf16, #sluice<[9! 8]>>

// The least cost is 9 rows of 8 lanes, not 2 times 8.
// FREE: @main(%{{.*}}: tensor<9x8xbf16, #sluice<[9 8!]>> {{.*}}) -> tensor<9x8xbf16, #sluice<[9 8!]>>

// BAD: E0311: tensor 'x' is pinned to both axis 0 and axis 1
// BAD: E0311: tensor 'h' has no axis 2; its shape is [9 8]
// BAD: E0311: tensor 'w' is a constant and has no data dimension
// BAD: E0311: the model has no tensor 'nobody' (--data-dim nobody=0)

// CONFLICT: E0308: tensor 'h' is pinned to [9 8!] but must be [9! 8]
// CONFLICT: chain: 'x' [9! 8], pinned by --data-dim x=0
// CONFLICT: chain: node 1 "exp" (Exp): 'h' [9! 8], from [9! 8]: pointwise operands and result share one data dimension
// CONFLICT: chain: node 1 "exp" (Exp): 'h' [9! 8], but it must be [9 8!], pinned by --data-dim h=1
// CONFLICT: help: replace --data-dim h=1 with --data-dim h=0, or remove it
// CONFLICT: help: replace --data-dim x=0 with --data-dim x=1, or remove it

// FORM: pin 'x=zero' is not of the form name=axis
func.func @main(%x: tensor<9x8xf32> {sluice.name = "x"}) -> tensor<9x8xf32> {
  %w = sluice.constant dense<1.0> : tensor<9x8xf32> loc("w")
  %0 = sluice.map (%a = %x, %b = %w) : (tensor<9x8xf32>, tensor<9x8xf32>) -> tensor<9x8xf32> {
    %e = arith.addf %a, %b : f32
    sluice.yield %e
  } loc(fused<#sluice.node<1, "exp", "Exp">>["h"])
  return %0 : tensor<9x8xf32>
}
