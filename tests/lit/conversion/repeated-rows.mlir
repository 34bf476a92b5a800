// What a view repeats for who reads all positions is written once by the body that makes it, and
// read as often as it is needed.
// RUN: sluice-opt %s --convert-sluice-to-rows="target=c2b8 loops=true" | FileCheck %s

// CHECK: rows.family @x_0 3 x 1 input @x
// CHECK: rows.family @[[K:.*]] 3 x 1
// CHECK: rows.body 3
// CHECK: rows.write %{{[^,]*}} family @[[K]]{{$}}
// CHECK: rows.read @[[K]] at [0, 1, 2, 0, 1, 2] :
func.func @repeated(%x: tensor<3x4xbf16, #sluice<[3 4!]>> {sluice.name = "x"}, %q: tensor<2x3x4xbf16, #sluice<[2 3 4!]>> {sluice.name = "q"}) -> (tensor<2x3x3xbf16, #sluice<[2 3 3!]>> {sluice.name = "y"}) {
  %w = sluice.constant dense<0.5> : tensor<4x4xf32>
  %i = sluice.matmul %x, %w : (tensor<3x4xbf16, #sluice<[3 4!]>>, tensor<4x4xf32>) -> tensor<3x4xbf16, #sluice<[3 4!]>>
  %j = sluice.matmul %i, %w : (tensor<3x4xbf16, #sluice<[3 4!]>>, tensor<4x4xf32>) -> tensor<3x4xbf16, #sluice<[3 4!]>>
  %k = sluice.matmul %j, %w : (tensor<3x4xbf16, #sluice<[3 4!]>>, tensor<4x4xf32>) -> tensor<3x4xbf16, #sluice<[3 4!]>>
  %u = sluice.unsqueeze %k axes [0] : (tensor<3x4xbf16, #sluice<[3 4!]>>) -> tensor<1x3x4xbf16, #sluice<[1 3 4!]>>
  %r = sluice.repeat %u counts [2, 1, 1] : (tensor<1x3x4xbf16, #sluice<[1 3 4!]>>) -> tensor<2x3x4xbf16, #sluice<[2 3 4!]>>
  %t = sluice.transpose %r [0, 2, 1] : (tensor<2x3x4xbf16, #sluice<[2 3 4!]>>) -> tensor<2x4x3xbf16, #sluice<[2 4! 3]>>
  %y = sluice.matmul %q, %t : (tensor<2x3x4xbf16, #sluice<[2 3 4!]>>, tensor<2x4x3xbf16, #sluice<[2 4! 3]>>) -> tensor<2x3x3xbf16, #sluice<[2 3 3!]>>
  return %y : tensor<2x3x3xbf16, #sluice<[2 3 3!]>>
}
