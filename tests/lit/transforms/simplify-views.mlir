// Each rewrite of views alone.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-simplify-views{only=slice-of-concat}))" | FileCheck %s --check-prefix=CONCAT
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-simplify-views{only=slice-of-view}))" | FileCheck %s --check-prefix=VIEW
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-simplify-views{only=slice-of-map}))" | FileCheck %s --check-prefix=MAP
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-simplify-views{only=slice-of-reduce}))" | FileCheck %s --check-prefix=REDUCE
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-simplify-views{only=slice-of-product}))" | FileCheck %s --check-prefix=FEATURES
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-simplify-views{only=concat-of-slices}))" | FileCheck %s --check-prefix=SLICES

// A slice of a concat takes from those operands that it has elements of, with its step.
// CONCAT-LABEL: func.func @concat(
// CONCAT-SAME: %[[X:.*]]: tensor<2x4xf32>, %[[Y:.*]]: tensor<3x4xf32>, %[[Z:.*]]: tensor<1x4xf32>
// CONCAT-DAG: %[[A:.*]] = sluice.slice %[[Y]] starts [2, 0] sizes [2, 4] steps [-1, 1]
// CONCAT-DAG: %[[B0:.*]] = sluice.slice %[[X]] starts [1, 0] sizes [1, 4] steps [1, 1]
// CONCAT-DAG: %[[B1:.*]] = sluice.slice %[[Y]] starts [1, 0] sizes [1, 4] steps [1, 1]
// CONCAT: %[[B:.*]] = sluice.concat %[[B0]], %[[B1]] axis 0
// CONCAT: return %[[A]], %[[B]]
func.func @concat(%x: tensor<2x4xf32>, %y: tensor<3x4xf32>, %z: tensor<1x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %c = sluice.concat %x, %y, %z axis 0 : (tensor<2x4xf32>, tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<6x4xf32>
  %0 = sluice.slice %c starts [4, 0] sizes [2, 4] steps [-1, 1] : (tensor<6x4xf32>) -> tensor<2x4xf32>
  %1 = sluice.slice %c starts [1, 0] sizes [2, 4] steps [2, 1] : (tensor<6x4xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// What a slice leaves out of a pad; one that takes a border stays.
// VIEW-LABEL: func.func @pad(
// VIEW-SAME: %[[X:.*]]: tensor<4x4xf32>
// VIEW: %[[P:.*]] = sluice.pad %[[X]]
// VIEW: %[[A:.*]] = sluice.slice %[[X]] starts [2, 1] sizes [2, 2] steps [-1, 2]
// VIEW: %[[B:.*]] = sluice.slice %[[P]]
// VIEW: return %[[A]], %[[B]]
func.func @pad(%x: tensor<4x4xf32>) -> (tensor<2x2xf32>, tensor<2x4xf32>) {
  %p = sluice.pad %x low [1, 0] high [1, 0] value 0.0 : (tensor<4x4xf32>) -> tensor<6x4xf32>
  %0 = sluice.slice %p starts [3, 1] sizes [2, 2] steps [-1, 2] : (tensor<6x4xf32>) -> tensor<2x2xf32>
  %1 = sluice.slice %p starts [0, 0] sizes [2, 4] steps [1, 1] : (tensor<6x4xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<2x4xf32>
}

// VIEW-LABEL: func.func @broadcast(
// VIEW-SAME: %[[X:.*]]: tensor<1x4xf32>
// VIEW-NEXT: %[[S:.*]] = sluice.slice %[[X]] starts [0, 1] sizes [1, 3] steps [1, 1]
// VIEW-NEXT: %[[B:.*]] = sluice.broadcast %[[S]] : (tensor<1x3xf32>) -> tensor<2x3xf32>
// VIEW-NEXT: return %[[B]], %[[X]]
func.func @broadcast(%x: tensor<1x4xf32>) -> (tensor<2x3xf32>, tensor<1x4xf32>) {
  %b = sluice.broadcast %x : (tensor<1x4xf32>) -> tensor<5x4xf32>
  %0 = sluice.slice %b starts [4, 1] sizes [2, 3] steps [-2, 1] : (tensor<5x4xf32>) -> tensor<2x3xf32>
  %1 = sluice.slice %b starts [3, 0] sizes [1, 4] steps [1, 1] : (tensor<5x4xf32>) -> tensor<1x4xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<1x4xf32>
}

// The data dimension goes with the axes.
// VIEW-LABEL: func.func @transpose(
// VIEW-SAME: %[[X:.*]]: tensor<5x4xbf16, #sluice<[5 4!]>>
// VIEW-NEXT: %[[S:.*]] = sluice.slice %[[X]] starts [3, 0] sizes [2, 4] steps [-1, 1] : (tensor<5x4xbf16, #sluice<[5 4!]>>) -> tensor<2x4xbf16, #sluice<[2 4!]>>
// VIEW-NEXT: %[[T:.*]] = sluice.transpose %[[S]] [1, 0] : (tensor<2x4xbf16, #sluice<[2 4!]>>) -> tensor<4x2xbf16, #sluice<[4! 2]>>
// VIEW-NEXT: return %[[T]]
func.func @transpose(%x: tensor<5x4xbf16, #sluice<[5 4!]>>) -> tensor<4x2xbf16, #sluice<[4! 2]>> {
  %t = sluice.transpose %x [1, 0] : (tensor<5x4xbf16, #sluice<[5 4!]>>) -> tensor<4x5xbf16, #sluice<[4! 5]>>
  %0 = sluice.slice %t starts [0, 3] sizes [4, 2] steps [1, -1] : (tensor<4x5xbf16, #sluice<[4! 5]>>) -> tensor<4x2xbf16, #sluice<[4! 2]>>
  return %0 : tensor<4x2xbf16, #sluice<[4! 2]>>
}

// Off the data dimension for any number of operands, along it for one: each of several would be
// moved by itself.
// MAP-LABEL: func.func @map(
// MAP-SAME: %[[X:.*]]: tensor<4x8xbf16, #sluice<[4 8!]>>, %[[Y:.*]]: tensor<4x8xbf16, #sluice<[4 8!]>>
// MAP-DAG: %[[A:.*]] = sluice.slice %[[X]] starts [1, 0] sizes [2, 8] steps [1, 1]
// MAP-DAG: %[[B:.*]] = sluice.slice %[[Y]] starts [1, 0] sizes [2, 8] steps [1, 1]
// MAP: %[[R:.*]] = sluice.map (%{{.*}} = %[[A]], %{{.*}} = %[[B]])
// MAP: %[[L:.*]] = sluice.map (%{{.*}} = %[[X]], %{{.*}} = %[[Y]])
// MAP: %[[C:.*]] = sluice.slice %[[L]] starts [0, 3]
// MAP: %[[D:.*]] = sluice.slice %[[X]] starts [0, 3]
// MAP: %[[E:.*]] = sluice.map (%{{.*}} = %[[D]])
// MAP: return %[[R]], %[[C]], %[[E]]
func.func @map(%x: tensor<4x8xbf16, #sluice<[4 8!]>>, %y: tensor<4x8xbf16, #sluice<[4 8!]>>)
    -> (tensor<2x8xbf16, #sluice<[2 8!]>>, tensor<4x3xbf16, #sluice<[4 3!]>>, tensor<4x3xbf16, #sluice<[4 3!]>>) {
  %m = sluice.map (%a = %x, %b = %y) : (tensor<4x8xbf16, #sluice<[4 8!]>>, tensor<4x8xbf16, #sluice<[4 8!]>>) -> tensor<4x8xbf16, #sluice<[4 8!]>> {
    %s = arith.addf %a, %b : f32
    sluice.yield %s
  }
  %0 = sluice.slice %m starts [1, 0] sizes [2, 8] steps [1, 1] : (tensor<4x8xbf16, #sluice<[4 8!]>>) -> tensor<2x8xbf16, #sluice<[2 8!]>>
  %n = sluice.map (%a = %x, %b = %y) : (tensor<4x8xbf16, #sluice<[4 8!]>>, tensor<4x8xbf16, #sluice<[4 8!]>>) -> tensor<4x8xbf16, #sluice<[4 8!]>> {
    %s = arith.mulf %a, %b : f32
    sluice.yield %s
  }
  %1 = sluice.slice %n starts [0, 3] sizes [4, 3] steps [1, 1] : (tensor<4x8xbf16, #sluice<[4 8!]>>) -> tensor<4x3xbf16, #sluice<[4 3!]>>
  %o = sluice.map (%a = %x) : (tensor<4x8xbf16, #sluice<[4 8!]>>) -> tensor<4x8xbf16, #sluice<[4 8!]>> {
    %s = math.tanh %a : f32
    sluice.yield %s
  }
  %2 = sluice.slice %o starts [0, 3] sizes [4, 3] steps [1, 1] : (tensor<4x8xbf16, #sluice<[4 8!]>>) -> tensor<4x3xbf16, #sluice<[4 3!]>>
  return %0, %1, %2 : tensor<2x8xbf16, #sluice<[2 8!]>>, tensor<4x3xbf16, #sluice<[4 3!]>>, tensor<4x3xbf16, #sluice<[4 3!]>>
}

// Products of windows are rounded to integers where they are: a slice does not move before windows.
// MAP-LABEL: func.func @rounded_windows(
// MAP: %[[P:.*]] = sluice.contract
// MAP: %[[R:.*]] = sluice.map (%{{.*}} = %[[P]])
// MAP: %[[S:.*]] = sluice.slice %[[R]]
// MAP: return %[[S]]
func.func @rounded_windows(%x: tensor<4x8xbf16, #sluice<[4 8!]>>) -> tensor<3x5xbf16, #sluice<[3 5!]>> {
  %w = sluice.constant dense<3.0> : tensor<8x2x5xf32>
  %s = sluice.window %x axes [0] sizes [2] counts [5] starts [-1] strides [1] dilations [1] value 0.0 : (tensor<4x8xbf16, #sluice<[4 8!]>>) -> tensor<5x8x2xbf16, #sluice<[5 8! 2]>>
  %p = sluice.contract banded [affine_map<(i, o, c, k) -> (i, c, k)>, affine_map<(i, o, c, k) -> (c, k, o)>, affine_map<(i, o, c, k) -> (i, o)>] %s, %w : (tensor<5x8x2xbf16, #sluice<[5 8! 2]>>, tensor<8x2x5xf32>) -> tensor<5x5xbf16, #sluice<[5 5!]>>
  %m = sluice.map (%a = %p) : (tensor<5x5xbf16, #sluice<[5 5!]>>) -> tensor<5x5xbf16, #sluice<[5 5!]>> {
    %r = math.roundeven %a : f32
    sluice.yield %r
  }
  %0 = sluice.slice %m starts [0, 0] sizes [3, 5] steps [2, 1] : (tensor<5x5xbf16, #sluice<[5 5!]>>) -> tensor<3x5xbf16, #sluice<[3 5!]>>
  return %0 : tensor<3x5xbf16, #sluice<[3 5!]>>
}

// REDUCE-LABEL: func.func @reduce(
// REDUCE-SAME: %[[X:.*]]: tensor<4x5x6xf32>
// REDUCE-NEXT: %[[S:.*]] = sluice.slice %[[X]] starts [3, 0, 2] sizes [2, 5, 2] steps [-1, 1, 2]
// REDUCE-NEXT: %[[R:.*]] = sluice.reduce sum %[[S]] axes [1] : (tensor<2x5x2xf32>) -> tensor<2x2xf32>
// REDUCE-NEXT: return %[[R]]
func.func @reduce(%x: tensor<4x5x6xf32>) -> tensor<2x2xf32> {
  %r = sluice.reduce sum %x axes [1] : (tensor<4x5x6xf32>) -> tensor<4x6xf32>
  %0 = sluice.slice %r starts [3, 2] sizes [2, 2] steps [-1, 2] : (tensor<4x6xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// Neighbours, also backwards; all of them in order are the tensor.
// SLICES-LABEL: func.func @slices(
// SLICES-SAME: %[[X:.*]]: tensor<6x4xf32>
// SLICES-NEXT: %[[S:.*]] = sluice.slice %[[X]] starts [5, 0] sizes [3, 4] steps [-2, 1]
// SLICES-NEXT: return %[[X]], %[[S]]
func.func @slices(%x: tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<3x4xf32>) {
  %a = sluice.slice %x starts [0, 0] sizes [1, 4] steps [1, 1] : (tensor<6x4xf32>) -> tensor<1x4xf32>
  %b = sluice.slice %x starts [1, 0] sizes [3, 4] steps [1, 1] : (tensor<6x4xf32>) -> tensor<3x4xf32>
  %c = sluice.slice %x starts [4, 0] sizes [2, 4] steps [1, 1] : (tensor<6x4xf32>) -> tensor<2x4xf32>
  %0 = sluice.concat %a, %b, %c axis 0 : (tensor<1x4xf32>, tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<6x4xf32>
  %d = sluice.slice %x starts [5, 0] sizes [2, 4] steps [-2, 1] : (tensor<6x4xf32>) -> tensor<2x4xf32>
  %e = sluice.slice %x starts [1, 0] sizes [1, 4] steps [1, 1] : (tensor<6x4xf32>) -> tensor<1x4xf32>
  %1 = sluice.concat %d, %e axis 0 : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  return %0, %1 : tensor<6x4xf32>, tensor<3x4xf32>
}

// Of one copy; along other axes the tensor is repeated smaller.
// VIEW-LABEL: func.func @tile(
// VIEW-SAME: %[[X:.*]]: tensor<3x4xf32>
// VIEW-DAG: %[[A:.*]] = sluice.slice %[[X]] starts [1, 3] sizes [2, 2] steps [1, -2]
// VIEW-DAG: %[[S:.*]] = sluice.slice %[[X]] starts [0, 2] sizes [3, 2] steps [1, 1]
// VIEW-DAG: %[[B:.*]] = sluice.tile %[[S]] counts [2, 1] : (tensor<3x2xf32>) -> tensor<6x2xf32>
// VIEW-DAG: %[[C:.*]] = sluice.slice %{{.*}} starts [2, 0] sizes [3, 4] steps [1, 1]
// VIEW: return %[[A]], %[[B]], %[[C]]
func.func @tile(%x: tensor<3x4xf32>) -> (tensor<2x2xf32>, tensor<6x2xf32>, tensor<3x4xf32>) {
  %t = sluice.tile %x counts [2, 1] : (tensor<3x4xf32>) -> tensor<6x4xf32>
  %0 = sluice.slice %t starts [4, 3] sizes [2, 2] steps [1, -2] : (tensor<6x4xf32>) -> tensor<2x2xf32>
  %1 = sluice.slice %t starts [0, 2] sizes [6, 2] steps [1, 1] : (tensor<6x4xf32>) -> tensor<6x2xf32>
  %2 = sluice.slice %t starts [2, 0] sizes [3, 4] steps [1, 1] : (tensor<6x4xf32>) -> tensor<3x4xf32>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<6x2xf32>, tensor<3x4xf32>
}

// One of the copies of each element, or of one; along other axes elements of fewer are repeated.
// VIEW-LABEL: func.func @repeat(
// VIEW-SAME: %[[X:.*]]: tensor<3x4xf32>
// VIEW-DAG: %[[A:.*]] = sluice.slice %[[X]] starts [2, 0] sizes [3, 4] steps [-1, 1]
// VIEW-DAG: %[[B:.*]] = sluice.slice %[[X]] starts [1, 0] sizes [1, 4] steps [1, 1]
// VIEW-DAG: %[[S:.*]] = sluice.slice %[[X]] starts [0, 2] sizes [3, 2] steps [1, 1]
// VIEW-DAG: %[[C:.*]] = sluice.repeat %[[S]] counts [2, 1] : (tensor<3x2xf32>) -> tensor<6x2xf32>
// VIEW-DAG: %[[D:.*]] = sluice.slice %{{.*}} starts [1, 0] sizes [3, 4] steps [1, 1]
// VIEW: return %[[A]], %[[B]], %[[C]], %[[D]]
func.func @repeat(%x: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<1x4xf32>, tensor<6x2xf32>, tensor<3x4xf32>) {
  %r = sluice.repeat %x counts [2, 1] : (tensor<3x4xf32>) -> tensor<6x4xf32>
  %0 = sluice.slice %r starts [5, 0] sizes [3, 4] steps [-2, 1] : (tensor<6x4xf32>) -> tensor<3x4xf32>
  %1 = sluice.slice %r starts [3, 0] sizes [1, 4] steps [1, 1] : (tensor<6x4xf32>) -> tensor<1x4xf32>
  %2 = sluice.slice %r starts [0, 2] sizes [6, 2] steps [1, 1] : (tensor<6x4xf32>) -> tensor<6x2xf32>
  %3 = sluice.slice %r starts [1, 0] sizes [3, 4] steps [1, 1] : (tensor<6x4xf32>) -> tensor<3x4xf32>
  return %0, %1, %2, %3 : tensor<3x4xf32>, tensor<1x4xf32>, tensor<6x2xf32>, tensor<3x4xf32>
}

// What is taken of one operand alone; not of a constant, which has no data dimension.
// VIEW-LABEL: func.func @turns(
// VIEW-SAME: %[[X:.*]]: tensor<3x4xbf16, #sluice<[3 4!]>>, %[[Y:.*]]: tensor<3x4xbf16, #sluice<[3 4!]>>
// VIEW-DAG: %[[A:.*]] = sluice.slice %[[Y]] starts [2, 0] sizes [2, 4] steps [-1, 1]
// VIEW-DAG: %[[B:.*]] = sluice.slice %[[X]] starts [1, 1] sizes [1, 2] steps [1, 1]
// VIEW-DAG: %[[W:.*]] = sluice.interleave
// VIEW-DAG: %[[C:.*]] = sluice.slice %[[W]] starts [2, 0] sizes [1, 4] steps [1, 1]
// VIEW-DAG: %[[D:.*]] = sluice.slice %[[W]] starts [1, 0] sizes [2, 4] steps [1, 1]
// VIEW: return %[[A]], %[[B]], %[[C]], %[[D]]
func.func @turns(%x: tensor<3x4xbf16, #sluice<[3 4!]>>, %y: tensor<3x4xbf16, #sluice<[3 4!]>>)
    -> (tensor<2x4xbf16, #sluice<[2 4!]>>, tensor<1x2xbf16, #sluice<[1 2!]>>, tensor<1x4xbf16, #sluice<[1 4!]>>,
        tensor<2x4xbf16, #sluice<[2 4!]>>) {
  %k = sluice.constant dense<0.0> : tensor<3x4xf32>
  %w = sluice.interleave %x, %y, %k axis 0 : (tensor<3x4xbf16, #sluice<[3 4!]>>, tensor<3x4xbf16, #sluice<[3 4!]>>, tensor<3x4xf32>) -> tensor<9x4xbf16, #sluice<[9 4!]>>
  %0 = sluice.slice %w starts [7, 0] sizes [2, 4] steps [-3, 1] : (tensor<9x4xbf16, #sluice<[9 4!]>>) -> tensor<2x4xbf16, #sluice<[2 4!]>>
  %1 = sluice.slice %w starts [3, 1] sizes [1, 2] steps [1, 1] : (tensor<9x4xbf16, #sluice<[9 4!]>>) -> tensor<1x2xbf16, #sluice<[1 2!]>>
  %2 = sluice.slice %w starts [2, 0] sizes [1, 4] steps [1, 1] : (tensor<9x4xbf16, #sluice<[9 4!]>>) -> tensor<1x4xbf16, #sluice<[1 4!]>>
  %3 = sluice.slice %w starts [1, 0] sizes [2, 4] steps [1, 1] : (tensor<9x4xbf16, #sluice<[9 4!]>>) -> tensor<2x4xbf16, #sluice<[2 4!]>>
  return %0, %1, %2, %3 : tensor<2x4xbf16, #sluice<[2 4!]>>, tensor<1x2xbf16, #sluice<[1 2!]>>, tensor<1x4xbf16, #sluice<[1 4!]>>, tensor<2x4xbf16, #sluice<[2 4!]>>
}

// Features that a slice leaves out have no weights, along the lanes too; what it leaves out of the
// positions is left out behind. Not where the others are read as well.
// FEATURES-LABEL: func.func @features(
// FEATURES-SAME: %[[X:.*]]: tensor<6x4xbf16, #sluice<[6 4!]>>
// FEATURES-DAG: %[[W:.*]] = sluice.constant
// FEATURES-DAG: %[[V:.*]] = sluice.slice %[[W]] starts [0, 4] sizes [4, 2] steps [1, -2] : (tensor<4x5xf32>) -> tensor<4x2xf32>
// FEATURES-DAG: %[[P:.*]] = sluice.matmul %[[X]], %[[V]] : (tensor<6x4xbf16, #sluice<[6 4!]>>, tensor<4x2xf32>) -> tensor<6x2xbf16, #sluice<[6 2!]>>
// FEATURES-DAG: %[[S:.*]] = sluice.slice %[[P]] starts [1, 0] sizes [2, 2] steps [3, 1] : (tensor<6x2xbf16, #sluice<[6 2!]>>) -> tensor<2x2xbf16, #sluice<[2 2!]>>
// FEATURES-DAG: %[[Q:.*]] = sluice.matmul %[[X]], %[[W]] {{.*}} -> tensor<6x5xbf16
// FEATURES-DAG: %[[T:.*]] = sluice.slice %[[Q]]
// FEATURES: return %[[S]], %[[Q]], %[[T]]
func.func @features(%x: tensor<6x4xbf16, #sluice<[6 4!]>>)
    -> (tensor<2x2xbf16, #sluice<[2 2!]>>, tensor<6x5xbf16, #sluice<[6 5!]>>, tensor<6x1xbf16, #sluice<[6 1!]>>) {
  %w = sluice.constant dense<1.0> : tensor<4x5xf32>
  %0 = sluice.matmul %x, %w : (tensor<6x4xbf16, #sluice<[6 4!]>>, tensor<4x5xf32>) -> tensor<6x5xbf16, #sluice<[6 5!]>>
  %1 = sluice.slice %0 starts [1, 4] sizes [2, 2] steps [3, -2] : (tensor<6x5xbf16, #sluice<[6 5!]>>) -> tensor<2x2xbf16, #sluice<[2 2!]>>
  %2 = sluice.matmul %x, %w : (tensor<6x4xbf16, #sluice<[6 4!]>>, tensor<4x5xf32>) -> tensor<6x5xbf16, #sluice<[6 5!]>>
  %3 = sluice.slice %2 starts [0, 2] sizes [6, 1] steps [1, 1] : (tensor<6x5xbf16, #sluice<[6 5!]>>) -> tensor<6x1xbf16, #sluice<[6 1!]>>
  return %1, %2, %3 : tensor<2x2xbf16, #sluice<[2 2!]>>, tensor<6x5xbf16, #sluice<[6 5!]>>, tensor<6x1xbf16, #sluice<[6 1!]>>
}
