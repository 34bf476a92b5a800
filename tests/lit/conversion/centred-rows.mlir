// Two rows that subtract the same mean each compute it in their own sum, where it is not rounded.
// More rows share one row that holds the rounded mean.
// RUN: sluice-opt %s --split-input-file --convert-sluice-to-rows=target=c2b8 | FileCheck %s

// A mean over 16 elements has an exact weight.
// CHECK: rows.input @tensor0 : tensor<1x16xf32>
// CHECK: %[[X:.*]]:2 = rows.read
// CHECK-NEXT: rows.linear %[[X]]#0, %[[X]]#1 by [@w0, @w0] step {alu1 = "rsub"} b(%[[X]]#0)
// CHECK-NEXT: rows.linear %[[X]]#0, %[[X]]#1 by [@w0, @w0] step {alu1 = "rsub"} b(%[[X]]#1)
// CHECK-NEXT: rows.write
func.func @exact(%x: tensor<1x16xbf16, #sluice<[1 16!]>>) -> tensor<1x16xbf16, #sluice<[1 16!]>> {
  %m = sluice.reduce mean %x axes [1] keepdims : (tensor<1x16xbf16, #sluice<[1 16!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>>
  %b = sluice.broadcast %m : (tensor<1x1xbf16, #sluice<[1 1!]>>) -> tensor<1x16xbf16, #sluice<[1 16!]>>
  %d = sluice.map (%p = %x, %q = %b) : (tensor<1x16xbf16, #sluice<[1 16!]>>, tensor<1x16xbf16, #sluice<[1 16!]>>) -> tensor<1x16xbf16, #sluice<[1 16!]>> {
    %0 = arith.subf %p, %q : f32
    sluice.yield %0
  }
  return %d : tensor<1x16xbf16, #sluice<[1 16!]>>
}

// -----

// A mean over 12 elements is a sum times 1/12: the pass behind the sum multiplies and subtracts.
// CHECK: rows.input @tensor0 : tensor<1x12xf32>
// CHECK: %[[X:.*]]:2 = rows.read
// CHECK-NEXT: rows.linear {{.*}} step {alu1 = "mul", alu2 = "rsub", imm1 = 0.0833333358 : f32, rhs1 = "imm", rhs2 = "b"} b(%[[X]]#0)
// CHECK-NEXT: rows.linear {{.*}} step {alu1 = "mul", alu2 = "rsub", imm1 = 0.0833333358 : f32, rhs1 = "imm", rhs2 = "b"} b(%[[X]]#1)
// CHECK-NEXT: rows.write
func.func @scaled(%x: tensor<1x12xbf16, #sluice<[1 12!]>>) -> tensor<1x12xbf16, #sluice<[1 12!]>> {
  %m = sluice.reduce mean %x axes [1] keepdims : (tensor<1x12xbf16, #sluice<[1 12!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>>
  %b = sluice.broadcast %m : (tensor<1x1xbf16, #sluice<[1 1!]>>) -> tensor<1x12xbf16, #sluice<[1 12!]>>
  %d = sluice.map (%p = %x, %q = %b) : (tensor<1x12xbf16, #sluice<[1 12!]>>, tensor<1x12xbf16, #sluice<[1 12!]>>) -> tensor<1x12xbf16, #sluice<[1 12!]>> {
    %0 = arith.subf %p, %q : f32
    sluice.yield %0
  }
  return %d : tensor<1x12xbf16, #sluice<[1 12!]>>
}

// -----

// Three rows would issue nine block products instead of three.
// CHECK: rows.input @tensor0 : tensor<1x24xf32>
// CHECK: %[[X:.*]]:3 = rows.read
// CHECK-NEXT: %[[M:.*]] = rows.linear %[[X]]#0, %[[X]]#1, %[[X]]#2
// CHECK-NEXT: rows.vector
// CHECK-NEXT: rows.vector
// CHECK-NEXT: rows.vector
// CHECK-NEXT: rows.write
func.func @shared(%x: tensor<1x24xbf16, #sluice<[1 24!]>>) -> tensor<1x24xbf16, #sluice<[1 24!]>> {
  %m = sluice.reduce mean %x axes [1] keepdims : (tensor<1x24xbf16, #sluice<[1 24!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>>
  %b = sluice.broadcast %m : (tensor<1x1xbf16, #sluice<[1 1!]>>) -> tensor<1x24xbf16, #sluice<[1 24!]>>
  %d = sluice.map (%p = %x, %q = %b) : (tensor<1x24xbf16, #sluice<[1 24!]>>, tensor<1x24xbf16, #sluice<[1 24!]>>) -> tensor<1x24xbf16, #sluice<[1 24!]>> {
    %0 = arith.subf %p, %q : f32
    sluice.yield %0
  }
  return %d : tensor<1x24xbf16, #sluice<[1 24!]>>
}

// -----

// Another operation reads the mean. The difference sums it again, and does not wait for its row.
// CHECK: rows.input @tensor0 : tensor<1x8xf32>
// CHECK: %[[X:.*]] = rows.read
// CHECK-DAG: rows.linear %[[X]] by [@w0] step {alu1 = "rsub"} b(%[[X]])
// CHECK-DAG: rows.linear %[[X]] by [@w0] table @t0
// CHECK: rows.write
func.func @elsewhere(%x: tensor<1x8xbf16, #sluice<[1 8!]>>) -> (tensor<1x8xbf16, #sluice<[1 8!]>>, tensor<1x1xbf16, #sluice<[1 1!]>>) {
  %m = sluice.reduce mean %x axes [1] keepdims : (tensor<1x8xbf16, #sluice<[1 8!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>>
  %b = sluice.broadcast %m : (tensor<1x1xbf16, #sluice<[1 1!]>>) -> tensor<1x8xbf16, #sluice<[1 8!]>>
  %d = sluice.map (%p = %x, %q = %b) : (tensor<1x8xbf16, #sluice<[1 8!]>>, tensor<1x8xbf16, #sluice<[1 8!]>>) -> tensor<1x8xbf16, #sluice<[1 8!]>> {
    %0 = arith.subf %p, %q : f32
    sluice.yield %0
  }
  %t = sluice.map (%p = %m) : (tensor<1x1xbf16, #sluice<[1 1!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>> {
    %0 = math.tanh %p : f32
    sluice.yield %0
  }
  return %d, %t : tensor<1x8xbf16, #sluice<[1 8!]>>, tensor<1x1xbf16, #sluice<[1 1!]>>
}
