// Who computes which row and where it lies, on graphs small enough to derive it by hand. The
// target has two cores.
#include "compiler/conversion/plan/order/placement.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/rows/graphs.h"

namespace sluice::plan::test {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;
using ::testing::Pair;

constexpr uint32_t kBoth = 3; ///< mask of both cores

struct Placing : testing::Test {
  GraphBuilder builder{"c2b8", 1};
  PlacementOptions options;
  std::optional<Work> work;
  Placement placement;

  Placing() { options.keepTogether = 0; }

  void place() {
    work = analyse(builder.graph);
    placement = plan::place(builder.graph, *work, options);
  }

  /// A layer whose rows have so many products.
  std::vector<RowId> layer(const std::vector<RowId> &x, const std::vector<uint32_t> &products) {
    const std::vector<RowId> rows =
        builder.dense(x, static_cast<uint32_t>(products.size()), {}, false);
    for (size_t i = 0; i < rows.size(); ++i)
      builder.graph.rows[rows[i]].terms.resize(products[i]);
    return rows;
  }

  rows::Row &row(RowId id) { return builder.graph.rows[id]; }

  template <typename Field> auto each(const std::vector<RowId> &rows, Field field) const {
    std::vector<std::remove_cvref_t<decltype(placement.rows[0].*field)>> values;
    for (RowId row : rows)
      values.push_back(placement.rows[row].*field);
    return values;
  }
  auto cores(const std::vector<RowId> &rows) const { return each(rows, &RowPlace::core); }
  auto inbox(const std::vector<RowId> &rows) const { return each(rows, &RowPlace::inbox); }
};

TEST_F(Placing, PinnedRowsStayOnTheirCores) {
  const auto h = layer(builder.input(6), {6, 2, 2, 2});
  builder.output(h);
  const NodeCores pins{2, 3, 1}; // masks, by node
  options.pins = &pins;
  for (RowId id : h)
    row(id).nodes = {0};
  place();
  EXPECT_THAT(cores(h), ElementsAre(1, 1, 1, 1));
  row(h[1]).nodes = {2};
  row(h[3]).nodes = {1};
  place();
  EXPECT_THAT(cores(h), ElementsAre(1, 0, 1, 0));
  // Even where a stage would stay together, and follow its operands.
  options.keepTogether = 100;
  options.follow = true;
  place();
  EXPECT_THAT(cores(h), ElementsAre(1, 0, 1, 0));
}

TEST_F(Placing, ProductsAreSharedOutEvenly) {
  const auto h = layer(builder.input(6), {6, 2, 2, 2});
  builder.output(h);
  place();
  EXPECT_THAT(cores(h), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(each(h, &RowPlace::indexInStage), ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(each(h, &RowPlace::turn), ElementsAre(0, 1, 2, 3));
}

TEST_F(Placing, ProductsWithZerosDoNotCount) {
  const auto h = layer(builder.input(6), {6, 6, 2, 1});
  for (uint32_t term = 0; term < 4; ++term)
    builder.setWeights(row(h[0]).terms[term].block, 0x8000);
  builder.output(h);
  place();
  EXPECT_THAT(cores(h), ElementsAre(0, 1, 0, 0)); // 2, 6, 2 and 1 products
}

TEST_F(Placing, EqualRowsGoRoundFromTheCoreThatDidLeast) {
  const auto h = builder.dense(builder.input(6), 5, {});
  const auto y = builder.dense(h, 4, {});
  builder.output(y);
  place();
  EXPECT_THAT(cores(h), ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(cores(y), ElementsAre(1, 0, 1, 0)); // 18 products on core 0, 12 on core 1
}

TEST_F(Placing, SmallStagesStayOnOneCore) {
  const auto h = builder.dense(builder.input(2), 2, {}), y = builder.dense(h, 2, {});
  builder.output(y);
  options.keepTogether = 4;
  place();
  EXPECT_THAT(cores(h), ElementsAre(0, 0));
  EXPECT_THAT(cores(y), ElementsAre(0, 0)); // with their operands
  options.keepTogether = 3;
  place();
  EXPECT_THAT(cores(h), ElementsAre(0, 1));
  EXPECT_THAT(cores(y), ElementsAre(0, 1));
}

TEST_F(Placing, ASingleRowIsWhereMostOperandsAre) {
  const auto h = builder.dense(builder.input(3), 3, {}); // cores 0, 1, 0
  const auto one = builder.dense({h[1]}, 1, {}), all = builder.dense(h, 1, {});
  builder.output({one[0], all[0]});
  place();
  EXPECT_THAT(cores({one[0], all[0]}), ElementsAre(1, 0));
}

TEST_F(Placing, VectorRowsStayWithTheirOperandsAndNeedNoPacket) {
  const auto h = builder.dense(builder.input(3), 4, {}); // cores 0, 1, 0, 1
  std::vector<RowId> y;
  for (RowId row : h)
    y.push_back(builder.vector({row}, kNoRow, kNoRow, relu()));
  builder.output(y);
  place();
  EXPECT_THAT(cores(y), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(each(h, &RowPlace::net), ElementsAre(false, false, false, false));
  EXPECT_THAT(each(y, &RowPlace::net), ElementsAre(true, true, true, true)); // to the host
  for (size_t i = 0; i < h.size(); ++i)
    EXPECT_EQ(addressAt(placement, i % 2, h[i]), isa::kLocalBase + i / 2);
  EXPECT_EQ(placement.cores[0].localRows, 2U);
}

TEST_F(Placing, ReadersAreCoresAndUnits) {
  const auto x = builder.input(2);
  const auto h = builder.dense({x[0]}, 2, {}); // cores 0, 1
  const RowId v = builder.vector({h[1]}, x[1], kNoRow, relu());
  const auto y = builder.dense({h[0]}, 2, {}); // cores 0, 1
  builder.output({v, y[0], y[1]});
  place();
  const auto expectReaders = [&](RowId row, uint32_t matrix, uint32_t vector, uint32_t units) {
    EXPECT_EQ(placement.rows[row].matrixReaders, matrix);
    EXPECT_EQ(placement.rows[row].vectorReaders, vector);
    EXPECT_EQ(placement.rows[row].units(), units);
  };
  expectReaders(x[0], kBoth, 0, kMatrixBit);
  expectReaders(x[1], 0, 2, kVectorBit);
  expectReaders(h[0], kBoth, 0, kMatrixBit);
  expectReaders(h[1], 0, 2, kVectorBit);
  expectReaders(v, 0, 0, 0);
}

TEST_F(Placing, InputsEverywhereGoWhereAnyIsRead) {
  const auto x = builder.input(3);
  const auto h = builder.dense({x[0]}, 1, {}); // core 0
  builder.output({h[0], builder.vector({x[1]}, kNoRow, kNoRow, relu())});
  options.inputsEverywhere = true;
  place();
  EXPECT_THAT(each(x, &RowPlace::matrixReaders), ElementsAre(1, 1, 1));
  EXPECT_THAT(each(x, &RowPlace::vectorReaders), ElementsAre(2, 2, 2)); // core 1 did less
}

TEST_F(Placing, ReductionsFindTheirRowsInOneMemory) {
  const auto h = builder.dense(builder.input(3), 3, {}); // cores 0, 1, 0
  rows::VectorStep max;
  max.reduce = isa::Reduce::Max;
  builder.output({builder.vector(h, kNoRow, kNoRow, max)});
  place();
  EXPECT_THAT(each(h, &RowPlace::net), ElementsAre(true, true, true));
  // Behind the inputs: a stream of stride one.
  EXPECT_THAT(inbox(h), ElementsAre(3, 4, 5));
}

TEST_F(Placing, TwoRowsAreAStreamWhereverTheyLie) {
  const auto h = builder.dense(builder.input(2), 2, {}); // cores 0, 1
  rows::VectorStep max;
  max.reduce = isa::Reduce::Max;
  builder.output({builder.vector(h, kNoRow, kNoRow, max)});
  place();
  EXPECT_THAT(each(h, &RowPlace::net), ElementsAre(false, true));
}

TEST_F(Placing, RowsForCoresAndHostHaveOneAddress) {
  const auto x = builder.input(2), h = builder.dense(x, 2, {}), y = builder.dense(h, 2, {});
  builder.output(y);
  place();
  EXPECT_THAT(inbox(x), ElementsAre(0, 1));
  EXPECT_THAT(inbox(h), ElementsAre(2, 3));
  EXPECT_THAT(inbox(y), ElementsAre(0, 1)); // of the host
  builder.output({h[1], h[0]});
  place();
  EXPECT_THAT(inbox(y), ElementsAre(0, 1));
  EXPECT_THAT(inbox(h), ElementsAre(3, 2));
  EXPECT_THAT(inbox(x), ElementsAre(4, 5));
}

TEST_F(Placing, PlacesAreGivenAgainBehindTheLastReader) {
  builder.graph = perceptron("c2b8", {2, 2, 2, 2, 2}, 1);
  const auto layers = [&](uint32_t reuse) {
    options.reuse = reuse;
    place();
    std::vector<uint32_t> first;
    for (size_t stage = 0; stage < 4; ++stage)
      first.push_back(placement.rows[work->stages[stage][0]].inbox);
    return first;
  };
  EXPECT_THAT(layers(0), ElementsAre(0, 2, 4, 6));
  EXPECT_EQ(placement.inboxRows, 8U);
  EXPECT_THAT(layers(1), ElementsAre(0, 2, 0, 2));
  EXPECT_EQ(placement.inboxRows, 4U);
  EXPECT_THAT(layers(2), ElementsAre(0, 2, 4, 0));
  EXPECT_EQ(placement.inboxRows, 6U);
}

TEST_F(Placing, CoresHoldWhatTheyRead) {
  const RowId bias = builder.constant();
  const auto h = builder.dense(builder.input(2), 4, {}); // cores 0, 1, 0, 1
  row(h[0]).bias = std::vector<float>(8, 0.0F);
  for (RowId id : {h[1], h[3]}) {
    row(id).c = bias;
    row(id).step.alu2 = isa::Alu::Add;
    row(id).step.table = 5;
  }
  for (const rows::Term &term : row(h[2]).terms)
    builder.setWeights(term.block, 0);
  builder.output(h);
  place();
  const CoreMemory &first = placement.cores[0], &second = placement.cores[1];
  EXPECT_THAT(first.constants, ElementsAre());
  EXPECT_THAT(first.tables, ElementsAre());
  EXPECT_EQ(first.zeroRow, isa::kLocalBase); // for h[2], whose products all vanish
  EXPECT_THAT(first.preloads, ElementsAre(h[2]));
  EXPECT_EQ(first.preloadRow[h[0]], kNone); // zeros are no bias
  EXPECT_EQ(second.zeroRow, kNone);
  EXPECT_THAT(second.constants, ElementsAre(bias));
  EXPECT_EQ(addressAt(placement, 1, bias), isa::kLocalBase);
  EXPECT_THAT(second.tables, ElementsAre(5));
  EXPECT_THAT(second.preloads, ElementsAre(h[1], h[3]));
}

TEST_F(Placing, EqualBiasesShareAPreloadRowWhereThereAreTooFew) {
  const auto h = builder.dense(builder.input(2), 6, {}); // cores 0, 1, 0, 1, 0, 1
  row(h[4]).bias = row(h[0]).bias.lanes();
  std::vector<float> other = row(h[1]).bias.lanes();
  other[7] = std::nextafter(other[7], INFINITY);
  row(h[3]).bias = other;
  builder.output(h);
  place();
  EXPECT_THAT(placement.cores[0].preloads, ElementsAre(h[0], h[2], h[4]));
  builder.graph.geometry.preloadRows = 2;
  place();
  EXPECT_THAT(placement.cores[0].preloads, ElementsAre(h[0], h[2]));
  EXPECT_EQ(placement.cores[0].preloadRow[h[4]], 0U);
  EXPECT_THAT(placement.cores[1].preloads, ElementsAre(h[1], h[3], h[5]));
}

TEST_F(Placing, RowsInTheOrderOfTheirOperands) {
  const auto x = builder.input(3);
  const auto h = layer(x, {1, 1, 1});
  for (size_t i = 0; i < 3; ++i)
    row(h[i]).terms[0].x = x[2 - i];
  builder.output(h);
  place();
  EXPECT_THAT(cores(h), ElementsAre(0, 1, 0));
  EXPECT_THAT(inTurn(h, placement), ElementsAre(h[0], h[1], h[2]));
  options.byArrival = true;
  place();
  EXPECT_THAT(each(h, &RowPlace::turn), ElementsAre(2, 1, 0));
  EXPECT_THAT(inTurn(h, placement), ElementsAre(h[2], h[1], h[0]));
}

TEST_F(Placing, WhatSeveralRowsReadKeepsNoneOnItsCore) {
  // A sum of a line, its distances from the sum, and their squares.
  const auto x = builder.input(4);
  const auto sum = layer(x, {4});
  rows::VectorStep subtract, square;
  subtract.alu1 = isa::Alu::Sub;
  square.alu1 = isa::Alu::Mul;
  square.rhs1 = isa::Rhs1::A;
  std::vector<RowId> distances, squares;
  for (const RowId one : x)
    distances.push_back(builder.vector({one}, sum[0], kNoRow, subtract));
  for (const RowId one : distances)
    squares.push_back(builder.vector({one}, kNoRow, kNoRow, square));
  for (const std::vector<RowId> &operation : {distances, squares})
    for (const RowId one : operation)
      row(one).group = row(operation[0]).group;
  builder.output(squares);
  place();
  EXPECT_THAT(cores(distances), ElementsAre(0, 0, 0, 0));
  options.byOwn = true;
  place();
  EXPECT_THAT(cores(sum), ElementsAre(0));
  EXPECT_THAT(cores(distances), ElementsAre(1, 0, 1, 0)); // first the core without products
  EXPECT_THAT(cores(squares), ElementsAre(1, 0, 1, 0));   // with the only row that each reads
  EXPECT_THAT(each(squares, &RowPlace::net), ElementsAre(true, true, true, true)); // to the host
  EXPECT_THAT(each(distances, &RowPlace::net), ElementsAre(false, false, false, false));
  options.runs = 2;
  place();
  EXPECT_THAT(cores(distances), ElementsAre(0, 1, 0, 1));
  options.runs = 1;
  place();
  EXPECT_THAT(cores(distances), ElementsAre(0, 0, 1, 1));
}

TEST_F(Placing, NeighboursStayTogether) {
  const auto x = builder.input(8);
  const auto h = layer(x, {1, 1, 1, 1, 1, 1, 1, 1}), y = layer(h, {1, 2, 2, 2, 2, 2, 2, 2});
  const auto few = layer(y, {1, 1});
  for (size_t i = 0; i < 8; ++i) {
    row(h[i]).terms[0].x = x[i];
    row(y[i]).terms[0].x = h[i];
    if (i > 0)
      row(y[i]).terms[1].x = h[i - 1];
  }
  builder.output(few);
  builder.output(y);
  options.runs = 2;
  place();
  EXPECT_THAT(cores(h), ElementsAre(0, 0, 1, 1, 0, 0, 1, 1));
  EXPECT_THAT(cores(y), ElementsAre(0, 0, 0, 1, 1, 0, 0, 1)); // 15 products, cut behind 3.75 each
  EXPECT_THAT(cores(few), ElementsAre(1, 0));                 // too few for two runs on each core
  EXPECT_THAT(each(h, &RowPlace::net),
              ElementsAre(false, false, true, false, true, false, true, false));
}

TEST_F(Placing, WhatACellNeedsLastEvensOutTheCores) {
  // One cell: a step of one gate, another one, and what takes both.
  const auto x = builder.input(4);
  const auto gate = layer(x, {4}), more = layer(x, {4}), last = layer(x, {4});
  rows::VectorStep multiply;
  multiply.alu1 = isa::Alu::Mul;
  const RowId step = builder.vector({gate[0]}, more[0], rows::kNoRow, multiply);
  const RowId result = builder.vector({step}, last[0], rows::kNoRow, multiply);
  builder.output({result});
  options.byCell = true;
  place();
  EXPECT_THAT(work->cells, ElementsAre(12));
  for (const RowId early : {gate[0], more[0], step, result})
    EXPECT_FALSE((*work)[early].late);
  EXPECT_TRUE((*work)[last[0]].late);
  EXPECT_THAT(cores({gate[0], more[0], last[0], step, result}), ElementsAre(0, 0, 0, 0, 0));
  options.lateApart = true;
  place();
  EXPECT_THAT(cores({gate[0], more[0], last[0], step, result}), ElementsAre(0, 0, 1, 0, 0));
}

TEST_F(Placing, GivenCoresAreKept) {
  const auto h = builder.dense(builder.input(2), 3, {});
  builder.output(h);
  std::vector<uint32_t> given(builder.graph.rows.size(), kNone);
  given[h[0]] = given[h[1]] = 1;
  options.cores = &given;
  place();
  EXPECT_THAT(cores(h), ElementsAre(1, 1, 0));
}

TEST_F(Placing, LinearRowsFollowOneCore) {
  const auto h = builder.dense(builder.input(3), 3, {}); // cores 0, 1, 0
  const auto y = layer({h[0], h[1]}, {1, 1, 2});
  row(y[0]).terms[0].x = h[1];
  row(y[1]).terms[0].x = h[1];
  builder.output(y);
  place();
  EXPECT_THAT(cores(y), ElementsAre(0, 1, 0));
  options.follow = true;
  place();
  EXPECT_THAT(cores(y), ElementsAre(1, 1, 0)); // the last has operands on both
}

TEST_F(Placing, RowsThatBecomeWeightsAreComputedThere) {
  const auto x = builder.input(2), w = builder.dense(x, 2, {}); // cores 0, 1
  builder.output(builder.product(x, w, false));
  place();
  const uint32_t block = builder.graph.dynamic.begin()->first;
  EXPECT_THAT(placement.rows[w[0]].weights, Optional(Pair(block, 0)));
  EXPECT_EQ(placement.rows[w[0]].readers(), 0U);
  EXPECT_FALSE(placement.rows[w[0]].net);
  EXPECT_EQ(placement.rows[w[1]].weights, std::nullopt); // of another core
  EXPECT_EQ(placement.rows[w[1]].vectorReaders, 1U);
  EXPECT_TRUE(placement.rows[w[1]].net);
}

TEST_F(Placing, CopiesOfWrittenWeightsShareTheRows) {
  const auto x = builder.input(4), w = builder.dense(x, 2, {});
  const auto y = builder.product(x, w, false);
  builder.output(y);
  place();
  EXPECT_THAT(cores(y), ElementsAre(0, 0, 0, 0)); // one core writes the block
  options.copies = 2;
  place();
  EXPECT_THAT(cores(y), ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(placement.rows[w[0]].vectorReaders, kBoth);
  EXPECT_EQ(placement.rows[w[0]].weights, std::nullopt);
}

} // namespace
} // namespace sluice::plan::test
