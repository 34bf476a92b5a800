// A function that is laid out becomes rows: one body, and loops where they are asked for.
// RUN: sluice-opt %s --convert-sluice-to-rows=target=c2b8 | FileCheck %s
// RUN: sluice-opt %s --convert-sluice-to-rows="target=c2b8 loops=true" | FileCheck %s --check-prefix=LOOP
// RUN: sluice-opt %s --convert-sluice-to-rows=target=c2b8 | sluice-opt | FileCheck %s

// CHECK: rows.program "dense" for "c2b8" attributes {geometry = {
// CHECK-SAME: macs = 96 : i64, nodes = [], parameters = 0 : i64}
// CHECK-NEXT: rows.input @x : tensor<3x4xf32> along 1 rows 3 from 0
// CHECK-NEXT: rows.output @y : tensor<3x8xf32> along 1 rows 3 from 0
// CHECK-NEXT: rows.family @x_0 1 x 3 input @x {name = "x"}
// CHECK-NEXT: rows.block @w0 dense<
// CHECK-NEXT: rows.body 1 attributes {macs = 96 : i64} {
// CHECK-NEXT: %[[X:.*]]:3 = rows.read @x_0 : !rows.row, !rows.row, !rows.row
// CHECK-NEXT: %[[A:.*]] = rows.linear %[[X]]#0 by [@w0] {group = 1 : i64}
// CHECK-NEXT: %[[B:.*]] = rows.linear %[[X]]#1 by [@w0] {group = 1 : i64}
// CHECK-NEXT: %[[C:.*]] = rows.linear %[[X]]#2 by [@w0] {group = 1 : i64}
// CHECK-NEXT: rows.write %[[A]], %[[B]], %[[C]] output @y from [0, 1, 2]

// LOOP: rows.family @x_0 3 x 1 input @x {name = "x"}
// LOOP: rows.body 3 attributes {macs = 32 : i64} {
// LOOP-NEXT: %[[X:.*]] = rows.read @x_0 : !rows.row
// LOOP-NEXT: %[[A:.*]] = rows.linear %[[X]] by [@w0] {group = 1 : i64}
// LOOP-NEXT: rows.write %[[A]] output @y from [0] {stride = 1 : i64}
func.func @dense(%x: tensor<3x4xbf16, #sluice<[3 4!]>> {sluice.name = "x"}) -> (tensor<3x8xbf16, #sluice<[3 8!]>> {sluice.name = "y"}) {
  %w = sluice.constant dense<0.5> : tensor<4x8xf32>
  %y = sluice.matmul %x, %w : (tensor<3x4xbf16, #sluice<[3 4!]>>, tensor<4x8xf32>) -> tensor<3x8xbf16, #sluice<[3 8!]>>
  return %y : tensor<3x8xbf16, #sluice<[3 8!]>>
}
