// Plans of graphs whose weight blocks are written during the inference.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/conversion/plan/proof/verify.h"
#include "compiler/support/problem.h"
#include "tests/support/rows/graphs.h"
#include "tests/support/rows/runs.h"

namespace sluice::plan {
namespace {

using rows::RowId;
using test::GraphBuilder;
using testing::AnyOf;
using testing::HasSubstr;

void expectRuns(const rows::Graph &graph, unsigned candidates = 8) {
  test::expectRuns(graph, test::planned(graph, candidates));
}

/// Heads that each multiply their part of two inputs, and a layer behind.
rows::Graph heads(const std::string &target, uint32_t count, uint32_t length, uint64_t seed) {
  GraphBuilder builder(target, seed);
  std::vector<RowId> q = builder.input(count * length), k = builder.input(count * length);
  std::vector<RowId> out;
  const uint32_t lanes = builder.graph.geometry.lanes;
  for (uint32_t head = 0; head < count; ++head) {
    std::vector<RowId> x, w;
    for (uint32_t i = 0; i < length; ++i) {
      x.push_back(q[i * count + head]);
      if (i < lanes)
        w.push_back(k[i * count + head]);
    }
    const auto scores = builder.product(x, w, false, test::relu());
    for (RowId row : builder.product(scores, w, true))
      out.push_back(row);
  }
  builder.output(builder.dense(out, 2, test::relu()));
  return builder.graph;
}

TEST(DynamicPlan, HeadsRunAsTheGraphSays) {
  expectRuns(heads("c2b8", 1, 5, 1));
  expectRuns(heads("c2b8", 3, 8, 2));
  expectRuns(heads("c6b32", 4, 20, 3), 20);
  expectRuns(heads("c6b32", 2, 40, 4), 20);
}

/// Weights that are computed, used by two products, constant operands, one row on
/// both sides.
TEST(DynamicPlan, WeightsOfEveryOrigin) {
  for (const char *target : {"c2b8", "c6b32"}) {
    GraphBuilder builder(target, 5);
    const auto x = builder.input(4);
    const auto w = builder.dense(x, 6, test::relu());
    const auto y = builder.product(x, w, true);
    const auto z = builder.product(w, w, false);
    const auto fixed = builder.product({builder.constant(), builder.constant()}, x, true);
    builder.output(y);
    builder.output(builder.product({z[0], z[3], fixed[1], x[2]}, {y[0], fixed[0], x[1]}, true));
    expectRuns(builder.graph, 20);
  }
}

/// Random chains of products of both kinds, dense layers and vector rows.
TEST(DynamicPlan, RandomGraphs) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    GraphBuilder builder(seed % 3 == 0 ? "c6b32" : "c2b8", seed);
    const auto pick = [&](size_t n) { return static_cast<uint32_t>(builder.random() % n); };
    const uint32_t lanes = builder.graph.geometry.lanes;
    std::vector<RowId> known = builder.input(2 + pick(6));
    const auto some = [&](uint32_t most) {
      std::vector<RowId> rows;
      for (uint32_t i = 1 + pick(most); i > 0; --i)
        rows.push_back(known[pick(known.size())]);
      return rows;
    };
    std::vector<RowId> made;
    for (uint32_t i = 3 + pick(5); i > 0; --i) {
      std::vector<RowId> rows;
      switch (pick(4)) {
      case 0:
        rows = builder.dense(some(5), 1 + pick(6), test::relu());
        break;
      case 1: {
        rows::VectorStep add;
        add.alu1 = isa::Alu::Add;
        add.alu2 = isa::Alu::Mul;
        add.rhs2 = isa::Rhs2::Imm;
        add.imm2 = 0.25F;
        rows = {builder.vector({some(1)[0]}, some(1)[0], rows::kNoRow, add)};
        break;
      }
      default: {
        rows::VectorStep scale;
        scale.alu1 = isa::Alu::Mul;
        scale.rhs1 = isa::Rhs1::Imm;
        scale.imm1 = 1.0F / 16;
        rows = builder.product(some(9), some(lanes), pick(2) == 0, scale);
      }
      }
      known.insert(known.end(), rows.begin(), rows.end());
      made.insert(made.end(), rows.begin(), rows.end());
    }
    std::sort(made.begin(), made.end());
    made.erase(std::unique(made.begin(), made.end()), made.end());
    builder.output({made.end() - std::min<std::ptrdiff_t>(3, std::ssize(made)), made.end()});
    expectRuns(builder.graph, seed % 2 == 0 ? 12 : 0);
  }
}

/// Rows of an input that different cores need in turn: more host instructions than
/// there are, unless all cores take all rows.
TEST(DynamicPlan, ManyInputRowsForDifferentCores) {
  rows::Graph graph = heads("c6b32", 5, 32, 6);
  graph.geometry.hostInstructions = 8;
  expectRuns(graph, 0);
  expectRuns(graph, 8);
}

/// What is computed from one head stays on its core: only inputs and outputs travel.
TEST(DynamicPlan, RowsFollowTheirOperands) {
  GraphBuilder builder("c6b32", 9);
  const auto x = builder.input(4 * 8);
  std::vector<RowId> out;
  for (uint32_t head = 0; head < 4; ++head) {
    const std::vector<RowId> w(x.begin() + head * 8, x.begin() + head * 8 + 8);
    const auto scores = builder.product(w, w, false, test::relu());
    const auto sums = builder.dense(scores, 2, test::relu());
    for (RowId row : builder.product(sums, scores, true))
      out.push_back(row);
  }
  builder.output(out);
  const Work work = analyse(builder.graph);
  const auto packets = [&](bool follow) {
    PlacementOptions options;
    options.follow = follow;
    const Placement placement = place(builder.graph, work, options);
    return std::count_if(placement.rows.begin(), placement.rows.end(),
                         [](const RowPlace &row) { return row.net; });
  };
  EXPECT_EQ(packets(true), 4 * 8 + 4 * 2);
  EXPECT_GT(packets(false), 4 * 8 + 4 * 2);
  expectRuns(builder.graph, 24);
}

TEST(DynamicPlan, BlocksCountInTheWeightMemory) {
  rows::Graph graph = heads("c2b8", 3, 4, 7);
  graph.geometry.weightBlocks = 3;
  Plan plan;
  const Problems problems = makePlan(graph, PlanOptions{}, plan);
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems[0].code, "E0401");
}

/// The proof notices mistakes with weight blocks.
class BlockProofs : public testing::Test {
protected:
  explicit BlockProofs(rows::Graph graph = heads("c2b8", 2, 8, 8),
                       const PlacementOptions &options = {})
      : graph(std::move(graph)), options(options) {}

  rows::Graph graph;
  PlacementOptions options;
  Work work = analyse(graph);
  Placement placement = place(graph, work, options);
  MachineBeats beats = buildBeats(graph, work, placement,
                                  *makeOrder(graph, work, placement, Tails(work.stages.size(), 2)),
                                  TokenLayout::make(2, Slots::One, false));

  std::string verdict() const {
    const std::optional<Schedule> schedule = makeSchedule(graph, beats);
    return schedule ? verify(graph, placement, beats, *schedule).value_or("sound") : "no schedule";
  }

  /// Positions of the beats of core 0 that write weights.
  std::vector<size_t> writes() const {
    std::vector<size_t> result;
    for (size_t i = 0; i < beats.vector[0].beats.size(); ++i)
      if (beats.vector[0].origins[i].block != kNoBlock)
        result.push_back(i);
    return result;
  }
};

TEST_F(BlockProofs, AcceptAPlan) { EXPECT_EQ(verdict(), "sound"); }

TEST_F(BlockProofs, AWrongRowOfABlock) {
  beats.vector[0].beats[writes()[1]].address[3] += 1;
  EXPECT_THAT(verdict(), HasSubstr("of weight block"));
}

TEST_F(BlockProofs, AMissingWrite) {
  const auto at = static_cast<std::ptrdiff_t>(writes()[0]);
  ASSERT_EQ(beats.vector[0].beats[writes()[0]].wait.count, 0U + (at == 0));
  beats.vector[0].beats[writes()[1]].wait.count += beats.vector[0].beats[writes()[0]].wait.count;
  beats.vector[0].beats.erase(beats.vector[0].beats.begin() + at);
  beats.vector[0].origins.erase(beats.vector[0].origins.begin() + at);
  EXPECT_THAT(verdict(), AnyOf(HasSubstr("rows written"), HasSubstr("before it arrives")));
}

TEST_F(BlockProofs, AProductBeforeItsWeights) {
  // The block's token is taken by a later beat.
  UnitBeats &unit = beats.matrix[0];
  const uint32_t local = TokenLayout::make(2, Slots::One, false).local;
  const auto waits = [&](const Beat &beat) {
    return beat.wait.count != 0 && beat.wait.token == local;
  };
  const auto beat = std::find_if(unit.beats.begin(), unit.beats.end(), waits);
  ASSERT_NE(beat, unit.beats.end());
  const auto later = std::find_if(beat + 1, unit.beats.end(),
                                  [](const Beat &other) { return other.wait.count == 0; });
  ASSERT_NE(later, unit.beats.end());
  later->wait = std::exchange(beat->wait, Wait{});
  EXPECT_THAT(verdict(), AnyOf(HasSubstr("before it is written"), HasSubstr("rows written")));
}

TEST_F(BlockProofs, AWriteBeforeTheLastRead) {
  // The first row of the next inference's weights, before this one's last result.
  UnitBeats &unit = beats.vector[0];
  const auto from = static_cast<std::ptrdiff_t>(writes()[0]);
  std::rotate(unit.beats.begin() + from, unit.beats.begin() + from + 1, unit.beats.end());
  std::rotate(unit.origins.begin() + from, unit.origins.begin() + from + 1, unit.origins.end());
  EXPECT_NE(verdict(), "sound");
}

TEST_F(BlockProofs, AnotherValueThanTheRow) {
  UnitBeats &unit = beats.vector[0];
  Beat &beat = unit.beats[writes()[0]];
  auto form = std::get<isa::Vec>(unit.forms[beat.form]);
  form.post = isa::Post::Relu;
  beat.form = unit.formOf(form);
  EXPECT_THAT(verdict(), HasSubstr("is modified before it reaches a weight block"));
}

/// Rows that arrive while the vector unit that is to copy them reduces others.
class LateBlockProofs : public BlockProofs {
protected:
  static rows::Graph late() {
    GraphBuilder builder("c2b8", 11);
    const auto first = builder.input(8), second = builder.input(8);
    rows::VectorStep most;
    most.reduce = isa::Reduce::Max;
    const RowId row = builder.vector(first, rows::kNoRow, rows::kNoRow, most);
    builder.output({row, builder.product({first[0]}, second, false)[0]});
    return builder.graph;
  }
  LateBlockProofs() : BlockProofs(late()) {}

  std::ptrdiff_t waits() const {
    const std::vector<Beat> &all = beats.vector[placement.rows.back().core].beats;
    return std::count_if(all.begin(), all.end(), [](const Beat &b) { return b.wait.count != 0; });
  }
};

/// A beat that waits for one row takes those that are there as well.
TEST_F(LateBlockProofs, FewerWaits) {
  const std::ptrdiff_t before = waits();
  TokenLayout tokens = TokenLayout::make(2, Slots::One, false);
  tokens.takeArrived = true;
  beats = buildBeats(graph, work, placement,
                     *makeOrder(graph, work, placement, Tails(work.stages.size(), 2)), tokens);
  EXPECT_EQ(verdict(), "sound");
  EXPECT_LT(waits(), before);
}

/// Two heads whose scores are weights of a second product.
rows::Graph chains() {
  GraphBuilder builder("c2b8", 10);
  std::vector<RowId> out;
  for (uint32_t head = 0; head < 2; ++head) {
    const auto x = builder.input(8), w = builder.input(8);
    for (RowId row : builder.product(x, builder.product(x, w, false, test::relu()), true))
      out.push_back(row);
  }
  builder.output(out);
  return builder.graph;
}

/// Rows that are computed into weight blocks.
class DirectBlockProofs : public BlockProofs {
protected:
  static PlacementOptions following() {
    PlacementOptions options;
    options.follow = true;
    return options;
  }
  DirectBlockProofs() : BlockProofs(chains(), following()) {}

  /// A beat of core 0 that computes a row into a block.
  Beat &direct() {
    UnitBeats &unit = beats.vector[0];
    for (size_t i = 0; i < unit.beats.size(); ++i)
      if (const RowId row = unit.origins[i].row; row != rows::kNoRow && placement.rows[row].weights)
        return unit.beats[i];
    throw std::logic_error("no row is computed into a block");
  }
};

TEST_F(DirectBlockProofs, NothingIsCopied) {
  EXPECT_EQ(verdict(), "sound");
  // Copied are the inputs alone: 8 rows of the core's head.
  EXPECT_EQ(writes().size(), 8U);
  EXPECT_EQ(std::count_if(placement.rows.begin(), placement.rows.end(),
                          [](const RowPlace &row) { return row.weights.has_value(); }),
            2 * 8);
  expectRuns(graph, 0);
  expectRuns(graph, 24);
}

TEST_F(DirectBlockProofs, AWrongPlaceInTheBlock) {
  direct().address[3] += 1;
  EXPECT_THAT(verdict(), HasSubstr("of weight block"));
}

TEST_F(DirectBlockProofs, AColumnAsARow) {
  UnitBeats &unit = beats.vector[0];
  auto form = std::get<isa::Vec>(unit.forms[direct().form]);
  form.dstKind = isa::Dst::Wrow;
  direct().form = unit.formOf(form);
  EXPECT_THAT(verdict(), HasSubstr("to row 0 of weight block"));
}

TEST_F(DirectBlockProofs, ALostAnnouncement) {
  for (Beat &beat : beats.vector[0].beats)
    if (beat.signal.on && beat.signal.units == kMatrixBit &&
        std::get<isa::Vec>(beats.vector[0].forms[beat.form]).dstKind == isa::Dst::Wcol)
      beat.signal = {};
  EXPECT_THAT(verdict(), HasSubstr("never issues"));
}

} // namespace
} // namespace sluice::plan
