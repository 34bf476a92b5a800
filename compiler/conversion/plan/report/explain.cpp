#include "compiler/conversion/plan/report/explain.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <map>
#include <ranges>

#include <fmt/format.h>

#include "compiler/conversion/plan/order/operands.h"
#include "compiler/conversion/plan/order/order.h"
#include "compiler/conversion/row_graph.h"
#include "hw/numerics/latency.h"

namespace sluice::plan {
namespace {

Cause causeOf(Delay delay) {
  switch (delay) {
  case Delay::Products:
    return Cause::Imbalance;
  case Delay::VectorBeats:
    return Cause::Vector;
  case Delay::HostRows:
    return Cause::Host;
  case Delay::MatrixDepth:
  case Delay::VectorDepth:
    return Cause::Pipeline;
  case Delay::Network:
  case Delay::Arbitration:
    return Cause::Network;
  case Delay::PathChange:
  case Delay::OutboxFull:
  case Delay::ResultsFull:
  case Delay::Instructions:
  case Delay::WaitBeats:
    break;
  }
  return Cause::Stalls;
}

/// Lower bounds from the latencies of docs/machine.md alone.
class Bounds {
public:
  Bounds(const Graph &graph, const Work &work)
      : graph(graph), work(work), issue(graph.rows.size()), rest(graph.rows.size()),
        latencies(graph.geometry.latencies()), matrixDepth(latencies.result()) {}

  /// `way` and `chain`; `work` must be set.
  void fill(Floor &floor) {
    uint64_t fill = ~uint64_t{0}, drain = ~uint64_t{0};
    for (uint32_t i = 0; i < work.stages[0].size(); ++i)
      issue[work.stages[0][i]] = i; // accepted
    for (size_t stage = 1; stage < work.stages.size(); ++stage)
      for (RowId row : work.stages[stage])
        if (const std::optional<uint64_t> product = forward(row); product && !graph.rows[row].ahead)
          fill = std::min(fill, *product);
    for (size_t stage = work.stages.size(); --stage > 0;)
      for (RowId row : work.stages[stage] | std::views::reverse) { // parts of sums come first
        if (!work[row].awaited)
          continue; // what is only kept is nobody's delay
        backward(row);
        floor.chain = std::max(floor.chain, issue[row] + rest[row]);
        if (!work[row].terms.empty())
          drain = std::min(drain, matrixDepth + rest[row]);
      }
    if (floor.work != 0)
      floor.way = fill + drain - 1;
    floor.cycles = std::max(floor.work + floor.way, floor.chain);
  }

private:
  const Graph &graph;
  const Work &work;
  std::vector<uint64_t> issue; ///< earliest vector beat (inputs: accepted)
  std::vector<uint64_t> rest;  ///< from there to the end of the inference, at least
  isa::Latencies latencies;
  uint64_t matrixDepth;

  uint64_t depth(RowId row) const { return latencies.vector(vectorPath(graph.rows[row].step)) + 1; }

  /// Earliest cycle in which a reader of `row` may issue.
  uint64_t visible(RowId row) const {
    return issue[row] + (graph.rows[row].kind == RowKind::Input ? 1 + latencies.hop() : depth(row));
  }

  /// Sets issue[row]; the earliest product of a linear row.
  std::optional<uint64_t> forward(RowId row) {
    uint64_t first = ~uint64_t{0}, last = 0, vector = 0;
    forEachOperand(graph, work, row, [&](RowId operand, bool byMatrix) {
      if (!byMatrix) {
        vector = std::max(vector, visible(operand));
        return;
      }
      first = std::min(first, visible(operand));
      last = std::max(last, visible(operand));
    });
    if (graph.rows[row].kind != RowKind::Linear) {
      issue[row] = vector;
      return std::nullopt;
    }
    const bool constant = first > last;
    if (!constant)
      last = std::max(last,
                      first + work[row].terms.size() - std::min<size_t>(work[row].terms.size(), 1));
    issue[row] = std::max(last + matrixDepth, vector);
    return work[row].terms.empty() ? std::nullopt : std::optional(constant ? 0 : first);
  }

  /// Sets rest[row] and passes it on to its operands.
  void backward(RowId row) {
    if (work[row].output)
      rest[row] = std::max(rest[row], depth(row) + latencies.hop() + 1);
    forEachOperand(graph, work, row, [&](RowId operand, bool byMatrix) {
      if (graph.rows[operand].kind != RowKind::Input)
        rest[operand] =
            std::max(rest[operand], depth(operand) + (byMatrix ? matrixDepth : 0) + rest[row]);
    });
  }
};

std::string counted(uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string_view nameOf(isa::Reduce reduce) {
  return reduce == isa::Reduce::Max ? "max" : reduce == isa::Reduce::Sum ? "sum" : "argmax";
}

/// Rows that a pass merges into one by an operation that may merge them in any order; 0: by none.
/// Products of two rows are as often a function of two tensors as a merge.
size_t mergedBy(const Graph &graph, const Row &row) {
  const rows::VectorStep &step = row.step;
  const auto comes = [&](RowId id) {
    return id != kNoRow && graph.rows[id].kind != RowKind::Constant;
  };
  if (row.kind != RowKind::Vector || step.table || step.post != isa::Post::None ||
      step.rhs1 != isa::Rhs1::B || !comes(row.b))
    return 0;
  const bool three = comes(row.c) && step.alu2 == step.alu1 && step.rhs2 == isa::Rhs2::C;
  if (step.alu1 != isa::Alu::Max && step.alu1 != isa::Alu::Min &&
      !(step.alu1 == isa::Alu::Mul && three))
    return 0;
  return three ? 3 : step.alu2 == isa::Alu::Pass ? 2 : 0;
}

std::string_view nameOf(isa::Alu merge) {
  return merge == isa::Alu::Max ? "max" : merge == isa::Alu::Min ? "min" : "product";
}

/// The splits and trees by which a stage's rows come from its operations.
std::vector<std::string> derivationOf(const Graph &graph, const Work &work,
                                      const ExplainedStage &stage, const std::vector<RowId> &rows) {
  uint64_t sums = 0, parts = 0, split = 0, most = 1, biased = 0, products = 0, maps = 0;
  std::map<isa::Reduce, std::pair<uint64_t, size_t>> trees; // rows, operands of the widest
  std::map<isa::Alu, std::pair<uint64_t, size_t>> merges;
  for (const RowId id : rows) {
    const Row &row = graph.rows[id];
    if (row.kind == RowKind::Linear) {
      (row.wide ? parts : sums) += 1;
      const uint64_t together = row.wide ? 1 : 1 + rows::partsOfSum(graph, row).size();
      split += together > 1;
      most = std::max(most, together);
      products = std::max<uint64_t>(products, work[id].terms.size());
      biased += !row.wide && beginsWithPreload(row);
    } else if (const size_t merged = mergedBy(graph, row);
               merged != 0 && row.step.reduce == isa::Reduce::None) {
      auto &[count, widest] = merges[row.step.alu1];
      ++count;
      widest = std::max(widest, merged);
    } else if (row.step.reduce == isa::Reduce::None) {
      ++maps;
    }
    if (row.step.reduce != isa::Reduce::None) {
      auto &[count, widest] = trees[row.step.reduce];
      ++count;
      widest = std::max(widest,
                        std::max<size_t>(row.a.size(), 1) + (row.b != kNoRow) + (row.c != kNoRow));
    }
  }
  const auto cores = static_cast<uint64_t>(
      std::ranges::count_if(stage.rowsByCore, [](uint32_t of) { return of != 0; }));
  const std::string where = counted(cores, "core");
  std::vector<std::string> rules;
  if (sums != 0)
    rules.push_back(fmt::format("matmul by result rows, {} on {}, up to {} per sum",
                                counted(sums, "row"), where, counted(products, "product")));
  if (parts != 0)
    rules.push_back(fmt::format("contraction of {} split over {}{}, {} of partial sums sent",
                                counted(split, "row"), split > 1 ? "up to " : "",
                                counted(most, "core"), counted(2 * parts, "row")));
  if (biased != 0)
    rules.push_back(fmt::format("bias added, {}", counted(biased, "row")));
  for (const auto &[reduce, tree] : trees)
    rules.push_back(fmt::format("{} of up to {} and their lanes, {} on {}", nameOf(reduce),
                                counted(tree.second, "row"), counted(tree.first, "row"), where));
  for (const auto &[merge, tree] : merges)
    rules.push_back(fmt::format("{} of up to {}, {} on {}", nameOf(merge),
                                counted(tree.second, "row"), counted(tree.first, "row"), where));
  if (maps != 0)
    rules.push_back(fmt::format("map, {} on {}", counted(maps, "row"), where));
  return rules;
}

class Explainer {
public:
  Explainer(const Graph &graph, const Work &work, const Placement &placement,
            const Timeline &timeline)
      : graph(graph), work(work), placement(placement), timeline(timeline) {
    result.cores = graph.geometry.cores;
    result.cycles = timeline.latency();
    result.stages.resize(work.stages.size());
  }

  Explanation run() {
    stages();
    for (uint32_t core = 0; core < result.cores; ++core)
      matrixUnit(core);
    for (uint32_t unit = result.cores; unit < timeline.units(); ++unit)
      forBeats(unit, [&](const Timeline::Event &event, uint64_t cycle) { extend(event, cycle); });
    assert(result.cores != 0);
    result.floor.work = (result.floor.products + result.cores - 1) / result.cores;
    Bounds(graph, work).fill(result.floor);
    path();
    return std::move(result);
  }

private:
  const Graph &graph;
  const Work &work;
  const Placement &placement;
  const Timeline &timeline;
  Explanation result;

  void stages() {
    for (size_t stage = 0; stage < work.stages.size(); ++stage) {
      ExplainedStage &to = result.stages[stage];
      to.rows = static_cast<uint32_t>(work.stages[stage].size());
      to.rowsByCore.assign(result.cores, 0);
      to.productsByCore.assign(result.cores, 0);
      for (RowId row : work.stages[stage]) {
        const std::vector<uint32_t> &nodes = graph.rows[row].nodes;
        to.nodes.insert(to.nodes.end(), nodes.begin(), nodes.end());
        if (placement.rows[row].core == kNone)
          continue;
        ++to.rowsByCore[placement.rows[row].core];
        to.ahead |= graph.rows[row].ahead;
        if (graph.rows[row].kind == RowKind::Linear) // a bias alone takes a beat too
          to.productsByCore[placement.rows[row].core] +=
              std::max(static_cast<uint32_t>(work[row].terms.size()), 1U);
      }
      if (stage != 0)
        to.readsByCores = readsByCores(work.stages[stage]);
      std::sort(to.nodes.begin(), to.nodes.end());
      to.nodes.erase(std::unique(to.nodes.begin(), to.nodes.end()), to.nodes.end());
      if (stage != 0)
        to.derivation = derivationOf(graph, work, to, work.stages[stage]);
    }
  }

  std::vector<uint32_t> readsByCores(const std::vector<RowId> &rows) const {
    std::map<RowId, uint64_t> readers; // a bit for each core
    for (const RowId row : rows)
      if (const uint32_t core = placement.rows[row].core; core != kNone)
        forEachOperand(graph, work, row,
                       [&](RowId operand, bool) { readers[operand] |= uint64_t{1} << core; });
    std::vector<uint32_t> counts(result.cores, 0);
    for (const auto &[row, cores] : readers)
      ++counts[static_cast<size_t>(std::popcount(cores)) - 1];
    return counts;
  }

  uint32_t stageOf(RowId row) const { return row == kNoRow ? 0 : work[row].stage; }

  /// Beats of the measured inference, without those that only wait.
  template <typename Fn> void forBeats(uint32_t unit, Fn fn) const {
    const std::vector<uint64_t> &issues = timeline.issuesOf(unit);
    for (size_t index = 0; index < issues.size(); ++index)
      if (const Timeline::Event event{unit, index}; issues[index] >= timeline.start() &&
                                                    issues[index] < timeline.end() &&
                                                    timeline.originOf(event).row != kNoRow)
        fn(event, issues[index]);
  }

  void extend(const Timeline::Event &event, uint64_t cycle) {
    ExplainedStage &stage = result.stages[stageOf(timeline.originOf(event).row)];
    const uint64_t at = cycle - timeline.start();
    stage.start = std::min(stage.start.value_or(at), at);
    stage.end = std::max(stage.end.value_or(0), at + 1);
  }

  static void add(const std::vector<Passed> &passed, std::initializer_list<CoreCycles *> to) {
    for (const Passed &one : passed)
      for (CoreCycles *sum : to)
        (*sum)[static_cast<size_t>(causeOf(one.delay))] += one.cycles();
  }

  void matrixUnit(uint32_t core) {
    uint64_t idleFrom = timeline.start();
    forBeats(core, [&](const Timeline::Event &event, uint64_t cycle) {
      if (cycle > idleFrom)
        add(timeline.before(event, idleFrom),
            {&result.idle, &result.stages[stageOf(timeline.originOf(event).row)].idle});
      extend(event, cycle);
      const bool ahead = graph.rows[timeline.originOf(event).row].ahead;
      result.ahead += ahead;
      result.floor.products += !ahead;
      idleFrom = cycle + 1;
    });
    add(timeline.beforeEnd(idleFrom), {&result.idle, &result.drain});
  }

  void path() {
    for (const Passed &one : timeline.beforeEnd(timeline.start())) {
      const PathStep step{one.delay, one.unit, stageOf(one.row), one.from - timeline.start(),
                          one.cycles()};
      if (!result.path.empty() && result.path.back().delay == step.delay &&
          result.path.back().unit == step.unit && result.path.back().stage == step.stage) {
        result.path.back().from = step.from;
        result.path.back().cycles += step.cycles;
      } else {
        result.path.push_back(step);
      }
    }
    std::reverse(result.path.begin(), result.path.end());
  }
};

} // namespace

Explanation explain(const Graph &graph, const Work &work, const Placement &placement,
                    const Timeline &timeline) {
  return Explainer(graph, work, placement, timeline).run();
}

std::string difference(const Explanation &best, const Explanation &other) {
  std::vector<std::pair<double, size_t>> changes;
  for (size_t cause = 0; cause < kCauses; ++cause)
    changes.emplace_back(
        (static_cast<double>(other.idle[cause]) - static_cast<double>(best.idle[cause])) /
            best.cores,
        cause);
  std::sort(changes.begin(), changes.end(), [](const auto &left, const auto &right) {
    return std::pair(-std::abs(left.first), left.second) <
           std::pair(-std::abs(right.first), right.second);
  });
  std::string text;
  for (const auto &[cycles, cause] : changes)
    if (std::abs(cycles) >= 1)
      text += fmt::format("{}{} {:+.0f}", text.empty() ? "" : ", ",
                          nameOf(static_cast<Cause>(cause)), cycles);
  return text;
}

} // namespace sluice::plan
