// Plans of row graphs run on the vm engine.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "compiler/conversion/plan/plan.h"

namespace sluice::plan::test {

/// Rows of bf16 lanes.
using Rows = std::vector<std::vector<uint16_t>>;

/// What so many candidates cost in each part of the search.
uint64_t workOf(const rows::Graph &graph, unsigned candidates);

/// The plan of a graph; a failure of the test if there is none.
Plan planned(const rows::Graph &graph, unsigned candidates = 8);

/// The program of a plan, without a source map.
format::Program assemble(const Plan &plan);

/// Rows for all inputs, lanes in [-1, 1).
Rows randomRows(const rows::Graph &graph, std::mt19937_64 &random);

/// Runs inferences one after the other; the host pauses at random if `pauses`.
std::vector<Rows> runAll(const format::Program &program, const std::vector<Rows> &inputs,
                         bool pauses);

/// Checks the rows of one inference, in the order of their addresses: bf16 rounds elsewhere than
/// in `expected`, so elements are off by up to 1/64 of the largest.
void expectNear(const Rows &found, const Rows &expected);

/// Checks the program file and runs four inferences with and without pauses:
/// they compute what the graph says.
void expectRuns(const rows::Graph &graph, const Plan &plan);
inline void expectRuns(const rows::Graph &graph) { expectRuns(graph, planned(graph)); }

} // namespace sluice::plan::test
