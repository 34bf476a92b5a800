// When: sweeps, turns and the coarse model, on graphs small enough to derive it by hand. The
// target has two cores of eight lanes; a product is a result 14 cycles after its issue, a row of
// the vector unit a packet after 4, and a packet arrives after 3 (docs/machine.md).
#include "compiler/conversion/plan/order/order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/rows/graphs.h"

namespace sluice::plan::test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr uint32_t kAllLate = kNone;

struct Ordering : testing::Test {
  GraphBuilder builder{"c2b8", 1};
  PlacementOptions options;
  std::optional<Work> work;
  Placement placement;
  std::optional<Order> order;

  /// Orders with so many late operands in every stage.
  void makeOrder(uint32_t tail) {
    work = analyse(builder.graph);
    placement = place(builder.graph, *work, options);
    order = plan::makeOrder(builder.graph, *work, placement, Tails(work->stages.size(), tail));
  }

  rows::Row &row(RowId id) { return builder.graph.rows[id]; }

  /// (row, operand) of a core's products.
  std::vector<std::pair<RowId, RowId>> products(uint32_t core) const {
    std::vector<std::pair<RowId, RowId>> result;
    for (const MatrixItem &item : order->matrix[core])
      result.emplace_back(item.row, (*work)[item.row].terms[item.term].x);
    return result;
  }
  std::vector<RowId> vectorRows(uint32_t core) const {
    std::vector<RowId> result;
    for (const VectorItem &item : order->vector[core])
      result.push_back(item.row);
    return result;
  }
  template <typename Item> static std::vector<uint64_t> times(const std::vector<Item> &items) {
    std::vector<uint64_t> result;
    for (const Item &item : items)
      result.push_back(item.time);
    return result;
  }
};

TEST_F(Ordering, EarlyOperandsAreSweptAndLateOnesFinishRows) {
  options.keepTogether = 100;
  const auto x = builder.input(3), h = builder.dense(x, 2, {});
  builder.output(h);
  const auto at = [&](size_t r, size_t k) { return std::pair(h[r], x[k]); };
  makeOrder(0);
  EXPECT_THAT(products(0), ElementsAre(at(0, 0), at(1, 0), at(0, 1), at(1, 1), at(0, 2), at(1, 2)));
  makeOrder(2);
  EXPECT_THAT(products(0), ElementsAre(at(0, 0), at(1, 0), at(0, 1), at(0, 2), at(1, 1), at(1, 2)));
  makeOrder(kAllLate);
  EXPECT_THAT(products(0), ElementsAre(at(0, 0), at(0, 1), at(0, 2), at(1, 0), at(1, 1), at(1, 2)));
  EXPECT_TRUE(order->matrix[1].empty());
}

TEST_F(Ordering, ProductsFollowTheOrderInWhichOperandsAreExpected) {
  options.keepTogether = 0;
  const auto x = builder.input(1), h = builder.dense(x, 3, {}); // turns 0, 1, 2: cores 0, 1, 0
  const auto y = builder.dense({h[2], x[0], h[1], h[0]}, 1, {});
  builder.output(y);
  makeOrder(kAllLate);
  ASSERT_EQ(placement.rows[y[0]].core, 0U);
  std::vector<RowId> operands;
  for (const auto &[row, operand] : products(0))
    if (row == y[0])
      operands.push_back(operand);
  // Inputs, then the first rows of all cores, then the second ones.
  EXPECT_THAT(operands, ElementsAre(x[0], h[0], h[1], h[2]));
}

TEST_F(Ordering, FirstAndLastProductsOfRowsInTheirAccumulators) {
  options.keepTogether = 100;
  const auto x = builder.input(2), h = builder.dense(x, 2, {});
  builder.output(h);
  makeOrder(0);
  std::vector<std::tuple<uint32_t, bool, bool>> found;
  for (const MatrixItem &item : order->matrix[0])
    found.emplace_back(item.acc, item.first, item.last);
  EXPECT_THAT(found, ElementsAre(std::tuple(0, true, false), std::tuple(1, true, false),
                                 std::tuple(0, false, true), std::tuple(1, false, true)));
}

TEST_F(Ordering, SweepsHaveAsManyRowsAsAccumulators) {
  options.keepTogether = 100;
  builder.graph.geometry.accumulators = 2;
  const auto x = builder.input(2), h = builder.dense(x, 3, {});
  builder.output(h);
  makeOrder(0);
  EXPECT_THAT(products(0), ElementsAre(Pair(h[0], x[0]), Pair(h[1], x[0]), Pair(h[0], x[1]),
                                       Pair(h[1], x[1]), Pair(h[2], x[0]), Pair(h[2], x[1])));
  EXPECT_EQ(order->matrix[0].back().acc, 0U);
}

TEST_F(Ordering, ARowWithoutProductsHasOneForItsBias) {
  const auto x = builder.input(1), h = builder.dense(x, 1, {});
  builder.setWeights(row(h[0]).terms[0].block, 0);
  builder.output(h);
  makeOrder(0);
  ASSERT_EQ(order->matrix[0].size(), 1U);
  const MatrixItem &item = order->matrix[0][0];
  EXPECT_EQ(std::tuple(item.row, item.term, item.first, item.last),
            std::tuple(h[0], kNone, true, true));
  EXPECT_EQ(item.time, 4U); // it waits for the input all the same
}

TEST_F(Ordering, TimesAreThoseOfTheMachine) {
  options.keepTogether = 0;
  const auto x = builder.input(2), h = builder.dense(x, 1, relu()), y = builder.dense(h, 2, {});
  builder.output(y);
  makeOrder(0);
  EXPECT_EQ(order->arrival[x[0]], 4U);
  EXPECT_EQ(order->arrival[x[1]], 5U);
  EXPECT_EQ(order->arrival[h[0]], 5U + 14 + 4 + 3);
  EXPECT_THAT(times(order->matrix[0]), ElementsAre(4, 5, 26));
  EXPECT_THAT(times(order->vector[0]), ElementsAre(5 + 14, 26 + 14));
  EXPECT_THAT(times(order->matrix[1]), ElementsAre(26));
}

TEST_F(Ordering, LocalRowsCrossNoNetwork) {
  const auto x = builder.input(1), h = builder.dense(x, 1, {});
  const RowId y = builder.vector(h, kNoRow, kNoRow, relu());
  builder.output({y});
  makeOrder(0);
  EXPECT_EQ(order->arrival[h[0]], 4U + 14 + 4);
  EXPECT_THAT(times(order->vector[0]), ElementsAre(4 + 14, 22));
}

TEST_F(Ordering, OnePacketACycle) {
  options.keepTogether = 0;
  const auto x = builder.input(1), h = builder.dense(x, 2, {});
  builder.output(builder.dense(h, 2, {}));
  makeOrder(0);
  EXPECT_EQ(order->arrival[h[0]], 25U);
  EXPECT_EQ(order->arrival[h[1]], 26U); // of the other core, ready in the same cycle
}

TEST_F(Ordering, AShorterPathComesBehindTheLonger) {
  const auto x = builder.input(2);
  rows::VectorStep shift;
  shift.alu1 = isa::Alu::Add;
  shift.rhs1 = isa::Rhs1::Imm;
  const RowId first = builder.vector({x[0]}, kNoRow, kNoRow, shift),
              second = builder.vector({x[1]}, kNoRow, kNoRow, relu());
  builder.output({first, second});
  options.keepTogether = 1; // single rows go where least was done: all to core 0
  makeOrder(0);
  // The first passes an adder of 6 cycles more.
  EXPECT_THAT(times(order->vector[0]), ElementsAre(4, 4 + 6 + 1));
  row(second).step = shift;
  makeOrder(0);
  EXPECT_THAT(times(order->vector[0]), ElementsAre(4, 5));
  row(first).step = relu();
  makeOrder(0);
  EXPECT_THAT(times(order->vector[0]), ElementsAre(4, 5));
}

TEST_F(Ordering, ReductionsTakeABeatForEachRow) {
  const auto x = builder.input(4);
  rows::VectorStep max;
  max.reduce = isa::Reduce::Max;
  const RowId all = builder.vector(x, kNoRow, kNoRow, max),
              next = builder.vector({x[0]}, kNoRow, kNoRow, max);
  builder.output({all, next});
  makeOrder(0);
  // Rows that are there go before those of earlier stages that are not; the last operand
  // arrives in cycle 7.
  EXPECT_THAT(vectorRows(0), ElementsAre(next, all));
  EXPECT_THAT(times(order->vector[0]), ElementsAre(4, 7));
  row(next).a = {x[3]};
  makeOrder(0);
  EXPECT_THAT(vectorRows(0), ElementsAre(all, next));
  EXPECT_THAT(times(order->vector[0]), ElementsAre(7, 7 + 4));
}

TEST_F(Ordering, AReductionMayTakeLongerThanAnythingElseDoes) {
  const auto x = builder.input(1);
  rows::VectorStep max;
  max.reduce = isa::Reduce::Max;
  const RowId all = builder.vector(std::vector(2500, x[0]), kNoRow, kNoRow, max),
              next = builder.vector({all}, kNoRow, kNoRow, relu());
  builder.output({next});
  makeOrder(0);
  ASSERT_TRUE(order);
  EXPECT_GT(order->vector[0].back().time, 2500U);
}

TEST_F(Ordering, OfRowsThatAreThereTheEarlierStageGoesFirst) {
  const auto x = builder.input(1), h = builder.dense(x, 1, {});
  const RowId early = builder.vector(h, kNoRow, kNoRow, relu());
  std::vector<RowId> late{early};
  for (int i = 0; i < 3; ++i)
    late.push_back(builder.vector({x[0]}, h[0], kNoRow, relu()));
  builder.output(late);
  makeOrder(0);
  std::vector<RowId> expected{h[0]};
  expected.insert(expected.end(), late.begin(), late.end());
  EXPECT_EQ(vectorRows(0), expected);
}

TEST_F(Ordering, OfAResultAndARowTheEarlierStageGoesFirst) {
  const auto x = builder.input(1);
  rows::VectorStep max;
  max.reduce = isa::Reduce::Max;
  // Until both are there the vector unit is busy.
  const RowId busy = builder.vector(std::vector(30, x[0]), kNoRow, kNoRow, max);
  const auto h = builder.dense(x, 1, {});
  const RowId v = builder.vector(x, kNoRow, kNoRow, {});
  builder.output({busy, h[0], v});
  const std::vector<uint32_t> first(builder.graph.rows.size(), 0);
  options.cores = &first;
  makeOrder(0);
  EXPECT_THAT(vectorRows(0), ElementsAre(busy, h[0], v));
  std::swap(row(h[0]).group, row(v).group);
  makeOrder(0);
  EXPECT_THAT(vectorRows(0), ElementsAre(busy, v, h[0]));
}

TEST_F(Ordering, WeightsAreWrittenBeforeWhatTheyDelay) {
  const auto x = builder.input(2), y = builder.product({x[0]}, {x[1]}, false);
  builder.output(y);
  makeOrder(0);
  ASSERT_EQ(order->vector[0].size(), 2U);
  const VectorItem &write = order->vector[0][0];
  EXPECT_EQ(std::tuple(write.row, write.block, write.index),
            std::tuple(x[1], builder.graph.dynamic.begin()->first, 0U));
  EXPECT_EQ(write.time, 5U); // when the row has arrived
  EXPECT_THAT(times(order->matrix[0]), ElementsAre(5 + 4));
}

TEST_F(Ordering, OperandsOfLaterGroupsCannotBeOrdered) {
  const auto x = builder.input(1), h = builder.dense(x, 1, {}), y = builder.dense(h, 1, {});
  builder.output(y);
  std::swap(row(h[0]).group, row(y[0]).group);
  const std::vector<uint32_t> first(builder.graph.rows.size(), 0);
  options.cores = &first;
  makeOrder(0);
  EXPECT_FALSE(order); // the products of a core are in the order of stages
}

/// No item comes before its operands, and none is lost.
TEST_F(Ordering, OfLayersIsTopologicalCompleteAndTheSameTwice) {
  options.keepTogether = 0;
  for (const uint32_t tail : {0U, 1U, 5U, kAllLate}) {
    builder.graph = perceptron("c6b32", {5, 9, 13, 4}, tail, 0.2);
    makeOrder(tail);
    ASSERT_TRUE(order);
    size_t products = 0, rows = 0;
    for (const auto &items : order->matrix)
      for (const MatrixItem &item : items) {
        ++products;
        EXPECT_GE(item.time, order->arrival[(*work)[item.row].terms[item.term].x]);
      }
    for (const auto &items : order->vector) {
      rows += items.size();
      EXPECT_TRUE(std::ranges::is_sorted(times(items)));
    }
    size_t expected = 0;
    for (const WorkRow &row : work->rows)
      expected += row.terms.size();
    EXPECT_EQ(products, expected);
    EXPECT_EQ(rows, 9U + 13 + 4);
    const Order first = *order;
    makeOrder(tail);
    EXPECT_EQ(first.arrival, order->arrival);
    for (size_t core = 0; core < first.matrix.size(); ++core)
      EXPECT_EQ(times(first.matrix[core]), times(order->matrix[core]));
  }
}

TEST_F(Ordering, OperandCountsAreTheMostOfAnyCore) {
  options.keepTogether = 0;
  const auto x = builder.input(4);
  const auto h = builder.dense(x, 2, {});
  row(h[1]).terms.resize(1);
  builder.output(builder.dense(h, 1, {}));
  work = analyse(builder.graph);
  placement = place(builder.graph, *work, options);
  EXPECT_THAT(operandCounts(builder.graph, *work, placement), ElementsAre(0, 4, 2));
}

} // namespace
} // namespace sluice::plan::test
