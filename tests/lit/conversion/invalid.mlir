// What the passes refuse.
// RUN: sluice-opt %s --split-input-file --convert-sluice-to-rows=target=c2b8 --verify-diagnostics

// expected-error @+1 {{the function has no layout; run sluice-infer-data-dimension first}}
func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{the module must have one function with one block}}
module {}
