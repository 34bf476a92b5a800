// A plan in three sentences: its cycles, where they go, and what would help most.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/conversion/plan/report/facts.h"
#include "runtime/format/program.h"

namespace sluice::cli {

/// Returns the sentences for the plan of a program. The first names the latency and its lower
/// bound, the second the share of products and of each cause of waiting, the third the largest of
/// these and where it is.
std::array<std::string, 3> planSummary(const plan::Explanation &explanation,
                                       const format::Program &program);

/// "node 1 'fc1' (Gemm), node 2 'relu1' (Relu)": the nodes of a stage, or "inputs".
std::string stageName(const plan::Explanation &explanation, const format::Program &program,
                      uint32_t stage);

/// "98 rows: 80 on 1 core, 18 on 2": rows that a stage reads, by the number of cores that read them
/// (ExplainedStage::readsByCores). "0 rows" if it reads none.
std::string readsText(const std::vector<uint32_t> &byCores);

} // namespace sluice::cli
