// One test per message of the verifiers.
// RUN: sluice-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{data dimension 2 is outside a tensor of rank 2}}
func.func private @f(tensor<2x3xf32, #sluice.dim<2>>)

// -----

// expected-error @+1 {{data dimension 1 is outside a tensor of rank 0}}
func.func private @f(tensor<f32, #sluice.dim<1>>)

// -----

func.func @f(%x: tensor<?xf32>) {
  // expected-error @+1 {{operand #0 must be static tensor of f32 or bf16 with every extent at least 1, encoded by nothing or #sluice.dim, but got 'tensor<?xf32>'}}
  %0 = sluice.broadcast %x : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<2xi8>) {
  // expected-error @+1 {{operand #0 must be static tensor of f32 or bf16 with every extent at least 1, encoded by nothing or #sluice.dim, but got 'tensor<2xi8>'}}
  %0 = sluice.broadcast %x : (tensor<2xi8>) -> tensor<2xi8>
  return
}

// -----

func.func @f(%x: tensor<0xf32>) {
  // expected-error @+1 {{operand #0 must be static tensor of f32 or bf16 with every extent at least 1, encoded by nothing or #sluice.dim, but got 'tensor<0xf32>'}}
  %0 = sluice.broadcast %x : (tensor<0xf32>) -> tensor<0xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32, 7 : i32>) {
  // expected-error @+1 {{operand #0 must be static tensor of f32 or bf16 with every extent at least 1, encoded by nothing or #sluice.dim, but got 'tensor<2xf32, 7 : i32>'}}
  %0 = sluice.broadcast %x : (tensor<2xf32, 7 : i32>) -> tensor<2xf32, 7 : i32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{a constant has no data dimension}}
  %0 = sluice.constant dense<0.0> : tensor<2xf32, #sluice.dim<0>>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{a map needs at least one operand}}
  %0 = sluice.map () : () -> tensor<2xf32> {
    %c = arith.constant 1.0 : f32
    sluice.yield %c
  }
  return
}

// -----

func.func @f(%x: tensor<2xf32>, %y: tensor<1xf32>) {
  // expected-error @+1 {{operands have shapes [2] and [1]; they must be equal}}
  %0 = sluice.map (%a = %x, %b = %y) : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32> {
    sluice.yield %a
  }
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{result has shape [3], but the operands give [2]}}
  %0 = sluice.map (%a = %x) : (tensor<2xf32>) -> tensor<3xf32> {
    sluice.yield %a
  }
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{body takes 2 scalars, but the map has 1 operands}}
  %0 = "sluice.map"(%x) ({
  ^bb0(%a: f32, %b: f32):
    sluice.yield %a
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{body takes a 'bf16', allowed: f32}}
  %0 = "sluice.map"(%x) ({
  ^bb0(%a: bf16):
    %c = arith.constant 1.0 : f32
    sluice.yield %c
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'arith.fptosi' is not a scalar operation of a map}}
  %0 = sluice.map (%a = %x) : (tensor<2xf32>) -> tensor<2xf32> {
    // expected-note@+1 {{found here}}
    %i = arith.fptosi %a : f32 to i32
    sluice.yield %a
  }
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{axis 2 is outside a tensor of rank 2}}
  %0 = sluice.reduce sum %x axes [2] : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{axis -1 is outside a tensor of rank 2}}
  %0 = sluice.reduce sum %x axes [-1] : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{axes [1 0] are not ascending}}
  %0 = sluice.reduce sum %x axes [1, 0] : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{axes [1 1] are not ascending}}
  %0 = sluice.unsqueeze %x axes [1, 1] : (tensor<2x3xf32>) -> tensor<2x1x1x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{result has shape [2 1], but the operands give [2]}}
  %0 = sluice.reduce sum %x axes [1] : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{a matrix product needs operands of rank 1 or more, not [] and [2 3]}}
  %0 = sluice.matmul %y, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{the contracted extents of [2 3] and [2 3] are 3 and 2, they must be equal}}
  %0 = sluice.matmul %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x2x3xf32>, %y: tensor<3x3x4xf32>) {
  // expected-error @+1 {{batch axes of [2 2 3] and [3 3 4] do not broadcast: 2 and 3}}
  %0 = sluice.matmul %x, %y : (tensor<2x2x3xf32>, tensor<3x3x4xf32>) -> tensor<2x2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{1 indexing maps, there must be 3: lhs, rhs, result}}
  %0 = sluice.contract [affine_map<(i) -> (i)>] %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{indexing map (d0) -> (d0 * 2) does not map 1 loops one to one to axes}}
  %0 = sluice.contract [affine_map<(i) -> (2 * i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{indexing map (d0, d1) -> (d0, d1) does not fit an operand of rank 1}}
  %0 = sluice.contract [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>] %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{loop 0 runs over extents 2 and 3, they must be equal}}
  %0 = sluice.contract [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{loop 1 indexes no operand}}
  %0 = sluice.contract [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>] %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{[0 0] is not a permutation of the axes of [2 3]}}
  %0 = sluice.transpose %x [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{[0] is not a permutation of the axes of [2 3]}}
  %0 = sluice.transpose %x [0] : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{1 starts for a tensor of rank 2}}
  %0 = sluice.slice %x starts [0] sizes [1, 1] steps [1, 1] : (tensor<2x3xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{1 sizes for a tensor of rank 2}}
  %0 = sluice.slice %x starts [0, 0] sizes [1] steps [1, 1] : (tensor<2x3xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{1 steps for a tensor of rank 2}}
  %0 = sluice.slice %x starts [0, 0] sizes [1, 1] steps [1] : (tensor<2x3xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{the step along axis 1 is 0}}
  %0 = sluice.slice %x starts [0, 0] sizes [1, 1] steps [1, 0] : (tensor<2x3xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{the size along axis 0 is 0, it must be at least 1}}
  %0 = sluice.slice %x starts [0, 0] sizes [0, 1] steps [1, 1] : (tensor<2x3xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{start 2, size 2, step 1 go outside axis 1 of extent 3}}
  %0 = sluice.slice %x starts [0, 2] sizes [1, 2] steps [1, 1] : (tensor<2x3xf32>) -> tensor<1x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{start 1, size 3, step -1 go outside axis 1 of extent 3}}
  %0 = sluice.slice %x starts [0, 1] sizes [1, 3] steps [1, -1] : (tensor<2x3xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{start 0, size 9223372036854775807, step 9223372036854775807 go outside axis 0 of extent 2}}
  %0 = sluice.slice %x starts [0] sizes [9223372036854775807] steps [9223372036854775807] : (tensor<2xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{[2 3] and [5] do not have the same number of elements}}
  %0 = sluice.reshape %x : (tensor<2x3xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{[2] and [4294967296 4294967296] do not have the same number of elements}}
  %0 = sluice.reshape %x : (tensor<2xf32>) -> tensor<4294967296x4294967296xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{axis 3 is outside a tensor of rank 3}}
  %0 = sluice.unsqueeze %x axes [3] : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{axis 1 has extent 3; only extent 1 can be removed}}
  %0 = sluice.squeeze %x axes [1] : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{[3] and [2 3] do not have the same rank}}
  %0 = sluice.broadcast %x : (tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{axis 0 of extent 3 cannot become 6; only extent 1 can be broadcast}}
  %0 = sluice.broadcast %x : (tensor<3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{a concatenation needs at least one operand}}
  %0 = sluice.concat axis 0 : () -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{axis 1 is outside a tensor of rank 1}}
  %0 = sluice.concat %x, %x axis 1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>) {
  // expected-error @+1 {{operands have shapes [2 3] and [3 2]; they must be equal except along axis 0}}
  %0 = sluice.concat %x, %y axis 0 : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{1 counts for a tensor of rank 2}}
  %0 = sluice.tile %x counts [2] : (tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{axis 1 of extent 3 is repeated 0 times, allowed: 1 or more, without overflow}}
  %0 = sluice.tile %x counts [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{axis 1 of extent 3 is repeated 9223372036854775807 times, allowed: 1 or more, without overflow}}
  %0 = sluice.repeat %x counts [1, 9223372036854775807] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{result has shape [2 3], but the operands give [2 6]}}
  %0 = sluice.repeat %x counts [1, 2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{an interleaving needs at least one operand}}
  %0 = sluice.interleave axis 0 : () -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %y = sluice.transpose %x [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // expected-error @+1 {{operands have shapes [2 3] and [3 2]; they must be equal}}
  %0 = sluice.interleave %x, %y axis 0 : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{axis 2 is outside a tensor of rank 2}}
  %0 = sluice.interleave %x, %x axis 2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{1 low pads for a tensor of rank 2}}
  %0 = sluice.pad %x low [0] high [0, 0] value 0.0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{1 high pads for a tensor of rank 2}}
  %0 = sluice.pad %x low [0, 0] high [0] value 0.0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{the padding of axis 1 is -1 and 0; it must not be negative}}
  %0 = sluice.pad %x low [0, -1] high [0, 0] value 0.0 : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{1 axes have windows; every list must have 1 elements}}
  %0 = sluice.window %x axes [1] sizes [2, 2] counts [2] starts [0] strides [1] dilations [1] value 0.0 : (tensor<2x3xf32>) -> tensor<2x2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{1 axes have windows; every list must have 1 elements}}
  %0 = sluice.window %x axes [1] sizes [2] counts [2] starts [0] strides [1] dilations [] value 0.0 : (tensor<2x3xf32>) -> tensor<2x2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{window axis 2 must be above -1 and below rank 2}}
  %0 = sluice.window %x axes [2] sizes [2] counts [2] starts [0] strides [1] dilations [1] value 0.0 : (tensor<2x3xf32>) -> tensor<2x2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{window axis -1 must be above -1 and below rank 2}}
  %0 = sluice.window %x axes [-1] sizes [2] counts [2] starts [0] strides [1] dilations [1] value 0.0 : (tensor<2x3xf32>) -> tensor<2x2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{window axis 1 must be above 1 and below rank 2}}
  %0 = sluice.window %x axes [1, 1] sizes [2, 2] counts [2, 2] starts [0, 0] strides [1, 1] dilations [1, 1] value 0.0 : (tensor<2x3xf32>) -> tensor<2x2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{the size of the window along axis 1 is 0; it must be in [1, 2147483647]}}
  %0 = sluice.window %x axes [1] sizes [0] counts [2] starts [0] strides [1] dilations [1] value 0.0 : (tensor<2x3xf32>) -> tensor<2x2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{the count of the window along axis 1 is 0; it must be in [1, 2147483647]}}
  %0 = sluice.window %x axes [1] sizes [2] counts [0] starts [0] strides [1] dilations [1] value 0.0 : (tensor<2x3xf32>) -> tensor<2x2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{the stride of the window along axis 1 is 0; it must be in [1, 2147483647]}}
  %0 = sluice.window %x axes [1] sizes [2] counts [2] starts [0] strides [0] dilations [1] value 0.0 : (tensor<2x3xf32>) -> tensor<2x2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{the dilation of the window along axis 1 is 0; it must be in [1, 2147483647]}}
  %0 = sluice.window %x axes [1] sizes [2] counts [2] starts [0] strides [1] dilations [0] value 0.0 : (tensor<2x3xf32>) -> tensor<2x2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{the stride of the window along axis 1 is 2147483648; it must be in [1, 2147483647]}}
  %0 = sluice.window %x axes [1] sizes [2] counts [2] starts [0] strides [2147483648] dilations [1] value 0.0 : (tensor<2x3xf32>) -> tensor<2x2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{the window along axis 1 starts at -2147483648; it must be in [-2147483647, 2147483647]}}
  %0 = sluice.window %x axes [1] sizes [2] counts [2] starts [-2147483648] strides [1] dilations [1] value 0.0 : (tensor<2x3xf32>) -> tensor<2x2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{the window along axis 1 starts at 2147483648; it must be in [-2147483647, 2147483647]}}
  %0 = sluice.window %x axes [1] sizes [2] counts [2] starts [2147483648] strides [1] dilations [1] value 0.0 : (tensor<2x3xf32>) -> tensor<2x2x2xf32>
  return
}

// -----

// expected-error @+1 {{the data dimension is for a tensor [2 4!], but this tensor is [2 3]}}
func.func private @f(tensor<2x3xf32, #sluice<[2 4!]>>)

// -----

// expected-error @+1 {{'[2 3]' is not a list of extents with one data dimension, such as [2 3! 4]}}
func.func private @f(tensor<2x3xf32, #sluice<[2 3]>>)

// -----

// expected-error @+1 {{'[2! 3!]' is not a list of extents with one data dimension, such as [2 3! 4]}}
func.func private @f(tensor<2x3xf32, #sluice<[2! 3!]>>)

// -----

// expected-error @+1 {{'[2 x!]' is not a list of extents with one data dimension, such as [2 3! 4]}}
func.func private @f(tensor<2x3xf32, #sluice<[2 x!]>>)

// -----

// expected-error @+1 {{unknown sluice attribute 'lane'}}
func.func private @f(tensor<2x3xf32, #sluice.lane<1>>)

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sluice.state' op is kept 0 times, expected 1}}
  %h = sluice.state : tensor<4xf32>
  return
}

// -----

func.func @f(%h: tensor<4xf32>, %x: tensor<3x4xf32>) {
  // expected-error @+1 {{'sluice.loop' op has trip count 0; it must be at least 1}}
  %0 = sluice.loop 0 carry (%s = %h : tensor<4xf32>) -> (tensor<4xf32>) {
    sluice.next %s : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sluice.state' op is kept 2 times, expected 1}}
  %h = sluice.state : tensor<4xf32>
  %0 = sluice.keep %x in %h : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = sluice.keep %h in %h : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%h: tensor<4xf32>, %x: tensor<3x4xf32>) {
  // expected-error @+1 {{'sluice.loop' op sequence [3 4] has 4 elements along axis 1, but the loop has trip count 3}}
  %0 = sluice.loop 3 slice (%e = %x axis 1 : tensor<3x4xf32>) stack [0] -> (tensor<3x3xf32>) {
    sluice.next %e : tensor<3xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sluice.state' op has an initial value of a different shape}}
  %h = sluice.state initial dense<0.0> : tensor<5xf32> : tensor<4xf32>
  %0 = sluice.keep %x in %h : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%h: tensor<4xf32>, %x: tensor<3x4xf32>) {
  // expected-error @+1 {{axis 2 is outside a tensor of rank 2}}
  %0 = sluice.loop 3 slice (%e = %x axis 2 : tensor<3x4xf32>) stack [0] -> (tensor<3x3xf32>) {
    sluice.next %e : tensor<3xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sluice.keep' op keeps a value in an operand that is not a state}}
  %0 = sluice.keep %x in %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%h: tensor<4xf32>, %f: f32) {
  // expected-error @+1 {{a loop carries and slices tensors, not 'f32'}}
  %0 = sluice.loop 3 carry (%s = %f : f32) -> (tensor<3xf32>) {
    sluice.next %h : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<5xf32>) {
  %h = sluice.state : tensor<4xf32>
  // expected-error @+1 {{'sluice.keep' op keeps a value whose shape differs from the state's}}
  %0 = sluice.keep %x in %h : (tensor<5xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%h: tensor<4xf32>, %x: tensor<3x4xf32>) {
  // expected-error @+1 {{'sluice.loop' op has 0 results for 1 carried values}}
  "sluice.loop"(%h) <{trips = 1, slice_axes = array<i64>, slice_reversed = array<i1>, stack_axes = array<i64>,
      stack_reversed = array<i1>, operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%s: tensor<4xf32>):
    "sluice.next"(%s) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @f(%h: tensor<4xf32>, %x: tensor<3x4xf32>) {
  // expected-error @+1 {{'sluice.loop' op has 1 sequences, 0 axes and 0 directions; the numbers must be equal}}
  %0 = "sluice.loop"(%h) <{trips = 1, slice_axes = array<i64>, slice_reversed = array<i1>, stack_axes = array<i64: 0>,
      stack_reversed = array<i1: false>, operandSegmentSizes = array<i32: 0, 1>}> ({
  ^bb0(%s: tensor<4xf32>):
    "sluice.next"(%s) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%h: tensor<4xf32>, %x: tensor<3x4xf32>) {
  // expected-error @+1 {{'sluice.loop' op has 1 stacks, 0 axes and 0 directions; the numbers must be equal}}
  %0 = sluice.loop 3 -> (tensor<3x4xf32>) {
    sluice.next %h : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%h: tensor<4xf32>, %x: tensor<3x4xf32>) {
  // expected-error @+1 {{'sluice.loop' op result 0 is 'tensor<3xf32>', but the initial value is 'tensor<4xf32>'}}
  %0 = sluice.loop 3 carry (%s = %h : tensor<4xf32>) -> (tensor<3xf32>) {
    sluice.next %s : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%h: tensor<4xf32>, %x: tensor<3x4xf32>) {
  // expected-error @+1 {{'sluice.loop' op body takes 'tensor<3xf32>', but the loop passes 'tensor<4xf32>'}}
  %0 = "sluice.loop"(%h) <{trips = 1, slice_axes = array<i64>, slice_reversed = array<i1>, stack_axes = array<i64>,
      stack_reversed = array<i1>, operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%s: tensor<3xf32>):
    "sluice.next"(%h) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%h: tensor<4xf32>, %x: tensor<3x4xf32>) {
  // expected-error @+1 {{'sluice.loop' op 'math.exp' is not an operation on tensors}}
  %0 = sluice.loop 3 carry (%s = %h : tensor<4xf32>) -> (tensor<4xf32>) {
    %n = math.exp %s : tensor<4xf32>
    sluice.next %n : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%h: tensor<4xf32>, %x: tensor<3x4xf32>) {
  %0 = sluice.loop 3 carry (%s = %h : tensor<4xf32>) -> (tensor<4xf32>) {
    // expected-error @+1 {{'sluice.next' op passes on 2 values, but the loop has 1 results}}
    sluice.next %s, %s : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

func.func @f(%h: tensor<4xf32>, %x: tensor<3x4xf32>) {
  %0 = sluice.loop 3 slice (%e = %x axis 0 : tensor<3x4xf32>) stack [1] -> (tensor<3x4xf32>) {
    // expected-error @+1 {{'sluice.next' op value 0 is 'tensor<4xf32>', but the stack is 'tensor<3x4xf32>'}}
    sluice.next %e : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%h: tensor<4xf32>, %x: tensor<3x4xf32>) {
  %0 = sluice.loop 3 carry (%s = %h : tensor<4xf32>) slice (%e = %x axis 0 : tensor<3x4xf32>) -> (tensor<4xf32>) {
    // expected-error @+1 {{'sluice.next' op value 0 is 'tensor<3x4xf32>', but the carried value is 'tensor<4xf32>'}}
    sluice.next %x : tensor<3x4xf32>
  }
  return
}

// -----

func.func @f(%h: tensor<4xf32>, %x: tensor<3x4xf32>) {
  // expected-error @+1 {{'sluice.loop' op axis 3 is outside a tensor of rank 2}}
  %0 = sluice.loop 3 slice (%e = %x axis 0 : tensor<3x4xf32>) stack [3] -> (tensor<3x4xf32>) {
    sluice.next %e : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%h: tensor<4xf32>) {
  // expected-error @+1 {{'sluice.loop' op 'sluice.state' is not an operation on tensors}}
  %0 = sluice.loop 3 carry (%s = %h : tensor<4xf32>) -> (tensor<4xf32>) {
    %n = sluice.state : tensor<4xf32>
    %k = sluice.keep %s in %n : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    sluice.next %k : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'sluice.view' op piece 0 has 2 loops, but its map (d0) -> (d0) has 1 (IS-AFFINE)}}
  %0 = sluice.view %x pieces [#sluice.piece<0 loops [2, 2] from (i) -> (i) to (i, j) -> (2 * i + j)>] : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'sluice.view' op piece 0 has the map (d0) -> (d0 floordiv 2); divisions and symbols are not allowed (IS-AFFINE)}}
  %0 = sluice.view %x pieces [#sluice.piece<0 loops [4] from (i) -> (i floordiv 2) to (i) -> (i)>] : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'sluice.view' op piece 0 reads operand 1, but there are 1 operands (IS-SHAPE)}}
  %0 = sluice.view %x pieces [#sluice.piece<1 loops [4] from (i) -> (i) to (i) -> (i)>] : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'sluice.view' op piece 0 has 2 indices for its operand of rank 1 (IS-SHAPE)}}
  %0 = sluice.view %x pieces [#sluice.piece<0 loops [4] from (i) -> (i, i) to (i) -> (i)>] : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'sluice.view' op piece 0 has 0 indices for the result of rank 1 (IS-SHAPE)}}
  %0 = sluice.view %x pieces [#sluice.piece<0 loops [4] from (i) -> (i) to (i) -> ()>] : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'sluice.view' op loop 1 of piece 0 has extent 0; it must be at least 1 (IS-EMPTY)}}
  %0 = sluice.view %x pieces [#sluice.piece<0 loops [4, 0] from (i, j) -> (i) to (i, j) -> (i)>] : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'sluice.view' op piece 0 writes the indices 1 to 4 along axis 0 of the result, which has extent 4 (IS-INSIDE)}}
  %0 = sluice.view %x pieces [#sluice.piece<0 loops [4] from (i) -> (i) to (i) -> (i + 1)>] : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'sluice.view' op piece 0 reads the indices 0 to 9 along axis 0 of operand 0, which has extent 8, and the view has no value outside (IS-INSIDE)}}
  %0 = sluice.view %x pieces [#sluice.piece<0 loops [4] from (i) -> (3 * i) to (i) -> (i)>] : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'sluice.view' op piece 0 reads indices beyond 2^62 along axis 0 of operand 0 (IS-INSIDE)}}
  %0 = sluice.view %x pieces [#sluice.piece<0 loops [4] from (i) -> (4611686018427387904 * i) to (i) -> (i)>] : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'sluice.view' op the pieces write an element of the result more than once (IS-COVER)}}
  %0 = sluice.view %x pieces [#sluice.piece<0 loops [4] from (i) -> (i) to (i) -> (i)>, #sluice.piece<0 loops [] from () -> (7) to () -> (2)>] : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'sluice.view' op the pieces write 2 of 4 elements of the result (IS-COVER)}}
  %0 = sluice.view %x pieces [#sluice.piece<0 loops [2] from (i) -> (i) to (i) -> (2 * i)>] : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'sluice.view' op attribute 'parts' failed to satisfy constraint: pieces of a view}}
  %0 = sluice.view %x pieces [1] : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'sluice.view' op index space: a step of loop 0 moves the region of operand 0 along 2 axes, allowed: at most 1 (IS-COHERENT)}}
  %0 = sluice.view %x pieces [#sluice.piece<0 loops[4] from (i) -> (i, i) to (i) -> (i)>] : (tensor<4x4xf32>) -> tensor<4xf32>
  return
}
