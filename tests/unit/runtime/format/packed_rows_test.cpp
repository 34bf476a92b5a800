// Tensors with neighbouring axes as one in their rows, and what the loader says of wrong ones.
#include "runtime/format/packed_rows.h"

#include <gtest/gtest.h>

#include "tests/unit/runtime/format/check_change.h"

namespace sluice::format {
namespace {

using test::problemAfter;
using Extents = std::vector<int64_t>;

PackedRows rowsOf(Extents shape, Extents packed, uint32_t dataDim) {
  return PackedRows(ModelTensor{"t", std::move(shape), dataDim, false, std::move(packed)});
}

TEST(PackedRows, HaveTheElementsOfTheirShape) {
  const PackedRows rows = rowsOf({2, 3, 4}, {2, 12}, 1);
  EXPECT_EQ(rows.rows(8), 4);
  const addressing::Addressing slots = rows.slots(8);
  EXPECT_EQ(slots.shape(), (Extents{2, 3, 4}));
  EXPECT_EQ(slots.at(addressing::Indices{0, 1, 3}), 7);
  EXPECT_EQ(slots.at(addressing::Indices{1, 2, 0}), 3 * 8);
  EXPECT_EQ(rowsOf({2, 3, 4}, {}, 1).rows(8), 8);
  EXPECT_EQ(rowsOf({}, {}, 0).rows(8), 1);
}

TEST(PackedRows, LieAlongTheLastOfTheirAxes) {
  EXPECT_EQ(rowsOf({2, 3, 4}, {}, 1).tensorDim(), 1U);
  EXPECT_EQ(rowsOf({2, 3, 4}, {2, 12}, 1).tensorDim(), 2U);
  EXPECT_EQ(rowsOf({2, 3, 4}, {6, 4}, 0).tensorDim(), 1U);
  EXPECT_EQ(rowsOf({2, 3, 4}, {6, 4}, 1).tensorDim(), 2U);
  EXPECT_EQ(rowsOf({2, 3, 1, 4}, {6, 4}, 0).tensorDim(), 1U);
  EXPECT_EQ(rowsOf({2, 3, 1}, {6}, 0).tensorDim(), 1U);
  EXPECT_EQ(rowsOf({1, 1}, {1}, 0).tensorDim(), 1U);
  EXPECT_EQ(rowsOf({}, {}, 0).tensorDim(), 0U);
}

TEST(PackedRows, OfInputsAreChecked) {
  const auto packed = [](Extents extents, uint32_t dim) {
    return problemAfter([&](Program &program) { // x is [1, 8]
      program.models[0].inputs[0].packed = extents;
      program.models[0].inputs[0].dataDim = dim;
    });
  };
  EXPECT_EQ(packed({8}, 0), "none");
  EXPECT_EQ(packed({8}, 1),
            "E0511 input 'x' of model 'small': the data dimension is 1, the rank is 1");
  for (const auto &[wrong, text] : std::vector<std::pair<Extents, std::string>>{
           {{7}, "7"}, {{2, 4}, "2, 4"}, {{8, 1, 1}, "8, 1, 1"}, {{-8}, "-8"}, {{0}, "0"}})
    EXPECT_EQ(packed(wrong, 0), "E0511 input 'x' of model 'small': the packed extents [" + text +
                                    "] do not merge neighbouring axes of [1, 8]");
}

TEST(PackedRows, OfTensorsOfTheModelAreChecked) {
  EXPECT_EQ(problemAfter([](Program &p) {
              p.tensors[0].shape = {2, 4};
              p.tensors[0].packed = {8};
            }),
            "none");
  EXPECT_EQ(problemAfter([](Program &p) {
              p.tensors[0].shape = {2, 4};
              p.tensors[0].packed = {4, 2};
            }),
            "E0513 tensor 0 of the model: the packed extents [4, 2] do not merge neighbouring "
            "axes of [2, 4]");
}

} // namespace
} // namespace sluice::format
