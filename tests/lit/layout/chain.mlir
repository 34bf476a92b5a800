// Every independent conflict is reported, each with its nodes and a chain from
// which nothing can be left out. A flag that does not resolve all of them is the last help.
// RUN: not sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension))" --mlir-print-op-on-diagnostic=false 2>&1 | FileCheck %s

// CHECK: error: {{.*}}E0302: the product contracts an axis that is not the data dimension: node 41 "/blk/attn/MatMul_1" (MatMul)
// CHECK-NEXT: operand 0: constant [64 32]
// CHECK-NEXT: operand 1 'r': activation [32 10!]
// CHECK-NEXT: rule DD-MM-CONST
// CHECK-NEXT: chain: node 33 "/blk/Reshape" (Reshape): 'r' [32 10!], the data dimension keeps its stride
// CHECK-NEXT: chain: node 41 "/blk/attn/MatMul_1" (MatMul): 'r' [32 10!], but this operation needs [32! 10]
// CHECK-NEXT: help: reshape to [10 32] and transpose axes 0 and 1
// CHECK-NEXT: help: compile with --allow-dynamic-weights (DD-MM-DYN-1)

// Transposed and not, no data dimension fits: so what fixes it, node 51, is no
// part of the chain, nor is the slice on the side.
// CHECK-NEXT: error: {{.*}}E0301: {{.*}}: node 54 "/join" (Add)
// CHECK-NEXT: operand 0 'e': activation [6 6!]
// CHECK-NEXT: operand 1 't': activation [6! 6]
// CHECK-NEXT: rule DD-PW
// CHECK-NEXT: chain: node 52 "/exp" (Exp): 'e' [6 6!], from [6 6!]: pointwise operands and result share one data dimension
// CHECK-NEXT: chain: node 53 "/t" (Transpose): 't' [6! 6], from [6 6!]: the data dimension moves with its axis
// CHECK-NEXT: chain: node 54 "/join" (Add): 't' [6! 6], no data dimension satisfies every step
// CHECK-NEXT: help: make operand 1 't' a separate graph input

// CHECK-NEXT: error: {{.*}}E0303: {{.*}}: node 62 "/flat" (Reshape)
// CHECK-NEXT: operand 0 'z': activation [4! 5]
// CHECK-NEXT: rule DD-RESHAPE
// CHECK-NEXT: chain: node 60 "/proj" (MatMul): 'p' [4! 5], weights on the left: the contracted data dimension becomes the weights' axis
// CHECK-NEXT: chain: node 61 "/exp" (Exp): 'z' [4! 5], from [4! 5]: pointwise operands and result share one data dimension
// CHECK-NEXT: chain: node 62 "/flat" (Reshape): 'z' [4! 5], but this operation needs [4 5!]
// CHECK-NEXT: help: transpose axes 0 and 1 before the reshape
// CHECK-NEXT: help: compile with --allow-dynamic-weights{{$}}
// CHECK-NOT: error:
func.func @three(%x: tensor<320xf32>, %y: tensor<6x6xf32> {sluice.name = "y"},
                 %z: tensor<3x5xf32>) -> (tensor<64x10xf32>, tensor<6x6xf32>, tensor<20xf32>) {
  %a = sluice.constant dense<2.0> : tensor<64x32xf32>
  %w = sluice.constant dense<1.0> : tensor<6x6xf32>
  %0 = sluice.map (%p = %x) : (tensor<320xf32>) -> tensor<320xf32> {
    %e = math.exp %p : f32
    sluice.yield %e
  } loc(fused<#sluice.node<12, "/blk/exp", "Exp">>["h0"])
  %1 = sluice.reshape %0 : (tensor<320xf32>) -> tensor<32x10xf32>
      loc(fused<#sluice.node<33, "/blk/Reshape", "Reshape">>["r"])
  %2 = sluice.matmul %a, %1 : (tensor<64x32xf32>, tensor<32x10xf32>) -> tensor<64x10xf32>
      loc(fused<#sluice.node<41, "/blk/attn/MatMul_1", "MatMul">>["m"])
  %3 = sluice.matmul %y, %w : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
      loc(fused<#sluice.node<51, "/fc", "Gemm">>["h"])
  %4 = sluice.map (%p = %3) : (tensor<6x6xf32>) -> tensor<6x6xf32> {
    %e = math.exp %p : f32
    sluice.yield %e
  } loc(fused<#sluice.node<52, "/exp", "Exp">>["e"])
  %5 = sluice.transpose %3 [1, 0] : (tensor<6x6xf32>) -> tensor<6x6xf32>
      loc(fused<#sluice.node<53, "/t", "Transpose">>["t"])
  %6 = sluice.slice %4 starts [0, 0] sizes [6, 6] steps [1, 1] : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %7 = sluice.map (%p = %4, %q = %5) : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32> {
    %s = arith.addf %p, %q : f32
    sluice.yield %s
  } loc(fused<#sluice.node<54, "/join", "Add">>["j"])
  %8 = sluice.map (%p = %6, %q = %7) : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32> {
    %s = arith.addf %p, %q : f32
    sluice.yield %s
  }
  %v = sluice.constant dense<1.0> : tensor<4x3xf32>
  %9 = sluice.matmul %v, %z : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
      loc(fused<#sluice.node<60, "/proj", "MatMul">>["p"])
  %10 = sluice.map (%p = %9) : (tensor<4x5xf32>) -> tensor<4x5xf32> {
    %e = math.exp %p : f32
    sluice.yield %e
  } loc(fused<#sluice.node<61, "/exp", "Exp">>["z"])
  %11 = sluice.reshape %10 : (tensor<4x5xf32>) -> tensor<20xf32>
      loc(fused<#sluice.node<62, "/flat", "Reshape">>["f"])
  return %2, %8, %11 : tensor<64x10xf32>, tensor<6x6xf32>, tensor<20xf32>
}
