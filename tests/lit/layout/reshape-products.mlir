// DD-RESHAPE-MM: a reshape that only products with constants read. They sum over the axes
// before it, whichever of them carries the data dimension; nothing is added.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension))" | FileCheck %s

// [4! 5] -> [1 20!], where the stride is lost
// CHECK-LABEL: func.func @flatten(
// CHECK: sluice.reshape %{{.*}} : (tensor<4x5xbf16, #sluice<[4! 5]>>) -> tensor<1x20xbf16, #sluice<[1 20!]>>
// CHECK-NEXT: sluice.matmul
// CHECK-NEXT: return
func.func @flatten(%x: tensor<4x5xf32, #sluice.dim<0>>) -> tensor<1x3xf32> {
  %w = sluice.constant dense<1.0> : tensor<20x3xf32>
  %f = sluice.reshape %x : (tensor<4x5xf32, #sluice.dim<0>>) -> tensor<1x20xf32>
  %y = sluice.matmul %f, %w : (tensor<1x20xf32>, tensor<20x3xf32>) -> tensor<1x3xf32>
  return %y : tensor<1x3xf32>
}

// [4 5!] -> [1 20!], where it is kept
// CHECK-LABEL: func.func @flatten_last(
// CHECK: sluice.reshape %{{.*}} : (tensor<4x5xbf16, #sluice<[4 5!]>>) -> tensor<1x20xbf16, #sluice<[1 20!]>>
func.func @flatten_last(%x: tensor<4x5xf32, #sluice.dim<1>>) -> tensor<1x3xf32> {
  %w = sluice.constant dense<1.0> : tensor<20x3xf32>
  %f = sluice.reshape %x : (tensor<4x5xf32, #sluice.dim<1>>) -> tensor<1x20xf32>
  %y = sluice.matmul %f, %w : (tensor<1x20xf32>, tensor<20x3xf32>) -> tensor<1x3xf32>
  return %y : tensor<1x3xf32>
}

// [2 3! 4 5] -> [2 60!]: one of three axes that merge, a batch axis in front
// CHECK-LABEL: func.func @channels(
// CHECK: sluice.reshape %{{.*}} : (tensor<2x3x4x5xbf16, #sluice<[2 3! 4 5]>>) -> tensor<2x60xbf16, #sluice<[2 60!]>>
func.func @channels(%x: tensor<2x3x4x5xf32, #sluice.dim<1>>) -> tensor<2x7xf32> {
  %w = sluice.constant dense<1.0> : tensor<60x7xf32>
  %f = sluice.reshape %x : (tensor<2x3x4x5xf32, #sluice.dim<1>>) -> tensor<2x60xf32>
  %y = sluice.matmul %f, %w : (tensor<2x60xf32>, tensor<60x7xf32>) -> tensor<2x7xf32>
  return %y : tensor<2x7xf32>
}

// [6 2! 3 4] -> [2 3 24!]: other axes split and merge beside those that are summed over
// CHECK-LABEL: func.func @batches(
// CHECK: sluice.reshape %{{.*}} : (tensor<6x2x3x4xbf16, #sluice<[6 2! 3 4]>>) -> tensor<2x3x24xbf16, #sluice<[2 3 24!]>>
func.func @batches(%x: tensor<6x2x3x4xf32, #sluice.dim<1>>) -> tensor<2x3x5xf32> {
  %w = sluice.constant dense<1.0> : tensor<24x5xf32>
  %f = sluice.reshape %x : (tensor<6x2x3x4xf32, #sluice.dim<1>>) -> tensor<2x3x24xf32>
  %y = sluice.matmul %f, %w : (tensor<2x3x24xf32>, tensor<24x5xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}

// The weights on the left sum over the axis before the last.
// CHECK-LABEL: func.func @left(
// CHECK: sluice.reshape %{{.*}} : (tensor<4x5x2xbf16, #sluice<[4! 5 2]>>) -> tensor<20x2xbf16, #sluice<[20! 2]>>
func.func @left(%x: tensor<4x5x2xf32, #sluice.dim<0>>) -> tensor<3x2xf32> {
  %w = sluice.constant dense<1.0> : tensor<3x20xf32>
  %f = sluice.reshape %x : (tensor<4x5x2xf32, #sluice.dim<0>>) -> tensor<20x2xf32>
  %y = sluice.matmul %w, %f : (tensor<3x20xf32>, tensor<20x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// A vector; two products that read it; a product by name of its loops.
// CHECK-LABEL: func.func @several(
// CHECK: sluice.reshape %{{.*}} : (tensor<4x5xbf16, #sluice<[4! 5]>>) -> tensor<20xbf16, #sluice<[20!]>>
func.func @several(%x: tensor<4x5xf32, #sluice.dim<0>>) -> (tensor<3xf32>, tensor<2xf32>) {
  %w = sluice.constant dense<1.0> : tensor<20x3xf32>
  %v = sluice.constant dense<1.0> : tensor<2x20xf32>
  %f = sluice.reshape %x : (tensor<4x5xf32, #sluice.dim<0>>) -> tensor<20xf32>
  %y = sluice.matmul %f, %w : (tensor<20xf32>, tensor<20x3xf32>) -> tensor<3xf32>
  %z = sluice.contract [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>] %f, %v : (tensor<20xf32>, tensor<2x20xf32>) -> tensor<2xf32>
  return %y, %z : tensor<3xf32>, tensor<2xf32>
}

// A squeeze is a reshape.
// CHECK-LABEL: func.func @squeeze(
// CHECK: sluice.squeeze %{{.*}} : (tensor<1x20xbf16, #sluice<[1! 20]>>) -> tensor<20xbf16, #sluice<[20!]>>
func.func @squeeze(%x: tensor<1x20xf32, #sluice.dim<0>>) -> tensor<3xf32> {
  %w = sluice.constant dense<1.0> : tensor<20x3xf32>
  %f = sluice.squeeze %x axes [0] : (tensor<1x20xf32, #sluice.dim<0>>) -> tensor<20xf32>
  %y = sluice.matmul %f, %w : (tensor<20xf32>, tensor<20x3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// A free input lies along the axis that leaves the fewest block products: 2 of 16 lanes
// beside 16 of 2.
// CHECK-LABEL: func.func @cheapest(
// CHECK-SAME: tensor<16x2xbf16, #sluice<[16! 2]>>
func.func @cheapest(%x: tensor<16x2xf32>) -> tensor<1x3xf32> {
  %w = sluice.constant dense<1.0> : tensor<32x3xf32>
  %f = sluice.reshape %x : (tensor<16x2xf32>) -> tensor<1x32xf32>
  %y = sluice.matmul %f, %w : (tensor<1x32xf32>, tensor<32x3xf32>) -> tensor<1x3xf32>
  return %y : tensor<1x3xf32>
}
