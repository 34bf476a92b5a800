#include "compiler/conversion/plan/order/order.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "compiler/conversion/plan/order/operands.h"
#include "compiler/conversion/row_graph.h"
#include "hw/numerics/vector_pipeline.h"

namespace sluice::plan {
namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
/// Vector rows looked at before their turn.
constexpr size_t kWindow = 16;

/// Linear rows by (core, stage), in the order of their turns.
std::vector<std::map<uint32_t, std::vector<RowId>>> linearJobs(const Graph &graph, const Work &work,
                                                               const Placement &placement) {
  std::vector<std::map<uint32_t, std::vector<RowId>>> jobs(placement.cores.size());
  for (uint32_t stage = 1; stage < work.stages.size(); ++stage)
    for (RowId row : inTurn(work.stages[stage], placement))
      if (graph.rows[row].kind == RowKind::Linear)
        jobs[placement.rows[row].core][stage].push_back(row);
  return jobs;
}

/// Operands in the order in which they are expected: constants, inputs, then
/// rows as the cores take turns to finish them.
class Expectation {
public:
  Expectation(const Graph &graph, const Work &work, const Placement &placement)
      : rank(graph.rows.size(), 0) {
    uint32_t next = 1;
    for (const std::vector<RowId> &stage : work.stages) {
      for (RowId row : inTurn(stage, placement))
        rank[row] = next++;
    }
  }
  uint32_t operator()(RowId row) const { return rank[row]; }

private:
  std::vector<uint32_t> rank; ///< constants stay 0
};

/// What each core copies into its dynamic blocks: for every stage the blocks its
/// rows there are the first to read, in the order in which the source rows are
/// expected.
std::vector<std::vector<VectorItem>> blockWrites(const Graph &graph, const Work &work,
                                                 const Placement &placement,
                                                 const Expectation &expected) {
  std::vector<std::vector<VectorItem>> writes(placement.cores.size());
  if (graph.dynamic.empty())
    return writes;
  std::vector<std::set<uint32_t>> seen(placement.cores.size());
  for (uint32_t stage = 1; stage < work.stages.size(); ++stage) {
    std::vector<size_t> before;
    for (const std::vector<VectorItem> &mine : writes)
      before.push_back(mine.size());
    for (RowId row : work.stages[stage])
      for (const rows::Term &term : work[row].terms) {
        const uint32_t core = placement.rows[row].core;
        const auto dynamic = graph.dynamic.find(term.block);
        if (dynamic == graph.dynamic.end() || !seen[core].insert(term.block).second)
          continue;
        for (const rows::BlockWrite &write : dynamic->second.writes)
          if (!placement.rows[write.row].weights)
            writes[core].push_back({write.row, 0, stage, term.block, write.index});
      }
    for (size_t core = 0; core < writes.size(); ++core)
      std::sort(writes[core].begin() + static_cast<std::ptrdiff_t>(before[core]),
                writes[core].end(), [&](const VectorItem &left, const VectorItem &right) {
                  return std::tuple(expected(left.row), left.block, left.index) <
                         std::tuple(expected(right.row), right.block, right.index);
                });
  }
  return writes;
}

/// The block products of some rows of one stage on one core.
class Sweep {
public:
  Sweep(const Graph &graph, const Work &work, const Expectation &expected,
        std::vector<RowId> members)
      : members(std::move(members)) {
    for (RowId row : this->members) {
      const Row &what = graph.rows[row];
      twice.push_back(what.ahead && needsZeros(graph, work, row) && beginsWithPreload(what));
      std::vector<std::pair<uint32_t, uint32_t>> ranked; // rank of the operand, term
      for (uint32_t term = 0; term < work[row].terms.size(); ++term)
        ranked.emplace_back(expected(work[row].terms[term].x), term);
      std::sort(ranked.begin(), ranked.end());
      for (const auto &[rank, term] : ranked)
        ranks.push_back(rank);
      terms.push_back(std::move(ranked));
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  }

  size_t operands() const { return ranks.size(); }

  void append(uint32_t tail, std::vector<MatrixItem> &items) const {
    const size_t before = items.size();
    appendProducts(tail, items);
    // What would read a preload row and write another in one beat takes two.
    for (size_t i = before; i < items.size(); ++i)
      if (items[i].first && items[i].last && twice[items[i].acc]) {
        MatrixItem second = items[i];
        items[i].last = second.first = false;
        second.term = kNone;
        items.insert(items.begin() + static_cast<std::ptrdiff_t>(++i), second);
      }
  }

private:
  void appendProducts(uint32_t tail, std::vector<MatrixItem> &items) const {
    std::vector<size_t> done(members.size(), 0);
    const size_t early = ranks.size() > tail ? ranks.size() - tail : 0;
    for (size_t i = 0; i < early; ++i)
      for (size_t m = 0; m < members.size(); ++m)
        while (done[m] < terms[m].size() && terms[m][done[m]].first == ranks[i])
          items.push_back(item(m, done[m]++));
    for (size_t m = 0; m < members.size(); ++m) {
      while (done[m] < terms[m].size())
        items.push_back(item(m, done[m]++));
      if (terms[m].empty())
        items.push_back({members[m], kNone, static_cast<uint32_t>(m), true, true, 0});
    }
  }

  std::vector<RowId> members;
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> terms; ///< by member
  std::vector<uint32_t> ranks;                                   ///< all operands, ascending
  std::vector<bool> twice; ///< by member: reads a preload row and writes another

  MatrixItem item(size_t member, size_t index) const {
    return {members[member], terms[member][index].second,       static_cast<uint32_t>(member),
            index == 0,      index + 1 == terms[member].size(), 0};
  }
};

/// The coarse model: units with their latencies, one packet a cycle, no
/// sequencers. Decides the order of the vector units.
class Model {
public:
  Model(const Graph &graph, const Work &work, const Placement &placement,
        std::vector<std::vector<VectorItem>> writes, Order &order)
      : graph(graph), latencies(graph.geometry.latencies()), work(work), placement(placement),
        order(order), available(graph.rows.size(), kNever), before(graph.rows.size(), 0),
        followers(graph.rows.size()), cores(placement.cores.size()) {
    for (RowId row = 0; row < graph.rows.size(); ++row)
      if (graph.rows[row].kind == RowKind::Constant || graph.rows[row].kind == RowKind::State)
        available[row] = 0;
    for (uint32_t stage = 1; stage < work.stages.size(); ++stage)
      for (RowId row : inTurn(work.stages[stage], placement))
        if (graph.rows[row].kind == RowKind::Vector)
          cores[placement.rows[row].core].pending.push_back(row);
    for (size_t core = 0; core < cores.size(); ++core) {
      for (const VectorItem &write : writes[core])
        ++cores[core].blocks[write.block].missing;
      cores[core].writes.assign(writes[core].begin(), writes[core].end());
    }
    for (const RowPlace &place : placement.rows)
      if (place.weights)
        ++cores[place.core].blocks[place.weights->first].missing;
    findFollowers();
    for (size_t i = 0; i < work.stages[0].size(); ++i)
      host.push_back({work.stages[0][i], due(i + 1)});
    for (size_t stage = 1; stage < work.stages.size(); ++stage)
      left += work.stages[stage].size();
  }

  /// Fills the order; false if the model got stuck.
  bool run() {
    const bool complete = runToEnd();
    order.arrival = std::move(available);
    return complete;
  }

private:
  bool runToEnd() {
    for (uint64_t now = 0; left != 0; ++now) {
      bool progress = network(now);
      for (uint32_t core = 0; core < cores.size(); ++core) {
        progress |= vectorUnit(core, now);
        progress |= matrixUnit(core, now);
      }
      if (!progress && now >= settled)
        return false;
    }
    return true;
  }

  /// What holds a state comes behind its readers; what is only kept behind what else reads the
  /// same row, so that it changes no path before it.
  void findFollowers() {
    if (graph.states.empty())
      return; // an output waits for every row of a vector unit
    const auto follow = [&](RowId row, RowId follower) {
      followers[row].push_back(follower);
      ++before[follower];
    };
    std::map<RowId, std::vector<RowId>> readers; // vector rows that an output waits for
    for (size_t stage = 1; stage < work.stages.size(); ++stage)
      for (RowId row : work.stages[stage]) {
        forEachState(graph, row, [&](uint32_t state) {
          if (graph.states[state].next != row)
            follow(row, graph.states[state].next);
        });
        if (work[row].awaited && graph.rows[row].kind == RowKind::Vector)
          forEachOperand(graph, work, row,
                         [&](RowId operand, bool) { readers[operand].push_back(row); });
      }
    for (size_t stage = 1; stage < work.stages.size(); ++stage)
      for (RowId row : work.stages[stage])
        if (!work[row].awaited && graph.rows[row].kind == RowKind::Vector && !readsState(row))
          forEachOperand(graph, work, row, [&](RowId operand, bool) {
            for (const RowId reader : readers[operand])
              if (placement.rows[reader].core == placement.rows[row].core)
                follow(reader, row);
          });
  }

  /// Then what holds the state comes behind it already.
  [[nodiscard]] bool readsState(RowId row) const {
    bool reads = false;
    forEachState(graph, row, [&](uint32_t) { reads = true; });
    return reads;
  }

  struct Timed {
    RowId row;
    uint64_t ready;
  };
  struct Core {
    size_t nextItem = 0;
    std::deque<Timed> results;
    std::deque<Timed> outbox;
    // Taken out near their fronts, which a deque moves, however many are behind.
    std::deque<RowId> pending;     ///< vector rows in stage order
    std::deque<VectorItem> writes; ///< likewise
    struct Block {
      uint32_t missing = 0; ///< writes
      uint64_t ready = 0;   ///< first cycle the matrix unit may issue, if none is missing
    };
    std::map<uint32_t, Block> blocks; ///< dynamic ones
    uint64_t vectorFree = 0;
    isa::VectorPipeline pipeline;
  };

  const Graph &graph;
  const isa::Latencies latencies;
  const Work &work;
  const Placement &placement;
  Order &order;
  std::vector<uint64_t> available; ///< first cycle a reader may issue
  /// By row of a vector unit, how many others must issue before it does, and which it is one of.
  std::vector<uint32_t> before;
  std::vector<std::vector<RowId>> followers;
  std::vector<Core> cores;
  std::deque<Timed> host;
  size_t lastSource = 0;
  size_t left = 0;
  /// From this cycle on nothing becomes ready unless a unit does something.
  uint64_t settled = 0;

  /// Something will be ready in a cycle.
  uint64_t due(uint64_t cycle) {
    settled = std::max(settled, cycle);
    return cycle;
  }

  bool network(uint64_t now) {
    const size_t sources = cores.size() + 1;
    for (size_t i = 1; i <= sources; ++i) {
      const size_t source = (lastSource + i) % sources;
      std::deque<Timed> &queue = source == cores.size() ? host : cores[source].outbox;
      if (queue.empty() || queue.front().ready > now)
        continue;
      if (queue.front().row != kNoRow)
        available[queue.front().row] = due(now + latencies.hop());
      queue.pop_front();
      lastSource = source;
      return true;
    }
    return false;
  }

  bool matrixUnit(uint32_t index, uint64_t now) {
    Core &core = cores[index];
    if (core.nextItem == order.matrix[index].size())
      return false;
    MatrixItem &item = order.matrix[index][core.nextItem];
    const RowId gate = work[item.row].gate;
    if (item.term != kNone && !ready(core, work[item.row].terms[item.term], now))
      return false;
    if (gate != kNoRow && available[gate] > now)
      return false;
    if (item.last && graph.rows[item.row].ahead) {
      --left;
    } else if (item.last) {
      if (core.results.size() >= isa::kResultFifoDepth)
        return false;
      core.results.push_back({item.row, due(now + latencies.result())});
    }
    item.time = now;
    ++core.nextItem;
    return true;
  }

  bool ready(const Core &core, const rows::Term &term, uint64_t now) const {
    if (available[term.x] > now)
      return false;
    const auto block = core.blocks.find(term.block);
    return block == core.blocks.end() || (block->second.missing == 0 && block->second.ready <= now);
  }

  bool ready(RowId operand, uint64_t now) const {
    return operand == kNoRow || available[operand] <= now;
  }

  bool ready(const Row &row, uint64_t now) const {
    return ready(row.b, now) && ready(row.c, now) &&
           std::all_of(row.a.begin(), row.a.end(), [&](RowId a) { return ready(a, now); });
  }

  bool vectorUnit(uint32_t index, uint64_t now) {
    Core &core = cores[index];
    if (core.vectorFree > now || core.outbox.size() >= isa::kOutboxDepth)
      return false;
    RowId chosen = kNoRow;
    if (!core.results.empty() && core.results.front().ready <= now &&
        ready(graph.rows[core.results.front().row], now) && before[core.results.front().row] == 0)
      chosen = core.results.front().row;
    size_t position = kNever;
    for (size_t i = 0, seen = 0; i < core.pending.size() && seen < kWindow; ++i) {
      const RowId row = core.pending[i];
      if (chosen != kNoRow && work[chosen].stage <= work[row].stage)
        break;
      if (before[row] != 0)
        continue; // rows that it follows may be anywhere behind it
      ++seen;
      if (ready(work[row].gate, now) && ready(graph.rows[row], now)) {
        chosen = row;
        position = i;
        break;
      }
    }
    if (write(index, chosen == kNoRow ? kNone : work[chosen].stage, now))
      return true;
    if (chosen == kNoRow)
      return false;
    if (position != kNever)
      core.pending.erase(core.pending.begin() + static_cast<std::ptrdiff_t>(position));
    else
      core.results.pop_front();
    issue(index, chosen, now);
    return true;
  }

  /// Writes a row into a block, if one is there that a stage up to `stage` waits
  /// for: weights come before what they delay.
  bool write(uint32_t index, uint32_t stage, uint64_t now) {
    Core &core = cores[index];
    for (size_t i = 0; i < std::min(core.writes.size(), kWindow); ++i) {
      VectorItem item = core.writes[i];
      if (item.stage > stage)
        return false;
      if (!ready(item.row, now))
        continue;
      core.writes.erase(core.writes.begin() + static_cast<std::ptrdiff_t>(i));
      const auto [start, end] = occupy(core, rows::VectorStep{}, 1, now);
      written(core, item.block, end);
      item.time = start;
      order.vector[index].push_back(item);
      return true;
    }
    return false;
  }

  static void written(Core &core, uint32_t number, uint64_t end) {
    Core::Block &block = core.blocks[number];
    --block.missing;
    block.ready = std::max(block.ready, end + 1);
  }

  /// Issues beats of a step; the first cycle and the one in which the last of
  /// them is done.
  std::pair<uint64_t, uint64_t> occupy(Core &core, const rows::VectorStep &step, uint64_t beats,
                                       uint64_t now) {
    const isa::VectorEntries entries = isa::vectorEntries(vectorPath(step), latencies);
    const uint64_t start = std::max(now, core.pipeline.earliest(entries));
    const uint64_t end = start + beats - 1 + entries.destination;
    core.pipeline.issue(entries, start + beats - 1);
    core.vectorFree = start + beats;
    due(end + 1);
    return {start, end};
  }

  void issue(uint32_t index, RowId row, uint64_t now) {
    Core &core = cores[index];
    const Row &what = graph.rows[row];
    const uint64_t beats = what.wide ? 2 : std::max<size_t>(what.a.size(), 1);
    const auto [start, end] = occupy(core, what.step, beats, now);
    const RowPlace &place = placement.rows[row];
    const auto [block, at] = place.weights.value_or(std::pair(kNoBlock, 0U));
    order.vector[index].push_back({row, start, work[row].stage, block, at});
    --left;
    for (const RowId follower : followers[row])
      --before[follower];
    if (what.wide)
      core.outbox.push_back({kNoRow, end}); // the upper halves
    if (place.weights)
      written(core, block, end);
    else if (place.net)
      core.outbox.push_back({row, end + 1});
    else
      available[row] = end + 1;
  }
};

} // namespace

unsigned vectorPath(const rows::VectorStep &step) {
  return isa::vectorPath(step.alu1, step.table.has_value(), step.reduce, step.alu2);
}

std::optional<Order> makeOrder(const Graph &graph, const Work &work, const Placement &placement,
                               const Tails &tails) {
  Order order;
  order.matrix.resize(placement.cores.size());
  order.vector.resize(placement.cores.size());
  const Expectation expected(graph, work, placement);
  const auto jobs = linearJobs(graph, work, placement);
  const size_t accumulators = graph.geometry.accumulators;
  for (uint32_t core = 0; core < jobs.size(); ++core)
    for (const auto &[stage, members] : jobs[core])
      for (size_t at = 0; at < members.size(); at += accumulators) {
        const size_t end = std::min(members.size(), at + accumulators);
        const std::vector<RowId> part(members.begin() + static_cast<std::ptrdiff_t>(at),
                                      members.begin() + static_cast<std::ptrdiff_t>(end));
        Sweep(graph, work, expected, part).append(tails[stage], order.matrix[core]);
      }
  if (!Model(graph, work, placement, blockWrites(graph, work, placement, expected), order).run())
    return std::nullopt;
  return order;
}

std::vector<uint32_t> operandCounts(const Graph &graph, const Work &work,
                                    const Placement &placement) {
  std::vector<uint32_t> counts(work.stages.size(), 0);
  const Expectation expected(graph, work, placement);
  for (const auto &job : linearJobs(graph, work, placement))
    for (const auto &[stage, members] : job)
      counts[stage] = std::max(
          counts[stage], static_cast<uint32_t>(Sweep(graph, work, expected, members).operands()));
  return counts;
}

} // namespace sluice::plan
