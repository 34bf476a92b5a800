#include "compiler/conversion/plan/order/split_contractions.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "compiler/conversion/row_graph.h"

namespace sluice::plan {
namespace {

/// Products below which a part is not worth its way to the other core.
constexpr uint32_t kLeastPart = 2;

/// The first arithmetic unit must be free for the other part, or add a row that
/// can be added to the other part as well; operand c too, and what comes behind
/// may use the sum alone.
bool splittable(const Row &row, const WorkRow &work) {
  const rows::VectorStep &step = row.step;
  const bool addsRow = step.alu1 == isa::Alu::Add && step.rhs1 == isa::Rhs1::B;
  return row.kind == RowKind::Linear && !row.wide && work.terms.size() >= 2 * kLeastPart &&
         work.gate == kNoRow && row.c == kNoRow &&
         (row.b == kNoRow ? step.alu1 == isa::Alu::Pass : addsRow) &&
         (step.alu2 == isa::Alu::Pass || step.rhs2 == isa::Rhs2::Imm);
}

/// What a core computes of a row.
struct Part {
  uint32_t core = kNone;
  std::vector<rows::Term> terms;
};

class Splitter {
public:
  Splitter(const Graph &graph, const Work &work, const Placement &placement,
           const SplitOptions &options, const NodeCores *pins)
      : graph(graph), work(work), placement(placement), options(options), pins(pins),
        cores(graph.geometry.cores), index(graph.rows.size()), core(graph.rows.size(), kNone),
        parts(graph.rows.size()), load(cores, 0) {
    for (RowId row = 0; row < graph.rows.size(); ++row)
      index[row] = placement.rows[row].indexInStage;
  }

  SplitGraph run() {
    for (uint32_t stage = 1; stage < work.stages.size(); ++stage) {
      if (options.stages.contains(stage))
        share(stage);
      if (const auto chain = options.chains.find(stage); chain != options.chains.end())
        makeChains(stage, chain->second);
      for (RowId row : work.stages[stage]) {
        if (graph.rows[row].kind != RowKind::Linear)
          continue;
        if (parts[row].empty())
          load[coreOf(row)] += costOf(row);
        for (const Part &part : parts[row])
          load[part.core] += part.terms.size();
      }
    }
    return rewrite();
  }

private:
  const Graph &graph;
  const Work &work;
  const Placement &placement;
  const SplitOptions &options;
  const NodeCores *const pins;
  const uint32_t cores;
  std::vector<uint32_t> index; ///< position on its core
  std::vector<uint32_t> core;  ///< by row; kNone outside of shared stages
  /// By row, in the order in which they are added up: the last is of the row's core. None of rows
  /// that are not split.
  std::vector<std::vector<Part>> parts;
  std::vector<uint64_t> load; ///< by core, products of the stages so far

  [[nodiscard]] uint32_t coreOf(RowId row) const {
    return core[row] != kNone ? core[row] : placement.rows[row].core;
  }

  uint64_t costOf(RowId row) const { return std::max<size_t>(work[row].terms.size(), 1); }

  /// Products for every core, by turn, from core `start` on: what levels the
  /// products of all stages up to this one.
  std::vector<uint64_t> quotas(uint32_t stage, uint32_t start) const {
    uint64_t left = 0;
    for (RowId row : work.stages[stage])
      left += costOf(row);
    const uint64_t stairs = uint64_t{cores} * (cores - 1) / 2;
    const bool inTurn = stage + 1 == work.stages.size() && left >= stairs * options.skew;
    std::vector<uint64_t> level; // before, and what this stage ends with
    const size_t most =
        options.pairs ? std::min<size_t>(cores, 2 * work.stages[stage].size()) : cores;
    for (uint32_t turn = 0; turn < most; ++turn)
      level.push_back(load[(start + turn) % cores] +
                      (inTurn ? (cores - 1 - turn) * options.skew : 0));
    std::vector<uint64_t> result(cores, 0);
    for (; left > 0; --left) {
      const size_t lowest =
          static_cast<size_t>(std::min_element(level.begin(), level.end()) - level.begin());
      ++level[lowest];
      ++result[lowest];
    }
    return result;
  }

  /// Fills core after core with rows; a row goes to both where its end is
  /// another core's.
  void share(uint32_t stage) {
    const std::vector<RowId> &members = work.stages[stage];
    const uint32_t start = placement.rows[members.front()].core;
    std::vector<uint64_t> room = quotas(stage, start);
    uint32_t turn = 0;
    for (RowId row : members) {
      while (turn + 1 < cores && room[turn] == 0)
        ++turn;
      const uint64_t cost = costOf(row);
      const uint32_t here = (start + turn) % cores, next = (here + 1) % cores;
      if (cost <= room[turn] || turn + 1 == cores) {
        core[row] = here;
        room[turn] -= std::min(room[turn], cost);
        continue;
      }
      const uint64_t mine = room[turn], others = cost - mine;
      const bool fits = others <= room[turn + 1] && splittable(graph.rows[row], work[row]);
      if (fits && mine >= kLeastPart && others >= kLeastPart) {
        // The smaller part travels.
        core[row] = mine > others ? here : next;
        std::vector<rows::Term> first = inOrder(row);
        const auto cut = first.begin() + static_cast<std::ptrdiff_t>(std::min(mine, others));
        std::vector<rows::Term> second(cut, first.end());
        first.erase(cut, first.end());
        parts[row] = {{mine > others ? next : here, std::move(first)},
                      {core[row], std::move(second)}};
        room[turn] = 0;
        room[turn + 1] -= others;
      } else { // whole, to the core that has more of it
        core[row] = mine > others ? here : next;
        room[turn] = 0;
        if (core[row] == next)
          room[turn + 1] -= std::min(room[turn + 1], cost);
      }
    }
    number(members);
  }

  /// Chains of neighbours among the cores that may compute a row, those that have least to do.
  void makeChains(uint32_t stage, const Chain &chain) {
    std::vector<uint64_t> level = load;
    for (RowId row : work.stages[stage]) {
      const std::vector<uint32_t> among = allowed(row);
      const std::vector<size_t> shares = sharesOf(row, chain);
      if (shares.empty() || shares.size() > among.size()) {
        core[row] = placement.rows[row].core;
        level[core[row]] += costOf(row);
        continue;
      }
      parts[row] = partsOf(row, leastLoaded(among, shares.size(), level), shares);
      core[row] = parts[row].back().core;
      for (const Part &part : parts[row])
        level[part.core] += part.terms.size();
    }
    number(work.stages[stage]);
  }

  /// The cores that may compute a row, from the one on that it is placed on.
  [[nodiscard]] std::vector<uint32_t> allowed(RowId row) const {
    std::vector<uint32_t> among;
    for (uint32_t turn = 0; turn < cores; ++turn)
      if (const uint32_t one = (placement.rows[row].core + turn) % cores;
          (coresOfRow(graph.rows[row], pins) >> one & 1) != 0)
        among.push_back(one);
    return among;
  }

  /// So many neighbours that have least to do together, the first of those.
  static std::vector<uint32_t> leastLoaded(std::vector<uint32_t> among, size_t count,
                                           const std::vector<uint64_t> &level) {
    const auto sum = [&](const std::vector<uint32_t> &turned) {
      return std::accumulate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(count),
                             uint64_t{0},
                             [&](uint64_t total, uint32_t one) { return total + level[one]; });
    };
    std::vector<uint32_t> best = among;
    for (size_t turn = 1; turn < among.size(); ++turn) {
      std::ranges::rotate(among, among.begin() + 1);
      if (sum(among) < sum(best))
        best = among;
    }
    best.resize(count);
    return best;
  }

  /// The products of a row for each of these cores: of operands that it computes itself, as far as
  /// its share goes.
  [[nodiscard]] std::vector<Part> partsOf(RowId row, const std::vector<uint32_t> &among,
                                          const std::vector<size_t> &shares) const {
    std::vector<Part> result;
    for (const uint32_t one : among)
      result.push_back({one, {}});
    std::vector<rows::Term> others;
    for (const rows::Term &term : inOrder(row)) {
      const auto own = std::ranges::find(result, homeOf(term.x), &Part::core);
      const bool isOwn = own != result.end() &&
                         own->terms.size() < shares[static_cast<size_t>(own - result.begin())];
      (isOwn ? own->terms : others).push_back(term);
    }
    auto next = others.begin();
    for (size_t turn = 0; turn < shares.size(); ++turn) {
      std::vector<rows::Term> &terms = result[turn].terms;
      const auto end = next + static_cast<std::ptrdiff_t>(shares[turn] - terms.size());
      terms.insert(terms.end(), next, end);
      next = end;
    }
    return result;
  }

  /// The core that computes a row; none where all have it.
  [[nodiscard]] uint32_t homeOf(RowId row) const {
    const RowKind kind = graph.rows[row].kind;
    return kind == RowKind::Linear || kind == RowKind::Vector ? coreOf(row) : kNone;
  }

  /// Products of a row by turn in its chain; none where that is not worth it.
  [[nodiscard]] std::vector<size_t> sharesOf(RowId row, const Chain &chain) const {
    const uint64_t stairs = uint64_t{chain.stairs} * chain.cores * (chain.cores - 1) / 2;
    const uint64_t total = work[row].terms.size();
    if (!splittable(graph.rows[row], work[row]) || total < stairs + chain.cores * kLeastPart)
      return {};
    std::vector<size_t> shares;
    for (uint32_t turn = 0; turn < chain.cores; ++turn)
      shares.push_back((total - stairs) / chain.cores + turn * chain.stairs);
    for (uint64_t left = (total - stairs) % chain.cores; left > 0; --left)
      ++shares[chain.cores - left];
    return shares;
  }

  /// Positions on the cores, in the order of analyse(): parts, rows with parts,
  /// the others.
  void number(const std::vector<RowId> &members) {
    std::vector<uint32_t> next(cores, 0);
    for (RowId row : members)
      for (size_t i = 0; i + 1 < parts[row].size(); ++i)
        ++next[parts[row][i].core];
    for (const bool split : {true, false})
      for (RowId row : members)
        if (parts[row].empty() != split)
          index[row] = next[core[row]]++;
  }

  /// The terms in the order in which their operands are expected.
  std::vector<rows::Term> inOrder(RowId row) const {
    std::vector<rows::Term> terms = work[row].terms;
    const auto rank = [&](const rows::Term &term) {
      return std::tuple(graph.rows[term.x].kind != RowKind::Constant, work[term.x].stage,
                        index[term.x], term.x);
    };
    std::sort(terms.begin(), terms.end(), [&](const rows::Term &left, const rows::Term &right) {
      return std::pair(rank(left), left.block) < std::pair(rank(right), right.block);
    });
    return terms;
  }

  SplitGraph rewrite() const {
    SplitGraph result;
    Graph &to = result.graph;
    to.geometry = graph.geometry;
    to.modelName = graph.modelName;
    to.blocks = graph.blocks;
    to.tables = graph.tables;
    to.inputs = graph.inputs;
    to.outputs = graph.outputs;
    to.states = graph.states;
    to.nodes = graph.nodes;
    to.tensors = graph.tensors;
    to.macs = graph.macs;
    to.parameters = graph.parameters;
    std::vector<RowId> renamed(graph.rows.size(), kNoRow);
    const auto add = [&](Row row, uint32_t where) {
      for (rows::Term &term : row.terms)
        term.x = renamed[term.x];
      to.rows.push_back(std::move(row));
      result.cores.push_back(where);
      return static_cast<RowId>(to.rows.size() - 1);
    };
    for (RowId id = 0; id < graph.rows.size(); ++id) {
      Row row = graph.rows[id];
      for (RowId &operand : row.a)
        operand = renamed[operand];
      for (RowId *operand : {&row.b, &row.c})
        if (*operand != kNoRow)
          *operand = renamed[*operand];
      for (size_t i = 0; i + 1 < parts[id].size(); ++i) {
        Row wide;
        wide.kind = RowKind::Linear;
        wide.wide = true;
        wide.group = row.group;
        wide.nodes = row.nodes;
        wide.elements = row.elements.part();
        wide.terms = parts[id][i].terms;
        wide.b = row.b;
        wide.step.alu1 = row.step.alu1;
        wide.step.bBroadcast = std::exchange(row.step.bBroadcast, false);
        row.step.alu1 = isa::Alu::Add;
        row.step.rhs1 = isa::Rhs1::B;
        row.b = add(std::move(wide), parts[id][i].core);
      }
      if (!parts[id].empty())
        row.terms = parts[id].back().terms;
      renamed[id] = add(std::move(row), core[id]);
    }
    to.dynamic = graph.dynamic;
    for (auto &[block, dynamic] : to.dynamic)
      for (rows::BlockWrite &write : dynamic.writes)
        write.row = renamed[write.row];
    for (std::vector<rows::Port> *ports : {&to.inputs, &to.outputs})
      for (rows::Port &port : *ports)
        for (RowId &row : port.rows)
          row = renamed[row];
    for (Row &row : to.rows)
      if (row.start != kNoRow)
        row.start = renamed[row.start];
    for (rows::State &state : to.states) {
      state.row = renamed[state.row];
      state.next = renamed[state.next];
    }
    return result;
  }
};

} // namespace

std::set<uint32_t> splittableStages(const Graph &graph, const Work &work) {
  std::set<uint32_t> result;
  if (!graph.dynamic.empty()) // parts would need copies of written weights
    return result;
  for (uint32_t stage = 1; stage < work.stages.size(); ++stage) {
    const std::vector<RowId> &members = work.stages[stage];
    uint64_t products = 0, largest = 0;
    for (RowId row : members) {
      products += work[row].terms.size();
      largest = std::max<uint64_t>(largest, work[row].terms.size());
    }
    const bool linear = std::all_of(members.begin(), members.end(), [&](RowId row) {
      return graph.rows[row].kind == RowKind::Linear;
    });
    const bool any = std::any_of(members.begin(), members.end(),
                                 [&](RowId row) { return splittable(graph.rows[row], work[row]); });
    const bool free = std::all_of(members.begin(), members.end(),
                                  [&](RowId row) { return work[row].home == kNoHome; });
    if (linear && any && free && products % (largest * graph.geometry.cores) != 0)
      result.insert(stage);
  }
  return result;
}

SplitGraph splitContractions(const Graph &graph, const Work &work, const Placement &placement,
                             const SplitOptions &options, const NodeCores *pins) {
  return Splitter(graph, work, placement, options, pins).run();
}

} // namespace sluice::plan
