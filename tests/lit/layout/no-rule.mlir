// RUN: sluice-opt %s --pass-pipeline="builtin.module(func.func(sluice-infer-data-dimension))" --split-input-file --verify-diagnostics --allow-unregistered-dialect

func.func @other(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{E0309: operation 'math.exp' has no rule for the data dimension}}
  %0 = math.exp %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// expected-error @+1 {{a function of several blocks has no data dimensions}}
func.func @blocks(%x: tensor<2xf32>) -> tensor<2xf32> {
  "sluice_test.branch"()[^bb1] : () -> ()
^bb1:
  return %x : tensor<2xf32>
}
