// DD-ONE: a tensor whose data dimension has extent 1 may take another axis of extent 1, at no cost
// and without a flag, where an operation asks for it.
// RUN: sluice-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension))" | FileCheck %s

// A new axis takes the data dimension of a mean, since the difference needs it there.
// CHECK-LABEL: func.func @mean(
// CHECK: %[[M:.*]] = sluice.reduce mean %{{.*}} -> tensor<1xbf16, #sluice<[1!]>>
// CHECK: %[[U:.*]] = sluice.unsqueeze %[[M]] {{.*}} -> tensor<1x1xbf16, #sluice<[1! 1]>>
// CHECK: %[[R:.*]] = sluice.relayout %[[U]] {{.*}} -> tensor<1x1xbf16, #sluice<[1 1!]>>
// CHECK: sluice.broadcast %[[R]] {{.*}} -> tensor<1x9xbf16, #sluice<[1 9!]>>
func.func @mean(%x: tensor<1x9xf32, #sluice<[1 9!]>>) -> tensor<1x9xf32> {
  %m = sluice.reduce mean %x axes [1] : (tensor<1x9xf32, #sluice<[1 9!]>>) -> tensor<1xf32>
  %u = sluice.unsqueeze %m axes [1] : (tensor<1xf32>) -> tensor<1x1xf32>
  %b = sluice.broadcast %u : (tensor<1x1xf32>) -> tensor<1x9xf32>
  %d = sluice.map (%p = %x, %q = %b) : (tensor<1x9xf32, #sluice<[1 9!]>>, tensor<1x9xf32>) -> tensor<1x9xf32> {
    %0 = arith.subf %p, %q : f32
    sluice.yield %0
  }
  return %d : tensor<1x9xf32>
}

// -----

// A pin asks for it, on either side.
// CHECK-LABEL: func.func @pins(
// CHECK: sluice.relayout %{{.*}} -> tensor<1x1x2xbf16, #sluice<[1 1! 2]>>
// CHECK: return %{{.*}} : tensor<1x1x2xbf16, #sluice<[1 1! 2]>>
func.func @pins(%x: tensor<1x1x2xf32, #sluice<[1! 1 2]>>) -> tensor<1x1x2xf32, #sluice<[1 1! 2]>> {
  %y = sluice.map (%p = %x) : (tensor<1x1x2xf32, #sluice<[1! 1 2]>>) -> tensor<1x1x2xf32, #sluice<[1 1! 2]>> {
    %0 = math.tanh %p : f32
    sluice.yield %0
  }
  return %y : tensor<1x1x2xf32, #sluice<[1 1! 2]>>
}

// -----

// Where nothing asks, the rules decide as before.
// CHECK-LABEL: func.func @nothing(
// CHECK-NOT: sluice.relayout
// CHECK: sluice.unsqueeze %{{.*}} -> tensor<1x1xbf16, #sluice<[1! 1]>>
func.func @nothing(%x: tensor<1xf32, #sluice<[1!]>>) -> tensor<1x1xf32> {
  %u = sluice.unsqueeze %x axes [1] : (tensor<1xf32, #sluice<[1!]>>) -> tensor<1x1xf32>
  return %u : tensor<1x1xf32>
}

// -----

// A single element has no axis of its own: a reshape gives it the one that the concat asks for.
// CHECK-LABEL: func.func @element(
// CHECK: sluice.reshape %{{.*}} -> tensor<1x1xbf16, #sluice<[1 1!]>>
// CHECK-NOT: sluice.relayout
func.func @element(%x: tensor<1xf32, #sluice<[1!]>>, %y: tensor<3x1xf32, #sluice<[3 1!]>>) -> tensor<4x1xf32> {
  %r = sluice.reshape %x : (tensor<1xf32, #sluice<[1!]>>) -> tensor<1x1xf32>
  %c = sluice.concat %r, %y axis 0 : (tensor<1x1xf32>, tensor<3x1xf32, #sluice<[3 1!]>>) -> tensor<4x1xf32>
  return %c : tensor<4x1xf32>
}
