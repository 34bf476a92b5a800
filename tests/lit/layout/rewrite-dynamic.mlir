// --rewrite-layout with --allow-dynamic-weights; what costs nothing is done without it.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension{allow-dynamic-weights=true}))" | FileCheck %s
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension{rewrite-layout=true allow-dynamic-weights=true}))" | FileCheck %s

// Both sides contracted along their data dimensions, and the leftmost axis wanted.
// CHECK-LABEL: func.func @swapped(
// CHECK-NOT: relayout
// CHECK: %[[P:.*]] = sluice.matmul %{{.*}}, %{{.*}} : (tensor<9x8xbf16, #sluice<[9 8!]>>, tensor<8x7xbf16, #sluice<[8! 7]>>) -> tensor<9x7xbf16, #sluice<[9 7!]>>
// CHECK: sluice.transpose %[[P]] [1, 0] : (tensor<9x7xbf16, #sluice<[9 7!]>>) -> tensor<7x9xbf16, #sluice<[7! 9]>>
// CHECK-NOT: relayout
// CHECK: return
func.func @swapped(%x: tensor<7x8xf32, #sluice.dim<1>>, %z: tensor<8x9xf32, #sluice.dim<0>>) -> tensor<7x9xf32, #sluice.dim<0>> {
  %y = sluice.matmul %x, %z : (tensor<7x8xf32, #sluice.dim<1>>, tensor<8x9xf32, #sluice.dim<0>>) -> tensor<7x9xf32, #sluice.dim<0>>
  return %y : tensor<7x9xf32, #sluice.dim<0>>
}
