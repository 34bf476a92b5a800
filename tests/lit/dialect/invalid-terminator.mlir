// RUN: sluice-opt %s --verify-diagnostics --allow-unregistered-dialect

func.func @f(%h: tensor<4xf32>) {
  // expected-error @+1 {{'sluice.loop' op body ends with 'other.end', it must end with 'sluice.next'}}
  %0 = "sluice.loop"(%h) <{trips = 1, slice_axes = array<i64>, slice_reversed = array<i1>, stack_axes = array<i64>,
      stack_reversed = array<i1>, operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%s: tensor<4xf32>):
    "other.end"() : () -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
