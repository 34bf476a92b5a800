// Softmax of a dense layer with fewer features than lanes: the bias puts the lowest number beyond
// them, so that the maximum needs no mask, and the exponentials are finite there. Shares of a sum
// are no NaN beyond them, unless all are: their maximum needs no step before it.
// RUN: sluice-opt %s --convert-sluice-to-rows=target=c2b8 | FileCheck %s

// CHECK: rows.bias @b0 dense<[1.000000e+00, 1.000000e+00, 1.000000e+00, -3.38953139E+38
// CHECK: %[[X:.*]] = rows.read
// CHECK: %[[H:.*]] = rows.linear %[[X]] by [@w0] bias @b0
// CHECK-NEXT: %[[M:.*]] = rows.vector %[[H]] step {reduce = "max"}
// CHECK-NEXT: %[[E:.*]] = rows.vector %[[H]] step {alu1 = "sub"} table {{.*}} b(%[[M]])
// CHECK-NEXT: %[[S:.*]] = rows.linear %[[E]] by [@w1] step {alu2 = "mul"} table {{.*}} c(%[[E]])
// CHECK-NEXT: rows.vector %[[S]] step {alu1 = "min", reduce = "argmax"}
// CHECK-NEXT: rows.write
func.func @main(%x: tensor<1x8xbf16, #sluice<[1 8!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>> {
  %w = sluice.constant dense<0.5> : tensor<8x3xf32>
  %o = sluice.constant dense<1.0> : tensor<1x3xf32>
  %p = sluice.matmul %x, %w : (tensor<1x8xbf16, #sluice<[1 8!]>>, tensor<8x3xf32>) -> tensor<1x3xbf16, #sluice<[1 3!]>>
  %h = sluice.map (%a = %p, %b = %o) : (tensor<1x3xbf16, #sluice<[1 3!]>>, tensor<1x3xf32>) -> tensor<1x3xbf16, #sluice<[1 3!]>> {
    %0 = arith.addf %a, %b : f32
    sluice.yield %0
  }
  %m = sluice.reduce max %h axes [1] keepdims : (tensor<1x3xbf16, #sluice<[1 3!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>>
  %mb = sluice.broadcast %m : (tensor<1x1xbf16, #sluice<[1 1!]>>) -> tensor<1x3xbf16, #sluice<[1 3!]>>
  %e = sluice.map (%a = %h, %b = %mb) : (tensor<1x3xbf16, #sluice<[1 3!]>>, tensor<1x3xbf16, #sluice<[1 3!]>>) -> tensor<1x3xbf16, #sluice<[1 3!]>> {
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    sluice.yield %1
  }
  %s = sluice.reduce sum %e axes [1] keepdims : (tensor<1x3xbf16, #sluice<[1 3!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>>
  %sb = sluice.broadcast %s : (tensor<1x1xbf16, #sluice<[1 1!]>>) -> tensor<1x3xbf16, #sluice<[1 3!]>>
  %y = sluice.map (%a = %e, %b = %sb) : (tensor<1x3xbf16, #sluice<[1 3!]>>, tensor<1x3xbf16, #sluice<[1 3!]>>) -> tensor<1x3xbf16, #sluice<[1 3!]>> {
    %0 = arith.divf %a, %b : f32
    sluice.yield %0
  }
  %i = sluice.reduce argmax %y axes [1] keepdims : (tensor<1x3xbf16, #sluice<[1 3!]>>) -> tensor<1x1xbf16, #sluice<[1 1!]>>
  return %i : tensor<1x1xbf16, #sluice<[1 1!]>>
}
