// Whatever the planner chooses, the bits are the same: where rows live, in what order they are
// made, in loops or one by one, in groups of any size. Only the two parts of a sum that two cores
// compute are rounded on their own, and that stays within what docs/numerics.md says.
// SLUICE_CHOICE_GRAPHS sets how many graphs, SLUICE_CHOICE_SEED the first seed.
#include <cmath>
#include <iostream>

#include <gtest/gtest.h>

#include "compiler/conversion/loops/loop_plan.h"
#include "tests/rtl/plans/engines.h"
#include "tests/rtl/plans/forced.h"
#include "tests/support/environment.h"
#include "tests/support/rng.h"
#include "tests/support/rows/graphs.h"
#include "tests/support/rows/programs.h"

namespace sluice::fixtures {
namespace {

using plan::Choice;
using plan::test::Rows;

TEST(Choices, NeverChangeBits) {
  const uint64_t graphs = fromEnvironment("SLUICE_CHOICE_GRAPHS", 40);
  const uint64_t first = fromEnvironment("SLUICE_CHOICE_SEED", 5000);
  Engines engines("c2b8");
  unsigned straight = 0, looped = 0, split = 0, splittable = 0, alone = 0;
  for (uint64_t seed = first; seed < first + graphs; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const rows::Program program =
        loops::runnable(loops::test::randomProgram("c2b8", seed, /*mostTrips=*/7));
    const rows::Graph graph = loops::test::flatten(program);
    std::mt19937_64 random(seed);
    const std::vector<Rows> inputs{plan::test::randomRows(graph, random),
                                   plan::test::randomRows(graph, random)};
    std::vector<Rows> bits;
    unsigned plans = 0;
    const auto run = [&](const format::Program &planned) {
      // The model runs them all, the RTL one in four.
      return engines.run(planned, inputs, seed, ++plans % 4 == 1);
    };
    const auto compare = [&](const std::vector<Rows> &outputs) {
      for (size_t i = 0; i < outputs.size(); ++i)
        plan::test::expectNear(outputs[i], plan::test::evaluate(graph, inputs[i]));
    };
    const auto compareBits = [&](const std::vector<Rows> &outputs) {
      if (bits.empty())
        compare(bits = outputs);
      EXPECT_EQ(outputs, bits);
    };
    Straight rowByRow(graph);
    for (unsigned i = 0; i < 6; ++i)
      if (const auto planned = rowByRow.program(rowByRow.draw(rng))) {
        compareBits(run(*planned));
        ++straight;
      }
    for (const uint32_t group : {1, 2, 3})
      if (const auto planned = inLoops(program, {group})) {
        compareBits(run(*planned));
        ++looped;
      }
    alone += plans < 2;
    const std::set<uint32_t> stages = rowByRow.splittable();
    splittable += !stages.empty();
    for (unsigned i = 0; !stages.empty() && i < 4; ++i) {
      Choice inParts = rowByRow.draw(rng); // rounds in other places, and runs on from there
      inParts.placement.keepTogether = 0;
      inParts.split = {stages, static_cast<uint32_t>(rng.range(0, 1))};
      if (const auto planned = rowByRow.program(inParts)) {
        compare(run(*planned));
        ++split;
        break;
      }
    }
    if (HasFailure())
      return;
  }
  std::cout << graphs << " graphs, " << straight << " plans row by row, " << looped
            << " with loops, " << split << " of " << splittable << " with split sums, "
            << engines.cycles() << " cycles\n";
  EXPECT_GE(straight, graphs);
  EXPECT_GE(looped, graphs);
  EXPECT_GE(split, splittable / 2);
  EXPECT_GE(splittable, graphs / 10); // most share out evenly
  EXPECT_LE(alone, graphs / 10);
}

/// What a sum of products may be off by before it is rounded to bf16, in parts and whole.
struct Sum {
  double value = 0, bound = 0;
};

Sum exactSum(const rows::Graph &graph, const rows::Row &row, uint32_t lane, const Rows &input,
             bool inParts) {
  const uint32_t lanes = graph.geometry.lanes;
  Sum sum;
  double largest = 0, magnitudes = 0;
  for (const rows::Term &term : row.terms)
    for (uint32_t i = 0; i < lanes; ++i) {
      const double product =
          plan::test::fromBf16(graph.blocks[term.block][size_t{lane} * lanes + i]) *
          plan::test::fromBf16(input[term.x][i]);
      sum.value += product;
      largest = std::max(largest, std::abs(product));
      magnitudes += std::abs(product);
    }
  const double bias = row.bias.empty() ? 0 : row.bias[lane];
  sum.value += bias;
  const double k = static_cast<double>(row.terms.size()) * lanes;
  sum.bound = (k + k / graph.geometry.peTerms + k / lanes) * std::ldexp(largest, -25);
  if (inParts) // each part is rounded to fp32, and so is what they add up to
    sum.bound += std::ldexp(magnitudes + std::abs(bias) + std::abs(sum.value), -24);
  return sum;
}

/// One product of many terms and rows for it.
struct Product {
  rows::Graph graph;
  Rows input;
};

/// Of one scale, of magnitudes that differ by up to 2^20, or such that the second half of a sum
/// takes the first away and leaves a small bias.
Product drawProduct(uint64_t seed) {
  plan::test::GraphBuilder builder("c2b8", seed);
  const auto half = static_cast<uint32_t>(3 + seed % 6), count = 2 * half;
  const auto x = builder.input(count);
  const auto y = builder.dense(x, static_cast<uint32_t>(1 + seed % 5), rows::VectorStep{});
  builder.output(y);
  Product product{std::move(builder.graph), {}};
  product.input = plan::test::randomRows(product.graph, builder.random);
  if (seed % 3 == 0)
    for (rows::WeightBlock &block : product.graph.blocks) {
      const double factor = std::ldexp(1, static_cast<int>(builder.random() % 21) - 10);
      std::vector<uint16_t> scaled = block;
      for (uint16_t &element : scaled)
        element = plan::test::toBf16(plan::test::fromBf16(element) * factor);
      block = std::move(scaled);
    }
  if (seed % 3 == 1) {
    std::copy_n(product.input.begin(), half, product.input.begin() + half);
    for (const rows::RowId row : y) {
      rows::Row &sum = product.graph.rows[row];
      for (uint32_t term = 0; term < half; ++term) {
        std::vector<uint16_t> negative = product.graph.blocks[sum.terms[term].block];
        for (uint16_t &element : negative)
          element ^= 0x8000;
        product.graph.blocks[sum.terms[term + half].block] = std::move(negative);
      }
      std::vector<float> small = sum.bias.lanes();
      for (float &bias : small)
        bias = std::ldexp(bias, -18);
      sum.bias = std::move(small);
    }
  }
  return product;
}

TEST(Choices, SplitSumsStayWithinTheirBound) {
  const uint64_t graphs = fromEnvironment("SLUICE_CHOICE_GRAPHS", 40);
  const uint64_t first = fromEnvironment("SLUICE_CHOICE_SEED", 5000);
  Engines engines("c2b8");
  unsigned split = 0;
  uint64_t elements = 0, differing = 0;
  double most = 0; ///< of the bound
  for (uint64_t seed = first; seed < first + graphs; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const auto [graph, input] = drawProduct(seed);
    Straight plans(graph);
    Choice choice = plans.draw(rng);
    std::vector<Rows> whole;
    for (const bool inParts : {false, true}) {
      choice.placement.keepTogether = 0;
      if (inParts)
        choice.split = {plans.splittable(), static_cast<uint32_t>(rng.range(0, 1))};
      const auto planned = plans.program(choice);
      if (!planned)
        continue;
      const std::vector<Rows> outputs = engines.run(*planned, {input}, seed);
      ASSERT_EQ(outputs.size(), 1U);
      split += inParts;
      for (size_t r = 0; r < outputs[0].size(); ++r)
        for (uint32_t lane = 0; lane < graph.geometry.lanes; ++lane) {
          const Sum sum =
              exactSum(graph, graph.rows[graph.outputs[0].rows[r]], lane, input, inParts);
          const double error = std::abs(plan::test::fromBf16(outputs[0][r][lane]) - sum.value);
          // Half a unit of the last of eight bits is at most 2^-8 of the value.
          const double allowed = sum.bound + std::ldexp(std::abs(sum.value) + sum.bound, -8);
          ASSERT_LE(error, allowed) << "row " << r << ", lane " << lane;
          most = std::max(most, error / allowed);
          elements += inParts;
          differing += inParts && !whole.empty() && outputs[0][r][lane] != whole[0][r][lane];
        }
      if (!inParts)
        whole = outputs;
    }
  }
  std::cout << split << " of " << graphs << " products with split sums, " << differing << " of "
            << elements << " elements differ from the whole sum's; at most " << most
            << " of what is allowed, " << engines.cycles() << " cycles\n";
  EXPECT_GE(split, graphs / 2);
  EXPECT_GT(differing, 0U) << "no sum shows its parts";
}

} // namespace
} // namespace sluice::fixtures
