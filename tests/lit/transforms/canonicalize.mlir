// RUN: sluice-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @nothing(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
// CHECK-NEXT: return %[[X]]
func.func @nothing(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = sluice.transpose %x [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = sluice.reshape %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = sluice.slice %1 starts [0, 0] sizes [2, 3] steps [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = sluice.broadcast %2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = sluice.pad %3 low [0, 0] high [0, 0] value 1.0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = sluice.concat %4 axis 0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = sluice.tile %5 counts [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %10 = sluice.repeat %9 counts [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %11 = sluice.interleave %10 axis 1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = sluice.map (%a = %11) : (tensor<2x3xf32>) -> tensor<2x3xf32> {
    sluice.yield %a
  }
  return %7 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @transposes(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4xf32>
// CHECK-NEXT: %[[T:.*]] = sluice.transpose %[[X]] [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
// CHECK-NEXT: return %[[X]], %[[T]]
func.func @transposes(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4x2x3xf32>) {
  %0 = sluice.transpose %x [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = sluice.transpose %0 [2, 0, 1] : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  %2 = sluice.transpose %0 [1, 2, 0] : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  return %1, %2 : tensor<2x3x4xf32>, tensor<4x2x3xf32>
}

// CHECK-LABEL: func.func @chains(
// CHECK-SAME: %[[X:.*]]: tensor<10x4xf32>
// CHECK-NEXT: %[[S:.*]] = sluice.slice %[[X]] starts [7, 0] sizes [2, 4] steps [-4, 1] : (tensor<10x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: %[[R:.*]] = sluice.reshape %[[X]] : (tensor<10x4xf32>) -> tensor<5x8xf32>
// CHECK-NEXT: return %[[S]], %[[R]], %[[X]]
func.func @chains(%x: tensor<10x4xf32>) -> (tensor<2x4xf32>, tensor<5x8xf32>, tensor<10x4xf32>) {
  %0 = sluice.slice %x starts [9, 0] sizes [4, 4] steps [-2, 1] : (tensor<10x4xf32>) -> tensor<4x4xf32>
  %1 = sluice.slice %0 starts [1, 0] sizes [2, 4] steps [2, 1] : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %2 = sluice.reshape %x : (tensor<10x4xf32>) -> tensor<40xf32>
  %3 = sluice.reshape %2 : (tensor<40xf32>) -> tensor<5x8xf32>
  %4 = sluice.slice %x starts [9, 0] sizes [10, 4] steps [-1, 1] : (tensor<10x4xf32>) -> tensor<10x4xf32>
  %5 = sluice.slice %4 starts [9, 0] sizes [10, 4] steps [-1, 1] : (tensor<10x4xf32>) -> tensor<10x4xf32>
  return %1, %3, %5 : tensor<2x4xf32>, tensor<5x8xf32>, tensor<10x4xf32>
}

// CHECK-LABEL: func.func @concats(
// CHECK-SAME: %[[X:.*]]: tensor<1x4xf32>, %[[Y:.*]]: tensor<2x4xf32>
// CHECK-NEXT: %[[C:.*]] = sluice.concat %[[X]], %[[Y]], %[[X]] axis 0
// CHECK-NEXT: return %[[C]]
func.func @concats(%x: tensor<1x4xf32>, %y: tensor<2x4xf32>) -> tensor<4x4xf32> {
  %c = sluice.concat %x, %y axis 0 : (tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %0 = sluice.concat %c, %x axis 0 : (tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// Of one value.
// CHECK-LABEL: func.func @pads(
// CHECK-SAME: %[[X:.*]]: tensor<2x4xf32>
// CHECK-NEXT: %[[A:.*]] = sluice.pad %[[X]] low [1, 0] high [2, 1] value 0.000000e+00
// CHECK-NEXT: %[[B:.*]] = sluice.pad %[[A]] low [0, 1] high [0, 0] value 1.000000e+00
// CHECK-NEXT: return %[[B]]
func.func @pads(%x: tensor<2x4xf32>) -> tensor<5x6xf32> {
  %0 = sluice.pad %x low [1, 0] high [0, 1] value 0.0 : (tensor<2x4xf32>) -> tensor<3x5xf32>
  %1 = sluice.pad %0 low [0, 0] high [2, 0] value 0.0 : (tensor<3x5xf32>) -> tensor<5x5xf32>
  %2 = sluice.pad %1 low [0, 1] high [0, 0] value 1.0 : (tensor<5x5xf32>) -> tensor<5x6xf32>
  return %2 : tensor<5x6xf32>
}

// CHECK-LABEL: func.func @broadcasts(
// CHECK-SAME: %[[X:.*]]: tensor<1x1x4xf32>
// CHECK-NEXT: %[[B:.*]] = sluice.broadcast %[[X]] : (tensor<1x1x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: return %[[B]]
func.func @broadcasts(%x: tensor<1x1x4xf32>) -> tensor<2x3x4xf32> {
  %0 = sluice.broadcast %x : (tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
  %1 = sluice.broadcast %0 : (tensor<1x3x4xf32>) -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @squeeze(
// CHECK-SAME: %[[X:.*]]: tensor<2x4xf32>
// CHECK-NEXT: return %[[X]]
func.func @squeeze(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = sluice.unsqueeze %x axes [0, 2] : (tensor<2x4xf32>) -> tensor<1x2x1x4xf32>
  %1 = sluice.squeeze %0 axes [0, 2] : (tensor<1x2x1x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// A slice backwards over everything is not the identity; a transpose that
// changes the data dimension's place is not either.
// CHECK-LABEL: func.func @something(
// CHECK: sluice.slice
// CHECK: sluice.transpose
func.func @something(%x: tensor<2x2xbf16, #sluice.dim<0>>) -> tensor<2x2xbf16, #sluice.dim<1>> {
  %0 = sluice.slice %x starts [1, 0] sizes [2, 2] steps [-1, 1]
       : (tensor<2x2xbf16, #sluice.dim<0>>) -> tensor<2x2xbf16, #sluice.dim<0>>
  %1 = sluice.transpose %0 [1, 0]
       : (tensor<2x2xbf16, #sluice.dim<0>>) -> tensor<2x2xbf16, #sluice.dim<1>>
  return %1 : tensor<2x2xbf16, #sluice.dim<1>>
}

// A border along the axes of a window is outside it, whatever it is where the window does not leave
// the border, and of the same value where it does.
// CHECK-LABEL: func.func @borders(
// CHECK-SAME: %[[X:.*]]: tensor<2x4x8xf32>
// CHECK-NEXT: %[[P:.*]] = sluice.pad
// CHECK-NEXT: %[[A:.*]] = sluice.window %[[X]] axes [2] sizes [3] counts [8] starts [-1] strides [1] dilations [1] value 5.000000e+00 : (tensor<2x4x8xf32>) -> tensor<2x4x8x3xf32>
// CHECK-NEXT: %[[B:.*]] = sluice.window %[[X]] axes [1, 2] sizes [2, 3] counts [4, 10] starts [0, -2] strides [1, 1] dilations [1, 1] value 0.000000e+00 : (tensor<2x4x8xf32>) -> tensor<2x4x10x2x3xf32>
// CHECK-NEXT: %[[C:.*]] = sluice.window %[[P]] axes [2]
// CHECK-NEXT: %[[Q:.*]] = sluice.pad
// CHECK-NEXT: %[[D:.*]] = sluice.window %[[Q]] axes [2]
// CHECK-NEXT: return %[[A]], %[[B]], %[[C]], %[[D]]
func.func @borders(%x: tensor<2x4x8xf32>)
    -> (tensor<2x4x8x3xf32>, tensor<2x4x10x2x3xf32>, tensor<2x4x10x3xf32>, tensor<3x4x8x3xf32>) {
  %0 = sluice.pad %x low [0, 0, 1] high [0, 0, 1] value 5.0 : (tensor<2x4x8xf32>) -> tensor<2x4x10xf32>
  %1 = sluice.window %0 axes [2] sizes [3] counts [8] starts [0] strides [1] dilations [1] value 0.0
    : (tensor<2x4x10xf32>) -> tensor<2x4x8x3xf32>
  %2 = sluice.pad %x low [0, 0, 1] high [0, 0, 1] value 0.0 : (tensor<2x4x8xf32>) -> tensor<2x4x10xf32>
  %3 = sluice.window %2 axes [1, 2] sizes [2, 3] counts [4, 10] starts [0, -1] strides [1, 1] dilations [1, 1] value 0.0
    : (tensor<2x4x10xf32>) -> tensor<2x4x10x2x3xf32>
  %4 = sluice.window %0 axes [2] sizes [3] counts [10] starts [-1] strides [1] dilations [1] value 0.0
    : (tensor<2x4x10xf32>) -> tensor<2x4x10x3xf32>
  %5 = sluice.pad %x low [1, 0, 1] high [0, 0, 1] value 0.0 : (tensor<2x4x8xf32>) -> tensor<3x4x10xf32>
  %6 = sluice.window %5 axes [2] sizes [3] counts [8] starts [0] strides [1] dilations [1] value 0.0
    : (tensor<3x4x10xf32>) -> tensor<3x4x8x3xf32>
  return %1, %3, %4, %6 : tensor<2x4x8x3xf32>, tensor<2x4x10x2x3xf32>, tensor<2x4x10x3xf32>, tensor<3x4x8x3xf32>
}

// Some positions and elements of a window are a window; backwards, and of another axis, they are not.
// CHECK-LABEL: func.func @parts_of_windows(
// CHECK-SAME: %[[X:.*]]: tensor<4x9xf32>
// CHECK-NEXT: %[[W:.*]] = sluice.window %[[X]] axes [1] sizes [5] counts [9]
// CHECK-NEXT: %[[A:.*]] = sluice.window %[[X]] axes [1] sizes [2] counts [3] starts [3] strides [3] dilations [4] value 0.000000e+00 : (tensor<4x9xf32>) -> tensor<4x3x2xf32>
// CHECK-NEXT: %[[B:.*]] = sluice.slice %[[W]] starts [0, 8, 0]
// CHECK-NEXT: %[[C:.*]] = sluice.slice %[[W]] starts [1, 0, 0]
// CHECK-NEXT: return %[[A]], %[[B]], %[[C]]
func.func @parts_of_windows(%x: tensor<4x9xf32>) -> (tensor<4x3x2xf32>, tensor<4x9x5xf32>, tensor<2x9x5xf32>) {
  %w = sluice.window %x axes [1] sizes [5] counts [9] starts [-2] strides [1] dilations [2] value 0.0
    : (tensor<4x9xf32>) -> tensor<4x9x5xf32>
  %0 = sluice.slice %w starts [0, 1, 2] sizes [4, 3, 2] steps [1, 3, 2] : (tensor<4x9x5xf32>) -> tensor<4x3x2xf32>
  %1 = sluice.slice %w starts [0, 8, 0] sizes [4, 9, 5] steps [1, -1, 1] : (tensor<4x9x5xf32>) -> tensor<4x9x5xf32>
  %2 = sluice.slice %w starts [1, 0, 0] sizes [2, 9, 5] steps [1, 1, 1] : (tensor<4x9x5xf32>) -> tensor<2x9x5xf32>
  return %0, %1, %2 : tensor<4x3x2xf32>, tensor<4x9x5xf32>, tensor<2x9x5xf32>
}

// A map chooses by no constant, and reads all of its operands.
// CHECK-LABEL: func.func @known_select(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>, %[[Z:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[M:.*]] = sluice.map (%[[A:.*]] = %[[X]], %[[C:.*]] = %[[Z]]) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[C]], %[[A]] : f32
// CHECK-NEXT: sluice.yield %[[S]]
// CHECK: return %[[M]], %[[Y]]
func.func @known_select(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = sluice.map (%a = %x, %b = %y, %c = %z) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %more = math.exp %one : f32
    %test = arith.cmpf ogt, %more, %two : f32
    %root = math.sqrt %b : f32
    %s = arith.select %test, %c, %root : f32
    %sum = arith.addf %s, %a : f32
    sluice.yield %sum
  }
  %1 = sluice.map (%a = %x, %b = %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    %zero = arith.constant 0.0 : f32
    %test = arith.cmpf une, %zero, %zero : f32
    %s = arith.select %test, %a, %b : f32
    sluice.yield %s
  }
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// A map of no operand at all keeps its shape by a constant, and its type.
// CHECK-LABEL: func.func @none(
// CHECK: %[[Z:.*]] = sluice.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT: %[[M:.*]] = sluice.map (%{{.*}} = %[[Z]]) : (tensor<4xf32>) -> tensor<4xbf16, #sluice<[4!]>> {
// CHECK-NEXT: %[[C:.*]] = arith.constant 3.000000e+00 : f32
// CHECK-NEXT: sluice.yield %[[C]]
// CHECK: return %[[M]]
func.func @none(%x: tensor<4xbf16, #sluice<[4!]>>, %y: tensor<4xbf16, #sluice<[4!]>>) -> tensor<4xbf16, #sluice<[4!]>> {
  %0 = sluice.map (%a = %x, %b = %y) : (tensor<4xbf16, #sluice<[4!]>>, tensor<4xbf16, #sluice<[4!]>>) -> tensor<4xbf16, #sluice<[4!]>> {
    %true = arith.constant true
    %three = arith.constant 3.0 : f32
    %sum = arith.addf %a, %b : f32
    %s = arith.select %true, %three, %sum : f32
    sluice.yield %s
  }
  return %0 : tensor<4xbf16, #sluice<[4!]>>
}
