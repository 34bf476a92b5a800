// NonZero, Unique, EyeLike, MaxUnpool and the indices of MaxPool.
#include <gtest/gtest.h>

#include "one_node.h"

namespace sluice::frontend::test {
namespace {

using One = OneNodeModel;
using Doubles = std::vector<double>;
using onnx::TensorProto;

/// What output `output` of a node over known tensors is.
Doubles known(One one, int output = 0) {
  onnx::NodeProto &node = *one.model.graph().mutable_node(0);
  node.clear_output();
  for (int i = 0; i < output; ++i)
    node.add_output("");
  node.add_output("y");
  one.model.input("unused", {1});
  return evaluateModel(one.model, {{{1}, {0}}}).values;
}

TEST(NonZero, HasAColumnPerElement) {
  EXPECT_EQ(known(One("NonZero").ints({2, 3}, {1, 0, 3, 0, -5, 0})), (Doubles{0, 0, 1, 0, 2, 1}));
  EXPECT_EQ(known(One("NonZero").floats({3}, {0, 2, -0.0F})), (Doubles{1}));
  EXPECT_EQ(One("NonZero").input({2}).problem(),
            "E0205 input 'X' must be known at compile time (a constant, or computed from constants "
            "and shapes); found a run-time tensor float [2]");
}

TEST(Unique, OfElements) {
  const auto over = [](int64_t sorted) {
    return One("Unique").ints({6}, {4, 1, 1, 3, 4, 2}).with("sorted", sorted);
  };
  EXPECT_EQ(known(over(1)), (Doubles{1, 2, 3, 4}));
  EXPECT_EQ(known(over(1), 1), (Doubles{1, 5, 3, 0}));
  EXPECT_EQ(known(over(1), 2), (Doubles{3, 0, 0, 2, 3, 1}));
  EXPECT_EQ(known(over(1), 3), (Doubles{2, 1, 1, 2}));
  EXPECT_EQ(known(over(0)), (Doubles{4, 1, 3, 2}));
  EXPECT_EQ(known(over(0), 1), (Doubles{0, 1, 3, 5}));
  EXPECT_EQ(known(over(0), 2), (Doubles{0, 1, 1, 2, 0, 3}));
  EXPECT_EQ(known(over(0), 3), (Doubles{2, 2, 1, 1}));
}

TEST(Unique, OfPlacesAlongAnAxis) {
  const auto over = [](int64_t axis) {
    return One("Unique").floats({3, 2}, {1, 0, 1, 0, 0, 2}).with("axis", axis);
  };
  EXPECT_EQ(known(over(0)), (Doubles{0, 2, 1, 0}));
  EXPECT_EQ(known(over(0), 2), (Doubles{1, 1, 0}));
  EXPECT_EQ(known(over(-1)), (Doubles{0, 1, 0, 1, 2, 0}));
}

TEST(Unique, RefusesWhatHasNoOrder) {
  EXPECT_EQ(One("Unique").ints({2}, {1, 2}).with("axis", int64_t{1}).problem(),
            "E0206 attribute 'axis', if given, must be in [-rank, rank-1] of input 'X'; found axis "
            "1 for rank 1");
  EXPECT_EQ(One("Unique").floats({1}, {NAN}).problem(),
            "E0205 input 'X' must have elements, and none of them NaN; found NaN");
  EXPECT_EQ(One("Unique").ints({0}, {}).problem(),
            "E0205 input 'X' must have elements, and none of them NaN; found [0]");
}

TEST(EyeLike, HasOnesOnADiagonal) {
  const auto over = [](int64_t k) {
    return known(One("EyeLike").ints({2, 3}, Ints(6, 7)).with("k", k));
  };
  EXPECT_EQ(over(0), (Doubles{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(over(1), (Doubles{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(over(-1), (Doubles{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(over(INT64_MIN), Doubles(6, 0));
  EXPECT_EQ(over(INT64_MAX), Doubles(6, 0));
  EXPECT_EQ(One("EyeLike").input({3}).problem(),
            "E0206 input 'input' must have rank 2 and at most 16777216 elements; found [3]");
  EXPECT_EQ(
      One("EyeLike").input({2, 2}).with("dtype", int64_t{8}).problem(),
      "E0205 attribute 'dtype', if given, must be a float, integer or bool type; found string");
}

One unpool(const Ints &x, const Ints &indices) {
  return One("MaxUnpool")
      .input(x)
      .ints({1, 1, 2}, indices)
      .with("kernel_shape", Ints{2})
      .with("strides", Ints{2});
}

TEST(MaxUnpool, PutsElementsBack) {
  EXPECT_EQ(evaluateModel(unpool({1, 1, 2}, {1, 2}).model, {{{1, 1, 2}, {5, 6}}}).values,
            (Doubles{0, 5, 6, 0}));
  EXPECT_EQ(
      evaluateModel(unpool({1, 1, 2}, {3, 0}).ints({3}, {1, 1, 6}).model, {{{1, 1, 2}, {5, 6}}})
          .values,
      (Doubles{6, 0, 0, 5, 0, 0}));
}

TEST(MaxUnpool, RefusesWhatIsNoPooling) {
  const std::string indices = "E0206 'I' must have the shape of 'X', and distinct indices into the "
                              "tensor before pooling; found ";
  EXPECT_EQ(unpool({1, 1, 3}, {1, 2}).problem(), indices + "[1 1 2] for [1 1 3]");
  EXPECT_EQ(unpool({1, 1, 2}, {1, 4}).problem(), indices + "index 4 of 4");
  EXPECT_EQ(unpool({1, 1, 2}, {-1, 3}).problem(), indices + "index -1 of 4");
  EXPECT_EQ(unpool({1, 1, 2}, {1, 1}).problem(), indices + "index 1 twice");
  EXPECT_EQ(unpool({1, 1, 2}, {1, 2}).ints({3}, {1, 1, 3}).problem(),
            "E0206 'output_shape' must be the shape before pooling, or larger along spatial axes; "
            "found [1 1 3] for [1 1 4]");
  EXPECT_EQ(unpool({1, 1, 2}, {1, 2}).with("pads", Ints{2, 2}).problem(),
            "E0206 'pads' must have two elements per spatial axis, and leave at least one element "
            "of the result; found [2 2]");
}

TEST(MaxPool, HasIndicesOfTheWholeInput) {
  const auto over = [](const Ints &x, const Ints &kernel, int64_t order) {
    One one("MaxPool");
    one.input(x).with("kernel_shape", kernel).with("storage_order", order);
    one.model.graph().mutable_node(0)->set_output(0, "values");
    one.model.graph().mutable_node(0)->add_output("y");
    return one;
  };
  const Doubles x = {1, 9, 3, 4, 5, 6, 7, 7, 8};
  EXPECT_EQ(evaluateModel(over({1, 1, 3, 3}, {2, 2}, 0).model, {{{1, 1, 3, 3}, x}}).values,
            (Doubles{1, 1, 6, 8}));
  EXPECT_EQ(evaluateModel(over({1, 1, 3, 3}, {2, 2}, 1).model, {{{1, 1, 3, 3}, x}}).values,
            (Doubles{3, 3, 2, 8}));
  EXPECT_EQ(evaluateModel(over({1, 3, 3}, {3}, 0).model, {{{1, 3, 3}, x}}).values,
            (Doubles{1, 5, 8}));
  EXPECT_EQ(over({1, 257, 2}, {2}, 0).problem(),
            "E0205 with output 'Indices', 'X' must have at most 256 elements, the range of exact "
            "bf16 integers; found [1 257 2]");
}

} // namespace
} // namespace sluice::frontend::test
