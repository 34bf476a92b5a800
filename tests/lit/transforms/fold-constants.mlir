// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-fold-constants))" | FileCheck %s

// CHECK-LABEL: func.func @chain()
// CHECK-NEXT: %[[C:.*]] = sluice.constant dense<{{\[\[}}5.000000e+00, 9.000000e+00], [5.000000e+00, 1.300000e+01]]> : tensor<2x2xf32>
// CHECK-NEXT: return %[[C]]
func.func @chain() -> tensor<2x2xf32> {
  %a = sluice.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %t = sluice.transpose %a [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %m = sluice.matmul %a, %t : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %s = sluice.map (%p = %m, %q = %a) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> {
    %d = arith.mulf %q, %q : f32
    %e = arith.addf %p, %q : f32
    %f = arith.subf %e, %d : f32
    sluice.yield %f
  }
  return %s : tensor<2x2xf32>
}

// A constant that something else still reads stays; runtime operations stay.
// CHECK-LABEL: func.func @mixed(
// CHECK-DAG: sluice.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>
// CHECK-DAG: sluice.constant dense<[3.000000e+00, 2.000000e+00, 1.000000e+00]>
// CHECK: sluice.concat
func.func @mixed(%x: tensor<3xf32>) -> tensor<9xf32> {
  %a = sluice.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %r = sluice.slice %a starts [2] sizes [3] steps [-1] : (tensor<3xf32>) -> tensor<3xf32>
  %c = sluice.concat %x, %a, %r axis 0 : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<9xf32>
  return %c : tensor<9xf32>
}

// A loop on constants, inside and outside: all it gives are constants.
// CHECK-LABEL: func.func @loop(
// CHECK-DAG: sluice.constant dense<1.500000e+01> : tensor<1xf32>
// CHECK-DAG: sluice.constant dense<{{\[\[}}5.000000e+00, 1.000000e+01, 1.500000e+01]]> : tensor<1x3xf32>
// CHECK-NOT: sluice.loop
func.func @loop() -> (tensor<1xf32>, tensor<1x3xf32>) {
  %zero = sluice.constant dense<0.0> : tensor<1xf32>
  %five = sluice.constant dense<5.0> : tensor<1xf32>
  %last, %all = sluice.loop 3 carry (%s = %zero : tensor<1xf32>) stack [1] -> (tensor<1xf32>, tensor<1x3xf32>) {
    %n = sluice.map (%a = %s, %b = %five) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> {
      %0 = arith.addf %a, %b : f32
      sluice.yield %0
    }
    sluice.next %n, %n : tensor<1xf32>, tensor<1xf32>
  }
  return %last, %all : tensor<1xf32>, tensor<1x3xf32>
}

// A result that has become a constant has no data dimension.
// CHECK-LABEL: func.func @result(
// CHECK-SAME: -> (tensor<2xf32>, tensor<2xbf16, #sluice<[2!]>>)
// CHECK: %[[C:.*]] = sluice.constant dense<[2.000000e+00, 4.000000e+00]> : tensor<2xf32>
// CHECK: return %[[C]], %{{.*}} : tensor<2xf32>, tensor<2xbf16, #sluice<[2!]>>
func.func @result(%x: tensor<2xbf16, #sluice<[2!]>>) -> (tensor<2xbf16, #sluice<[2!]>>, tensor<2xbf16, #sluice<[2!]>>) {
  %a = sluice.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = sluice.map (%p = %a) : (tensor<2xf32>) -> tensor<2xbf16, #sluice<[2!]>> {
    %s = arith.addf %p, %p : f32
    sluice.yield %s
  }
  return %0, %x : tensor<2xbf16, #sluice<[2!]>>, tensor<2xbf16, #sluice<[2!]>>
}
