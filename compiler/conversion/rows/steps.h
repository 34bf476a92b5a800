// What a row reads, and two steps as one.
#pragma once

#include <optional>

#include "compiler/conversion/row.h"

namespace sluice::rows {

struct Graph;

/// Every row that a row is computed of, also those written to its weights.
std::vector<RowId> operandsOf(const Graph &graph, const Row &row);

/// How often every row is read, given out or kept.
std::vector<uint32_t> usesOf(const Graph &graph);

/// Whether a step looks at its operand b, or c.
bool usesB(const VectorStep &step);
bool usesC(const VectorStep &step);
/// Whether the second arithmetic unit reads operand a as it entered the pipeline. Nothing that the
/// first unit does to operand a may move into operand a then.
bool readsA(const VectorStep &step);

/// `second` behind `first` in one pass through the datapath, if that is possible.
std::optional<VectorStep> compose(const VectorStep &first, const VectorStep &second);

/// Both sets of nodes, ascending.
std::vector<uint32_t> merged(const std::vector<uint32_t> &left, const std::vector<uint32_t> &right);

} // namespace sluice::rows
