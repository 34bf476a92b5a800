// What --allow-dynamic-weights does not allow.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension{allow-dynamic-weights=true}))" --split-input-file --verify-diagnostics

func.func @neither(%x: tensor<5x3xf32, #sluice.dim<0>>, %y: tensor<3x4xf32, #sluice.dim<1>>) -> tensor<5x4xf32> {
  // expected-error @+9 {{E0307: the contracted axis is the data dimension of neither operand}}
  // expected-note @+8 {{operand 0: activation [5! 3]}}
  // expected-note @+7 {{operand 1: activation [3 4!]}}
  // expected-note @+6 {{rule DD-MM-DYN-X: [* i! j] @ [* j! k] -> [* i! k], [* i j!] @ [* j k!] -> [* i k!] and [* i j!] @ [* j! k] -> [* i k!]}}
  // expected-note @+5 {{chain: [5! 3], pinned by its type}}
  // expected-note @+4 {{chain: [3 4!], pinned by its type}}
  // expected-note @+3 {{chain: [3 4!], but this operation needs [3! 4]}}
  // expected-note @+2 {{help: pin the tensor to [3! 4] in its type}}
  // expected-note @+1 {{help: pin the tensor to [5 3!] in its type}}
  %0 = sluice.matmul %x, %y : (tensor<5x3xf32, #sluice.dim<0>>, tensor<3x4xf32, #sluice.dim<1>>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// -----

// '*' is never the data dimension.
func.func @batch(%x: tensor<2x5x3xf32, #sluice.dim<0>>, %y: tensor<2x3x4xf32>) -> tensor<2x5x4xf32> {
  // expected-error @+8 {{E0307: the contracted axis is the data dimension of neither operand}}
  // expected-note @+7 {{operand 0: activation [2! 5 3]}}
  // expected-note @+6 {{operand 1: activation [2 3 4]}}
  // expected-note @+5 {{rule DD-MM-DYN-X}}
  // expected-note @+4 {{chain: [2! 5 3], pinned by its type}}
  // expected-note @+3 {{chain: [2! 5 3], but this operation needs [2 5! 3] or [2 5 3!]}}
  // expected-note @+2 {{help: pin the tensor to [2 5! 3] in its type}}
  // expected-note @+1 {{help: make input a constant, if its value is the same in every inference}}
  %0 = sluice.matmul %x, %y : (tensor<2x5x3xf32, #sluice.dim<0>>, tensor<2x3x4xf32>) -> tensor<2x5x4xf32>
  return %0 : tensor<2x5x4xf32>
}
