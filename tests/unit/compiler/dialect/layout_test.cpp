// The stride rule and the notation.
#include "compiler/dialect/sluice/layout.h"

#include <random>

#include <gtest/gtest.h>

namespace sluice::ir {
namespace {

TEST(Layout, Notation) {
  EXPECT_EQ(notation({2, 3, 4}, 1), "[2 3! 4]");
  EXPECT_EQ(notation({2, 3}, std::nullopt), "[2 3]");
  EXPECT_EQ(notation({}, std::nullopt), "[]");
  EXPECT_EQ(notation({1}, 0), "[1!]");
}

TEST(Layout, Rows) {
  LayoutQuery query;
  query.lanes = 8;
  EXPECT_EQ(query.rows({3, 9}, 1), 6);
  EXPECT_EQ(query.rows({3, 9}, 0), 9);
  EXPECT_EQ(query.rows({8}, 0), 1);
}

/// Stride of an axis by its definition.
int64_t stride(llvm::ArrayRef<int64_t> shape, int64_t axis) {
  int64_t result = 1;
  for (size_t i = axis + 1; i < shape.size(); ++i)
    result *= shape[i];
  return result;
}

TEST(Layout, ReshapeKeepsTheStride) {
  std::mt19937 random(7);
  auto factors = [&](int64_t elements) {
    llvm::SmallVector<int64_t> shape;
    while (elements > 1 || shape.empty()) {
      int64_t factor = 1;
      do
        factor = std::uniform_int_distribution<int64_t>(1, elements)(random);
      while (elements % factor != 0);
      shape.push_back(factor);
      elements /= factor;
    }
    return shape;
  };
  for (int round = 0; round < 2000; ++round) {
    const int64_t elements = std::uniform_int_distribution<int64_t>(1, 48)(random);
    const auto from = factors(elements), to = factors(elements);
    for (int64_t dim = 0; dim < static_cast<int64_t>(from.size()); ++dim) {
      std::optional<int64_t> expected;
      for (int64_t axis = static_cast<int64_t>(to.size()) - 1; axis >= 0; --axis)
        if (stride(to, axis) == stride(from, dim))
          expected = axis;
      EXPECT_EQ(reshapeDim(from, dim, to), expected);
    }
  }
}

TEST(Layout, EveryRuleThatRefusesHasACode) {
  for (const char *rule : {"DD-PW", "DD-MM-CONST", "DD-RESHAPE", "DD-SQZ", "DD-REDUCE", "DD-CONCAT",
                           "DD-MM-DYN", "DD-MM-DYN-X"}) {
    const LayoutRefusal found = refusal(rule, "why");
    EXPECT_EQ(found.rule, rule);
    EXPECT_TRUE(found.code.starts_with("E03"));
    EXPECT_EQ(found.message, "why");
  }
}

} // namespace
} // namespace sluice::ir
