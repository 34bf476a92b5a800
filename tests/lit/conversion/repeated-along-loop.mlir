// Where the loop runs along the repeated axis, each iteration reads all that is repeated.
// RUN: sluice-opt %s --convert-sluice-to-rows="target=c2b8 loops=true" | FileCheck %s

// CHECK: rows.family @x_0 1 x 3 input @x
// CHECK: rows.family @q_0 2 x 3 input @q
// CHECK: rows.body 2
func.func @along(%x: tensor<3x4xbf16, #sluice<[3 4!]>> {sluice.name = "x"}, %q: tensor<2x3x4xbf16, #sluice<[2 3 4!]>> {sluice.name = "q"}) -> (tensor<2x3x3xbf16, #sluice<[2 3 3!]>> {sluice.name = "y"}) {
  %u = sluice.unsqueeze %x axes [0] : (tensor<3x4xbf16, #sluice<[3 4!]>>) -> tensor<1x3x4xbf16, #sluice<[1 3 4!]>>
  %r = sluice.repeat %u counts [2, 1, 1] : (tensor<1x3x4xbf16, #sluice<[1 3 4!]>>) -> tensor<2x3x4xbf16, #sluice<[2 3 4!]>>
  %t = sluice.transpose %r [0, 2, 1] : (tensor<2x3x4xbf16, #sluice<[2 3 4!]>>) -> tensor<2x4x3xbf16, #sluice<[2 4! 3]>>
  %y = sluice.matmul %q, %t : (tensor<2x3x4xbf16, #sluice<[2 3 4!]>>, tensor<2x4x3xbf16, #sluice<[2 4! 3]>>) -> tensor<2x3x3xbf16, #sluice<[2 3 3!]>>
  return %y : tensor<2x3x3xbf16, #sluice<[2 3 3!]>>
}
