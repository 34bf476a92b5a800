// What every placement takes at least: counted by hand, and no placement takes less.
#include "compiler/conversion/plan/order/least_memory.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "compiler/conversion/plan/order/placement.h"
#include "compiler/conversion/plan/order/work_ahead.h"
#include "tests/support/rows/graphs.h"

namespace sluice::plan::test {
namespace {

/// What is added to the row: operand b, and c too.
rows::VectorStep sum(isa::Alu alu2 = isa::Alu::Pass) {
  rows::VectorStep step;
  step.alu1 = isa::Alu::Add;
  step.alu2 = alu2;
  return step;
}

struct Least : testing::Test {
  GraphBuilder builder{"c2b8", 1};

  LeastMemory least() const { return leastMemory(builder.graph, analyse(builder.graph)); }
  RowId copy(RowId row) { return builder.vector({row}, rows::kNoRow, rows::kNoRow, {}); }
  /// Each row a copy of the one before it.
  RowId chain(RowId row, int length) {
    for (; length > 0; --length)
      row = copy(row);
    return row;
  }
};

TEST_F(Least, RowsAreThereUntilTheirLastReader) {
  const RowId x = builder.input(1)[0];
  builder.output({copy(chain(x, 9))});
  EXPECT_EQ(least().rows, 2U); // one, and the next of which it is read
  EXPECT_EQ(least().inputRows, 1U);
}

TEST_F(Least, ARowThatIsReadLateIsThereBesideTheOthers) {
  const auto x = builder.input(3);
  const RowId last = chain(x[0], 5);
  builder.output({builder.vector({last}, x[1], x[2], sum(isa::Alu::Add))});
  EXPECT_EQ(least().rows, 4U);
}

TEST_F(Least, OutputsAreRowsOfTheHost) {
  const auto x = builder.input(2);
  builder.output(builder.dense(x, 7, {}, false));
  EXPECT_EQ(least().rows, 2U);
  EXPECT_EQ(least().weightBlocks, 14U);
  EXPECT_EQ(least().preloadRows, 0U);
}

/// A row for the host and for cores has one address, which is its output row.
TEST_F(Least, OutputsThatAreReadLieInEveryInbox) {
  const auto x = builder.input(2), h = builder.dense(x, 3, {}), y = builder.dense(h, 2, {});
  builder.output(y);
  EXPECT_EQ(least().outputRows, 0U);
  builder.output(h);
  EXPECT_EQ(least().outputRows, 5U);
}

TEST_F(Least, StatesAreKeptToo) {
  const auto x = builder.input(1);
  RowId newest = x[0];
  for (int i = 0; i < 6; ++i) { // a delay line
    const RowId state = builder.state();
    builder.keep(state, newest);
    newest = state;
  }
  builder.output({builder.vector({x[0]}, newest, rows::kNoRow, sum())});
  builder.graph = workAhead(builder.graph, false);
  EXPECT_EQ(least().rows, 7U);
}

TEST_F(Least, ConstantsEqualBiasesAndTablesCountOnce) {
  const auto x = builder.input(1);
  const RowId constant = builder.constant(), unread = builder.constant();
  rows::VectorStep table;
  table.table = 1;
  const auto h = builder.dense(x, 3, table);
  builder.graph.tables.resize(2);
  builder.graph.rows[h[2]].bias = builder.graph.rows[h[0]].bias.lanes(); // another object
  std::vector<RowId> sums;
  for (const RowId row : h)
    sums.push_back(builder.vector({row}, constant, rows::kNoRow, sum()));
  builder.output(sums);
  const LeastMemory found = least();
  EXPECT_EQ(found.constantRows, 1U) << unread;
  EXPECT_EQ(found.preloadRows, 2U);
  EXPECT_EQ(found.tables, 1U);
  EXPECT_EQ(found.weightBlocks, 3U);
  EXPECT_EQ(found.rows, 4U + 1); // x is read before the last of h is
}

TEST_F(Least, RowsThatMayBecomeWeightsHaveNoAddress) {
  const auto x = builder.input(1);
  const auto w = builder.dense(x, 8, {}, false), a = builder.dense(x, 2, {}, false);
  builder.output(builder.product(a, w, true));
  EXPECT_EQ(least().rows, 3U); // x and a
}

TEST_F(Least, AMemoryIsLargeEnoughToTheRow) {
  format::Geometry target = builder.graph.geometry;
  const uint64_t cores = target.cores;
  LeastMemory all;
  all.inputRows = target.inboxRows;
  all.constantRows = cores * target.localRows;
  all.rows = target.inboxRows + cores * target.localRows;
  all.weightBlocks = cores * target.weightBlocks;
  all.preloadRows = cores * target.preloadRows;
  all.tables = cores * target.tables;
  EXPECT_TRUE(fits(all, target));
  for (uint64_t LeastMemory::*of :
       {&LeastMemory::inputRows, &LeastMemory::outputRows, &LeastMemory::constantRows,
        &LeastMemory::rows, &LeastMemory::weightBlocks, &LeastMemory::preloadRows,
        &LeastMemory::tables}) {
    LeastMemory more = all;
    ++(more.*of);
    EXPECT_FALSE(fits(more, target));
  }
}

/// Networks with residual paths, delay lines and products of activations, in all placements that
/// the search knows.
TEST(LeastOfAll, NoPlacementTakesLess) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    GraphBuilder builder("c2b8", seed);
    const auto any = [&](size_t count) { return builder.random() % count; };
    std::vector<RowId> rows = builder.input(1 + static_cast<uint32_t>(any(4)));
    for (uint64_t states = any(4); states > 0; --states)
      rows.push_back(builder.state());
    const size_t states = builder.graph.states.size();
    rows.push_back(builder.constant());
    for (uint64_t layers = 2 + any(4); layers > 0; --layers) {
      std::vector<RowId> x;
      for (uint64_t count = 1 + any(4); count > 0; --count)
        if (const RowId row = rows[any(rows.size())]; std::ranges::find(x, row) == x.end())
          x.push_back(row);
      const auto h = builder.dense(x, 1 + static_cast<uint32_t>(any(6)), {}, any(2) == 0, 0.2);
      rows.insert(rows.end(), h.begin(), h.end());
      rows.push_back(builder.vector({h[0]}, rows[any(rows.size())], rows::kNoRow, sum()));
      if (states == 0 && h.size() > 2 && any(2) == 0)
        for (const RowId row : builder.product({h[0]}, {h[1], h[2]}, any(2) == 0))
          rows.push_back(row);
    }
    for (size_t state = 0; state < states; ++state)
      builder.graph.states[state].next = rows[rows.size() - 1 - any(rows.size() / 2)];
    builder.output({rows.back()});
    const RowId other = rows[rows.size() - 2 - any(rows.size() / 2)];
    const RowKind kind = builder.graph.rows[other].kind;
    if (any(2) == 0 && (kind == RowKind::Linear || kind == RowKind::Vector))
      builder.output({other});
    rows::Graph graph = builder.graph;
    if (states != 0)
      graph = workAhead(graph, false);
    const Work work = analyse(graph);
    const LeastMemory least = leastMemory(graph, work);
    for (const uint32_t together : {0U, 4U, 100U})
      for (const uint32_t reuse : {0U, 1U, 2U, 3U})
        for (const bool everywhere : {false, true}) {
          PlacementOptions options;
          options.keepTogether = together;
          options.reuse = reuse;
          options.inputsEverywhere = everywhere;
          const Placement placement = place(graph, work, options);
          uint64_t constants = 0, local = 0, blocks = 0, preloads = 0, tables = 0;
          for (const CoreMemory &core : placement.cores) {
            constants += core.constants.size();
            local += core.localRows;
            preloads += core.preloads.size();
            tables += core.tables.size();
          }
          for (const uint64_t of : weightBlocksUsed(graph, work, placement))
            blocks += of;
          EXPECT_LE(least.inputRows + least.outputRows, placement.inboxRows) << seed;
          EXPECT_LE(least.constantRows, constants) << seed;
          EXPECT_LE(least.rows, placement.inboxRows + local) << seed;
          EXPECT_LE(least.weightBlocks, blocks) << seed;
          EXPECT_LE(least.preloadRows, preloads) << seed;
          EXPECT_LE(least.tables, tables) << seed;
        }
  }
}

} // namespace
} // namespace sluice::plan::test
