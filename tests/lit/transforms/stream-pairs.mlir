// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-stream{inputs=x=0}))" --split-input-file --verify-diagnostics

func.func @no_mask(%x: tensor<3x4xf32> {sluice.name = "x"}) -> (tensor<3x1xf32>) {
  %t = sluice.transpose %x [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %s = sluice.matmul %x, %t : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  // expected-error @+2 {{E0207: cannot stream: each position reads all 3 positions; a mask must limit it to a window}}
  // expected-note @+1 {{help: set positions older than a window to minus infinity before the softmax}}
  %m = sluice.reduce max %s axes [1] keepdims : (tensor<3x3xf32>) -> tensor<3x1xf32>
  return %m : tensor<3x1xf32>
}

// -----

func.func @all_before(%x: tensor<3x4xf32> {sluice.name = "x"}) -> (tensor<3x1xf32>) {
  %t = sluice.transpose %x [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %s = sluice.matmul %x, %t : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  %c = sluice.constant dense<[[0.0, -1.0e9, -1.0e9], [0.0, 0.0, -1.0e9], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  // expected-error @+2 {{E0207: cannot stream: the mask must leave each position the same number of earlier positions, and not all}}
  // expected-note @+1 {{help: set positions older than a window to minus infinity before the softmax}}
  %m = sluice.map (%a = %s, %b = %c) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32> {
    %0 = arith.addf %a, %b : f32
    sluice.yield %0
  }
  %r = sluice.reduce max %m axes [1] keepdims : (tensor<3x3xf32>) -> tensor<3x1xf32>
  return %r : tensor<3x1xf32>
}

// -----

func.func @given(%x: tensor<3x4xf32> {sluice.name = "x"}, %c: tensor<3x3xf32>) -> (tensor<3x1xf32>) {
  %t = sluice.transpose %x [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %s = sluice.matmul %x, %t : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  // expected-error @+2 {{E0207: cannot stream: the mask is an input, so its window is unknown}}
  // expected-note @+1 {{help: make the mask a constant (--bind NAME=@FILE.npy)}}
  %m = sluice.map (%a = %s, %b = %c) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32> {
    %0 = arith.addf %a, %b : f32
    sluice.yield %0
  }
  %r = sluice.reduce max %m axes [1] keepdims : (tensor<3x3xf32>) -> tensor<3x1xf32>
  return %r : tensor<3x1xf32>
}

// -----

// What is added to the scores is not the same for pairs as far apart, whatever the mask is.
func.func @by_place(%x: tensor<3x4xf32> {sluice.name = "x"}) -> (tensor<3x1xf32>) {
  %t = sluice.transpose %x [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %s = sluice.matmul %x, %t : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  %p = sluice.constant dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]> : tensor<3x3xf32>
  // expected-error @+1 {{E0207: cannot stream: a constant over pairs of positions must depend on their distance alone}}
  %b = sluice.map (%a = %s, %b = %p) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32> {
    %0 = arith.addf %a, %b : f32
    sluice.yield %0
  }
  %c = sluice.constant dense<[[0.0, -1.0e9, -1.0e9], [0.0, 0.0, -1.0e9], [-1.0e9, 0.0, 0.0]]> : tensor<3x3xf32>
  %m = sluice.map (%a = %b, %e = %c) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32> {
    %0 = arith.addf %a, %e : f32
    sluice.yield %0
  }
  %r = sluice.reduce max %m axes [1] keepdims : (tensor<3x3xf32>) -> tensor<3x1xf32>
  return %r : tensor<3x1xf32>
}

// -----

// A mean over all positions counts those outside of the window.
func.func @mean(%x: tensor<3x4xf32> {sluice.name = "x"}) -> (tensor<3x1xf32>, tensor<3x3xf32>) {
  %t = sluice.transpose %x [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  // expected-error @+1 {{E0207: cannot stream: an output has a value for each pair of positions of the sequence}}
  %s = sluice.matmul %x, %t : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  %c = sluice.constant dense<[[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]> : tensor<3x3xf32>
  %m = sluice.map (%a = %s, %b = %c) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32> {
    %0 = arith.mulf %a, %b : f32
    sluice.yield %0
  }
  // expected-error @+1 {{E0207: cannot stream: the result for positions outside the window is unknown}}
  %r = sluice.reduce mean %m axes [1] keepdims : (tensor<3x3xf32>) -> tensor<3x1xf32>
  return %r, %s : tensor<3x1xf32>, tensor<3x3xf32>
}

// -----

// A value for each position that the others are, not for the position itself.
func.func @others(%x: tensor<3x4xf32> {sluice.name = "x"}, %z: tensor<3x1xf32>) -> (tensor<3x1xf32>) {
  %t = sluice.transpose %x [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %s = sluice.matmul %x, %t : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  %c = sluice.constant dense<[[0.0, -1.0e9, -1.0e9], [0.0, 0.0, -1.0e9], [-1.0e9, 0.0, 0.0]]> : tensor<3x3xf32>
  %m = sluice.map (%a = %s, %b = %c) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32> {
    %0 = arith.addf %a, %b : f32
    sluice.yield %0
  }
  %one = sluice.slice %t starts [0, 0] sizes [1, 3] steps [1, 1] : (tensor<4x3xf32>) -> tensor<1x3xf32>
  %each = sluice.broadcast %one : (tensor<1x3xf32>) -> tensor<3x3xf32>
  // expected-error @+1 {{E0207: cannot stream: the operation combines pairs of positions with values of other positions}}
  %w = sluice.map (%a = %m, %b = %each) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32> {
    %0 = arith.addf %a, %b : f32
    sluice.yield %0
  }
  %r = sluice.reduce max %w axes [1] keepdims : (tensor<3x3xf32>) -> tensor<3x1xf32>
  return %r : tensor<3x1xf32>
}

// -----

// Those of a part of the sequence have other neighbours at its end.
func.func @cut(%x: tensor<3x4xf32> {sluice.name = "x"}) -> (tensor<3x1xf32>) {
  %t = sluice.transpose %x [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %s = sluice.matmul %x, %t : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  %c = sluice.constant dense<[[0.0, -1.0e9, -1.0e9], [0.0, 0.0, -1.0e9], [-1.0e9, 0.0, 0.0]]> : tensor<3x3xf32>
  %m = sluice.map (%a = %s, %b = %c) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32> {
    %0 = arith.addf %a, %b : f32
    sluice.yield %0
  }
  // expected-error @+1 {{E0207: cannot stream: the operation combines pairs of positions with values of other positions}}
  %p = sluice.slice %m starts [0, 0] sizes [3, 2] steps [1, 1] : (tensor<3x3xf32>) -> tensor<3x2xf32>
  %r = sluice.reduce max %p axes [1] keepdims : (tensor<3x2xf32>) -> tensor<3x1xf32>
  return %r : tensor<3x1xf32>
}

// -----

func.func @transposed_too(%x: tensor<3x4xf32> {sluice.name = "x"}) -> (tensor<3x3xf32>) {
  %t = sluice.transpose %x [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %s = sluice.matmul %x, %t : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  %st = sluice.transpose %s [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
  // expected-error @+1 {{E0207: cannot stream: the operation combines pairs of positions with values of other positions}}
  %m = sluice.map (%a = %s, %b = %st) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32> {
    %0 = arith.addf %a, %b : f32
    sluice.yield %0
  }
  return %m : tensor<3x3xf32>
}

// -----

// What is masked by a number that a later step makes small again counts in the model.
func.func @scaled(%x: tensor<3x4xf32> {sluice.name = "x"}) -> (tensor<3x3xf32>) {
  %t = sluice.transpose %x [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %s = sluice.matmul %x, %t : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  %c = sluice.constant dense<[[0.0, -1.0e4, -1.0e4], [0.0, 0.0, -1.0e4], [-1.0e4, 0.0, 0.0]]> : tensor<3x3xf32>
  %m = sluice.map (%a = %s, %b = %c) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32> {
    %0 = arith.addf %a, %b : f32
    sluice.yield %0
  }
  // expected-error @+1 {{E0207: cannot stream: the result for positions outside the window is unknown}}
  %e = sluice.map (%a = %m) : (tensor<3x3xf32>) -> tensor<3x3xf32> {
    %k = arith.constant 2.0e3 : f32
    %0 = arith.divf %a, %k : f32
    %1 = math.exp %0 : f32
    sluice.yield %1
  }
  return %e : tensor<3x3xf32>
}

// -----

func.func @lengths(%x: tensor<3x4xf32> {sluice.name = "x"}) -> (tensor<3x2xf32>) {
  %h = sluice.slice %x starts [0, 0] sizes [2, 4] steps [1, 1] : (tensor<3x4xf32>) -> tensor<2x4xf32>
  %t = sluice.transpose %h [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  // expected-error @+1 {{E0207: cannot stream: the operation pairs sequences of different lengths, 3 and 2 positions}}
  %s = sluice.matmul %x, %t : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  return %s : tensor<3x2xf32>
}

// -----

func.func @border(%x: tensor<3x4xf32> {sluice.name = "x"}) -> (tensor<4x4xf32>) {
  %p = sluice.pad %x low [1, 0] high [0, 0] value 0.0 : (tensor<3x4xf32>) -> tensor<4x4xf32>
  %t = sluice.transpose %p [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-error @+1 {{E0207: cannot stream: the operation pairs positions of a sequence that is padded at its start}}
  %s = sluice.matmul %p, %t : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %s : tensor<4x4xf32>
}

// -----

// A bias by pairs that is given with each inference, in front of a mask that is not.
func.func @given_bias(%x: tensor<3x4xf32> {sluice.name = "x"}, %g: tensor<3x3xf32>) -> (tensor<3x1xf32>) {
  %t = sluice.transpose %x [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %s = sluice.matmul %x, %t : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  %c = sluice.constant dense<[[0.0, -1.0e9, -1.0e9], [0.0, 0.0, -1.0e9], [-1.0e9, 0.0, 0.0]]> : tensor<3x3xf32>
  %m = sluice.map (%a = %s, %b = %c) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32> {
    %0 = arith.addf %a, %b : f32
    sluice.yield %0
  }
  // expected-error @+1 {{E0207: cannot stream: an operand with a value for each pair of positions must be a constant}}
  %w = sluice.map (%a = %m, %b = %g) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32> {
    %0 = arith.addf %a, %b : f32
    sluice.yield %0
  }
  %r = sluice.reduce max %w axes [1] keepdims : (tensor<3x3xf32>) -> tensor<3x1xf32>
  return %r : tensor<3x1xf32>
}

// -----

func.func @by_loop(%x: tensor<3x4xf32> {sluice.name = "x"}) -> (tensor<3x3xf32>) {
  %t = sluice.transpose %x [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %s = sluice.matmul %x, %t : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  // expected-error @+1 {{E0207: cannot stream: the operation splits pairs of positions}}
  %z = sluice.loop 3 carry () slice (%a = %s axis 0 : tensor<3x3xf32>) stack [0] -> (tensor<3x3xf32>) {
    sluice.next %a : tensor<3xf32>
  }
  return %z : tensor<3x3xf32>
}

// -----

func.func @many(%x: tensor<4097x4xf32> {sluice.name = "x"}) -> (tensor<4097x4097xf32>) {
  %t = sluice.transpose %x [1, 0] : (tensor<4097x4xf32>) -> tensor<4x4097xf32>
  %s = sluice.matmul %x, %t : (tensor<4097x4xf32>, tensor<4x4097xf32>) -> tensor<4097x4097xf32>
  %c = sluice.constant dense<0.0> : tensor<4097x4097xf32>
  // expected-error @+2 {{E0207: cannot stream: the mask has more than 16777216 elements, the limit of the analysis}}
  // expected-note @+1 {{help: export the model with fewer positions; the streamed network takes any number}}
  %m = sluice.map (%a = %s, %b = %c) : (tensor<4097x4097xf32>, tensor<4097x4097xf32>) -> tensor<4097x4097xf32> {
    %0 = arith.addf %a, %b : f32
    sluice.yield %0
  }
  return %m : tensor<4097x4097xf32>
}
