// Locations carry nodes through merging.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-fuse-maps))" --mlir-print-debuginfo | FileCheck %s

// CHECK-DAG: #[[A:.*]] = loc(fused<#sluice.node<3, "fc/add", "Add">>[{{.*}}])
// CHECK-DAG: #[[B:.*]] = loc(fused<#sluice.node<4, "fc/relu", "Relu">>[{{.*}}])
// CHECK-DAG: loc(fused[#[[A]], #[[B]]])
func.func @nodes(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sluice.map (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %s = arith.addf %a, %a : f32
    sluice.yield %s
  } loc(fused<#sluice.node<3, "fc/add", "Add">>["sum"])
  %1 = sluice.map (%a = %0) : (tensor<4xf32>) -> tensor<4xf32> {
    %s = math.absf %a : f32
    sluice.yield %s
  } loc(fused<#sluice.node<4, "fc/relu", "Relu">>["y"])
  return %1 : tensor<4xf32>
}
