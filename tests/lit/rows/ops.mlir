// Every operation in text; what is parsed prints the same.
// RUN: sluice-opt %s | FileCheck %s
// RUN: sluice-opt %s | sluice-opt | FileCheck %s

// CHECK: rows.program "attention" for "c2b8" attributes {geometry = {
rows.program "attention" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 512, parameters = 72, nodes = [{index = 3, name = "fc", op = "Gemm"}]} {
  // CHECK-NEXT: rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  // CHECK-NEXT: rows.output @y : tensor<4x8xbf16> along 1 rows 4 from 0 {name = "x"}
  rows.output @y : tensor<4x8xbf16> along 1 rows 4 from 0 {name = "x"}
  // CHECK-NEXT: rows.family @fx 4 x 1 input @x
  rows.family @fx 4 x 1 input @x
  // CHECK-NEXT: rows.family @positions 4 x 1 constant dense<5.000000e-01> : tensor<4x8xbf16>
  rows.family @positions 4 x 1 constant dense<0.5> : tensor<4x8xbf16>
  // CHECK-NEXT: rows.family @h 4 x 1{{$}}
  rows.family @h 4 x 1
  // CHECK-NEXT: rows.family @most 2 x 1{{$}}
  rows.family @most 2 x 1
  // CHECK-NEXT: rows.block @w dense<1.000000e+00> : tensor<8x8xbf16>
  rows.block @w dense<1.0> : tensor<8x8xbf16>
  // CHECK-NEXT: rows.block dynamic @keys dense<0.000000e+00> : tensor<8x8xbf16>
  rows.block dynamic @keys dense<0.0> : tensor<8x8xbf16>
  // CHECK-NEXT: rows.bias @b dense<2.000000e+00> : tensor<8xf32>
  rows.bias @b dense<2.0> : tensor<8xf32>
  // CHECK-NEXT: rows.table @exp [1, 2, 3, 4] dense<0.000000e+00> : tensor<4096xbf16>
  rows.table @exp [1, 2, 3, 4] dense<0.0> : tensor<4096xbf16>
  // CHECK-NEXT: rows.body 4 attributes {macs = 64 : i64} {
  rows.body 4 attributes {macs = 64} {
    // CHECK-NEXT: %[[X:.*]] = rows.read @fx : !rows.row
    %0 = rows.read @fx : !rows.row
    // CHECK-NEXT: %[[P:.*]] = rows.read @positions : !rows.row
    %1 = rows.read @positions : !rows.row
    // CHECK-NEXT: %[[H:.*]] = rows.linear %[[X]] by [@w] bias @b step {alu1 = "add", post = "relu"} b(%[[P]]) {group = 1 : i64, nodes = array<i64: 0>}
    %2 = rows.linear %0 by [@w] bias @b step {alu1 = "add", post = "relu"} b(%1) {group = 1, nodes = array<i64: 0>}
    // CHECK-NEXT: rows.write %[[H]] family @h{{$}}
    rows.write %2 family @h
    // CHECK-NEXT: rows.write %[[M:.*]] family @most fold "max"
    rows.write %2 family @most fold "max"
  }
  // CHECK: rows.body 4 attributes {macs = 64 : i64} {
  rows.body 4 attributes {macs = 64} {
    // CHECK-NEXT: %[[ALL:.*]]:4 = rows.read @h at [0, 1, 2, 3] : !rows.row, !rows.row, !rows.row, !rows.row
    %0:4 = rows.read @h at [0, 1, 2, 3] : !rows.row, !rows.row, !rows.row, !rows.row
    %1 = rows.read @h : !rows.row
    // CHECK: %[[ONE:.*]] = rows.constant dense<1.000000e+00> : tensor<8xbf16>
    %2 = rows.constant dense<1.0> : tensor<8xbf16>
    // CHECK-NEXT: rows.fill @keys columns with %[[ALL]]#0, %[[ALL]]#1 at [0, 5]
    rows.fill @keys columns with %0#0, %0#1 at [0, 5]
    // CHECK-NEXT: %[[S:.*]] = rows.linear
    %3 = rows.linear %1, %1 by [@keys, @w] step {imm1 = 0.25 : f32, alu1 = "mul", rhs1 = "imm"} table @exp {group = 1}
    // CHECK-NEXT: %[[N:.*]] = rows.vector %[[S]], %[[ALL]]#2 step {alu2 = "mul", b_broadcast, reduce = "sum"} c(%[[ONE]]) {group = 2 : i64}
    %4 = rows.vector %3, %0#2 step {reduce = "sum", alu2 = "mul", b_broadcast} c(%2) {group = 2}
    // CHECK-NEXT: rows.write %[[N]] output @y from [3] {stride = -1 : i64}
    rows.write %4 output @y from [3] {stride = -1}
  }
}

// Bodies that read where windows say, and of which several write one family.
// CHECK: rows.program "windows"
rows.program "windows" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = []} {
  rows.input @x : tensor<4x8xf32> along 1 rows 4 from 0
  rows.output @y : tensor<4x8xf32> along 1 rows 4 from 0
  rows.family @fx 1 x 4 input @x
  // CHECK: rows.family @h 1 x 4{{$}}
  rows.family @h 1 x 4
  rows.body 1 attributes {macs = 0} {
    %0:2 = rows.read @fx at [0, 1] : !rows.row, !rows.row
    %1 = rows.vector %0#0, %0#1 step {reduce = "max"} {group = 1}
    // CHECK: rows.write %{{.*}} family @h from [0]{{$}}
    rows.write %1 family @h from [0]
  }
  rows.body 3 attributes {macs = 0} {
    // CHECK: %{{.*}}:2 = rows.read @fx at [0, 1] {step = 1 : i64} : !rows.row, !rows.row
    %0:2 = rows.read @fx at [0, 1] {step = 1} : !rows.row, !rows.row
    %1 = rows.vector %0#0, %0#1 step {reduce = "max"} {group = 1}
    // CHECK: rows.write %{{.*}} family @h from [1] {stride = 1 : i64}
    rows.write %1 family @h from [1] {stride = 1}
  }
  rows.body 4 attributes {macs = 0} {
    %0 = rows.read @h at [3] {step = -1} : !rows.row
    %1 = rows.vector %0 {group = 1}
    rows.write %1 output @y from [0] {stride = 1}
  }
}

// CHECK: rows.program "state"
rows.program "state" for "c2b8" attributes {
    geometry = {rtl = "c2b8", cores = 2, lanes = 8, pe_terms = 4, weight_blocks = 16, inbox_rows = 16,
                local_rows = 16, accumulators = 8, preload_rows = 8, instructions = 32,
                host_instructions = 8, tables = 2, clock_mhz = 300},
    macs = 0, parameters = 0, nodes = []} {
  rows.output @y : tensor<8xf32> along 0 rows 1 from 0
  // CHECK: rows.state @h dense<1.000000e+00> : tensor<8xbf16>
  rows.state @h dense<1.0> : tensor<8xbf16>
  rows.body 1 attributes {macs = 0} {
    // CHECK: %[[OLD:.*]] = rows.recall @h{{$}}
    %0 = rows.recall @h
    // CHECK-NEXT: %[[NEW:.*]] = rows.vector %[[OLD]]
    %1 = rows.vector %0 {group = 1}
    rows.write %1 output @y from [0]
    // CHECK: rows.keep %[[NEW]] in @h{{$}}
    rows.keep %1 in @h
  }
}
