// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-stream{inputs=x=0:1}))" --split-input-file --verify-diagnostics | FileCheck %s

// A causal window keeps the positions before the newest that it reads; what lies before the first
// one is what lies outside.
// CHECK-LABEL: func.func @causal(
// CHECK-SAME: %[[X:.*]]: tensor<1x4xf32> {sluice.name = "x"}) -> tensor<1x4x3xf32>
// CHECK-NEXT: %[[OLD:.*]] = sluice.state initial dense<2.000000e+00> : tensor<4x4xf32> : tensor<4x4xf32>
// CHECK-NEXT: %[[ALL:.*]] = sluice.concat %[[OLD]], %[[X]] axis 0 : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<5x4xf32>
// CHECK-NEXT: %[[NEW:.*]] = sluice.slice %[[ALL]] starts [1, 0] sizes [4, 4] steps [1, 1]
// CHECK-NEXT: sluice.keep %[[NEW]] in %[[OLD]]
// CHECK-NEXT: %[[Y:.*]] = sluice.window %[[ALL]] axes [0] sizes [3] counts [1] starts [0] strides [1] dilations [2] value 2.000000e+00 : (tensor<5x4xf32>) -> tensor<1x4x3xf32>
// CHECK-NEXT: return %[[Y]]
func.func @causal(%x: tensor<16x4xf32> {sluice.name = "x"}) -> tensor<16x4x3xf32> {
  %v = sluice.window %x axes [0] sizes [3] counts [16] starts [-4] strides [1] dilations [2]
      value 2.0 : (tensor<16x4xf32>) -> tensor<16x4x3xf32>
  return %v : tensor<16x4x3xf32>
}

// -----

// What a trip hands on is kept; the last value is as of now.
// CHECK-LABEL: func.func @recurrence(
// CHECK-SAME: %[[X:.*]]: tensor<1x4xf32>
// CHECK-NEXT: %[[H:.*]] = sluice.state : tensor<4xf32>
// CHECK-NEXT: %[[L:.*]]:2 = sluice.loop 1 carry (%[[S:.*]] = %[[H]] : tensor<4xf32>) slice (%[[E:.*]] = %[[X]] axis 0 : tensor<1x4xf32>) stack [0] -> (tensor<4xf32>, tensor<1x4xf32>)
// CHECK: sluice.keep %[[L]]#0 in %[[H]]
// CHECK-NEXT: return %[[L]]#0, %[[L]]#1
func.func @recurrence(%x: tensor<16x4xf32> {sluice.name = "x"}) -> (tensor<4xf32>, tensor<16x4xf32>) {
  %h = sluice.constant dense<0.0> : tensor<4xf32>
  %last, %all = sluice.loop 16 carry (%s = %h : tensor<4xf32>) slice (%e = %x axis 0 : tensor<16x4xf32>)
      stack [0] -> (tensor<4xf32>, tensor<16x4xf32>) {
    %n = sluice.map (%a = %s, %b = %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
      %0 = arith.addf %a, %b : f32
      sluice.yield %0
    }
    sluice.next %n, %n : tensor<4xf32>, tensor<4xf32>
  }
  return %last, %all : tensor<4xf32>, tensor<16x4xf32>
}

// -----

// Of two streams that meet, the one that is further along is kept back: position i is of both.
// CHECK-LABEL: func.func @meet(
// CHECK-SAME: %[[X:.*]]: tensor<1x4xf32>
// CHECK: %[[W:.*]] = sluice.window %{{.*}} axes [0] sizes [3] counts [1] starts [0]
// CHECK-NEXT: %[[M:.*]] = sluice.reduce max %[[W]]
// CHECK-NEXT: %[[S:.*]] = sluice.slice %[[X]] starts [0, 0] sizes [1, 4]
// CHECK-NEXT: %[[OLD:.*]] = sluice.state : tensor<2x4xf32>
// CHECK-NEXT: %[[ALL:.*]] = sluice.concat %[[OLD]], %[[S]] axis 0
// CHECK-NEXT: %[[NEW:.*]] = sluice.slice %[[ALL]] starts [1, 0] sizes [2, 4]
// CHECK-NEXT: sluice.keep %[[NEW]] in %[[OLD]]
// CHECK-NEXT: %[[AT:.*]] = sluice.slice %[[ALL]] starts [0, 0] sizes [1, 4]
// CHECK-NEXT: sluice.map (%{{.*}} = %[[M]], %{{.*}} = %[[AT]])
func.func @meet(%x: tensor<16x4xf32> {sluice.name = "x"}) -> tensor<14x4xf32> {
  %v = sluice.window %x axes [0] sizes [3] counts [14] starts [0] strides [1] dilations [1]
      value 0.0 : (tensor<16x4xf32>) -> tensor<14x4x3xf32>
  %m = sluice.reduce max %v axes [2] : (tensor<14x4x3xf32>) -> tensor<14x4xf32>
  %s = sluice.slice %x starts [0, 0] sizes [14, 4] steps [1, 1] : (tensor<16x4xf32>) -> tensor<14x4xf32>
  %y = sluice.map (%a = %m, %b = %s) : (tensor<14x4xf32>, tensor<14x4xf32>) -> tensor<14x4xf32> {
    %0 = arith.addf %a, %b : f32
    sluice.yield %0
  }
  return %y : tensor<14x4xf32>
}

// -----

func.func @ahead(%x: tensor<16x4xf32> {sluice.name = "x"}) -> (tensor<16x4x3xf32> {sluice.name = "y"}) {
  // expected-error @+2 {{E0207: cannot stream: the operation reads 1 step ahead, and output 'y' would have to wait}}
  // expected-note @+1 {{help: delay the outputs by 1 step (--stream-delay 1)}}
  %v = sluice.window %x axes [0] sizes [3] counts [16] starts [-1] strides [1] dilations [1]
      value 0.0 : (tensor<16x4xf32>) -> tensor<16x4x3xf32>
  return %v : tensor<16x4x3xf32>
}

// -----

func.func @whole(%x: tensor<16x4xf32> {sluice.name = "x"}) -> (tensor<4xf32>, tensor<64xf32>, tensor<16x4xf32>) {
  // expected-error @+2 {{E0207: cannot stream: the operation reduces all 16 positions of operand 0}}
  // expected-note @+1 {{help: reduce a window of fixed length instead, with a pooling or a convolution}}
  %s = sluice.reduce mean %x axes [0] : (tensor<16x4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{E0207: cannot stream: one axis of the result mixes positions of the sequence with other elements}}
  %f = sluice.reshape %x : (tensor<16x4xf32>) -> tensor<64xf32>
  // expected-error @+1 {{E0207: cannot stream: the operation reads the sequence from its end}}
  %r = sluice.slice %x starts [15, 0] sizes [16, 4] steps [-1, 1] : (tensor<16x4xf32>) -> tensor<16x4xf32>
  return %s, %f, %r : tensor<4xf32>, tensor<64xf32>, tensor<16x4xf32>
}

// -----

func.func @pairs(%x: tensor<16x4xf32> {sluice.name = "x"}) -> (tensor<16x16xf32>, tensor<32x4xf32>) {
  %t = sluice.transpose %x [1, 0] : (tensor<16x4xf32>) -> tensor<4x16xf32>
  // expected-error @+1 {{E0207: cannot stream: an output has a value for each pair of positions of the sequence}}
  %m = sluice.matmul %x, %t : (tensor<16x4xf32>, tensor<4x16xf32>) -> tensor<16x16xf32>
  // expected-error @+1 {{E0207: cannot stream: the operation needs all 16 positions of operand 0 at once}}
  %c = sluice.concat %x, %x axis 0 : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<32x4xf32>
  return %m, %c : tensor<16x16xf32>, tensor<32x4xf32>
}

// -----

func.func @rates(%x: tensor<16x4xf32> {sluice.name = "x"}) -> (tensor<8x4xf32>, tensor<16x4xf32>) {
  // expected-error @+2 {{E0207: cannot stream: the operation writes a position every 2 steps, but an inference takes 1 step}}
  // expected-note @+1 {{help: take 2 steps per inference (--stream x=0:2)}}
  %h = sluice.slice %x starts [0, 0] sizes [8, 4] steps [2, 1] : (tensor<16x4xf32>) -> tensor<8x4xf32>
  %p = sluice.constant dense<[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [9.0], [10.0], [11.0], [12.0], [13.0], [14.0], [15.0], [16.0]]> : tensor<16x1xf32>
  %b = sluice.broadcast %p : (tensor<16x1xf32>) -> tensor<16x4xf32>
  // expected-error @+2 {{E0207: cannot stream: the operation combines the sequence with a tensor that varies by position and is not streamed}}
  // expected-note @+1 {{help: stream the tensor too if it is an input; a constant must be equal at all positions}}
  %y = sluice.map (%a = %x, %c = %b) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32> {
    %0 = arith.addf %a, %c : f32
    sluice.yield %0
  }
  return %h, %y : tensor<8x4xf32>, tensor<16x4xf32>
}

// -----

func.func @loops(%x: tensor<16x4xf32> {sluice.name = "x"}, %h: tensor<4xf32>) -> (tensor<4xf32>, tensor<16x4xf32>) {
  // expected-error @+2 {{E0207: cannot stream: carried value 0 starts from an input of each inference}}
  // expected-note @+1 {{help: keep the input on the chip (--state IN=OUT), or make it a constant (--bind NAME=0)}}
  %last = sluice.loop 16 carry (%s = %h : tensor<4xf32>) slice (%e = %x axis 0 : tensor<16x4xf32>)
      stack [] -> (tensor<4xf32>) {
    %n = sluice.map (%a = %s, %b = %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
      %0 = arith.addf %a, %b : f32
      sluice.yield %0
    }
    sluice.next %n : tensor<4xf32>
  }
  %z = sluice.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{E0207: cannot stream: the loop runs from the end of the sequence to its start}}
  %first = sluice.loop 16 carry (%s = %z : tensor<4xf32>) slice (%e = %x axis 0 reversed : tensor<16x4xf32>)
      stack [] -> (tensor<4xf32>) {
    sluice.next %e : tensor<4xf32>
  }
  // expected-error @+1 {{E0207: cannot stream: the loop runs along another axis than the streamed one}}
  %columns = sluice.loop 4 carry () slice (%e = %x axis 1 : tensor<16x4xf32>) stack [1] -> (tensor<16x4xf32>) {
    sluice.next %e : tensor<16xf32>
  }
  return %last, %columns : tensor<4xf32>, tensor<16x4xf32>
}

// -----

// expected-error @+1 {{E0120: the model has no input 'x'}}
func.func @name(%y: tensor<16x4xf32> {sluice.name = "y"}) -> tensor<16x4xf32> {
  return %y : tensor<16x4xf32>
}

// -----

// expected-error @+1 {{E0120: input 'x' has rank 0 and no axis 0 to stream along}}
func.func @scalar(%x: tensor<f32> {sluice.name = "x"}) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

func.func @later(%x: tensor<16x4xf32> {sluice.name = "x"}) -> (tensor<4xf32>, tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x4xf32>) {
  %z = sluice.constant dense<0.0> : tensor<4xf32>
  %last = sluice.loop 16 carry (%s = %z : tensor<4xf32>) slice (%e = %x axis 0 : tensor<16x4xf32>)
      stack [] -> (tensor<4xf32>) {
    sluice.next %e : tensor<4xf32>
  }
  %row = sluice.unsqueeze %last axes [0] : (tensor<4xf32>) -> tensor<1x4xf32>
  %all = sluice.broadcast %row : (tensor<1x4xf32>) -> tensor<16x4xf32>
  // expected-error @+1 {{E0207: cannot stream: the operation combines single positions with a value that depends on all of them}}
  %y = sluice.map (%a = %x, %b = %all) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32> {
    %0 = arith.addf %a, %b : f32
    sluice.yield %0
  }
  // expected-error @+1 {{E0207: cannot stream: an iteration reads other steps of the sequence than its own}}
  %more = sluice.loop 16 carry () slice (%e = %x axis 0 : tensor<16x4xf32>) stack [0] -> (tensor<16x4xf32>) {
    %0 = sluice.map (%a = %e, %b = %last) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
      %1 = arith.addf %a, %b : f32
      sluice.yield %1
    }
    sluice.next %0 : tensor<4xf32>
  }
  // expected-error @+1 {{E0207: cannot stream: sequence 1 of the loop depends on all steps at once}}
  %both = sluice.loop 16 carry () slice (%e = %x axis 0 : tensor<16x4xf32>, %f = %all axis 0 : tensor<16x4xf32>)
      stack [0] -> (tensor<16x4xf32>) {
    sluice.next %f : tensor<4xf32>
  }
  %four = sluice.slice %x starts [0, 0] sizes [16, 4] steps [1, 1] : (tensor<16x4xf32>) -> tensor<16x4xf32>
  // expected-error @+1 {{E0207: cannot stream: the initial value of the loop is a whole sequence}}
  %begun, %rest = sluice.loop 16 carry (%s = %four : tensor<16x4xf32>) slice (%e = %x axis 0 : tensor<16x4xf32>)
      stack [0] -> (tensor<16x4xf32>, tensor<16x4xf32>) {
    sluice.next %s, %e : tensor<16x4xf32>, tensor<4xf32>
  }
  return %last, %y, %more, %begun : tensor<4xf32>, tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x4xf32>
}

// -----

func.func @kept(%x: tensor<16x4xf32> {sluice.name = "x"}) -> tensor<16x4xf32> {
  %s = sluice.state : tensor<16x4xf32>
  // expected-error @+1 {{E0207: cannot stream: a state keeps all positions of the sequence}}
  %k = sluice.keep %x in %s : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  return %x : tensor<16x4xf32>
}

// -----

// What moves elements of a position does so in each; it says nothing of how many there are.
// CHECK-LABEL: func.func @routes(
// CHECK-SAME: %[[X:.*]]: tensor<1x3x4xf32>
// CHECK-NEXT: %[[T:.*]] = sluice.tile %[[X]] counts [1, 2, 1] : (tensor<1x3x4xf32>) -> tensor<1x6x4xf32>
// CHECK-NEXT: %[[E:.*]] = sluice.repeat %[[T]] counts [1, 1, 2] : (tensor<1x6x4xf32>) -> tensor<1x6x8xf32>
// CHECK-NEXT: %[[I:.*]] = sluice.interleave %[[T]], %[[T]] axis 2 : (tensor<1x6x4xf32>, tensor<1x6x4xf32>) -> tensor<1x6x8xf32>
// CHECK-NEXT: return %[[E]], %[[I]]
func.func @routes(%x: tensor<12x3x4xf32> {sluice.name = "x"}) -> (tensor<12x6x8xf32>, tensor<12x6x8xf32>) {
  %1 = sluice.tile %x counts [1, 2, 1] : (tensor<12x3x4xf32>) -> tensor<12x6x4xf32>
  %2 = sluice.repeat %1 counts [1, 1, 2] : (tensor<12x6x4xf32>) -> tensor<12x6x8xf32>
  %3 = sluice.interleave %1, %1 axis 2 : (tensor<12x6x4xf32>, tensor<12x6x4xf32>) -> tensor<12x6x8xf32>
  return %2, %3 : tensor<12x6x8xf32>, tensor<12x6x8xf32>
}

// -----

func.func @rotated(%x: tensor<12x3xf32> {sluice.name = "x"}) -> tensor<12x3xf32> {
  // expected-error @+1 {{E0207: cannot stream: the operation needs all 12 positions of operand 0 at once}}
  %0 = sluice.view %x pieces [#sluice.piece<0 loops[7, 3] from (i, j) -> (i + 5, j) to (i, j) -> (i, j)>,
    #sluice.piece<0 loops[5, 3] from (i, j) -> (i, j) to (i, j) -> (i + 7, j)>] : (tensor<12x3xf32>) -> tensor<12x3xf32>
  return %0 : tensor<12x3xf32>
}

// -----

func.func @repeated(%x: tensor<12x3xf32> {sluice.name = "x"}) -> tensor<24x3xf32> {
  // expected-error @+1 {{E0207: cannot stream: one axis of the result mixes positions of the sequence with other elements}}
  %0 = sluice.repeat %x counts [2, 1] : (tensor<12x3xf32>) -> tensor<24x3xf32>
  return %0 : tensor<24x3xf32>
}

// -----

func.func @interleaved(%x: tensor<12x3xf32> {sluice.name = "x"}) -> tensor<24x3xf32> {
  // expected-error @+1 {{E0207: cannot stream: one axis of the result mixes positions of the sequence with other elements}}
  %0 = sluice.interleave %x, %x axis 0 : (tensor<12x3xf32>, tensor<12x3xf32>) -> tensor<24x3xf32>
  return %0 : tensor<24x3xf32>
}
