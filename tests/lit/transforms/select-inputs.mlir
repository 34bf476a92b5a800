// Parts of inputs that are read.
// RUN: sluice-opt %s --pass-pipeline='builtin.module(func.func(sluice-select-inputs{lanes=8}))' | FileCheck %s

// The part is the slice.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:.*]]: tensor<2x16xbf16, #sluice<[2 16!]>> {sluice.input = 0 : i64, sluice.name = "x[3:5]", sluice.sizes = array<i64: 2, 16>, sluice.starts = array<i64: 3, 0>, sluice.steps = array<i64: 1, 1>})
// CHECK-NEXT: return %[[X]]
func.func @rows(%x: tensor<200x16xbf16, #sluice<[200 16!]>> {sluice.input = 0, sluice.name = "x"}) -> tensor<2x16xbf16, #sluice<[2 16!]>> {
  %0 = sluice.slice %x starts [3, 0] sizes [2, 16] steps [1, 1] : (tensor<200x16xbf16, #sluice<[200 16!]>>) -> tensor<2x16xbf16, #sluice<[2 16!]>>
  return %0 : tensor<2x16xbf16, #sluice<[2 16!]>>
}

// Along the lanes, a part ends at the border of a row.
// CHECK-LABEL: func.func @lanes(
// CHECK-SAME: %[[X:.*]]: tensor<1x12xbf16, #sluice<[1 12!]>> {sluice.input = 0 : i64, sluice.name = "x[2, 8:20]",
// CHECK: sluice.slice %[[X]] starts [0, 2] sizes [1, 4] steps [1, 2]
func.func @lanes(%x: tensor<3x20xbf16, #sluice<[3 20!]>> {sluice.input = 0, sluice.name = "x"}) -> tensor<1x4xbf16, #sluice<[1 4!]>> {
  %0 = sluice.slice %x starts [2, 10] sizes [1, 4] steps [1, 2] : (tensor<3x20xbf16, #sluice<[3 20!]>>) -> tensor<1x4xbf16, #sluice<[1 4!]>>
  return %0 : tensor<1x4xbf16, #sluice<[1 4!]>>
}

// Parts far apart are two inputs; neighbours that overlap are one.
// CHECK-LABEL: func.func @several(
// CHECK-SAME: %[[A:.*]]: tensor<2x8xbf16, #sluice<[2 8!]>> {{{.*}}sluice.name = "x[0:2]"
// CHECK-SAME: %[[B:.*]]: tensor<1x8xbf16, #sluice<[1 8!]>> {{{.*}}sluice.name = "x[9]"
// CHECK-SAME: %[[C:.*]]: tensor<3x8xbf16, #sluice<[3 8!]>> {sluice.input = 1 : i64, sluice.name = "y[4:7]"
// CHECK: sluice.slice %[[C]] starts [0, 0]
// CHECK: sluice.slice %[[C]] starts [1, 0]
// CHECK: return %[[A]], %[[B]], %{{.*}}, %{{.*}}
func.func @several(%x: tensor<10x8xbf16, #sluice<[10 8!]>> {sluice.input = 0, sluice.name = "x"}, %y: tensor<10x8xbf16, #sluice<[10 8!]>> {sluice.input = 1, sluice.name = "y"})
    -> (tensor<2x8xbf16, #sluice<[2 8!]>>, tensor<1x8xbf16, #sluice<[1 8!]>>, tensor<2x8xbf16, #sluice<[2 8!]>>, tensor<2x8xbf16, #sluice<[2 8!]>>) {
  %0 = sluice.slice %x starts [0, 0] sizes [2, 8] steps [1, 1] : (tensor<10x8xbf16, #sluice<[10 8!]>>) -> tensor<2x8xbf16, #sluice<[2 8!]>>
  %1 = sluice.slice %x starts [9, 0] sizes [1, 8] steps [1, 1] : (tensor<10x8xbf16, #sluice<[10 8!]>>) -> tensor<1x8xbf16, #sluice<[1 8!]>>
  %2 = sluice.slice %y starts [4, 0] sizes [2, 8] steps [1, 1] : (tensor<10x8xbf16, #sluice<[10 8!]>>) -> tensor<2x8xbf16, #sluice<[2 8!]>>
  %3 = sluice.slice %y starts [5, 0] sizes [2, 8] steps [1, 1] : (tensor<10x8xbf16, #sluice<[10 8!]>>) -> tensor<2x8xbf16, #sluice<[2 8!]>>
  return %0, %1, %2, %3 : tensor<2x8xbf16, #sluice<[2 8!]>>, tensor<1x8xbf16, #sluice<[1 8!]>>, tensor<2x8xbf16, #sluice<[2 8!]>>, tensor<2x8xbf16, #sluice<[2 8!]>>
}

// The host selects with a step, and backwards too.
// CHECK-LABEL: func.func @steps(
// CHECK-SAME: %[[X:.*]]: tensor<3x8xbf16, #sluice<[3 8!]>> {sluice.input = 0 : i64, sluice.name = "x[8:1:-3]", sluice.sizes = array<i64: 3, 8>, sluice.starts = array<i64: 8, 0>, sluice.steps = array<i64: -3, 1>})
// CHECK-NEXT: return %[[X]]
func.func @steps(%x: tensor<10x8xbf16, #sluice<[10 8!]>> {sluice.input = 0, sluice.name = "x"}) -> tensor<3x8xbf16, #sluice<[3 8!]>> {
  %0 = sluice.slice %x starts [8, 0] sizes [3, 8] steps [-3, 1] : (tensor<10x8xbf16, #sluice<[10 8!]>>) -> tensor<3x8xbf16, #sluice<[3 8!]>>
  return %0 : tensor<3x8xbf16, #sluice<[3 8!]>>
}

// Nothing reads the second input. The first one stays: a slice reads all of it, backwards.
// CHECK-LABEL: func.func @whole(
// CHECK-SAME: %[[X:.*]]: tensor<10x8xbf16, #sluice<[10 8!]>> {sluice.input = 0 : i64, sluice.name = "x"}) ->
func.func @whole(%x: tensor<10x8xbf16, #sluice<[10 8!]>> {sluice.input = 0, sluice.name = "x"}, %y: tensor<10x8xbf16, #sluice<[10 8!]>> {sluice.input = 1, sluice.name = "y"})
    -> (tensor<2x8xbf16, #sluice<[2 8!]>>, tensor<10x8xbf16, #sluice<[10 8!]>>) {
  %0 = sluice.slice %x starts [0, 0] sizes [2, 8] steps [1, 1] : (tensor<10x8xbf16, #sluice<[10 8!]>>) -> tensor<2x8xbf16, #sluice<[2 8!]>>
  %1 = sluice.slice %x starts [9, 0] sizes [10, 8] steps [-1, 1] : (tensor<10x8xbf16, #sluice<[10 8!]>>) -> tensor<10x8xbf16, #sluice<[10 8!]>>
  return %0, %1 : tensor<2x8xbf16, #sluice<[2 8!]>>, tensor<10x8xbf16, #sluice<[10 8!]>>
}

// What the attribute does not name stays.
// CHECK-LABEL: func.func @unnamed(
// CHECK-SAME: %{{.*}}: tensor<10x8xbf16, #sluice<[10 8!]>>)
func.func @unnamed(%x: tensor<10x8xbf16, #sluice<[10 8!]>>) -> tensor<2x8xbf16, #sluice<[2 8!]>> {
  %0 = sluice.slice %x starts [0, 0] sizes [2, 8] steps [1, 1] : (tensor<10x8xbf16, #sluice<[10 8!]>>) -> tensor<2x8xbf16, #sluice<[2 8!]>>
  return %0 : tensor<2x8xbf16, #sluice<[2 8!]>>
}

// A window and a map read the input, but the slices behind them only some of its rows.
// CHECK-LABEL: func.func @behind_others(
// CHECK-SAME: %[[A:.*]]: tensor<3x8xbf16, #sluice<[3 8!]>> {sluice.input = 0 : i64, sluice.name = "x[0:3]",
// CHECK-SAME: %[[B:.*]]: tensor<1x8xbf16, #sluice<[1 8!]>> {sluice.input = 0 : i64, sluice.name = "x[15]",
// CHECK-DAG: %[[Z:.*]] = sluice.constant dense<0.000000e+00> : tensor<12x8xf32>
// CHECK: %[[X:.*]] = sluice.concat %[[A]], %[[Z]], %[[B]] axis 0
// CHECK: sluice.window %[[X]]
// CHECK: sluice.tile %[[X]]
func.func @behind_others(%x: tensor<16x8xbf16, #sluice<[16 8!]>> {sluice.input = 0, sluice.name = "x"}) -> (tensor<2x8x2xbf16, #sluice<[2 8! 2]>>, tensor<1x8xbf16, #sluice<[1 8!]>>) {
  %0 = sluice.window %x axes [0] sizes [2] counts [15] starts [0] strides [1] dilations [1] value 0.0 : (tensor<16x8xbf16, #sluice<[16 8!]>>) -> tensor<15x8x2xbf16, #sluice<[15 8! 2]>>
  %1 = sluice.slice %0 starts [0, 0, 0] sizes [2, 8, 2] steps [1, 1, 1] : (tensor<15x8x2xbf16, #sluice<[15 8! 2]>>) -> tensor<2x8x2xbf16, #sluice<[2 8! 2]>>
  %2 = sluice.tile %x counts [2, 1] : (tensor<16x8xbf16, #sluice<[16 8!]>>) -> tensor<32x8xbf16, #sluice<[32 8!]>>
  %3 = sluice.slice %2 starts [15, 0] sizes [1, 8] steps [1, 1] : (tensor<32x8xbf16, #sluice<[32 8!]>>) -> tensor<1x8xbf16, #sluice<[1 8!]>>
  return %1, %3 : tensor<2x8x2xbf16, #sluice<[2 8! 2]>>, tensor<1x8xbf16, #sluice<[1 8!]>>
}

// A loop over positions may read the input: less than half of the rows are left out.
// CHECK-LABEL: func.func @tiles(
// CHECK-SAME: tensor<16x8xbf16, #sluice<[16 8!]>>
func.func @tiles(%x: tensor<16x8xbf16, #sluice<[16 8!]>> {sluice.input = 0, sluice.name = "x"}) -> tensor<7x8x2xbf16, #sluice<[7 8! 2]>> {
  %0 = sluice.window %x axes [0] sizes [2] counts [7] starts [0] strides [2] dilations [1] value 0.0 : (tensor<16x8xbf16, #sluice<[16 8!]>>) -> tensor<7x8x2xbf16, #sluice<[7 8! 2]>>
  return %0 : tensor<7x8x2xbf16, #sluice<[7 8! 2]>>
}

// A constant chooses one of two scalars, which have no axes.
// CHECK-LABEL: func.func @scalars(
// CHECK-SAME: tensor<4x8xbf16, #sluice<[4 8!]>>
// CHECK: sluice.map
func.func @scalars(%x: tensor<4x8xbf16, #sluice<[4 8!]>> {sluice.input = 0, sluice.name = "x"}, %y: tensor<bf16, #sluice<[1!]>>, %z: tensor<bf16, #sluice<[1!]>>) -> (tensor<bf16, #sluice<[1!]>>, tensor<4x8xbf16, #sluice<[4 8!]>>) {
  %m = sluice.constant dense<1.0> : tensor<f32>
  %0 = sluice.map (%a = %m, %b = %y, %c = %z) : (tensor<f32>, tensor<bf16, #sluice<[1!]>>, tensor<bf16, #sluice<[1!]>>) -> tensor<bf16, #sluice<[1!]>> {
    %zero = arith.constant 0.0 : f32
    %q = arith.cmpf une, %a, %zero : f32
    %s = arith.select %q, %b, %c : f32
    sluice.yield %s
  }
  return %0, %x : tensor<bf16, #sluice<[1!]>>, tensor<4x8xbf16, #sluice<[4 8!]>>
}

// Two slices of a view, with steps, leave out what lies between: the steps count, not the box.
// CHECK-LABEL: func.func @holes(
// CHECK-SAME: %[[A:.*]]: tensor<1x8xbf16, #sluice<[1 8!]>> {sluice.input = 0 : i64, sluice.name = "x[0]",
// CHECK-SAME: %[[B:.*]]: tensor<1x8xbf16, #sluice<[1 8!]>> {sluice.input = 0 : i64, sluice.name = "x[4]",
// CHECK-SAME: %[[C:.*]]: tensor<1x8xbf16, #sluice<[1 8!]>> {sluice.input = 0 : i64, sluice.name = "x[6]",
// CHECK-SAME: %[[D:.*]]: tensor<1x8xbf16, #sluice<[1 8!]>> {sluice.input = 0 : i64, sluice.name = "x[8]",
// CHECK: sluice.concat %[[A]], %{{.*}}, %[[B]], %{{.*}}, %[[C]], %{{.*}}, %[[D]], %{{.*}} axis 0
func.func @holes(%x: tensor<10x8xbf16, #sluice<[10 8!]>> {sluice.input = 0, sluice.name = "x"}) -> (tensor<1x3x8xbf16, #sluice<[1 3 8!]>>, tensor<1x1x8xbf16, #sluice<[1 1 8!]>>) {
  %0 = sluice.unsqueeze %x axes [0] : (tensor<10x8xbf16, #sluice<[10 8!]>>) -> tensor<1x10x8xbf16, #sluice<[1 10 8!]>>
  %1 = sluice.slice %0 starts [0, 0, 0] sizes [1, 3, 8] steps [1, 4, 1] : (tensor<1x10x8xbf16, #sluice<[1 10 8!]>>) -> tensor<1x3x8xbf16, #sluice<[1 3 8!]>>
  %2 = sluice.slice %0 starts [0, 6, 0] sizes [1, 1, 8] steps [1, 1, 1] : (tensor<1x10x8xbf16, #sluice<[1 10 8!]>>) -> tensor<1x1x8xbf16, #sluice<[1 1 8!]>>
  return %1, %2 : tensor<1x3x8xbf16, #sluice<[1 3 8!]>>, tensor<1x1x8xbf16, #sluice<[1 1 8!]>>
}

// No result depends on the first input, though a concat reads it.
// CHECK-LABEL: func.func @nothing(
// CHECK-SAME: %[[Y:.*]]: tensor<4x8xbf16, #sluice<[4 8!]>> {sluice.input = 1 : i64, sluice.name = "y"})
// CHECK: %[[Z:.*]] = sluice.constant dense<0.000000e+00> : tensor<4x8xf32>
// CHECK: sluice.concat %[[Z]], %[[Y]] axis 0
func.func @nothing(%x: tensor<4x8xbf16, #sluice<[4 8!]>> {sluice.input = 0, sluice.name = "x"}, %y: tensor<4x8xbf16, #sluice<[4 8!]>> {sluice.input = 1, sluice.name = "y"}) -> tensor<4x8xbf16, #sluice<[4 8!]>> {
  %0 = sluice.concat %x, %y axis 0 : (tensor<4x8xbf16, #sluice<[4 8!]>>, tensor<4x8xbf16, #sluice<[4 8!]>>) -> tensor<8x8xbf16, #sluice<[8 8!]>>
  %1 = sluice.slice %0 starts [4, 0] sizes [4, 8] steps [1, 1] : (tensor<8x8xbf16, #sluice<[8 8!]>>) -> tensor<4x8xbf16, #sluice<[4 8!]>>
  return %1 : tensor<4x8xbf16, #sluice<[4 8!]>>
}
