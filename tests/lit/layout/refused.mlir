// Every rule that refuses: the sentence, the operands, the rule, the chain, the
// fixes.
// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension))" --split-input-file --verify-diagnostics

func.func @pointwise(%x: tensor<3x4xf32, #sluice.dim<0>> {sluice.name = "x"},
                     %y: tensor<3x4xf32, #sluice.dim<1>> {sluice.name = "y"}) -> tensor<3x4xf32> {
  // expected-error @+9 {{E0301: operands of a pointwise operation have different data dimensions}}
  // expected-note @+8 {{operand 0 'x': activation [3! 4]}}
  // expected-note @+7 {{operand 1 'y': activation [3 4!]}}
  // expected-note @+6 {{rule DD-PW: [a b! c] (*) [a b! c] -> [a b! c]}}
  // expected-note @+5 {{chain: 'x' [3! 4], pinned by its type}}
  // expected-note @+4 {{chain: 'y' [3 4!], pinned by its type}}
  // expected-note @+3 {{chain: 'y' [3 4!], but this operation needs [3! 4]}}
  // expected-note @+2 {{help: pin the tensor to [3 4!] in its type}}
  // expected-note @+1 {{help: pin the tensor to [3! 4] in its type}}
  %0 = sluice.map (%a = %x, %b = %y) : (tensor<3x4xf32, #sluice.dim<0>>, tensor<3x4xf32, #sluice.dim<1>>) -> tensor<3x4xf32> {
    %s = arith.addf %a, %b : f32
    sluice.yield %s
  }
  return %0 : tensor<3x4xf32>
}

// -----

// The page's example: [a b! c] -> [a (b*c)!] would change the stride.
func.func @reshape(%x: tensor<2x3x4xf32, #sluice.dim<1>>) -> tensor<2x12xf32> {
  // expected-error @+7 {{E0303: no axis after the reshape has the stride of the data dimension}}
  // expected-note @+6 {{operand 0: activation [2 3! 4]}}
  // expected-note @+5 {{rule DD-RESHAPE: the data dimension keeps its stride: [a (n*b)! c] -> [a n b! c]}}
  // expected-note @+4 {{chain: [2 3! 4], pinned by its type}}
  // expected-note @+3 {{chain: [2 3! 4], but this operation needs [2! 3 4] or [2 3 4!]}}
  // expected-note @+2 {{help: pin the tensor to [2 3 4!] in its type}}
  // expected-note @+1 {{help: transpose axes 1 and 2 before the reshape, if the order of the elements may change}}
  %0 = sluice.reshape %x : (tensor<2x3x4xf32, #sluice.dim<1>>) -> tensor<2x12xf32>
  return %0 : tensor<2x12xf32>
}

// -----

func.func @squeeze(%x: tensor<1x3xf32, #sluice.dim<0>>) -> tensor<3xf32> {
  // expected-error @+6 {{E0303: the squeeze removes the axis of the data dimension}}
  // expected-note @+5 {{operand 0: activation [1! 3]}}
  // expected-note @+4 {{rule DD-SQZ: the data dimension keeps its stride: [1 b!] -> [b!]}}
  // expected-note @+3 {{chain: [1! 3], pinned by its type}}
  // expected-note @+2 {{chain: [1! 3], but this operation needs [1 3!]}}
  // expected-note @+1 {{help: pin the tensor to [1 3!] in its type}}
  %0 = sluice.squeeze %x axes [0] : (tensor<1x3xf32, #sluice.dim<0>>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @reduce(%x: tensor<2x3xf32, #sluice.dim<0>>) -> tensor<3xf32> {
  // expected-error @+7 {{E0304: the reduction removes the axis of the data dimension}}
  // expected-note @+6 {{operand 0: activation [2! 3]}}
  // expected-note @+5 {{rule DD-REDUCE: [a! b].sum(0, keepdims) -> [1! b] and [a! b].sum(1) -> [a!]}}
  // expected-note @+4 {{chain: [2! 3], pinned by its type}}
  // expected-note @+3 {{chain: [2! 3], but this operation needs [2 3!]}}
  // expected-note @+2 {{help: pin the tensor to [2 3!] in its type}}
  // expected-note @+1 {{help: keep the reduced axes (keepdims=1) and use the result as [1! 3]}}
  %0 = sluice.reduce sum %x axes [0] : (tensor<2x3xf32, #sluice.dim<0>>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @concat(%x: tensor<3x4xf32, #sluice.dim<0>>, %y: tensor<3x4xf32, #sluice.dim<1>>) -> tensor<6x4xf32> {
  // expected-error @+9 {{E0305: concatenated tensors have different data dimensions}}
  // expected-note @+8 {{operand 0: activation [3! 4]}}
  // expected-note @+7 {{operand 1: activation [3 4!]}}
  // expected-note @+6 {{rule DD-CONCAT: [a! b] ++ [a! c] -> [a! (b+c)]}}
  // expected-note @+5 {{chain: [3! 4], pinned by its type}}
  // expected-note @+4 {{chain: [3 4!], pinned by its type}}
  // expected-note @+3 {{chain: [3 4!], but this operation needs [3! 4]}}
  // expected-note @+2 {{help: pin the tensor to [3 4!] in its type}}
  // expected-note @+1 {{help: pin the tensor to [3! 4] in its type}}
  %0 = sluice.concat %x, %y axis 0 : (tensor<3x4xf32, #sluice.dim<0>>, tensor<3x4xf32, #sluice.dim<1>>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @interleave(%x: tensor<3x4xf32, #sluice.dim<0>>, %y: tensor<3x4xf32, #sluice.dim<1>>) -> tensor<6x4xf32> {
  // expected-error @+9 {{E0305: interleaved tensors have different data dimensions}}
  // expected-note @+8 {{operand 0: activation [3! 4]}}
  // expected-note @+7 {{operand 1: activation [3 4!]}}
  // expected-note @+6 {{rule DD-CONCAT: [a! b] ++ [a! c] -> [a! (b+c)]}}
  // expected-note @+5 {{chain: [3! 4], pinned by its type}}
  // expected-note @+4 {{chain: [3 4!], pinned by its type}}
  // expected-note @+3 {{chain: [3 4!], but this operation needs [3! 4]}}
  // expected-note @+2 {{help: pin the tensor to [3 4!] in its type}}
  // expected-note @+1 {{help: pin the tensor to [3! 4] in its type}}
  %0 = sluice.interleave %x, %y axis 0 : (tensor<3x4xf32, #sluice.dim<0>>, tensor<3x4xf32, #sluice.dim<1>>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @matmul_left(%x: tensor<3x4xf32, #sluice.dim<1>>) -> tensor<5x4xf32> {
  %w = sluice.constant dense<1.0> : tensor<5x3xf32>
  // expected-error @+8 {{E0302: the product contracts an axis that is not the data dimension}}
  // expected-note @+7 {{operand 0: constant [5 3]}}
  // expected-note @+6 {{operand 1: activation [3 4!]}}
  // expected-note @+5 {{rule DD-MM-CONST: [* i j] @ [* j! k] -> [* i! k] and [* k j!] @ [* j i] -> [* k i!]}}
  // expected-note @+4 {{chain: [3 4!], pinned by its type}}
  // expected-note @+3 {{chain: [3 4!], but this operation needs [3! 4]}}
  // expected-note @+2 {{help: pin the tensor to [3! 4] in its type}}
  // expected-note @+1 {{help: compile with --allow-dynamic-weights (DD-MM-DYN-1): the data dimension is not contracted and stays}}
  %0 = sluice.matmul %w, %x : (tensor<5x3xf32>, tensor<3x4xf32, #sluice.dim<1>>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// -----

func.func @matmul_right(%x: tensor<4x3xf32, #sluice.dim<0>>) -> tensor<4x5xf32> {
  %w = sluice.constant dense<1.0> : tensor<3x5xf32>
  // expected-error @+8 {{E0302: the product contracts an axis that is not the data dimension}}
  // expected-note @+7 {{operand 0: activation [4! 3]}}
  // expected-note @+6 {{operand 1: constant [3 5]}}
  // expected-note @+5 {{rule DD-MM-CONST}}
  // expected-note @+4 {{chain: [4! 3], pinned by its type}}
  // expected-note @+3 {{chain: [4! 3], but this operation needs [4 3!]}}
  // expected-note @+2 {{help: pin the tensor to [4 3!] in its type}}
  // expected-note @+1 {{help: compile with --allow-dynamic-weights (DD-MM-DYN-1): the data dimension is not contracted and stays}}
  %0 = sluice.matmul %x, %w : (tensor<4x3xf32, #sluice.dim<0>>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

// A batch axis is never the data dimension, and no flag helps.
func.func @matmul_batch(%x: tensor<2x4x3xf32, #sluice.dim<0>>) -> tensor<2x4x5xf32> {
  %w = sluice.constant dense<1.0> : tensor<3x5xf32>
  // expected-error @+7 {{E0302: the product contracts an axis that is not the data dimension}}
  // expected-note @+6 {{operand 0: activation [2! 4 3]}}
  // expected-note @+5 {{operand 1: constant [3 5]}}
  // expected-note @+4 {{rule DD-MM-CONST}}
  // expected-note @+3 {{chain: [2! 4 3], pinned by its type}}
  // expected-note @+2 {{chain: [2! 4 3], but this operation needs [2 4 3!]}}
  // expected-note @+1 {{help: pin the tensor to [2 4 3!] in its type}}
  %0 = sluice.matmul %x, %w : (tensor<2x4x3xf32, #sluice.dim<0>>, tensor<3x5xf32>) -> tensor<2x4x5xf32>
  return %0 : tensor<2x4x5xf32>
}

// -----

func.func @both_runtime(%x: tensor<5x3xf32>, %y: tensor<3x4xf32>) -> tensor<5x4xf32> {
  // expected-error @+7 {{E0306: both operands of the product are activations}}
  // expected-note @+6 {{operand 0: activation [5 3]}}
  // expected-note @+5 {{operand 1: activation [3 4]}}
  // expected-note @+4 {{rule DD-MM-DYN: one operand of a product is a constant, unless --allow-dynamic-weights is given}}
  // expected-note @+3 {{chain: [5 4], rejected for every data dimension}}
  // expected-note @+2 {{help: compile with --allow-dynamic-weights (DD-MM-DYN-3): the operand whose data dimension is not contracted passes it on}}
  // expected-note @+1 {{help: make input a constant, if its value is the same in every inference}}
  %0 = sluice.matmul %x, %y : (tensor<5x3xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// -----

// Backwards: the result cannot have the data dimension it is given.
func.func @unsqueeze(%x: tensor<2x3xf32>) -> tensor<1x2x3xf32, #sluice.dim<0>> {
  // expected-error @+4 {{E0308: a tensor is pinned to [1! 2 3] but must be [1 2! 3] or [1 2 3!]}}
  // expected-note @+3 {{chain: [1 2 3], a new axis is never the data dimension}}
  // expected-note @+2 {{chain: [1 2 3], but it must be [1! 2 3], pinned by its type}}
  // expected-note @+1 {{help: pin the tensor to [1 2 3!] in its type}}
  %0 = sluice.unsqueeze %x axes [0] : (tensor<2x3xf32>) -> tensor<1x2x3xf32, #sluice.dim<0>>
  return %0 : tensor<1x2x3xf32, #sluice.dim<0>>
}
