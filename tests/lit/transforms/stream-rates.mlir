// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-stream{inputs=x=0:2}))" --split-input-file --verify-diagnostics

// Two steps an inference: one position of every second one.
func.func @halves(%x: tensor<16x4xf32> {sluice.name = "x"}) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %h = sluice.slice %x starts [0, 0] sizes [8, 4] steps [2, 1] : (tensor<16x4xf32>) -> tensor<8x4xf32>
  %f = sluice.slice %x starts [0, 0] sizes [8, 4] steps [1, 1] : (tensor<16x4xf32>) -> tensor<8x4xf32>
  // expected-error @+1 {{E0207: cannot stream: the operands have different rates: a position every 2 steps and every 1 step}}
  %y = sluice.map (%a = %h, %b = %f) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = arith.addf %a, %b : f32
    sluice.yield %0
  }
  // expected-error @+1 {{E0207: cannot stream: the loop reads sequences with different numbers of positions per step}}
  %z = sluice.loop 8 carry () slice (%a = %h axis 0 : tensor<8x4xf32>, %b = %f axis 0 : tensor<8x4xf32>)
      stack [0] -> (tensor<8x4xf32>) {
    sluice.next %a : tensor<4xf32>
  }
  return %y, %z : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// Half of the positions paired with as many of all.
func.func @pairs_of_rates(%x: tensor<8x4xf32> {sluice.name = "x"}) -> (tensor<4x4xf32>) {
  %h = sluice.slice %x starts [0, 0] sizes [4, 4] steps [2, 1] : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %f = sluice.slice %x starts [0, 0] sizes [4, 4] steps [1, 1] : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %t = sluice.transpose %f [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-error @+1 {{E0207: cannot stream: the operands have different rates: a position every 2 steps and every 1 step}}
  %s = sluice.matmul %h, %t : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %s : tensor<4x4xf32>
}

// -----

// Values that are late by one position, two positions at a time.
func.func @late_values(%x: tensor<4x4xf32> {sluice.name = "x"}) -> (tensor<4x4xf32>) {
  %t = sluice.transpose %x [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = sluice.matmul %x, %t : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = sluice.constant dense<[[0.0, -1.0e9, -1.0e9, -1.0e9], [0.0, 0.0, -1.0e9, -1.0e9],
                              [-1.0e9, 0.0, 0.0, -1.0e9], [-1.0e9, -1.0e9, 0.0, 0.0]]> : tensor<4x4xf32>
  %e = sluice.map (%a = %s, %b = %c) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = arith.addf %a, %b : f32
    %1 = math.exp %0 : f32
    sluice.yield %1
  }
  %w = sluice.window %x axes [0] sizes [2] counts [4] starts [0] strides [1] dilations [1]
      value 0.0 : (tensor<4x4xf32>) -> tensor<4x4x2xf32>
  %v = sluice.reduce max %w axes [2] : (tensor<4x4x2xf32>) -> tensor<4x4xf32>
  // expected-error @+2 {{E0207: cannot stream: the operands lag by 0 positions and 1 position; they must lag equally at 2 positions per inference}}
  // expected-note @+1 {{help: stream one position per inference}}
  %y = sluice.matmul %e, %v : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
