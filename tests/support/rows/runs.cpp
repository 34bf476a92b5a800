#include "tests/support/rows/runs.h"

#include <cmath>

#include <gtest/gtest.h>

#include "compiler/conversion/plan/order/work.h"
#include "compiler/support/problem.h"
#include "runtime/device/device.h"
#include "runtime/format/program_file.h"
#include "tests/support/rows/graphs.h"

namespace sluice::plan::test {

format::Program assemble(const Plan &plan) {
  format::Program program = plan.program;
  for (size_t list = 0; list < plan.lists.size(); ++list)
    for (const PlannedInstruction &one : plan.lists[list])
      (list < program.cores.size() ? program.cores[list].instructions : program.hostInstructions)
          .push_back(*isa::encode(one.instruction));
  return program;
}

uint64_t workOf(const rows::Graph &graph, unsigned candidates) {
  return 7 * 3 * candidates * analyse(graph).beats;
}

Plan planned(const rows::Graph &graph, unsigned candidates) {
  Plan plan;
  PlanOptions options;
  options.work = workOf(graph, candidates);
  const Problems problems = makePlan(graph, options, plan);
  EXPECT_TRUE(problems.empty()) << (problems.empty() ? "" : problems[0].message);
  return plan;
}

Rows randomRows(const rows::Graph &graph, std::mt19937_64 &random) {
  std::uniform_real_distribution<double> value(-1, 1);
  Rows result;
  for (const rows::Port &port : graph.inputs)
    for (size_t i = 0; i < port.rows.size(); ++i) {
      std::vector<uint16_t> lanes;
      for (uint32_t lane = 0; lane < graph.geometry.lanes; ++lane)
        lanes.push_back(toBf16(value(random)));
      result.push_back(lanes);
    }
  return result;
}

std::vector<Rows> runAll(const format::Program &program, const std::vector<Rows> &inputs,
                         bool pauses) {
  const std::unique_ptr<device::Device> device = device::makeVm();
  device->load(program);
  size_t outputRows = 0;
  for (const format::HostTensor &tensor : program.models[0].outputs)
    outputRows += tensor.rows;
  std::vector<Rows> outputs(inputs.size(), Rows(outputRows));
  std::mt19937_64 random(7);
  const auto coin = [&] { return !pauses || random() % 3 == 0; };
  std::vector<size_t> came(outputRows, 0);
  size_t inference = 0, row = 0, taken = 0;
  const uint64_t limit = 200000;
  while (taken < outputs.size() * outputRows && device->cycle() < limit) {
    const uint16_t *offer =
        inference < inputs.size() && coin() ? inputs[inference][row].data() : nullptr;
    const auto cycle = device->step(offer, coin());
    if (cycle.inputTaken && ++row == inputs[inference].size()) {
      row = 0;
      ++inference;
    }
    if (cycle.output) {
      // The k-th row of an address belongs to the k-th inference.
      size_t &count = came.at(cycle.output->address);
      if (count == outputs.size()) {
        ADD_FAILURE() << "output row " << cycle.output->address << " came too often";
        break;
      }
      outputs[count++][cycle.output->address] = cycle.output->lanes;
      ++taken;
    }
  }
  EXPECT_EQ(taken, outputs.size() * outputRows) << "the machine stalls";
  EXPECT_FALSE(device->tokenFault());
  return outputs;
}

void expectNear(const Rows &found, const Rows &expected) {
  double largest = 0;
  for (const std::vector<uint16_t> &row : expected)
    for (const uint16_t element : row)
      largest = std::max(largest, std::abs(fromBf16(element)));
  ASSERT_EQ(found.size(), expected.size());
  for (size_t row = 0; row < expected.size(); ++row) {
    ASSERT_EQ(found[row].size(), expected[row].size());
    for (size_t lane = 0; lane < expected[row].size(); ++lane)
      ASSERT_NEAR(fromBf16(found[row][lane]), fromBf16(expected[row][lane]), largest / 64)
          << "lane " << lane << " of row " << row;
  }
}

void expectRuns(const rows::Graph &graph, const Plan &plan) {
  const format::Program program = assemble(plan);
  const std::vector<format::FileProblem> problems = format::check(program);
  ASSERT_TRUE(problems.empty()) << problems[0].message;
  std::mt19937_64 random(11);
  std::vector<Rows> inputs;
  for (unsigned i = 0; i < 4; ++i)
    inputs.push_back(randomRows(graph, random));
  const std::vector<Rows> outputs = runAll(program, inputs, false);
  for (size_t i = 0; i < inputs.size(); ++i)
    expectNear(outputs[i], evaluate(graph, inputs[i]));
  EXPECT_EQ(runAll(program, inputs, true), outputs) << "timing changes values";
}

} // namespace sluice::plan::test
