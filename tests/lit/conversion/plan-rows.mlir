// Rows become the instructions of a machine: straight, or a loop over trips.
// RUN: sluice-opt %s --split-input-file --plan-rows | FileCheck %s

// CHECK-LABEL: core.program "c2b8" geometry {
// CHECK-SAME: output_rows 1 {
// CHECK-NEXT: core.core 0 {
// CHECK: core.mm(
// CHECK: core.vec(
// CHECK: core.host {
// CHECK: core.input(
rows.program "dense" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 64, parameters = 64, nodes = [{index = 0, name = "fc", op = "Gemm"}]} {
  rows.input @x : tensor<1x8xf32> along 1 rows 1 from 0
  rows.output @y : tensor<1x8xf32> along 1 rows 1 from 0
  rows.family @fx 1 x 1 input @x
  rows.block @w dense<1.0> : tensor<8x8xbf16>
  rows.body 1 attributes {macs = 64} {
    %0 = rows.read @fx : !rows.row
    %1 = rows.linear %0 by [@w] step {post = "relu"} {group = 1, nodes = array<i64: 0>}
    rows.write %1 output @y from [0]
  }
}

// -----

// CHECK-LABEL: core.program "c2b8" geometry {
// CHECK-SAME: output_rows 1000 {
// CHECK: core.loop(count =
// CHECK: core.mm({{.*}}nodes = [0])
// CHECK: core.endloop
rows.program "positions" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 128,
                local_rows = 64, accumulators = 8, preload_rows = 8, instructions = 128,
                host_instructions = 64, tables = 2, clock_mhz = 300},
    macs = 64000, parameters = 64, nodes = [{index = 0, name = "fc", op = "Gemm"}]} {
  rows.input @x : tensor<1000x8xf32> along 1 rows 1000 from 0
  rows.output @y : tensor<1000x8xf32> along 1 rows 1000 from 0
  rows.family @fx 1000 x 1 input @x
  rows.block @w dense<1.0> : tensor<8x8xbf16>
  rows.body 1000 attributes {macs = 64} {
    %0 = rows.read @fx : !rows.row
    %1 = rows.linear %0 by [@w] step {post = "relu"} {group = 1, nodes = array<i64: 0>}
    rows.write %1 output @y from [0] {stride = 1}
  }
}
