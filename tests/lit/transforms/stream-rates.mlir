// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-stream{inputs=x=0:2}))" --split-input-file --verify-diagnostics

// Two steps an inference: one position of every second one.
func.func @halves(%x: tensor<16x4xf32> {sluice.name = "x"}) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %h = sluice.slice %x starts [0, 0] sizes [8, 4] steps [2, 1] : (tensor<16x4xf32>) -> tensor<8x4xf32>
  %f = sluice.slice %x starts [0, 0] sizes [8, 4] steps [1, 1] : (tensor<16x4xf32>) -> tensor<8x4xf32>
  // expected-error @+1 {{E0207: cannot be streamed: its operands have a position for every 2 steps and for every 1 step}}
  %y = sluice.map (%a = %h, %b = %f) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = arith.addf %a, %b : f32
    sluice.yield %0
  }
  // expected-error @+1 {{E0207: cannot be streamed: its sequences have different numbers of positions for a step}}
  %z = sluice.loop 8 carry () slice (%a = %h axis 0 : tensor<8x4xf32>, %b = %f axis 0 : tensor<8x4xf32>)
      stack [0] -> (tensor<8x4xf32>) {
    sluice.next %a : tensor<4xf32>
  }
  return %y, %z : tensor<8x4xf32>, tensor<8x4xf32>
}
