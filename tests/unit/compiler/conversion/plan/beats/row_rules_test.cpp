// Rules of computed rows against the rows one by one.
#include "compiler/conversion/plan/beats/row_rules.h"

#include <gtest/gtest.h>

#include "runtime/format/row_rules.h"
#include "tests/support/rng.h"

namespace sluice::plan {
namespace {

WrittenRow written(uint32_t row, uint32_t tensor = 0, bool partial = false, int32_t perPass = 0) {
  return {{tensor, row, 0, partial}, perPass};
}

/// What the rules say, row by row.
std::vector<WrittenRow> expanded(const std::vector<format::RowRule> &rules, size_t count) {
  std::vector<WrittenRow> rows(count);
  size_t next = 0;
  for (const format::RowRule &rule : rules) {
    EXPECT_GE(rule.begin, next);
    EXPECT_LE(rule.terms.size(), isa::kLoopDepth);
    format::rowsOf(rule).forEach([&](int64_t i, int64_t row) {
      rows[rule.begin + i] =
          written(static_cast<uint32_t>(row), rule.tensor, rule.partial, rule.perPass);
      next = rule.begin + i + 1;
    });
  }
  return rows;
}

void expectSame(const std::vector<WrittenRow> &rows, const std::vector<WrittenRow> &said) {
  ASSERT_EQ(rows.size(), said.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].elements, said[i].elements) << i;
    if (rows[i].elements.known()) {
      EXPECT_EQ(rows[i].perPass, said[i].perPass) << i;
    }
  }
}

TEST(RowRules, ANestOfRowsIsOneRule) {
  std::vector<WrittenRow> rows;
  for (uint32_t i = 0; i < 5; ++i)
    for (uint32_t j = 0; j < 3; ++j)
      for (uint32_t k = 0; k < 2; ++k)
        rows.push_back(written(100 - 7 * i + 20 * j + k, 3, true, -4));
  const auto rules = rulesOf(rows);
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0], (format::RowRule{0, 3, true, 100, -4, {{5, -7}, {3, 20}, {2, 1}}}));
}

TEST(RowRules, RowsWithoutANameAreInNoRule) {
  const std::vector<WrittenRow> rows{{}, written(4), written(5), {}, {}, written(9, 1), {}};
  const auto rules = rulesOf(rows);
  EXPECT_EQ(rules,
            (std::vector<format::RowRule>{{1, 0, false, 4, 0, {{2, 1}}}, {5, 1, false, 9, 0, {}}}));
  EXPECT_TRUE(rulesOf({}).empty());
}

TEST(RowRules, SayWhatEveryRowIs) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    fixtures::Rng rng(seed);
    std::vector<WrittenRow> rows;
    const auto parts = rng.range(1, 5);
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t outer = rng.range(1, 5), inner = rng.range(1, 5);
      const int64_t far = rng.range(-9, 9), near = rng.range(-2, 2), first = rng.range(50, 90);
      const bool known = rng.percent(80);
      const auto tensor = static_cast<uint32_t>(rng.range(0, 1));
      const bool partial = rng.percent(20);
      const auto perPass = static_cast<int32_t>(rng.range(0, 1));
      for (int64_t i = 0; i < outer; ++i)
        for (int64_t j = 0; j < inner; ++j)
          rows.push_back(known ? written(static_cast<uint32_t>(first + i * far + j * near), tensor,
                                         partial, perPass)
                               : WrittenRow());
    }
    expectSame(rows, expanded(rulesOf(rows), rows.size()));
    if (HasFailure())
      FAIL() << "seed " << seed;
  }
}

TEST(RowRules, ReductionsWriteWithTheirLastBeats) {
  isa::Vec vec;
  vec.n = {2, 3, 4, 5};
  vec.dstKind = isa::Dst::Local;
  EXPECT_EQ(writingBeats(vec).size(), 120U);
  EXPECT_EQ(format::rowsWritten(vec), 120U);
  vec.reduce = isa::Reduce::Sum;
  vec.reduceLevel = 2;
  EXPECT_EQ(writingBeats(vec), (std::vector<uint32_t>{19, 39, 59, 79, 99, 119}));
  EXPECT_EQ(format::rowsWritten(vec), 6U);
  vec.dstKind = isa::Dst::Signal;
  EXPECT_TRUE(writingBeats(vec).empty());
  EXPECT_EQ(format::rowsWritten(vec), 0U);
  EXPECT_TRUE(writingBeats(isa::Mm{}).empty());
}

} // namespace
} // namespace sluice::plan
