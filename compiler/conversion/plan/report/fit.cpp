#include "compiler/conversion/plan/report/fit.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "compiler/conversion/plan/order/pins.h"
#include "compiler/conversion/row_graph.h"

namespace sluice::plan {
namespace {

struct Kind {
  std::string_view memory;
  std::string_view code;
  std::string_view advice;
};

constexpr Kind kKinds[] = {
    {"weight blocks", "E0401", "use a target with more weight blocks or more cores"},
    {"inbox rows", "E0402", "use a target with more inbox rows or more lanes"},
    {"local rows", "E0403", "use a target with more local rows or more cores"},
    {"preload rows", "E0404", "use a target with more preload rows or more cores"},
    {"function tables", "E0405", "use fewer different activation functions"},
    {"instructions", "E0406", "use a target with more instruction memory"},
    {"host instructions", "E0407", "use a target with more host instruction memory"},
};

std::string placeOf(const format::Geometry &geometry, uint32_t core) {
  return core == geometry.cores ? "the host port" : fmt::format("core {}", core);
}

/// "function table" of "function tables".
std::string singular(std::string memory) {
  memory.pop_back();
  return memory;
}

constexpr size_t kNamed = 3; ///< nodes or tensors in a problem

/// How much of a memory of one core each row takes.
class Shares {
public:
  Shares(const Graph &graph, const Work &work, const Placement &placement, uint32_t core)
      : graph(graph), work(work), placement(placement), core(core) {}

  /// The nodes that use most, the largest first.
  std::vector<User> largest(std::string_view memory) {
    NodeCount count(graph.nodes);
    for (const std::vector<RowId> &stage : work.stages)
      for (const RowId row : stage)
        if (const uint64_t amount = share(memory, row); amount != 0)
          count.add(graph.rows[row], amount);
    return count.largest();
  }

private:
  const Graph &graph;
  const Work &work;
  const Placement &placement;
  const uint32_t core;
  std::set<uint32_t> seenBlocks, seenTables;

  uint64_t share(std::string_view memory, RowId row) {
    const RowPlace &place = placement.rows[row];
    const Row &what = graph.rows[row];
    if (memory == "inbox rows")
      return place.net && place.inbox != kNone ? what.wide ? 2 : 1 : 0;
    if (place.core != core)
      return 0;
    const CoreMemory &mine = placement.cores[core];
    if (memory == "weight blocks") {
      uint64_t blocks = 0;
      for (const rows::Term &term : work[row].terms)
        blocks += seenBlocks.insert(term.block).second;
      return blocks;
    }
    if (memory == "local rows")
      return mine.localAddress[row] != kNone;
    if (memory == "preload rows")
      return mine.preloadRow[row] != kNone;
    if (memory == "function tables")
      return what.step.table && seenTables.insert(*what.step.table).second;
    return 0;
  }
};

/// The nodes with the most weight blocks that no node before them has.
std::vector<User> largestWeights(const Graph &graph, const Work &work) {
  NodeCount count(graph.nodes);
  std::vector<bool> seen(graph.blocks.size());
  for (const std::vector<RowId> &stage : work.stages)
    for (const RowId row : stage)
      for (const rows::Term &term : work[row].terms) {
        if (!seen[term.block])
          count.add(graph.rows[row]);
        seen[term.block] = true;
      }
  return count.largest();
}

} // namespace

std::vector<MemoryUse> dataUse(const Graph &graph, const Work &work, const Placement &placement) {
  std::vector<MemoryUse> use;
  const std::vector<uint64_t> weightBlocks = weightBlocksUsed(graph, work, placement);
  const format::Geometry &geometry = graph.geometry;
  for (uint32_t core = 0; core < geometry.cores; ++core) {
    const CoreMemory &memory = placement.cores[core];
    use.push_back({core, "weight blocks", weightBlocks[core], geometry.weightBlocks});
    use.push_back({core, "inbox rows", placement.inboxRows, geometry.inboxRows});
    use.push_back({core, "local rows", memory.localRows, geometry.localRows});
    use.push_back({core, "preload rows", memory.preloads.size(), geometry.preloadRows});
    use.push_back({core, "function tables", memory.tables.size(), geometry.tables});
  }
  return use;
}

std::vector<MemoryUse> instructionUse(const Graph &graph, const Schedule &schedule) {
  std::vector<MemoryUse> use;
  const format::Geometry &geometry = graph.geometry;
  for (uint32_t core = 0; core < geometry.cores; ++core)
    use.push_back({core, "instructions", schedule.lists[core].size(), geometry.instructions});
  use.push_back({geometry.cores, "host instructions", schedule.lists[geometry.cores].size(),
                 geometry.hostInstructions});
  return use;
}

void NodeCount::add(const rows::Row &row, uint64_t amount) {
  if (!row.nodes.empty())
    byNode[row.nodes.front()] += amount;
}

std::vector<User> NodeCount::largest() const {
  std::vector<std::pair<uint64_t, uint32_t>> counts;
  for (const auto &[node, amount] : byNode)
    counts.emplace_back(amount, node);
  std::ranges::sort(counts, [](const auto &left, const auto &right) {
    return std::pair(right.first, left.second) < std::pair(left.first, right.second);
  });
  counts.resize(std::min(counts.size(), kNamed));
  std::vector<User> users;
  for (const auto &[amount, node] : counts)
    users.push_back({nodeName(nodes[node]), amount});
  return users;
}

std::vector<std::string> usesOf(const std::vector<User> &users, const std::string &memory) {
  std::vector<std::string> texts;
  for (const User &user : users)
    texts.push_back(fmt::format("{} uses {} {}", user.name, user.used,
                                user.used == 1 ? singular(memory) : memory));
  return texts;
}

bool fitsAll(const std::vector<MemoryUse> &use) {
  return std::ranges::all_of(use, [](const auto &one) { return one.used <= one.capacity; });
}

double excessOf(const std::vector<MemoryUse> &use) {
  double most = 0;
  for (const MemoryUse &one : use)
    most = std::max(most, static_cast<double>(one.used) / static_cast<double>(one.capacity));
  return most;
}

std::string excessText(const std::vector<MemoryUse> &use) {
  const auto first =
      std::find_if(use.begin(), use.end(), [](const auto &one) { return one.used > one.capacity; });
  return first == use.end() ? ""
                            : fmt::format("needs {} {}, available: {}", first->used, first->memory,
                                          first->capacity);
}

Problem leastProblem(const format::Geometry &geometry, const LeastUse &use) {
  const Kind &kind = *std::ranges::find(kKinds, use.memory, &Kind::memory);
  Problem problem;
  problem.code = kind.code;
  problem.reason = LacksMemory{use.memory, use.needed, use.available, true};
  problem.message = fmt::format(
      "the model does not fit {}: {} need at least {} {}, {} more than the {} of {}", geometry.name,
      use.users, use.needed, use.memory, use.needed - use.available, use.available, use.place);
  if (!use.note.empty())
    problem.notes.push_back(use.note);
  for (const User &one : use.largest)
    problem.notes.push_back(use.note.empty()
                                ? fmt::format("{} needs at least {} {}", one.name, one.used,
                                              one.used == 1 ? singular(use.memory) : use.memory)
                                : fmt::format("{} computes {} of these rows", one.name, one.used));
  problem.fixes.push_back({std::string(kind.advice), std::nullopt, false, std::nullopt});
  return problem;
}

LeastUse rowsTogether(const format::Geometry &geometry, uint64_t rows, std::vector<User> largest) {
  const uint64_t local = uint64_t{geometry.cores} * geometry.localRows;
  return {"inbox rows",
          "its tensors",
          rows - local,
          geometry.inboxRows,
          std::move(largest),
          "an inbox",
          fmt::format("{} rows are stored at once, {} of them in local rows", rows, local)};
}

Problems lackingHostRows(const format::Geometry &geometry, std::vector<User> inputs,
                         std::vector<User> outputs) {
  const auto rowsOf = [](const std::vector<User> &users) {
    uint64_t rows = 0;
    for (const User &user : users)
      rows += user.used;
    return rows;
  };
  const uint64_t rows = rowsOf(inputs) + rowsOf(outputs);
  if (rowsOf(inputs) > geometry.inboxRows || rows <= geometry.inboxRows)
    return {};
  std::vector<User> largest = std::move(inputs);
  std::ranges::move(outputs, std::back_inserter(largest));
  std::ranges::sort(largest, [](const User &left, const User &right) {
    return std::pair(right.used, left.name) < std::pair(left.used, right.name);
  });
  largest.resize(std::min(largest.size(), kNamed));
  return {leastProblem(geometry, {"inbox rows", "its inputs and outputs", rows, geometry.inboxRows,
                                  std::move(largest), "an inbox"})};
}

Problems leastProblems(const Graph &graph, const Work &work, const LeastMemory &least) {
  const format::Geometry &geometry = graph.geometry;
  const uint64_t cores = geometry.cores, local = cores * geometry.localRows;
  Problems problems;
  const auto add = [&](LeastUse use) { problems.push_back(leastProblem(geometry, use)); };
  if (const uint64_t all = cores * geometry.weightBlocks; least.weightBlocks > all)
    add({"weight blocks", "its weights", least.weightBlocks, all, largestWeights(graph, work)});
  if (least.rows > geometry.inboxRows + local) {
    NodeCount count(graph.nodes);
    for (const RowId row : rowsAtOnce(graph, work))
      count.add(graph.rows[row]);
    add(rowsTogether(geometry, least.rows, count.largest()));
  } else if (least.inputRows > geometry.inboxRows) {
    add({"inbox rows", "its inputs", least.inputRows, geometry.inboxRows, {}, "an inbox"});
  } else if (least.outputRows != 0) {
    const auto users = [](std::string_view kind, const std::vector<rows::Port> &ports) {
      std::vector<User> found;
      for (const rows::Port &port : ports)
        found.push_back({fmt::format("{} '{}'", kind, port.tensor.name), port.rows.size()});
      return found;
    };
    std::ranges::move(
        lackingHostRows(geometry, users("input", graph.inputs), users("output", graph.outputs)),
        std::back_inserter(problems));
  }
  if (least.constantRows > local)
    add({"local rows", "its constants", least.constantRows, local});
  if (const uint64_t all = cores * geometry.preloadRows; least.preloadRows > all)
    add({"preload rows", "its sums", least.preloadRows, all});
  if (const uint64_t all = cores * geometry.tables; least.tables > all)
    add({"function tables", "its functions", least.tables, all});
  return problems;
}

Problems fitProblems(const format::Geometry &geometry, const std::vector<MemoryUse> &use,
                     const LargestUsers &largest) {
  Problems problems;
  for (const Kind &kind : kKinds) {
    const MemoryUse *worst = nullptr;
    std::vector<const MemoryUse *> over;
    for (const MemoryUse &one : use)
      if (one.memory == kind.memory && one.used > one.capacity) {
        over.push_back(&one);
        if (!worst || one.used > worst->used)
          worst = &one;
      }
    if (!worst)
      continue;
    Problem problem;
    problem.code = kind.code;
    problem.reason = LacksMemory{worst->memory, worst->used, worst->capacity};
    problem.message = fmt::format("the model does not fit {}: {} needs {} {}, {} more than its {}",
                                  geometry.name, placeOf(geometry, worst->core), worst->used,
                                  kind.memory, worst->used - worst->capacity, worst->capacity);
    for (const MemoryUse *one : over)
      if (one != worst)
        problem.notes.push_back(fmt::format("{} needs {} {}, {} more than its {}",
                                            placeOf(geometry, one->core), one->used, one->memory,
                                            one->used - one->capacity, one->capacity));
    for (const std::string &user : largest(worst->memory, worst->core))
      problem.notes.push_back(fmt::format("{} on {}", user, placeOf(geometry, worst->core)));
    problem.fixes.push_back({std::string(kind.advice), std::nullopt, false, std::nullopt});
    problems.push_back(std::move(problem));
  }
  return problems;
}

Problems fitProblems(const Graph &graph, const Work &work, const Placement &placement,
                     const std::vector<MemoryUse> &use) {
  return fitProblems(graph.geometry, use, [&](const std::string &memory, uint32_t core) {
    return usesOf(Shares(graph, work, placement, core).largest(memory), memory);
  });
}

} // namespace sluice::plan
