#include "compiler/reduce/simpler_tensors.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/compiler/reduce/models.h"

namespace sluice::reduce {
namespace {

using testing::ElementsAre;

/// Of x [4, 3] and y [4]: weights [3, 4], a shape [4, 3], and counts in raw data [4].
onnx::GraphProto graphOfFours() {
  onnx::GraphProto graph;
  *graph.add_input() = floatTensor("x", {4, 3});
  *graph.add_input() = floatTensor("y", {4});
  addConstant(graph, "w", {3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  onnx::TensorProto &shape = *graph.add_initializer();
  shape.set_name("shape");
  shape.set_data_type(onnx::TensorProto::INT64);
  shape.add_dims(2);
  shape.add_int64_data(4);
  shape.add_int64_data(3);
  onnx::TensorProto &counts = *graph.add_initializer();
  counts.set_name("counts");
  counts.set_data_type(onnx::TensorProto::INT16);
  counts.add_dims(4);
  const int16_t values[] = {1, 2, 3, 4};
  counts.set_raw_data(std::string(reinterpret_cast<const char *>(values), sizeof values));
  *graph.add_output() = floatTensor("z", {4});
  return graph;
}

TEST(SimplerTensors, ListsExtentsOfInputs) {
  EXPECT_THAT(extentsOf(graphOfFours()), ElementsAre(4, 3));
}

TEST(SimplerTensors, ReplacesAnExtentEverywhere) {
  onnx::GraphProto graph = graphOfFours();
  std::vector<Sample> samples{
      {{"x", reference::Tensor({4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})},
       {"other", reference::Tensor({4})}}};
  replaceExtent(graph, samples, 4, 2);
  EXPECT_EQ(graph.input(0).type().tensor_type().shape().dim(0).dim_value(), 2);
  EXPECT_EQ(graph.input(0).type().tensor_type().shape().dim(1).dim_value(), 3);
  EXPECT_EQ(graph.input(1).type().tensor_type().shape().dim(0).dim_value(), 2);
  EXPECT_EQ(graph.output(0).type().tensor_type().shape().dim(0).dim_value(), 2);
  EXPECT_THAT(graph.initializer(0).dims(), ElementsAre(3, 2));
  EXPECT_THAT(graph.initializer(0).float_data(), ElementsAre(0, 1, 4, 5, 8, 9));
  EXPECT_THAT(graph.initializer(1).int64_data(), ElementsAre(2, 3));
  int16_t counts[2];
  ASSERT_EQ(graph.initializer(2).raw_data().size(), sizeof counts);
  std::memcpy(counts, graph.initializer(2).raw_data().data(), sizeof counts);
  EXPECT_THAT(counts, ElementsAre(1, 2));
  EXPECT_EQ(samples[0].at("x"), reference::Tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(samples[0].at("other").shape, reference::Shape{4});
}

TEST(SimplerTensors, LeavesOneElement) {
  onnx::GraphProto graph = graphOfFours();
  onnx::TensorProto &weights = *graph.mutable_initializer(0);
  ASSERT_TRUE(leaveOneElement(weights));
  EXPECT_THAT(weights.dims(), ElementsAre(1, 1));
  EXPECT_THAT(weights.float_data(), ElementsAre(0));
  EXPECT_FALSE(leaveOneElement(weights));
}

TEST(SimplerTensors, SetsElementsToOne) {
  onnx::GraphProto graph = graphOfFours();
  ASSERT_TRUE(setToOne(*graph.mutable_initializer(0)));
  EXPECT_EQ(graph.initializer(0).float_data_size(), 0);
  EXPECT_EQ(graph.initializer(0).raw_data().size(), 12 * sizeof(float));
  EXPECT_FALSE(setToOne(*graph.mutable_initializer(0)));
  EXPECT_FALSE(setToOne(*graph.mutable_initializer(1))) << "integers";
}

} // namespace
} // namespace sluice::reduce
