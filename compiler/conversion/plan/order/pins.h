// Operations that the user keeps on some of the cores (--core-partition).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/conversion/plan/order/work.h"
#include "compiler/support/problem_fwd.h"
#include "runtime/format/source_map.h"

namespace sluice::plan {

/// An operation, by the number or the name of a node it comes from, and the mask of its cores.
struct Pin {
  std::string node;
  uint32_t cores = 0;
};

/// By node of a graph, the cores that may compute its rows.
using NodeCores = std::vector<uint32_t>;

/// Empty if nothing is pinned. E0418: a pin of no node, of one that has no rows, or of two whose
/// rows are on one core.
NodeCores coresOfNodes(const Graph &graph, const Work &work, const std::vector<Pin> &pins,
                       Problems &problems);

/// The same of the nodes of a program, of which some have rows; conflicts are not looked for.
NodeCores coresOfNodes(const std::vector<format::SourceNode> &nodes,
                       const std::vector<bool> &hasRows, const std::vector<Pin> &pins,
                       Problems &problems);

/// "node 3 'fc' (Gemm)", and "0,2" of a mask.
std::string nodeName(const format::SourceNode &node);
std::string coreList(uint32_t mask);

/// The cores that may compute a row; `cores` is null or empty where all may.
uint32_t coresOfRow(const Row &row, const NodeCores *cores);

/// Whether some core may not compute a row of a stage.
bool isPinned(const Graph &graph, const std::vector<RowId> &stage, const NodeCores *cores);

} // namespace sluice::plan
