// Whether a plan fits the machine's memories, and what to say if it does not.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/conversion/plan/beats/schedule.h"
#include "compiler/conversion/plan/order/least_memory.h"
#include "compiler/conversion/plan/report/facts.h"
#include "compiler/support/problem.h"
#include "runtime/format/geometry.h"
#include "runtime/format/source_map.h"

namespace sluice::plan {

/// Every memory of every core but the instruction memories: known before anything is put in order.
std::vector<MemoryUse> dataUse(const rows::Graph &graph, const Work &work,
                               const Placement &placement);

/// The instruction memories.
std::vector<MemoryUse> instructionUse(const rows::Graph &graph, const Schedule &schedule);

bool fitsAll(const std::vector<MemoryUse> &use);

/// What a plan needs of a memory divided by what there is, for the memory where this is most: at
/// most 1 if the plan fits.
double excessOf(const std::vector<MemoryUse> &use);

/// "needs 70 inbox rows, there are 64": of the first memory that overflows; empty if none does.
std::string excessText(const std::vector<MemoryUse> &use);

/// Says who uses most of a memory of a core, largest first.
using LargestUsers =
    std::function<std::vector<std::string>(const std::string &memory, uint32_t core)>;

/// A node or a tensor, and how much of a memory it uses at least.
struct User {
  std::string name; ///< "node 3 'conv1' (Conv)", or "'relu1_out'"
  uint64_t used = 0;
};

/// Counts how much of a memory nodes use.
class NodeCount {
public:
  /// Rows refer to `nodes` by index. They must outlive this.
  explicit NodeCount(const std::vector<format::SourceNode> &nodes) : nodes(nodes) {}

  /// Adds to the count of the first node of a row, if it has one.
  void add(const rows::Row &row, uint64_t amount = 1);
  /// Returns the nodes with the largest counts, the largest first.
  [[nodiscard]] std::vector<User> largest() const;

private:
  const std::vector<format::SourceNode> &nodes;
  std::map<uint32_t, uint64_t> byNode;
};

/// Returns for each user a text such as "node 3 'conv1' (Conv) uses 4 weight blocks".
std::vector<std::string> usesOf(const std::vector<User> &users, const std::string &memory);

/// More of a memory than a target has, whatever the plan.
struct LeastUse {
  std::string memory;     ///< "weight blocks"
  std::string_view users; ///< "its weights"
  uint64_t needed = 0, available = 0;
  std::vector<User> largest = {};       ///< that use most, largest first
  std::string_view place = "all cores"; ///< with `available`
  std::string note = {};                ///< not empty: which rows the nodes in `largest` compute
};

/// Returns the inbox rows that rows stored at once need beyond the local rows of all cores. There
/// are more of them than of local rows.
LeastUse rowsTogether(const format::Geometry &geometry, uint64_t rows, std::vector<User> largest);

/// The problem of a model that needs more of a memory than there is.
Problem leastProblem(const format::Geometry &geometry, const LeastUse &use);

/// The problem of a model one of whose outputs the network reads: an inbox then holds the rows of
/// all inputs and outputs. There is no problem if the inbox has room for them. If it has no room
/// for the inputs alone, that is another problem.
Problems lackingHostRows(const format::Geometry &geometry, std::vector<User> inputs,
                         std::vector<User> outputs);

/// Returns a problem for each memory of which every plan of a graph needs more than the target has.
/// A graph without problems may fit.
Problems leastProblems(const rows::Graph &graph, const Work &work, const LeastMemory &least);

/// One problem per kind of memory that overflows somewhere (E0401 to E0407),
/// with the worst core, every other core and the largest users.
Problems fitProblems(const format::Geometry &geometry, const std::vector<MemoryUse> &use,
                     const LargestUsers &largest);
Problems fitProblems(const rows::Graph &graph, const Work &work, const Placement &placement,
                     const std::vector<MemoryUse> &use);

} // namespace sluice::plan
