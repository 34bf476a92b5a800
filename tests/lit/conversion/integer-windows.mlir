// Rounding to integers behind sums of integers, in two windows: each is a step of a sum of its own,
// with a table that rounds what it takes, and the second step adds the first.
// RUN: sluice-opt %s --split-input-file --convert-sluice-to-rows=target=c2b8 | FileCheck %s
// RUN: sluice-opt %s --split-input-file --convert-sluice-to-rows=target=c2b8 | sluice-opt --split-input-file | FileCheck %s

// One scale is an immediate.
// CHECK-LABEL: rows.program "dense"
// CHECK: %[[X:.*]] = rows.read
// CHECK-NEXT: %[[LOW:.*]] = rows.linear %[[X]] by [@w0] step {alu1 = "mul", imm1 = 3.000000e-03 : f32, rhs1 = "imm"} table @t0
// CHECK-NEXT: %[[Y:.*]] = rows.linear %[[X]] by [@w0] bias @b0 step {alu1 = "mul", alu2 = "add", imm1 = 3.000000e-03 : f32, rhs1 = "imm"} table @t1 c(%[[LOW]])
// CHECK-NEXT: rows.write %[[Y]] output
func.func @dense(%x: tensor<1x8xbf16, #sluice<[1 8!]>>) -> tensor<1x8xbf16, #sluice<[1 8!]>> {
  %w = sluice.constant dense<3.0> : tensor<8x8xf32>
  %h = sluice.matmul %x, %w : (tensor<1x8xbf16, #sluice<[1 8!]>>, tensor<8x8xf32>) -> tensor<1x8xbf16, #sluice<[1 8!]>>
  %y = sluice.map (%l = %h) : (tensor<1x8xbf16, #sluice<[1 8!]>>) -> tensor<1x8xbf16, #sluice<[1 8!]>> {
    %scale = arith.constant 3.0e-03 : f32
    %low = arith.constant 0.0 : f32
    %high = arith.constant 255.0 : f32
    %0 = arith.mulf %l, %scale : f32
    %1 = math.roundeven %0 : f32
    %2 = arith.maximumf %1, %low : f32
    %3 = arith.minimumf %2, %high : f32
    sluice.yield %3
  }
  return %y : tensor<1x8xbf16, #sluice<[1 8!]>>
}

// -----

// A scale of each lane is fp32, in two constant rows.
// CHECK-LABEL: rows.program "channels"
// CHECK: %[[X:.*]] = rows.read
// CHECK-NEXT: %[[UPPER:.*]] = rows.constant
// CHECK-NEXT: %[[LOWER:.*]] = rows.constant
// CHECK-NEXT: %[[LOW:.*]] = rows.linear %[[X]] by [@w0] bias @b0 step {alu1 = "mul", b_wide} table @t0 b(%[[UPPER]]) c(%[[LOWER]])
// CHECK-NEXT: %[[HIGH:.*]] = rows.linear %[[X]] by [@w0] step {alu1 = "mul", b_wide} table @t1 b(%[[UPPER]]) c(%[[LOWER]])
// CHECK-NEXT: rows.vector %[[LOW]] step {alu1 = "add"} b(%[[HIGH]])
func.func @channels(%x: tensor<1x8xbf16, #sluice<[1 8!]>>) -> tensor<1x8xbf16, #sluice<[1 8!]>> {
  %w = sluice.constant dense<3.0> : tensor<8x8xf32>
  %s = sluice.constant dense<[[1.0e-03, 2.0e-03, 3.0e-03, 4.0e-03, 5.0e-03, 6.0e-03, 7.0e-03, 8.0e-03]]> : tensor<1x8xf32>
  %h = sluice.matmul %x, %w : (tensor<1x8xbf16, #sluice<[1 8!]>>, tensor<8x8xf32>) -> tensor<1x8xbf16, #sluice<[1 8!]>>
  %y = sluice.map (%l = %h, %scale = %s) : (tensor<1x8xbf16, #sluice<[1 8!]>>, tensor<1x8xf32>) -> tensor<1x8xbf16, #sluice<[1 8!]>> {
    %low = arith.constant 0.0 : f32
    %high = arith.constant 255.0 : f32
    %0 = arith.mulf %l, %scale : f32
    %1 = math.roundeven %0 : f32
    %2 = arith.maximumf %1, %low : f32
    %3 = arith.minimumf %2, %high : f32
    sluice.yield %3
  }
  return %y : tensor<1x8xbf16, #sluice<[1 8!]>>
}

// -----

// Of a sum of two rows, one is kept as fp32 in two rows.
// CHECK-LABEL: rows.program "residual"
// CHECK: %[[A:.*]] = rows.read
// CHECK-NEXT: %[[B:.*]] = rows.read
// CHECK-NEXT: %[[UPPER:.*]] = rows.vector %[[B]] step {alu1 = "mul", alu2 = "add", imm1 = 0.699999988 : f32, imm2 = 1.280000e+02 : f32, part = "high", rhs1 = "imm", rhs2 = "imm"}
// CHECK-NEXT: %[[LOWER:.*]] = rows.vector %[[B]] step {alu1 = "mul", alu2 = "add", imm1 = 0.699999988 : f32, imm2 = 1.280000e+02 : f32, part = "low", rhs1 = "imm", rhs2 = "imm"}
// CHECK-NEXT: %[[LOW:.*]] = rows.vector %[[A]] step {alu1 = "mul", alu2 = "add", b_wide, imm1 = 3.000000e-01 : f32, rhs1 = "imm", rhs2 = "b"} b(%[[UPPER]]) c(%[[LOWER]])
// CHECK: %[[HIGH:.*]] = rows.vector %[[A]] step {alu1 = "mul", alu2 = "add", b_wide, imm1 = 3.000000e-01 : f32, rhs1 = "imm", rhs2 = "b"}
// CHECK-NEXT: %[[FIRST:.*]] = rows.vector %[[HIGH]] table @t0
// CHECK-NEXT: rows.vector %[[LOW]] step {alu2 = "add"} table @t1 c(%[[FIRST]])
func.func @residual(%x: tensor<1x8xbf16, #sluice<[1 8!]>>, %z: tensor<1x8xbf16, #sluice<[1 8!]>>) -> tensor<1x8xbf16, #sluice<[1 8!]>> {
  %y = sluice.map (%a = %x, %b = %z) : (tensor<1x8xbf16, #sluice<[1 8!]>>, tensor<1x8xbf16, #sluice<[1 8!]>>) -> tensor<1x8xbf16, #sluice<[1 8!]>> {
    %first = arith.constant 0.3 : f32
    %second = arith.constant 0.7 : f32
    %low = arith.constant 0.0 : f32
    %high = arith.constant 255.0 : f32
    %0 = arith.mulf %a, %first : f32
    %1 = arith.mulf %b, %second : f32
    %2 = arith.addf %0, %1 : f32
    %3 = math.roundeven %2 : f32
    %4 = arith.maximumf %3, %low : f32
    %5 = arith.minimumf %4, %high : f32
    sluice.yield %5
  }
  return %y : tensor<1x8xbf16, #sluice<[1 8!]>>
}
