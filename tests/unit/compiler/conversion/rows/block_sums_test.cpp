#include "compiler/conversion/rows/block_sums.h"

#include <gtest/gtest.h>

#include "harness.h"

namespace sluice::rows::test {
namespace {

/// Squares of `lanes` x `count`, their sums (or means) over the rows, and their product with
/// a second input.
std::string sums(int lanes, int count, const std::string &monoid = "sum") {
  const auto tensor = [](int rows, int columns) {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) +
           "xbf16, #sluice.dim<0>>";
  };
  const std::string x = tensor(lanes, count), v = tensor(count, 3), s = tensor(lanes, 1),
                    y = tensor(lanes, 3);
  return "func.func @main(%x: " + x + ", %v: " + v + ") -> (" + y + ", " + s + ") {\n" +
         "  %e = sluice.map (%a = %x) : (" + x + ") -> " + x +
         " {\n    %0 = arith.mulf %a, %a : f32\n    sluice.yield %0\n  }\n" +
         "  %s = sluice.reduce " + monoid + " %e axes [1] keepdims : (" + x + ") -> " + s + "\n" +
         "  %y = sluice.matmul %e, %v : (" + x + ", " + v + ") -> " + y + "\n" +
         "  return %y, %s : " + y + ", " + s + "\n}";
}

size_t products(const Graph &graph) {
  size_t count = 0;
  for (const Row &row : graph.rows)
    count += row.terms.size();
  return count;
}

TEST(BlockSums, AreOneProductForABlock) {
  for (const char *monoid : {"sum", "mean"}) {
    Model model(sums(8, 11, monoid)); // 11 rows in two blocks
    ASSERT_TRUE(model.graph);
    EXPECT_EQ(products(*model.graph), 3U * 2 + 2);
    EXPECT_EQ(model.graph->blocks.size(), 2U);
    EXPECT_LT(model.error(), 0.005);
  }
}

/// Lanes without elements have no weights in a sum, but may have anything in a block.
TEST(BlockSums, OfPartialRowsStay) {
  Model model(sums(5, 6));
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(products(*model.graph), 3U + 6);
  EXPECT_LT(model.error(), 0.005);
}

/// A graph of two input rows that become columns of a block, and a sum of both.
Graph pair(uint16_t first, uint16_t second) {
  Graph graph;
  graph.geometry.lanes = 2;
  graph.rows.resize(4);
  for (RowId row : {0U, 1U})
    graph.rows[row].kind = RowKind::Input;
  graph.blocks = {{0, 0, 0, 0}, {first, 0, 0, first}, {second, 0, 0, second}};
  graph.dynamic[0] = {true, {{0, 1}, {1, 0}}, {}};
  graph.rows[2].kind = graph.rows[3].kind = RowKind::Linear;
  graph.rows[2].terms = {{0, 1}, {1, 2}};
  graph.rows[3].terms = {{0, 0}};
  return graph;
}

TEST(BlockSums, KeepTheFactorOfEveryRow) {
  Graph graph = pair(0x3F80, 0x4000);
  sumOverBlocks(graph);
  ASSERT_EQ(graph.rows[2].terms.size(), 1U);
  EXPECT_EQ(graph.rows[2].terms[0].block, 0U);
  EXPECT_EQ(graph.rows[graph.rows[2].terms[0].x].lanes, (std::vector<uint16_t>{0x4000, 0x3F80}));
}

TEST(BlockSums, OfOtherRowsStay) {
  const auto stays = [](Graph graph) {
    sumOverBlocks(graph);
    return graph.rows[2].terms.size() == 2;
  };
  Graph rows = pair(0x3F80, 0x3F80);
  rows.dynamic[0].columns = false;
  EXPECT_TRUE(stays(rows));
  Graph mixed = pair(0x3F80, 0x3F80);
  mixed.blocks[1] = {0x3F80, 0x3F80, 0, 0x3F80};
  EXPECT_TRUE(stays(mixed));
  Graph constant = pair(0x3F80, 0x3F80);
  constant.dynamic[0].writes.pop_back();
  constant.blocks[0] = {0x3F80, 0, 0, 0};
  EXPECT_TRUE(stays(constant));
}

} // namespace
} // namespace sluice::rows::test
