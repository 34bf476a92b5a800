// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-unroll-loops))" --split-input-file --verify-diagnostics | FileCheck %s

// A sequence backwards along its second axis, a stack along a new last one.
// CHECK-LABEL: func.func @scan(
// CHECK-SAME: %[[H:.*]]: tensor<2xf32>, %[[X:.*]]: tensor<2x3xf32>
// CHECK-NEXT: %[[S0:.*]] = sluice.slice %[[X]] starts [0, 2] sizes [2, 1] steps [1, 1]
// CHECK-NEXT: %[[X0:.*]] = sluice.squeeze %[[S0]] axes [1] : (tensor<2x1xf32>) -> tensor<2xf32>
// CHECK-NEXT: %[[H0:.*]] = sluice.map (%{{.*}} = %[[H]], %{{.*}} = %[[X0]])
// CHECK: %[[S1:.*]] = sluice.slice %[[X]] starts [0, 1]
// CHECK-NEXT: %[[X1:.*]] = sluice.squeeze %[[S1]]
// CHECK-NEXT: %[[H1:.*]] = sluice.map (%{{.*}} = %[[H0]], %{{.*}} = %[[X1]])
// CHECK: %[[S2:.*]] = sluice.slice %[[X]] starts [0, 0]
// CHECK-NEXT: %[[X2:.*]] = sluice.squeeze %[[S2]]
// CHECK-NEXT: %[[H2:.*]] = sluice.map (%{{.*}} = %[[H1]], %{{.*}} = %[[X2]])
// CHECK: %[[Y0:.*]] = sluice.unsqueeze %[[H0]] axes [1]
// CHECK-NEXT: %[[Y1:.*]] = sluice.unsqueeze %[[H1]] axes [1]
// CHECK-NEXT: %[[Y2:.*]] = sluice.unsqueeze %[[H2]] axes [1]
// CHECK-NEXT: %[[Y:.*]] = sluice.concat %[[Y2]], %[[Y1]], %[[Y0]] axis 1
// CHECK-NEXT: return %[[H2]], %[[Y]]
func.func @scan(%h: tensor<2xf32>, %x: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2x3xf32>) {
  %last, %all = sluice.loop 3 carry (%s = %h : tensor<2xf32>) slice (%e = %x axis 1 reversed : tensor<2x3xf32>)
      stack [1 reversed] -> (tensor<2xf32>, tensor<2x3xf32>) {
    %n = sluice.map (%a = %s, %b = %e) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> {
      %0 = arith.addf %a, %b : f32
      sluice.yield %0
    }
    sluice.next %n, %n : tensor<2xf32>, tensor<2xf32>
  }
  return %last, %all : tensor<2xf32>, tensor<2x3xf32>
}

// -----

// Values are swapped in each trip; nothing is written of what nobody reads: the stack, the slices
// and the product with the first sequence.
// CHECK-LABEL: func.func @unread(
// CHECK-SAME: %[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<2xf32>
// CHECK-NEXT: return %[[B]]
func.func @unread(%a: tensor<2xf32>, %b: tensor<2xf32>, %x: tensor<3x2xf32>) -> tensor<2xf32> {
  %p, %q, %all = sluice.loop 3 carry (%s = %a : tensor<2xf32>, %t = %b : tensor<2xf32>)
      slice (%e = %x axis 0 : tensor<3x2xf32>) stack [0]
      -> (tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>) {
    %n = sluice.map (%u = %s, %v = %e) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> {
      %0 = arith.mulf %u, %v : f32
      sluice.yield %0
    }
    sluice.next %t, %s, %n : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  }
  return %p : tensor<2xf32>
}

// -----

// A loop in a loop, which reads a value from around both.
// CHECK-LABEL: func.func @nested(
// CHECK-COUNT-6: sluice.map
// CHECK-NOT: sluice.loop
// CHECK-NOT: sluice.map
func.func @nested(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %p = sluice.loop 2 carry (%s = %a : tensor<2xf32>) -> (tensor<2xf32>) {
    %q = sluice.loop 3 carry (%t = %s : tensor<2xf32>) -> (tensor<2xf32>) {
      %n = sluice.map (%u = %t, %v = %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> {
        %0 = arith.mulf %u, %v : f32
        sluice.yield %0
      }
      sluice.next %n : tensor<2xf32>
    }
    sluice.next %q : tensor<2xf32>
  }
  return %p : tensor<2xf32>
}

// -----

// Counted with all their trips: 101 x 100 of one operation each.
func.func @long(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{E0415: the loop has 101 iterations of 100 operations; at most 10000 operations can be unrolled}}
  // expected-note @below {{help: shorten the sequence, make the states inputs and outputs, and run the model part by part}}
  %p = sluice.loop 101 carry (%s = %a : tensor<2xf32>) -> (tensor<2xf32>) {
    %q = sluice.loop 100 carry (%t = %s : tensor<2xf32>) -> (tensor<2xf32>) {
      %n = sluice.slice %t starts [1] sizes [2] steps [-1] : (tensor<2xf32>) -> tensor<2xf32>
      sluice.next %n : tensor<2xf32>
    }
    sluice.next %q : tensor<2xf32>
  }
  return %p : tensor<2xf32>
}
