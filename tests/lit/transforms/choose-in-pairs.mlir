// RUN: sluice-opt %s --pass-pipeline='builtin.module(func.func(sluice-choose-in-pairs))' | FileCheck %s

// Of three, the last of which is chosen in lane 0, the first in lane 1: between two, then with the
// third.
// CHECK-LABEL: func.func @three(
// CHECK-DAG: %[[A:.*]] = sluice.constant dense<0.000000e+00> : tensor<1x2xf32>
// CHECK-DAG: %[[X1:.*]] = sluice.slice %[[X:.*]] starts [1, 0] sizes [1, 2]
// CHECK-DAG: %[[X0:.*]] = sluice.slice %[[X]] starts [0, 0] sizes [1, 2]
// CHECK: %[[FIRST:.*]] = sluice.map (%[[M:.*]] = %[[A]], %[[R:.*]] = %[[X1]], %[[L:.*]] = %[[X0]])
// CHECK: %[[T:.*]] = arith.cmpf une, %[[M]]
// CHECK: arith.select %[[T]], %[[R]], %[[L]]
// CHECK: %[[X2:.*]] = sluice.slice %[[X]] starts [2, 0] sizes [1, 2]
// CHECK: %[[BOTH:.*]] = sluice.concat %[[FIRST]], %[[X2]] axis 0
// CHECK-DAG: %[[B:.*]] = sluice.constant dense<{{\[\[}}1.000000e+00, 0.000000e+00]]> : tensor<1x2xf32>
// CHECK-DAG: %[[Y0:.*]] = sluice.slice %[[BOTH]] starts [0, 0]
// CHECK-DAG: %[[Y1:.*]] = sluice.slice %[[BOTH]] starts [1, 0]
// CHECK: %[[LAST:.*]] = sluice.map (%{{.*}} = %[[B]], %{{.*}} = %[[Y1]], %{{.*}} = %[[Y0]])
// CHECK: sluice.squeeze %[[LAST]] axes [0] {sluice.tensor = "y"}
// CHECK-NOT: sluice.reduce
// CHECK: return
func.func @three(%x: tensor<3x2xbf16, #sluice<[3 2!]>>) -> tensor<2xbf16, #sluice<[2!]>> {
  %c = sluice.constant dense<[[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]> : tensor<3x2xf32>
  %0 = sluice.map (%a = %x, %m = %c) : (tensor<3x2xbf16, #sluice<[3 2!]>>, tensor<3x2xf32>) -> tensor<3x2xbf16, #sluice<[3 2!]>> {
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant -3.38953139E+38 : f32
    %1 = arith.cmpf une, %m, %zero : f32
    %2 = arith.select %1, %a, %lowest : f32
    sluice.yield %2
  }
  %3 = sluice.reduce max %0 axes [0] {sluice.tensor = "y"} : (tensor<3x2xbf16, #sluice<[3 2!]>>) -> tensor<2xbf16, #sluice<[2!]>>
  return %3 : tensor<2xbf16, #sluice<[2!]>>
}

// Along the lanes, of none or of several chosen ones, of more than the mask, or read elsewhere: as
// it is.
// CHECK-LABEL: func.func @lanes(
// CHECK: sluice.reduce max
func.func @lanes(%x: tensor<2x2xbf16, #sluice<[2! 2]>>) -> tensor<1x2xbf16, #sluice<[1! 2]>> {
  %c = sluice.constant dense<[[0.0, 1.0], [1.0, 0.0]]> : tensor<2x2xf32>
  %0 = sluice.map (%a = %x, %m = %c) : (tensor<2x2xbf16, #sluice<[2! 2]>>, tensor<2x2xf32>) -> tensor<2x2xbf16, #sluice<[2! 2]>> {
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant -3.0E+38 : f32
    %1 = arith.cmpf une, %m, %zero : f32
    %2 = arith.select %1, %a, %lowest : f32
    sluice.yield %2
  }
  %3 = sluice.reduce max %0 axes [0] keepdims : (tensor<2x2xbf16, #sluice<[2! 2]>>) -> tensor<1x2xbf16, #sluice<[1! 2]>>
  return %3 : tensor<1x2xbf16, #sluice<[1! 2]>>
}

// CHECK-LABEL: func.func @several(
// CHECK: sluice.reduce max
func.func @several(%x: tensor<2x2xbf16, #sluice<[2 2!]>>) -> tensor<1x2xbf16, #sluice<[1 2!]>> {
  %c = sluice.constant dense<[[0.0, 1.0], [1.0, 1.0]]> : tensor<2x2xf32>
  %0 = sluice.map (%a = %x, %m = %c) : (tensor<2x2xbf16, #sluice<[2 2!]>>, tensor<2x2xf32>) -> tensor<2x2xbf16, #sluice<[2 2!]>> {
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant -3.0E+38 : f32
    %1 = arith.cmpf une, %m, %zero : f32
    %2 = arith.select %1, %a, %lowest : f32
    sluice.yield %2
  }
  %3 = sluice.reduce max %0 axes [0] keepdims : (tensor<2x2xbf16, #sluice<[2 2!]>>) -> tensor<1x2xbf16, #sluice<[1 2!]>>
  return %3 : tensor<1x2xbf16, #sluice<[1 2!]>>
}

// CHECK-LABEL: func.func @elsewhere(
// CHECK: sluice.reduce max
func.func @elsewhere(%x: tensor<2x2xbf16, #sluice<[2 2!]>>) -> (tensor<1x2xbf16, #sluice<[1 2!]>>, tensor<2x2xbf16, #sluice<[2 2!]>>) {
  %c = sluice.constant dense<[[0.0, 1.0], [1.0, 0.0]]> : tensor<2x2xf32>
  %0 = sluice.map (%a = %x, %m = %c) : (tensor<2x2xbf16, #sluice<[2 2!]>>, tensor<2x2xf32>) -> tensor<2x2xbf16, #sluice<[2 2!]>> {
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant -3.0E+38 : f32
    %1 = arith.cmpf une, %m, %zero : f32
    %2 = arith.select %1, %a, %lowest : f32
    sluice.yield %2
  }
  %3 = sluice.reduce max %0 axes [0] keepdims : (tensor<2x2xbf16, #sluice<[2 2!]>>) -> tensor<1x2xbf16, #sluice<[1 2!]>>
  return %3, %0 : tensor<1x2xbf16, #sluice<[1 2!]>>, tensor<2x2xbf16, #sluice<[2 2!]>>
}
