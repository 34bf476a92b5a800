// What one trip of a body computes: rows of B lanes and what makes each of them.
// Lowering the sluice dialect produces it; the planner gives every row a core,
// a place and a time. Views do not appear: they only choose which rows an
// operation reads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/conversion/row.h"
#include "compiler/conversion/rows/weight_block.h"
#include "runtime/format/computed_rows.h"
#include "runtime/format/geometry.h"
#include "runtime/format/host_tensor.h"
#include "runtime/format/images.h"
#include "runtime/format/source_map.h"

namespace sluice::rows {

/// A tensor at the host port and the rows that carry it, in the order of
/// format::HostTensor.
struct Port {
  format::HostTensor tensor; ///< firstRow and rows are set by the planner
  std::vector<RowId> rows;
};

/// The ports' tensors, their rows numbered one port after the other.
inline std::vector<format::HostTensor> numberedTensors(const std::vector<Port> &ports) {
  std::vector<format::HostTensor> tensors;
  uint32_t next = 0;
  for (const Port &port : ports) {
    format::HostTensor &tensor = tensors.emplace_back(port.tensor);
    tensor.firstRow = next;
    tensor.rows = static_cast<uint32_t>(port.rows.size());
    next += tensor.rows;
  }
  return tensors;
}

/// A row that is kept from one inference to the next.
struct State {
  std::string name;
  RowId row = kNoRow;            ///< of kind State
  RowId next = kNoRow;           ///< what it is in the next inference: any row
  std::vector<uint16_t> initial; ///< B bf16, in the first inference
};

/// Rows are in topological order: a row refers to earlier rows only.
struct Graph {
  format::Geometry geometry;
  std::string modelName;
  std::vector<Row> rows;
  std::vector<WeightBlock> blocks;          ///< distinct, or dynamic
  std::map<uint32_t, DynamicBlock> dynamic; ///< by block: those that rows are written to
  std::vector<format::TableImage> tables;   ///< distinct; TableImage::table is its index
  std::vector<Port> inputs;                 ///< every row is of kind Input
  std::vector<Port> outputs;                ///< rows are Linear or Vector and distinct
  std::vector<State> states;                ///< distinct rows
  std::vector<format::SourceNode> nodes;
  std::vector<format::ModelTensor> tensors; ///< that rows are elements of
  uint64_t macs = 0;
  uint64_t parameters = 0;
};

/// The rows in which other cores add parts of the sum of a row; the row adds the first of them.
/// Empty where one core computes the whole sum.
inline std::vector<RowId> partsOfSum(const Graph &graph, const Row &row) {
  std::vector<RowId> parts;
  for (RowId part = row.b; part != kNoRow && graph.rows[part].wide; part = graph.rows[part].b)
    parts.push_back(part);
  return parts;
}

} // namespace sluice::rows
