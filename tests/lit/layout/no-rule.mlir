// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension))" --split-input-file --verify-diagnostics --allow-unregistered-dialect

func.func @other(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{E0309: operation 'math.exp' has no layout rule; use operations of the sluice dialect}}
  %0 = math.exp %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// expected-error @+1 {{a function with several blocks cannot be laid out}}
func.func @blocks(%x: tensor<2xf32>) -> tensor<2xf32> {
  "sluice_test.branch"()[^bb1] : () -> ()
^bb1:
  return %x : tensor<2xf32>
}

// -----

// Loops are written out before layout.
func.func @loop(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>) {
  // expected-error @+1 {{E0309: operation 'sluice.loop' has no layout rule; use operations of the sluice dialect}}
  %0:2 = sluice.loop 3 carry (%s = %x : tensor<2xf32>) stack [0] -> (tensor<2xf32>, tensor<3x2xf32>) {
    sluice.next %s, %s : tensor<2xf32>, tensor<2xf32>
  }
  %1 = sluice.slice %0#1 starts [2, 0] sizes [3, 2] steps [-1, 1] : (tensor<3x2xf32>) -> tensor<3x2xf32>
  return %0#0, %1 : tensor<2xf32>, tensor<3x2xf32>
}
