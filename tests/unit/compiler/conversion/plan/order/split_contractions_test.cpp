// Rows split along their contraction: shares without a remainder, the same sums,
// values as exact as fp32, and a proof that notices mistakes.
#include "compiler/conversion/plan/order/split_contractions.h"

#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/conversion/plan/plan.h"
#include "compiler/conversion/plan/proof/verify.h"
#include "tests/support/rows/graphs.h"
#include "tests/support/rows/runs.h"

namespace sluice::plan::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

SplitGraph splitOf(const rows::Graph &graph, const SplitOptions &options) {
  const Work work = analyse(graph);
  return splitContractions(graph, work, place(graph, work, {.keepTogether = 0}), options);
}

std::vector<uint64_t> productsByCore(const SplitGraph &split) {
  std::vector<uint64_t> products(split.graph.geometry.cores, 0);
  for (size_t row = 0; row < split.graph.rows.size(); ++row)
    if (split.cores[row] != kNone)
      products[split.cores[row]] += split.graph.rows[row].terms.size();
  return products;
}

TEST(SplitContractions, SharesWithoutARemainder) {
  const SplitGraph split = splitOf(perceptron("c6b32", {32, 32}, 3), {{1}, 0});
  EXPECT_THAT(productsByCore(split), UnorderedElementsAre(171, 171, 171, 171, 170, 170));
  // Two parts of at most five rows: every core starts within one and ends within one.
  EXPECT_EQ(split.graph.rows.size(), 32U + 32U + 5U - 1U);
  EXPECT_EQ(verifySplit(perceptron("c6b32", {32, 32}, 3), split.graph), std::nullopt);
}

TEST(SplitContractions, CoresEndInTurn) {
  const SplitGraph split = splitOf(perceptron("c6b32", {32, 32}, 3), {{1}, 1});
  EXPECT_THAT(productsByCore(split), UnorderedElementsAre(169, 169, 170, 171, 172, 173));
}

TEST(SplitContractions, TheSecondStageEvensOutTheFirst) {
  // Seven rows of three on two cores are 12 and 9; then seven rows of seven.
  const rows::Graph graph = perceptron("c2b8", {3, 7, 7}, 3);
  const SplitGraph split = splitOf(graph, {{2}, 0});
  const std::vector<uint64_t> products = productsByCore(split);
  EXPECT_EQ(products[0] + products[1], 49U);
  EXPECT_THAT(products, UnorderedElementsAre(23, 26));
  EXPECT_EQ(verifySplit(graph, split.graph), std::nullopt);
}

/// Options for chains alone.
SplitOptions chained(std::map<uint32_t, Chain> chains) {
  SplitOptions options;
  options.chains = std::move(chains);
  return options;
}

TEST(Chains, TheLastCoreHasMost) {
  const rows::Graph graph = perceptron("c6b32", {96, 1}, 3);
  const SplitGraph split = splitOf(graph, chained({{1, {3, 8}}}));
  EXPECT_THAT(productsByCore(split), ElementsAre(24, 32, 40, 0, 0, 0));
  EXPECT_EQ(split.graph.rows.size(), 96U + 3U);
  EXPECT_EQ(verifySplit(graph, split.graph), std::nullopt);
}

TEST(Chains, TakeWhatTheirCoresCompute) {
  const rows::Graph graph = perceptron("c6b32", {4, 36, 1}, 3);
  const SplitGraph split = splitOf(graph, chained({{2, {6, 0}}}));
  const Work work = analyse(split.graph);
  const Placement placement = place(split.graph, work, {.keepTogether = 0, .cores = &split.cores});
  for (rows::RowId row : work.stages[2]) {
    EXPECT_EQ(work[row].terms.size(), 6U);
    for (const rows::Term &term : work[row].terms)
      EXPECT_EQ(placement.rows[term.x].core, placement.rows[row].core);
  }
}

TEST(Chains, StandBesideEachOther) {
  GraphBuilder builder("c6b32", 3);
  const auto x = builder.input(60);
  for (unsigned head = 0; head < 2; ++head)
    builder.output(builder.dense(x, 1, rows::VectorStep{}));
  const SplitGraph split = splitOf(builder.graph, chained({{1, {3, 0}}, {2, {3, 0}}}));
  EXPECT_THAT(productsByCore(split), ElementsAre(20, 20, 20, 20, 20, 20));
  EXPECT_EQ(verifySplit(builder.graph, split.graph), std::nullopt);
}

TEST(Chains, NotOfRowsThatAreShort) {
  const rows::Graph graph = perceptron("c6b32", {30, 1}, 3);
  const SplitGraph split = splitOf(graph, chained({{1, {4, 6}}})); // 36 products of stairs alone
  EXPECT_EQ(split.graph.rows.size(), graph.rows.size());
  EXPECT_EQ(verifySplit(graph, split.graph), std::nullopt);
}

TEST(Chains, ProofOfTheRewrite) {
  const rows::Graph graph = perceptron("c6b32", {96, 1}, 3);
  const rows::Graph good = splitOf(graph, chained({{1, {4, 4}}})).graph;
  std::vector<size_t> wide;
  for (size_t row = 0; row < good.rows.size(); ++row)
    if (good.rows[row].wide)
      wide.push_back(row);
  ASSERT_EQ(wide.size(), 3U);
  const auto verdict = [&](auto change) {
    rows::Graph bad = good;
    change(bad.rows);
    return verifySplit(graph, bad).value_or("sound");
  };
  EXPECT_EQ(verdict([](auto &) {}), "sound");
  for (const size_t part : wide) {
    EXPECT_EQ(verdict([&](auto &rows) { rows[part].terms.pop_back(); }), "row 96 has changed");
    EXPECT_EQ(verdict([&](auto &rows) { rows[part].step.alu1 = isa::Alu::Max; }),
              "part " + std::to_string(part) + " is not a plain sum");
  }
  EXPECT_EQ(verdict([&](auto &rows) { rows[wide[2]].b = rows[wide[1]].b; }), "row 96 has changed");
}

TEST(Chains, RunAsTheGraphSays) {
  unsigned chains = 0;
  for (const char *target : {"c2b8", "c6b32", "c3b64"})
    for (const uint32_t heads : {1U, 2U, 3U})
      for (const bool residual : {false, true}) {
        GraphBuilder builder(target, 7);
        const auto x = builder.input(3);
        const auto wide = builder.dense(x, 80, relu());
        for (uint32_t head = 0; head < heads; ++head) {
          rows::VectorStep step = relu();
          if (residual)
            step.alu1 = isa::Alu::Add;
          const auto y = builder.dense(wide, 1, step);
          if (residual)
            builder.graph.rows[y[0]].b = x[head];
          builder.output(y);
        }
        const Plan plan = planned(builder.graph, 128);
        chains += plan.text.find("as fp32") != std::string::npos;
        expectRuns(builder.graph, plan);
      }
  EXPECT_GE(chains, 14U);
}

TEST(SplitContractions, AnImmediateThatIsNaN) {
  rows::Graph graph = perceptron("c2b8", {3, 7, 7}, 3);
  graph.rows[graph.outputs[0].rows[0]].step.imm1 = NAN;
  EXPECT_EQ(verifySplit(graph, splitOf(graph, {{2}, 0}).graph), std::nullopt);
}

TEST(SplitContractions, OnlyWhatTheDatapathCanAdd) {
  const auto stages = [](const rows::VectorStep &step, bool second) {
    GraphBuilder builder("c2b8", 3);
    const auto x = builder.input(8);
    const auto y = builder.dense(x, 3, step);
    if (second)
      for (rows::RowId row : y)
        builder.graph.rows[row].b = x[0];
    builder.output(y);
    return splittableStages(builder.graph, analyse(builder.graph));
  };
  rows::VectorStep step = relu();
  EXPECT_THAT(stages(step, false), ElementsAre(1));
  step.alu1 = isa::Alu::Add; // a row added to the sum goes with the other part
  EXPECT_THAT(stages(step, true), ElementsAre(1));
  step.alu1 = isa::Alu::Mul;
  EXPECT_THAT(stages(step, true), IsEmpty());
  step.alu1 = isa::Alu::Pass; // x * f(x) needs the whole sum as operand a
  step.alu2 = isa::Alu::Mul;
  step.rhs2 = isa::Rhs2::A;
  EXPECT_THAT(stages(step, false), IsEmpty());
}

TEST(SplitContractions, ProofOfTheRewrite) {
  const rows::Graph graph = perceptron("c2b8", {8, 3}, 3);
  const rows::Graph good = splitOf(graph, {{1}, 0}).graph;
  ASSERT_EQ(verifySplit(graph, good), std::nullopt);
  const auto wide = std::find_if(good.rows.begin(), good.rows.end(),
                                 [](const rows::Row &row) { return row.wide; });
  ASSERT_NE(wide, good.rows.end());
  const size_t at = static_cast<size_t>(wide - good.rows.begin());
  rows::Graph bad = good;
  bad.rows[at].terms.pop_back();
  EXPECT_THAT(verifySplit(graph, bad).value_or(""), HasSubstr("has changed"));
  bad = good;
  bad.rows[at].step.post = isa::Post::Relu;
  EXPECT_THAT(verifySplit(graph, bad).value_or(""), HasSubstr("not a plain sum"));
  bad = good;
  bad.rows[at + 1].step.alu1 = isa::Alu::Max;
  EXPECT_THAT(verifySplit(graph, bad).value_or(""), HasSubstr("does not add"));
  bad = good;
  bad.rows[at + 1].bias = {};
  EXPECT_THAT(verifySplit(graph, bad).value_or(""), HasSubstr("has changed"));
  bad = good;
  std::swap(bad.outputs[0].rows[0], bad.outputs[0].rows[1]);
  EXPECT_THAT(verifySplit(graph, bad).value_or(""), HasSubstr("port 0"));
}

TEST(SplitContractions, NotWhereRowsAreWrittenToWeights) {
  GraphBuilder builder("c2b8", 3);
  const auto x = builder.input(8);
  const auto y = builder.dense(x, 3, rows::VectorStep{});
  const auto w = builder.input(2);
  builder.output(builder.product(y, w, false));
  const rows::Graph &graph = builder.graph;
  EXPECT_THAT(splittableStages(graph, analyse(graph)), IsEmpty());
  const rows::Graph good = splitOf(graph, {{1}, 0}).graph;
  ASSERT_GT(good.rows.size(), graph.rows.size());
  ASSERT_EQ(verifySplit(graph, good), std::nullopt);
  const auto verdict = [&](auto change) {
    rows::Graph bad = good;
    change(bad.dynamic);
    return verifySplit(graph, bad).value_or("sound");
  };
  const std::string other = "the rows written to block 24 have changed";
  EXPECT_EQ(verdict([](auto &dynamic) { dynamic.clear(); }), other);
  EXPECT_EQ(verdict([](auto &dynamic) { dynamic.begin()->second.columns = true; }), other);
  EXPECT_EQ(verdict([](auto &dynamic) { dynamic.begin()->second.writes.pop_back(); }), other);
  EXPECT_EQ(verdict([](auto &dynamic) {
              auto &writes = dynamic.begin()->second.writes;
              std::swap(writes[0].row, writes[1].row);
            }),
            other);
}

// The two halves of every sum cancel but for the bias: what is left of a part
// rounded to bf16 would be large.
TEST(SplitContractions, PartsAreNotRounded) {
  GraphBuilder builder("c2b8", 9);
  const auto x = builder.input(16);
  const auto y = builder.dense(x, 3, rows::VectorStep{});
  for (rows::RowId row : y)
    for (size_t term = 0; term < 8; ++term) {
      std::vector<rows::Term> &terms = builder.graph.rows[row].terms;
      std::vector<uint16_t> negative = builder.graph.blocks[terms[term].block];
      for (uint16_t &element : negative)
        element ^= 0x8000;
      builder.graph.blocks[terms[term + 8].block] = std::move(negative);
    }
  builder.output(y);
  const Plan plan = planned(builder.graph, 64);
  ASSERT_THAT(plan.text, HasSubstr("as fp32"));
  std::mt19937_64 random(5);
  Rows input = randomRows(builder.graph, random);
  for (size_t row = 0; row < 8; ++row)
    input[row + 8] = input[row];
  const Rows output = runAll(assemble(plan), {input}, false)[0];
  for (size_t row = 0; row < y.size(); ++row)
    for (uint32_t lane = 0; lane < 8; ++lane) {
      const float bias = builder.graph.rows[y[row]].bias[lane];
      EXPECT_NEAR(fromBf16(output[row][lane]), bias, std::abs(bias) / 256 + 1e-6);
    }
}

TEST(SplitContractions, RunsAsTheGraphSays) {
  unsigned split = 0;
  for (const char *target : {"c2b8", "c6b32", "c3b64"})
    for (const std::vector<uint32_t> &widths :
         {std::vector<uint32_t>{8, 3}, {16, 9, 5}, {12, 11, 11, 7}, {20, 33}})
      for (const bool residual : {false, true}) {
        GraphBuilder builder(target, 7);
        auto rows = builder.input(widths[0]);
        for (size_t layer = 1; layer < widths.size(); ++layer) {
          rows::VectorStep step = relu();
          if (residual)
            step.alu1 = isa::Alu::Add;
          const auto next = builder.dense(rows, widths[layer], step);
          for (size_t i = 0; residual && i < next.size(); ++i)
            builder.graph.rows[next[i]].b = rows[i % rows.size()];
          rows = next;
        }
        builder.output(rows);
        const Plan plan = planned(builder.graph, 64);
        split += plan.text.find("as fp32") != std::string::npos;
        expectRuns(builder.graph, plan);
      }
  EXPECT_GE(split, 8U);
}

/// A sound plan with a split row, whose beats a test may spoil.
class SplitProof : public testing::Test {
protected:
  SplitGraph split = splitOf(perceptron("c2b8", {8, 3}, 3), {{1}, 0});
  const rows::Graph &graph = split.graph;
  Work work = analyse(graph);
  Placement placement = place(graph, work, {.keepTogether = 0, .cores = &split.cores});
  MachineBeats beats = buildBeats(graph, work, placement,
                                  *makeOrder(graph, work, placement, Tails(work.stages.size(), 2)),
                                  TokenLayout::make(2, Slots::One, false));

  std::string verdict() const {
    return verify(graph, placement, beats, *makeSchedule(graph, beats)).value_or("sound");
  }
  template <typename Fn> void forForms(Fn fn) {
    for (std::vector<UnitBeats> *units : {&beats.matrix, &beats.vector})
      for (UnitBeats &unit : *units)
        for (isa::Instruction &form : unit.forms)
          fn(form);
  }
};

TEST_F(SplitProof, AcceptsAPlan) { EXPECT_EQ(verdict(), "sound"); }

TEST_F(SplitProof, ARoundedPart) {
  forForms([](isa::Instruction &form) {
    if (auto *mm = std::get_if<isa::Mm>(&form); mm && mm->emit == isa::Emit::Fp32)
      mm->emit = isa::Emit::Bf16;
  });
  EXPECT_THAT(verdict(), HasSubstr("which is part of a sum"));
}

TEST_F(SplitProof, TheSameHalfTwice) {
  forForms([](isa::Instruction &form) {
    if (auto *vec = std::get_if<isa::Vec>(&form); vec && vec->part == isa::Part::Low)
      vec->part = isa::Part::High;
  });
  EXPECT_THAT(verdict(), HasSubstr("differs from the operation"));
}

TEST_F(SplitProof, HalvesInTheWrongOrder) {
  for (UnitBeats &unit : beats.vector)
    for (Beat &beat : unit.beats)
      if (std::get<isa::Vec>(unit.forms[beat.form]).bWide != 0)
        std::swap(beat.address[1], beat.address[2]);
  EXPECT_THAT(verdict(), HasSubstr("expected row"));
}

} // namespace
} // namespace sluice::plan::test
