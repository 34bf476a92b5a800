// What merges more rows than a pass takes is a program for every shape of tree, the one that is
// taken without a search first; what merges fewer is one program.
// RUN: sluice-opt %s --split-input-file --convert-sluice-to-rows=target=c2b8 | FileCheck %s
// RUN: sluice-opt %s --split-input-file --convert-sluice-to-rows=target=c2b8 | sluice-opt --split-input-file | FileCheck %s

// CHECK-LABEL: rows.program "four" for "c2b8"
// CHECK-SAME: nodes = [], parameters = 0 : i64} {
// CHECK: %[[X:.*]]:4 = rows.read
// CHECK-NEXT: %[[A:.*]] = rows.vector %[[X]]#0 step {alu1 = "max", alu2 = "max"} b(%[[X]]#1) c(%[[X]]#2)
// CHECK-NEXT: %[[B:.*]] = rows.vector %[[A]] step {alu1 = "max"} b(%[[X]]#3)
// CHECK-NEXT: rows.write %[[B]] output

// CHECK: rows.program "four" for "c2b8"
// CHECK-SAME: variant = "trees of 2 rows per pass"
// CHECK: %[[X:.*]]:4 = rows.read
// CHECK-NEXT: %[[A:.*]] = rows.vector %[[X]]#0 step {alu1 = "max"} b(%[[X]]#1)
// CHECK-NEXT: %[[B:.*]] = rows.vector %[[X]]#2 step {alu1 = "max"} b(%[[X]]#3)
// CHECK-NEXT: %[[C:.*]] = rows.vector %[[A]] step {alu1 = "max"} b(%[[B]])
// CHECK-NEXT: rows.write %[[C]] output

// CHECK: rows.program "four" for "c2b8"
// CHECK-SAME: variant = "trees of evenly spaced rows"
// CHECK: %[[X:.*]]:4 = rows.read
// CHECK-NEXT: %[[A:.*]] = rows.vector %[[X]]#0 step {alu1 = "max"} b(%[[X]]#2)
// CHECK-NEXT: %[[B:.*]] = rows.vector %[[X]]#1 step {alu1 = "max"} b(%[[X]]#3)
// CHECK-NEXT: %[[C:.*]] = rows.vector %[[A]] step {alu1 = "max"} b(%[[B]])
// CHECK-NEXT: rows.write %[[C]] output

// CHECK: rows.program "four" for "c2b8"
// CHECK-SAME: variant = "trees of 2 rows per pass, of evenly spaced rows"
// CHECK-NOT: rows.program "four"
func.func @four(%x: tensor<4x8xbf16, #sluice<[4 8!]>>) -> tensor<8xbf16, #sluice<[8!]>> {
  %y = sluice.reduce max %x axes [0] : (tensor<4x8xbf16, #sluice<[4 8!]>>) -> tensor<8xbf16, #sluice<[8!]>>
  return %y : tensor<8xbf16, #sluice<[8!]>>
}

// -----

// CHECK-LABEL: rows.program "three" for "c2b8"
// CHECK-NOT: rows.program
func.func @three(%x: tensor<3x8xbf16, #sluice<[3 8!]>>) -> tensor<8xbf16, #sluice<[8!]>> {
  %y = sluice.reduce max %x axes [0] : (tensor<3x8xbf16, #sluice<[3 8!]>>) -> tensor<8xbf16, #sluice<[8!]>>
  return %y : tensor<8xbf16, #sluice<[8!]>>
}
