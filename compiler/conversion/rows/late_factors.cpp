#include "compiler/conversion/rows/late_factors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "compiler/conversion/row_graph.h"
#include "compiler/conversion/rows/finish.h"
#include "compiler/conversion/rows/steps.h"
#include "hw/numerics/numerics.h"

namespace sluice::rows {
namespace {

/// A row as a product of another row, a factor that is the same in every lane, and constants.
struct Scaled {
  RowId x = kNoRow;
  RowId factor = kNoRow;
  bool broadcast = false; ///< lane 0 of the factor's row
  RowId gain = kNoRow;    ///< constant, if any
};

bool equalLanes(const auto &lanes) {
  return std::ranges::adjacent_find(lanes, std::not_equal_to()) == lanes.end();
}

/// By row: whether its lanes are equal, by what it is made of.
class EqualLanes {
public:
  explicit EqualLanes(const Graph &graph) : graph(graph) {
    for (const Row &row : graph.rows)
      known.push_back(of(row));
  }

  [[nodiscard]] bool operator[](RowId row) const { return known[row]; }

private:
  const Graph &graph;
  std::vector<bool> known;
  std::map<uint32_t, bool> blocks;

  bool of(const Row &row) {
    const VectorStep &step = row.step;
    if (step.bWide || (usesB(step) && !step.bBroadcast && !known[row.b]) ||
        (usesC(step) && !step.cBroadcast && !known[row.c]))
      return false;
    switch (row.kind) {
    case RowKind::Input:
    case RowKind::State:
      return false;
    case RowKind::Constant:
      return equalLanes(row.lanes);
    case RowKind::Linear:
      return row.bias.isUniform() && std::ranges::all_of(row.terms, [&](const Term &term) {
               return sumsForAll(term.block);
             });
    case RowKind::Vector:
      return std::ranges::all_of(row.a, [&](RowId a) { return known[a]; });
    }
    return false;
  }

  /// Whether every output lane of a block has the same weights.
  bool sumsForAll(uint32_t block) {
    const auto [it, first] = blocks.try_emplace(block, false);
    if (!first || graph.dynamic.contains(block))
      return it->second;
    const WeightBlock &weights = graph.blocks[block];
    const auto lanes = static_cast<ptrdiff_t>(graph.geometry.lanes);
    // Lane by lane the same as one lane later.
    it->second = std::equal(weights.begin() + lanes, weights.end(), weights.begin());
    return it->second;
  }
};

class FactorRewriter {
public:
  explicit FactorRewriter(Graph &graph) : graph(graph), equal(graph), found(graph.rows.size()) {}

  bool run() {
    bool any = false;
    for (RowId id = 0; id < graph.rows.size(); ++id) {
      found[id] = newestOf(graph.rows[id]);
      any |= !found[id].empty();
    }
    if (any)
      rebuild();
    return any;
  }

private:
  Graph &graph;
  EqualLanes equal;
  /// By row: what its products are of that are not of states, in their order, if they share a
  /// factor.
  std::vector<std::vector<Scaled>> found;
  std::map<std::pair<uint32_t, RowId>, uint32_t> scaledBlocks;
  std::vector<Row> rows;
  std::vector<RowId> number; ///< by old row
  uint32_t group = 0;

  [[nodiscard]] std::optional<Scaled> scaledOf(RowId id) const {
    const Row &row = graph.rows[id];
    const VectorStep &step = row.step;
    if (row.kind != RowKind::Vector || row.a.size() != 1 || step.table ||
        step.reduce != isa::Reduce::None || step.post != isa::Post::None || step.bWide)
      return std::nullopt;
    Scaled result{.x = row.a[0]};
    const auto take = [&](RowId operand, bool broadcast) {
      if (graph.rows[operand].kind == RowKind::Constant && !broadcast && result.gain == kNoRow)
        result.gain = operand;
      else if ((broadcast || equal[operand]) && result.factor == kNoRow)
        std::tie(result.factor, result.broadcast) = std::tuple(operand, broadcast);
      else
        return false;
      return true;
    };
    const bool first =
        step.alu1 == isa::Alu::Pass ||
        (step.alu1 == isa::Alu::Mul && step.rhs1 == isa::Rhs1::B && take(row.b, step.bBroadcast));
    const bool second =
        step.alu2 == isa::Alu::Pass ||
        (step.alu2 == isa::Alu::Mul && step.rhs2 == isa::Rhs2::C && take(row.c, step.cBroadcast));
    if (!first || !second || result.factor == kNoRow)
      return std::nullopt;
    return result;
  }

  [[nodiscard]] bool isState(RowId id) const { return graph.rows[id].kind == RowKind::State; }

  [[nodiscard]] std::vector<Scaled> newestOf(const Row &row) const {
    std::vector<Scaled> newest;
    for (const Term &term : row.terms) {
      if (graph.dynamic.contains(term.block))
        return {};
      if (isState(term.x))
        continue;
      const auto scaled = scaledOf(term.x);
      if (!scaled || (!newest.empty() && (scaled->factor != newest[0].factor ||
                                          scaled->broadcast != newest[0].broadcast)))
        return {};
      if (scaled->gain != kNoRow && !staysFinite(term.block, scaled->gain))
        return {};
      newest.push_back(*scaled);
    }
    return newest.size() < row.terms.size() ? newest : std::vector<Scaled>();
  }

  /// Weights must be finite.
  [[nodiscard]] bool staysFinite(uint32_t block, RowId gain) const {
    return scaled(block, gain).isFinite();
  }

  /// The weights of a block times what they would be multiplied with, rounded once more.
  [[nodiscard]] WeightBlock scaled(uint32_t block, RowId gain) const {
    std::vector<uint16_t> weights = graph.blocks[block];
    const std::vector<uint16_t> &by = graph.rows[gain].lanes;
    for (size_t i = 0; i < weights.size(); ++i)
      weights[i] = numerics::roundToBf16(numerics::bf16ToDouble(weights[i]) *
                                         numerics::bf16ToDouble(by[i % by.size()]));
    return weights;
  }

  uint32_t withGain(uint32_t block, RowId gain) {
    if (gain == kNoRow)
      return block;
    const auto [it, first] = scaledBlocks.try_emplace({block, gain}, 0);
    if (first) {
      const WeightBlock weights = scaled(block, gain);
      const auto same = std::ranges::find(graph.blocks, weights);
      it->second = static_cast<uint32_t>(same - graph.blocks.begin());
      if (same == graph.blocks.end())
        graph.blocks.push_back(weights);
    }
    return it->second;
  }

  void renumber(RowId &id) const { id = id == kNoRow ? kNoRow : number[id]; }

  RowId add(Row row) {
    rows.push_back(std::move(row));
    return static_cast<RowId>(rows.size() - 1);
  }

  /// What is there from the beginning, then the sums of states alone, then the rest, each group
  /// behind what its products without the factors are.
  void rebuild() {
    number.resize(graph.rows.size());
    std::vector<RowId> past(graph.rows.size(), kNoRow);
    RowId id = 0;
    for (; id < graph.rows.size() && graph.rows[id].group == 0; ++id)
      number[id] = add(graph.rows[id]);
    const RowId computed = id;
    forEachGroup(computed, [&](RowId from, RowId to) {
      for (RowId of = from; of < to; ++of)
        if (!found[of].empty())
          past[of] = add(pastOf(graph.rows[of]));
    });
    forEachGroup(computed, [&](RowId from, RowId to) {
      for (RowId of = from; of < to; ++of)
        if (!found[of].empty())
          number[of] = add(newestOf(of, past[of]));
      ++group;
      for (RowId of = from; of < to; ++of)
        if (found[of].empty())
          number[of] = add(renumbered(graph.rows[of]));
        else if (const VectorStep &step = graph.rows[of].step; step != only(step.post))
          number[of] = add(behind(graph.rows[of], number[of]));
    });
    for (auto *ports : {&graph.inputs, &graph.outputs})
      for (Port &port : *ports)
        for (RowId &row : port.rows)
          renumber(row);
    for (State &state : graph.states) {
      renumber(state.row);
      renumber(state.next);
    }
    for (auto &[block, dynamic] : graph.dynamic)
      for (BlockWrite &write : dynamic.writes)
        renumber(write.row);
    graph.rows = std::move(rows);
    compact(graph);
  }

  template <typename Function> void forEachGroup(RowId from, Function function) {
    while (from < graph.rows.size()) {
      RowId to = from;
      while (to < graph.rows.size() && graph.rows[to].group == graph.rows[from].group)
        ++to;
      ++group;
      function(from, to);
      from = to;
    }
  }

  static VectorStep only(isa::Post post) {
    VectorStep step;
    step.post = post;
    return step;
  }

  Row renumbered(Row row) {
    for (RowId &a : row.a)
      renumber(a);
    for (Term &term : row.terms)
      renumber(term.x);
    renumber(row.b);
    renumber(row.c);
    row.group = group;
    return row;
  }

  Row pastOf(const Row &row) {
    Row past;
    past.kind = RowKind::Linear;
    past.bias = row.bias;
    past.nodes = row.nodes;
    past.elements = row.elements.part();
    past.group = group;
    for (const Term &term : row.terms)
      if (isState(term.x))
        past.terms.push_back({number[term.x], term.block});
    return past;
  }

  /// With what follows it in the same pass: all of the step if that is a maximum with zero.
  Row newestOf(RowId of, RowId past) {
    const Row &row = graph.rows[of];
    Row newest;
    newest.kind = RowKind::Linear;
    newest.nodes = row.nodes;
    newest.group = group;
    auto scaled = found[of].begin();
    for (const Term &term : row.terms)
      if (!isState(term.x)) {
        newest.terms.push_back({number[scaled->x], withGain(term.block, scaled->gain)});
        ++scaled;
      }
    const Scaled &shared = found[of].front();
    newest.b = number[shared.factor];
    newest.c = past;
    newest.step.alu1 = isa::Alu::Mul;
    newest.step.bBroadcast = shared.broadcast;
    newest.step.alu2 = isa::Alu::Add;
    if (row.step == only(row.step.post)) {
      newest.step.post = row.step.post;
      newest.elements = row.elements;
    }
    if (beginsAsRelu(row.step))
      newest.step.post = isa::Post::Relu;
    return newest;
  }

  static bool beginsAsRelu(const VectorStep &step) {
    return !readsA(step) && step.alu1 == isa::Alu::Max && step.rhs1 == isa::Rhs1::Imm &&
           std::bit_cast<uint32_t>(step.imm1) == 0;
  }

  /// The rest of the step, on what the factor and the past have made of the products.
  Row behind(const Row &row, RowId newest) {
    Row rest = row;
    rest.kind = RowKind::Vector;
    rest.terms.clear();
    rest.bias = {};
    if (beginsAsRelu(rest.step)) {
      rest.step.alu1 = isa::Alu::Pass;
      rest.step.rhs1 = isa::Rhs1::B;
      rest.step.imm1 = 0;
    }
    rest = renumbered(std::move(rest));
    rest.a = {newest};
    return rest;
  }
};

} // namespace

bool factorsBehindNewest(Graph &graph) { return FactorRewriter(graph).run(); }

} // namespace sluice::rows
