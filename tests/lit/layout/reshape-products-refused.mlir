// Where DD-RESHAPE-MM does not help and the stride decides.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension))" --split-input-file --verify-diagnostics

// The reshaped tensor is read by something else, too.
func.func @also_returned(%x: tensor<4x5xf32, #sluice.dim<0>>) -> (tensor<1x3xf32>, tensor<1x20xf32>) {
  %w = sluice.constant dense<1.0> : tensor<20x3xf32>
  // expected-error @+7 {{E0303: no axis after the reshape has the stride of the data dimension}}
  // expected-note @+6 {{operand 0: activation [4! 5]}}
  // expected-note @+5 {{rule DD-RESHAPE: the data dimension keeps its stride: [a (n*b)! c] -> [a n b! c]}}
  // expected-note @+4 {{chain: [4! 5], pinned by its type}}
  // expected-note @+3 {{chain: [4! 5], but this operation needs [4 5!]}}
  // expected-note @+2 {{help: pin the tensor to [4 5!] in its type}}
  // expected-note @+1 {{help: transpose axes 0 and 1 before the reshape, if the order of the elements may change}}
  %f = sluice.reshape %x : (tensor<4x5xf32, #sluice.dim<0>>) -> tensor<1x20xf32>
  %y = sluice.matmul %f, %w : (tensor<1x20xf32>, tensor<20x3xf32>) -> tensor<1x3xf32>
  return %y, %f : tensor<1x3xf32>, tensor<1x20xf32>
}

// -----

// The axis that is summed over is made from a part of another one.
func.func @parts(%x: tensor<4x6xf32, #sluice.dim<0>>) -> tensor<3x5xf32> {
  %w = sluice.constant dense<1.0> : tensor<8x5xf32>
  // expected-error @+7 {{E0303: no axis after the reshape has the stride of the data dimension}}
  // expected-note @+6 {{operand 0: activation [4! 6]}}
  // expected-note @+5 {{rule DD-RESHAPE}}
  // expected-note @+4 {{chain: [4! 6], pinned by its type}}
  // expected-note @+3 {{chain: [4! 6], but this operation needs [4 6!]}}
  // expected-note @+2 {{help: pin the tensor to [4 6!] in its type}}
  // expected-note @+1 {{help: transpose axes 0 and 1 before the reshape, if the order of the elements may change}}
  %f = sluice.reshape %x : (tensor<4x6xf32, #sluice.dim<0>>) -> tensor<3x8xf32>
  %y = sluice.matmul %f, %w : (tensor<3x8xf32>, tensor<8x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

// An axis that is not summed over stays one.
func.func @batch(%x: tensor<2x4x5xf32, #sluice.dim<0>>) -> tensor<2x3xf32> {
  %w = sluice.constant dense<1.0> : tensor<20x3xf32>
  %f = sluice.reshape %x : (tensor<2x4x5xf32, #sluice.dim<0>>) -> tensor<2x20xf32>
  // expected-error @+9 {{E0302: the product contracts an axis that is not the data dimension}}
  // expected-note @+8 {{operand 0: activation [2! 20]}}
  // expected-note @+7 {{operand 1: constant [20 3]}}
  // expected-note @+6 {{rule DD-MM-CONST}}
  // expected-note @+5 {{chain: [2! 4 5], pinned by its type}}
  // expected-note @+4 {{chain: [2! 20], from [2! 4 5]: the data dimension keeps its stride}}
  // expected-note @+3 {{chain: [2! 20], but this operation needs [2 20!]}}
  // expected-note @+2 {{help: pin the tensor to [2 4 5!] in its type}}
  // expected-note @+1 {{help: compile with --allow-dynamic-weights (DD-MM-DYN-1): the data dimension is not contracted and stays}}
  %y = sluice.matmul %f, %w : (tensor<2x20xf32>, tensor<20x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
