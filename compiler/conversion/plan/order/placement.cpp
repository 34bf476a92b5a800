#include "compiler/conversion/plan/order/placement.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/conversion/plan/order/addresses.h"
#include "compiler/conversion/plan/order/operands.h"
#include "compiler/conversion/row_graph.h"

namespace sluice::plan {
namespace {

/// Of a row.
uint64_t costOf(const Graph &graph, const Work &work, RowId row) {
  return graph.rows[row].kind == RowKind::Linear ? std::max<size_t>(work[row].terms.size(), 1)
                                                 : graph.rows[row].a.size();
}

/// Rows of a stage that read the same dynamic blocks, divided into parts that
/// each write a copy of them.
class Clusters {
public:
  Clusters(const Graph &graph, const Work &work, const PlacementOptions &options,
           const std::vector<RowId> &stage) {
    if (graph.dynamic.empty())
      return;
    // Rows tied by a block, or by an operand, through the first row that had it.
    std::vector<size_t> parent(stage.size());
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&](size_t i) {
      while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
      return i;
    };
    std::map<uint32_t, size_t> byBlock;
    std::map<RowId, size_t> byOperand;
    std::vector<bool> dynamic(stage.size());
    for (size_t i = 0; i < stage.size(); ++i)
      for (const rows::Term &term : work[stage[i]].terms) {
        if (!graph.dynamic.contains(term.block))
          continue;
        dynamic[i] = true;
        parent[root(i)] = root(byBlock.try_emplace(term.block, i).first->second);
        if (options.byOperand && graph.rows[term.x].kind != RowKind::Constant)
          parent[root(i)] = root(byOperand.try_emplace(term.x, i).first->second);
      }
    std::map<size_t, std::vector<size_t>> members;
    for (size_t i = 0; i < stage.size(); ++i)
      if (dynamic[i])
        members[root(i)].push_back(i);
    for (const auto &[key, rows] : members) {
      const auto first = static_cast<uint32_t>(loads.size());
      loads.resize(first + options.copies);
      std::vector<std::set<uint32_t>> blocks(options.copies);
      for (size_t i = 0; i < rows.size(); ++i) {
        const auto part = static_cast<uint32_t>(i * options.copies / rows.size());
        parts[stage[rows[i]]] = first + part;
        loads[first + part] += work[stage[rows[i]]].terms.size();
        for (const rows::Term &term : work[stage[rows[i]]].terms)
          if (const auto found = graph.dynamic.find(term.block);
              found != graph.dynamic.end() && blocks[part].insert(term.block).second)
            loads[first + part] += found->second.writes.size();
      }
    }
    cores.assign(loads.size(), kNone);
  }

  /// The core of a row's part, to be set by the first of its rows; null if the
  /// row reads no dynamic block.
  uint32_t *coreOf(RowId row) {
    const auto found = parts.find(row);
    return found == parts.end() ? nullptr : &cores[found->second];
  }
  /// Products and writes of a row's part.
  [[nodiscard]] uint64_t load(RowId row) const { return loads[parts.at(row)]; }

private:
  std::map<RowId, uint32_t> parts;
  std::vector<uint64_t> loads;
  std::vector<uint32_t> cores;
};

/// By function table, the cores that have it: all that have room for it, if every table is on as
/// many.
std::map<uint32_t, uint32_t> coresOfTables(const Graph &graph, const Work &work) {
  std::map<uint32_t, uint32_t> masks;
  for (const std::vector<RowId> &stage : work.stages)
    for (RowId row : stage)
      if (graph.rows[row].step.table)
        masks[*graph.rows[row].step.table] = 0;
  const uint32_t cores = graph.geometry.cores, room = cores * graph.geometry.tables;
  const uint32_t each = std::clamp<uint32_t>(room / std::max<size_t>(masks.size(), 1), 1, cores);
  uint32_t next = 0;
  for (auto &[table, mask] : masks)
    for (uint32_t i = 0; i < each; ++i)
      mask |= 1U << next++ % cores;
  return masks;
}

/// Masks of cores for a row, or for all rows of a home.
struct Cores {
  uint32_t free = ~uint32_t{0};      ///< that the user leaves it
  uint32_t withTable = ~uint32_t{0}; ///< that have its function table

  void meet(const Cores &other) {
    free &= other.free;
    withTable &= other.withTable;
  }
};

/// Gives cores to rows, stage by stage.
class CoreAssignment {
public:
  CoreAssignment(const Graph &graph, const Work &work, const PlacementOptions &options,
                 Placement &result)
      : graph(graph), work(work), options(options), result(result), cores(graph.geometry.cores),
        totalLoad(cores, 0), arrival(graph.rows.size(), 0), homes(graph.rows.size(), kNone),
        cellLoad(cores, 0), cells(work.cells.size(), kNone), lateLoads(work.cells.size(), 0) {
    if (options.tablesApart)
      tableCores = coresOfTables(graph, work);
    for (const std::vector<RowId> &stage : work.stages)
      for (RowId row : stage) {
        if (work[row].home != kNoHome)
          homeCores[work[row].home].meet(coresOf(row));
        if (isApart(row))
          lateLoads[work[row].cell] += lateLoad(row);
      }
  }

  void run() {
    arrive(work.stages[0]);
    for (size_t stage = 1; stage < work.stages.size(); ++stage) {
      assignStage(byArrival(work.stages[stage]));
      arrive(work.stages[stage]);
    }
  }

private:
  const Graph &graph;
  const Work &work;
  const PlacementOptions &options;
  Placement &result;
  const uint32_t cores;
  std::vector<uint64_t> totalLoad;
  std::vector<uint32_t> arrival; ///< by row, its place in the order in which they are expected
  uint32_t arrived = 0;
  std::vector<uint32_t> homes;             ///< by home, its core
  std::map<uint32_t, Cores> homeCores;     ///< by home
  std::map<uint32_t, uint32_t> tableCores; ///< by function table, the cores that have it
  std::vector<uint64_t> cellLoad;          ///< by core, the products of its cells
  std::vector<uint32_t> cells;             ///< by cell, its core
  std::vector<uint64_t> lateLoads;         ///< by cell, the products that are apart from it

  void arrive(const std::vector<RowId> &stage) {
    for (RowId row : inTurn(stage, result))
      arrival[row] = ++arrived;
  }

  [[nodiscard]] Cores coresOf(RowId row) const {
    const auto &table = graph.rows[row].step.table;
    const auto found = table ? tableCores.find(*table) : tableCores.end();
    return {coresOfRow(graph.rows[row], options.pins),
            found == tableCores.end() ? ~uint32_t{0} : found->second};
  }

  /// The cores that may compute a row: of those that the user leaves it the ones with its table, if
  /// there are any.
  [[nodiscard]] uint32_t allowed(RowId row) const {
    const uint32_t home = work[row].home;
    const Cores own = home != kNoHome ? homeCores.at(home) : coresOf(row);
    const uint32_t both = own.free & own.withTable;
    return both != 0 ? both : own.free;
  }

  /// The rows of a stage in the order in which the last operand of each is expected.
  std::vector<RowId> byArrival(std::vector<RowId> stage) const {
    if (!options.byArrival || (options.cores && (*options.cores)[stage.front()] != kNone))
      return stage;
    std::vector<std::pair<uint32_t, size_t>> keys;
    for (size_t i = 0; i < stage.size(); ++i) {
      uint32_t last = 0;
      forEachOperand(graph, work, stage[i],
                     [&](RowId operand, bool) { last = std::max(last, arrival[operand]); });
      keys.emplace_back(last, i);
    }
    std::sort(keys.begin(), keys.end());
    std::vector<RowId> sorted;
    for (const auto &[last, i] : keys)
      sorted.push_back(stage[i]);
    return sorted;
  }

  /// How many operands of a row every core computes; of a linear row either all,
  /// or those it multiplies weights by. `shared` operands do not count.
  std::vector<uint32_t> producers(RowId row, bool all, const std::set<RowId> &shared = {}) const {
    std::vector<uint32_t> count(cores, 0);
    forEachOperand(graph, work, row, [&](RowId operand, bool byMatrix) {
      if (result.rows[operand].core != kNone && (all || byMatrix) && !shared.contains(operand))
        ++count[result.rows[operand].core];
    });
    return count;
  }

  /// The operands that several rows of the vector unit read.
  std::set<RowId> sharedOperands(const std::vector<RowId> &stage) const {
    std::set<RowId> shared;
    for (const auto &[operand, readers] : vectorReads(graph, work, stage).operands)
      if (readers > 1)
        shared.insert(operand);
    return shared;
  }

  /// The core of most operands; none if all are inputs.
  static uint32_t mostOf(const std::vector<uint32_t> &count) {
    const auto most = std::max_element(count.begin(), count.end());
    return *most == 0 ? kNone : static_cast<uint32_t>(most - count.begin());
  }

  /// The core that computes all computed operands; none if there are several or
  /// if all operands are inputs.
  static uint32_t onlyOf(const std::vector<uint32_t> &count) {
    const bool only =
        std::count(count.begin(), count.end(), 0U) + 1 == static_cast<std::ptrdiff_t>(count.size());
    return only ? mostOf(count) : kNone;
  }

  /// Where a row has to be, or does best to be, for its operands' sake.
  uint32_t follow(RowId row, bool linear, uint32_t most) const {
    if (!linear)
      return most;
    if (!options.follow)
      return kNone;
    const uint32_t core = onlyOf(producers(row, false));
    return core != kNone ? core : onlyOf(producers(row, true));
  }

  void assignStage(const std::vector<RowId> &stage) {
    const uint64_t cost = costOf(graph, work, stage);
    const bool together = stage.size() == 1 || cost <= options.keepTogether;
    const uint32_t start = static_cast<uint32_t>(
        std::min_element(totalLoad.begin(), totalLoad.end()) - totalLoad.begin());
    uint32_t next = start, shared = kNone, turn = 0;
    std::vector<uint64_t> load(cores, 0);
    std::vector<uint32_t> members(cores, 0);
    Clusters clusters(graph, work, options, stage);
    const bool inRuns = stage.size() >= uint64_t{options.runs} * cores;
    const std::set<RowId> common =
        options.byOwn && !together ? sharedOperands(stage) : std::set<RowId>{};
    uint64_t before = 0; // products of the rows so far
    for (RowId row : stage) {
      const uint32_t most = mostOf(producers(row, true, common)), mask = allowed(row);
      const auto unlessKeptOff = [&](uint32_t core) {
        return core != kNone && (mask >> core & 1) != 0 ? core : kNone;
      };
      uint32_t core = options.cores ? (*options.cores)[row] : kNone;
      if (core == kNone && work[row].home != kNoHome)
        core = homes[work[row].home];
      if (core == kNone && options.byCell && work[row].cell != kNoHome)
        core = isApart(row) ? coreOfLate(row, mask) : coreOfCell(work[row].cell);
      if (core == kNone && together)
        core = shared = shared != kNone ? shared : (most != kNone ? most : start);
      else if (core == kNone && !options.spread)
        core = follow(row, graph.rows[row].kind == RowKind::Linear, most);
      uint32_t *part = core == kNone ? clusters.coreOf(row) : nullptr;
      if (core == kNone && !part && options.runs != 0 && inRuns)
        core = static_cast<uint32_t>(before * options.runs * cores / cost % cores);
      before += costOf(graph, work, row);
      core = unlessKeptOff(core);
      const bool joins = part && unlessKeptOff(*part) != kNone;
      if (joins)
        core = *part;
      else if (core == kNone)
        core = leastLoaded(load, next, mask);
      if (!joins) {
        next = (core + 1) % cores;
        load[core] += part ? clusters.load(row) : costOf(graph, work, row);
      }
      if (part)
        *part = core;
      if (work[row].home != kNoHome)
        homes[work[row].home] = core;
      result.rows[row].core = core;
      result.rows[row].indexInStage = members[core]++;
      result.rows[row].turn = turn++;
      if (graph.rows[row].kind == RowKind::Linear)
        totalLoad[core] += costOf(graph, work, row);
    }
  }

  [[nodiscard]] bool isApart(RowId row) const { return options.lateApart && work[row].late; }

  /// The products that go where a late row goes.
  [[nodiscard]] uint64_t lateLoad(RowId row) const {
    const uint32_t home = work[row].home;
    return home == kNoHome ? work[row].terms.size() : work.homes[home];
  }

  /// The core of a cell: the one with the fewest products of cells, when its first row comes.
  uint32_t coreOfCell(uint32_t cell) {
    if (cells[cell] == kNone) {
      cells[cell] = static_cast<uint32_t>(std::ranges::min_element(cellLoad) - cellLoad.begin());
      cellLoad[cells[cell]] += work.cells[cell] - lateLoads[cell];
    }
    return cells[cell];
  }

  /// The core of `mask` with the fewest products of cells, those of their late rows that have
  /// come included.
  uint32_t coreOfLate(RowId row, uint32_t mask) {
    const uint32_t core = leastLoaded(cellLoad, 0, mask);
    cellLoad[core] += lateLoad(row);
    return core;
  }

  /// The core of `mask` with the least load in this stage, cyclic from `next`: rows of
  /// equal cost go round the cores, so their packets arrive in row order.
  uint32_t leastLoaded(const std::vector<uint64_t> &load, uint32_t next, uint32_t mask) const {
    uint32_t best = kNone;
    for (uint32_t i = 0; i < cores; ++i)
      if (const uint32_t core = (next + i) % cores;
          (mask >> core & 1) != 0 && (best == kNone || load[core] < load[best]))
        best = core;
    return best;
  }
};

/// Finds the rows that are written into one weight block of their own core and not
/// read otherwise.
void findWeights(const Graph &graph, const Work &work, Placement &placement) {
  if (graph.dynamic.empty())
    return;
  std::vector<bool> read(graph.rows.size());
  std::map<RowId, std::set<std::tuple<uint32_t, uint32_t, uint32_t>>> written; // core, block, index
  const auto reads = [&](RowId operand) {
    if (operand != kNoRow)
      read[operand] = true;
  };
  for (const rows::State &state : graph.states) // the next inference reads it
    reads(state.next);
  for (size_t stage = 1; stage < work.stages.size(); ++stage)
    for (RowId row : work.stages[stage]) {
      const Row &what = graph.rows[row];
      std::for_each(what.a.begin(), what.a.end(), reads);
      reads(what.b);
      reads(what.c);
      read[row] = read[row] || work[row].output || what.wide;
      for (const rows::Term &term : work[row].terms) {
        reads(term.x);
        if (const auto dynamic = graph.dynamic.find(term.block); dynamic != graph.dynamic.end())
          for (const rows::BlockWrite &write : dynamic->second.writes)
            written[write.row].insert({placement.rows[row].core, term.block, write.index});
      }
    }
  for (const auto &[row, places] : written) {
    const auto &[core, block, index] = *places.begin();
    if (!read[row] && places.size() == 1 && placement.rows[row].core == core)
      placement.rows[row].weights = {block, index};
  }
}

void findReaders(const Graph &graph, const Work &work, const PlacementOptions &options,
                 Placement &placement) {
  findWeights(graph, work, placement);
  for (size_t stage = 1; stage < work.stages.size(); ++stage)
    for (RowId row : work.stages[stage]) {
      const uint32_t mask = 1U << placement.rows[row].core;
      forEachOperand(graph, work, row, [&](RowId operand, bool byMatrix) {
        RowPlace &place = placement.rows[operand];
        if (!place.weights)
          (byMatrix ? place.matrixReaders : place.vectorReaders) |= mask;
      });
    }
  for (size_t stage = 1; stage < work.stages.size(); ++stage)
    for (RowId row : work.stages[stage])
      forEachState(graph, row, [&](uint32_t number) {
        const rows::State &state = graph.states[number];
        RowPlace &holder = placement.rows[state.next];
        holder.vectorReaders |= 1U << holder.core;
        placement.rows[state.row].holder = state.next;
      });
  if (options.inputsEverywhere) {
    RowPlace all;
    for (RowId row : work.stages[0]) {
      all.matrixReaders |= placement.rows[row].matrixReaders;
      all.vectorReaders |= placement.rows[row].vectorReaders;
    }
    for (RowId row : work.stages[0])
      placement.rows[row] = all;
  }
  for (size_t stage = 1; stage < work.stages.size(); ++stage)
    for (RowId row : work.stages[stage]) {
      RowPlace &place = placement.rows[row];
      place.net = !place.weights && (work[row].output || place.readers() != 1U << place.core);
    }
  // A reduction walks its rows in one affine stream, so they lie in one memory.
  for (size_t stage = 1; stage < work.stages.size(); ++stage)
    for (RowId row : work.stages[stage]) {
      const std::vector<RowId> &a = graph.rows[row].a;
      if (a.size() > 2 &&
          std::any_of(a.begin(), a.end(), [&](RowId r) { return placement.rows[r].net; }))
        for (RowId operand : a)
          if (placement.rows[operand].core != kNone)
            placement.rows[operand].net = true;
    }
}

} // namespace

uint64_t costOf(const Graph &graph, const Work &work, const std::vector<RowId> &stage) {
  uint64_t cost = 0;
  for (RowId row : stage)
    cost += costOf(graph, work, row);
  return cost;
}

Placement place(const Graph &graph, const Work &work, const PlacementOptions &options) {
  Placement placement;
  placement.rows.resize(graph.rows.size());
  placement.cores.resize(graph.geometry.cores);
  CoreAssignment(graph, work, options, placement).run();
  findReaders(graph, work, options, placement);
  assignInbox(graph, work, options, placement);
  assignLocal(graph, work, options, placement);
  return placement;
}

std::vector<RowId> inTurn(std::vector<RowId> stage, const Placement &placement) {
  const auto key = [&](RowId row) {
    return std::tuple(placement.rows[row].indexInStage, placement.rows[row].turn, row);
  };
  std::sort(stage.begin(), stage.end(),
            [&](RowId left, RowId right) { return key(left) < key(right); });
  return stage;
}

bool beginsWithPreload(const Row &row) { return row.start != kNoRow || !row.bias.isZero(); }

bool sharePreload(const Row &left, const Row &right) {
  return left.start == kNoRow && right.start == kNoRow && left.bias == right.bias;
}

bool needsZeros(const Graph &graph, const Work &work, RowId row) {
  const size_t products = work[row].terms.size();
  return products == 0 ||
         (products == 1 && graph.rows[row].ahead && beginsWithPreload(graph.rows[row]));
}

uint32_t blockOfZeros(const Graph &graph, RowId row) {
  while (graph.rows[row].terms.empty())
    row = graph.rows[row].start;
  return graph.rows[row].terms[0].block;
}

std::vector<uint64_t> weightBlocksUsed(const Graph &graph, const Work &work,
                                       const Placement &placement) {
  std::vector<uint64_t> used(placement.cores.size());
  std::vector<uint32_t> seenBy(graph.blocks.size()); // a bit for each core
  for (const std::vector<RowId> &stage : work.stages)
    for (const RowId row : stage) {
      if (graph.rows[row].kind != RowKind::Linear)
        continue;
      const uint32_t core = placement.rows[row].core;
      const auto use = [&](uint32_t block) {
        used[core] += (~seenBy[block] >> core) & 1;
        seenBy[block] |= uint32_t{1} << core;
      };
      for (const rows::Term &term : work[row].terms)
        use(term.block);
      if (needsZeros(graph, work, row))
        use(blockOfZeros(graph, row));
    }
  return used;
}

uint32_t addressAt(const Placement &placement, uint32_t core, RowId row) {
  if (placement.rows[row].holder != kNoRow)
    row = placement.rows[row].holder;
  const RowPlace &place = placement.rows[row];
  return place.net ? place.inbox : placement.cores[core].localAddress[row];
}

} // namespace sluice::plan
