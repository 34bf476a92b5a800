// Beside the order that the model has, the rows are planned with the longest chains first: here
// the operations on %z, whose sum takes longer than what is done with %x.
// RUN: sluice-opt %s --convert-sluice-to-rows=target=c2b8 | FileCheck %s

// CHECK-LABEL: rows.program "main" for "c2b8"
// CHECK-NOT: variant
// CHECK: %[[X:.*]] = rows.read @x_0
// CHECK-NEXT: %[[Z:.*]] = rows.read @z_0
// CHECK-NEXT: %[[A:.*]] = rows.vector %[[X]] step {reduce = "max"}
// CHECK-NEXT: %[[B:.*]] = rows.vector %[[Z]] step {reduce = "max"}
// CHECK-NEXT: %[[D:.*]] = rows.vector %[[Z]] step {alu1 = "sub"} b(%[[B]])
// CHECK-NEXT: %[[C:.*]] = rows.vector %[[X]] step {alu1 = "sub"} b(%[[A]])
// CHECK-NEXT: rows.linear %[[D]] by [@w0] step {alu1 = "mul"} b(%[[C]])

// CHECK: rows.program "main" for "c2b8"
// CHECK-SAME: variant = "longest chains of rows first"
// CHECK: %[[X:.*]] = rows.read @x_0
// CHECK-NEXT: %[[Z:.*]] = rows.read @z_0
// CHECK-NEXT: %[[B:.*]] = rows.vector %[[Z]] step {reduce = "max"} {{.*}}group = 1
// CHECK-NEXT: %[[D:.*]] = rows.vector %[[Z]] step {alu1 = "sub"} b(%[[B]]) {{.*}}group = 2
// CHECK-NEXT: %[[A:.*]] = rows.vector %[[X]] step {reduce = "max"} {{.*}}group = 3
// CHECK-NEXT: %[[C:.*]] = rows.vector %[[X]] step {alu1 = "sub"} b(%[[A]]) {{.*}}group = 4
// CHECK-NEXT: rows.linear %[[D]] by [@w0] step {alu1 = "mul"} b(%[[C]]) {{.*}}group = 5
func.func @main(%x: tensor<8xbf16, #sluice<[8!]>> {sluice.name = "x"}, %z: tensor<8xbf16, #sluice<[8!]>> {sluice.name = "z"})
    -> (tensor<8xbf16, #sluice<[8!]>> {sluice.name = "y"}) {
  %a = sluice.reduce max %x axes [0] keepdims : (tensor<8xbf16, #sluice<[8!]>>) -> tensor<1xbf16, #sluice<[1!]>>
  %b = sluice.reduce max %z axes [0] keepdims : (tensor<8xbf16, #sluice<[8!]>>) -> tensor<1xbf16, #sluice<[1!]>>
  %bs = sluice.broadcast %b : (tensor<1xbf16, #sluice<[1!]>>) -> tensor<8xbf16, #sluice<[8!]>>
  %d = sluice.map (%p = %z, %q = %bs) : (tensor<8xbf16, #sluice<[8!]>>, tensor<8xbf16, #sluice<[8!]>>) -> tensor<8xbf16, #sluice<[8!]>> {
    %0 = arith.subf %p, %q : f32
    sluice.yield %0
  }
  %e = sluice.reduce sum %d axes [0] keepdims : (tensor<8xbf16, #sluice<[8!]>>) -> tensor<1xbf16, #sluice<[1!]>>
  %as = sluice.broadcast %a : (tensor<1xbf16, #sluice<[1!]>>) -> tensor<8xbf16, #sluice<[8!]>>
  %es = sluice.broadcast %e : (tensor<1xbf16, #sluice<[1!]>>) -> tensor<8xbf16, #sluice<[8!]>>
  %y = sluice.map (%p = %x, %q = %as, %r = %es) : (tensor<8xbf16, #sluice<[8!]>>, tensor<8xbf16, #sluice<[8!]>>, tensor<8xbf16, #sluice<[8!]>>) -> tensor<8xbf16, #sluice<[8!]>> {
    %0 = arith.subf %p, %q : f32
    %1 = arith.mulf %0, %r : f32
    sluice.yield %1
  }
  return %y : tensor<8xbf16, #sluice<[8!]>>
}
