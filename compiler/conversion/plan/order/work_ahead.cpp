#include "compiler/conversion/plan/order/work_ahead.h"

#include <algorithm>
#include <cassert>
#include <compare>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compiler/conversion/plan/order/operands.h"
#include "compiler/conversion/plan/order/work.h"
#include "compiler/conversion/row_graph.h"
#include "hw/numerics/latency.h"
#include "hw/numerics/numerics.h"

namespace sluice::plan {
namespace {

using rows::State;
using rows::Term;

class Rewriter {
public:
  explicit Rewriter(const Graph &from) : graph(from) {
    for (const Row &row : graph.rows)
      group = std::max(group, row.group);
  }

  Graph run(bool longestWayFirst) {
    if (longestWayFirst)
      orderGroups();
    sumAhead();
    hold();
    return std::move(graph);
  }

private:
  Graph graph;
  uint32_t group = 0; ///< the last one

  RowId add(Row row) {
    row.group = group;
    graph.rows.push_back(std::move(row));
    return static_cast<RowId>(graph.rows.size() - 1);
  }

  RowId copyOf(RowId row) {
    Row copy;
    copy.kind = RowKind::Vector;
    copy.a = {row};
    copy.nodes = graph.rows[row].nodes;
    copy.elements = graph.rows[row].elements;
    return add(std::move(copy));
  }

  [[nodiscard]] bool multipliesStates(RowId id) const {
    return std::ranges::any_of(graph.rows[id].terms,
                               [&](const Term &term) { return isState(graph, term.x); });
  }

  /// Which groups come first is which products and steps come first: of those that are ready
  /// together the ones with the longest way behind them to the next products, as the gates of a
  /// cell have ways of different lengths.
  void orderGroups() {
    std::vector<uint32_t> depth(graph.rows.size()); // products on the way to a row
    std::vector<uint32_t> way(graph.rows.size());   // cycles to the next products
    const isa::Latencies latencies = graph.geometry.latencies();
    const auto cycles = [&](const Row &row) {
      const rows::VectorStep &step = row.step;
      return latencies.vector(
          isa::vectorPath(step.alu1, step.table.has_value(), step.reduce, step.alu2));
    };
    for (RowId id = 0; id < graph.rows.size(); ++id) {
      const Row &row = graph.rows[id];
      for (const Term &term : row.terms)
        depth[id] = std::max(depth[id], depth[term.x] + 1);
      forEachVectorOperand(row, [&](RowId of) { depth[id] = std::max(depth[id], depth[of]); });
    }
    // What is only kept is in nobody's way.
    for (const rows::Port &port : graph.outputs)
      for (const RowId row : port.rows)
        way[row] = 1;
    for (const Row &row : graph.rows)
      for (const Term &term : row.terms)
        way[term.x] = 1;
    for (RowId id = static_cast<RowId>(graph.rows.size()); id-- > 0;)
      forEachVectorOperand(graph.rows[id], [&](RowId of) {
        if (depth[of] == depth[id] && way[id] != 0)
          way[of] = std::max(way[of], way[id] + static_cast<uint32_t>(cycles(graph.rows[id])));
      });

    struct Group {
      uint32_t depth = 0, way = 0;
      std::set<uint32_t> needs; ///< groups
    };
    std::map<uint32_t, Group> groups;
    for (RowId id = 0; id < graph.rows.size(); ++id) {
      const Row &row = graph.rows[id];
      if (!isComputed(id))
        continue;
      Group &of = groups[row.group];
      of.depth = std::max(of.depth, depth[id]);
      of.way = std::max(of.way, way[id]);
      const auto need = [&](RowId operand) {
        if (isComputed(operand) && graph.rows[operand].group != row.group)
          of.needs.insert(graph.rows[operand].group);
      };
      forEachVectorOperand(row, need);
      for (const Term &term : row.terms) {
        need(term.x);
        if (const auto dynamic = graph.dynamic.find(term.block); dynamic != graph.dynamic.end())
          for (const rows::BlockWrite &write : dynamic->second.writes)
            need(write.row);
      }
    }
    std::set<std::tuple<uint32_t, uint32_t, uint32_t>> ready; // depth, ~way, group
    std::map<uint32_t, std::vector<uint32_t>> neededBy;
    std::map<uint32_t, size_t> open; // needs of a group that have no number yet
    const auto isReady = [&](uint32_t one) {
      const Group &of = groups.at(one);
      ready.insert({of.depth, ~of.way, one});
    };
    for (const auto &[one, of] : groups) {
      for (const uint32_t needed : of.needs)
        neededBy[needed].push_back(one);
      open[one] = of.needs.size();
      if (of.needs.empty())
        isReady(one);
    }
    std::map<uint32_t, uint32_t> number;
    while (!ready.empty()) {
      const uint32_t best = std::get<2>(*ready.begin());
      ready.erase(ready.begin());
      number.insert({best, static_cast<uint32_t>(number.size()) + 1});
      for (const uint32_t one : neededBy[best])
        if (--open.at(one) == 0)
          isReady(one);
    }
    assert(number.size() == groups.size() && "groups are in topological order");
    for (RowId id = 0; id < graph.rows.size(); ++id)
      if (isComputed(id))
        graph.rows[id].group = number.at(graph.rows[id].group);
    group = static_cast<uint32_t>(number.size());
  }

  /// Moves products of states into rows of their own; those rows' own products of states into
  /// others, and so on to the end of the delay lines.
  void sumAhead() {
    std::vector<RowId> level;
    for (RowId id = 0; id < graph.rows.size(); ++id)
      if (multipliesStates(id))
        level.push_back(id);
    while (!level.empty()) {
      ++group;
      std::vector<RowId> next;
      for (const RowId id : level)
        if (const RowId ahead = moveStates(id); multipliesStates(ahead))
          next.push_back(ahead);
      level = std::move(next);
    }
  }

  RowId moveStates(RowId id) {
    Row ahead;
    ahead.kind = RowKind::Linear;
    ahead.ahead = true;
    ahead.nodes = graph.rows[id].nodes;
    ahead.elements = graph.rows[id].elements.part();
    std::vector<double> initial(graph.geometry.lanes);
    const rows::Bias bias = graph.rows[id].bias;
    std::ranges::copy(bias, initial.begin());
    std::vector<Term> rest;
    for (const Term &term : graph.rows[id].terms) {
      if (!isState(graph, term.x)) {
        rest.push_back(term);
        continue;
      }
      const State &state = graph.states[graph.rows[term.x].state];
      ahead.terms.push_back({state.next, term.block});
      addProduct(graph.blocks[term.block], state.initial, initial);
    }
    ahead.bias = bias;
    const RowId made = add(std::move(ahead));
    Row &row = graph.rows[id];
    row.terms = std::move(rest);
    row.start = made;
    row.bias = std::vector<float>(initial.begin(), initial.end());
    return made;
  }

  static void addProduct(const std::vector<uint16_t> &block, const std::vector<uint16_t> &x,
                         std::vector<double> &sum) {
    const size_t lanes = x.size();
    for (size_t k = 0; k < lanes; ++k)
      if (!numerics::isZero(x[k]))
        for (size_t lane = 0; lane < lanes; ++lane)
          sum[lane] +=
              numerics::bf16ToDouble(block[lane * lanes + k]) * numerics::bf16ToDouble(x[k]);
  }

  /// Gives every state that vector steps read a row that holds it.
  void hold() {
    std::vector<std::vector<RowId>> readers(graph.states.size());
    for (RowId id = 0; id < graph.rows.size(); ++id)
      forEachState(graph, id, [&](uint32_t state) { readers[state].push_back(id); });
    std::vector<uint32_t> open; // states to be held, also those that others become
    std::vector<bool> held(graph.states.size());
    const auto need = [&](uint32_t state) {
      if (!held[state])
        open.push_back(state);
      held[state] = true;
    };
    for (uint32_t i = 0; i < readers.size(); ++i)
      if (!readers[i].empty())
        need(i);
    for (size_t i = 0; i < open.size(); ++i)
      if (const RowId next = graph.states[open[i]].next; isState(graph, next))
        need(graph.rows[next].state);
    holdInTurn(open, readers);

    std::vector<State> kept;
    for (uint32_t i = 0; i < held.size(); ++i)
      if (held[i]) {
        graph.rows[graph.states[i].row].state = static_cast<uint32_t>(kept.size());
        kept.push_back(std::move(graph.states[i]));
      }
    graph.states = std::move(kept);
  }

  /// A copy of another state is made before that one changes: delay lines from their ends on.
  void holdInTurn(const std::vector<uint32_t> &open, std::vector<std::vector<RowId>> &readers) {
    std::vector<bool> taken(graph.rows.size());
    const auto becomes = [&](uint32_t i) -> std::optional<uint32_t> { // another state
      const RowId next = graph.states[i].next;
      if (!isState(graph, next) || graph.rows[next].state == i)
        return std::nullopt;
      return graph.rows[next].state;
    };
    std::vector<size_t> turn(graph.states.size());
    std::vector<uint32_t> awaited(graph.states.size()); // how many others become these
    for (size_t i = 0; i < open.size(); ++i) {
      turn[open[i]] = i;
      if (const auto other = becomes(open[i]))
        ++awaited[*other];
    }
    std::vector<uint32_t> now, next;
    std::ranges::copy_if(open, std::back_inserter(now),
                         [&](uint32_t i) { return awaited[i] == 0; });
    std::vector<bool> done(graph.states.size());
    size_t first = 0; // all before are done
    for (size_t left = open.size(); left != 0; now = std::exchange(next, {})) {
      ++group;
      const auto give = [&](uint32_t other) {
        if (--awaited[other] == 0)
          next.push_back(other);
      };
      if (now.empty()) {
        // They go round in a circle: one of them changes hands outside of it.
        while (done[open[first]])
          ++first;
        State &state = graph.states[open[first]];
        const uint32_t other = graph.rows[state.next].state;
        state.next = copyOf(state.next);
        readers[other].push_back(state.next);
        give(other);
        continue;
      }
      for (const uint32_t i : now) {
        const auto other = becomes(i);
        holdOne(i, taken, readers);
        done[i] = true;
        --left;
        if (other)
          give(*other);
      }
      std::ranges::sort(next, {}, [&](uint32_t i) { return turn[i]; });
    }
  }

  void holdOne(uint32_t i, std::vector<bool> &taken, std::vector<std::vector<RowId>> &readers) {
    const RowId next = graph.states[i].next;
    if (isComputed(next) && !taken[next] && comesBehind(next, readers[i])) {
      taken[next] = true;
      return;
    }
    const RowId copy = copyOf(next);
    graph.states[i].next = copy;
    taken.resize(graph.rows.size());
    taken[copy] = true;
    if (isState(graph, next))
      readers[graph.rows[next].state].push_back(copy);
  }

  [[nodiscard]] bool isComputed(RowId row) const {
    return graph.rows[row].kind == RowKind::Linear || graph.rows[row].kind == RowKind::Vector;
  }

  /// Whether every unit does `row` behind those that read its state, whatever the order.
  [[nodiscard]] bool comesBehind(RowId row, const std::vector<RowId> &readers) const {
    return std::ranges::all_of(readers, [&](RowId reader) {
      return reader == row || graph.rows[reader].group < graph.rows[row].group;
    });
  }
};

/// A product as it is in an inference: of a row, as it was so many inferences before.
struct Product {
  RowId x = kNoRow;
  uint32_t before = 0;
  uint32_t block = 0;

  auto operator<=>(const Product &) const = default;
};

/// The products of a row, those of states as products of what became the states.
std::vector<Product> productsOf(const Graph &graph, RowId id) {
  std::vector<Product> products;
  for (const Term &term : graph.rows[id].terms) {
    Product product{term.x, 0, term.block};
    for (; isState(graph, product.x) && product.before <= graph.states.size(); ++product.before)
      product.x = graph.states[graph.rows[product.x].state].next;
    products.push_back(product);
  }
  std::ranges::sort(products);
  return products;
}

/// The same of a row whose states were summed ahead, and what its sum begins with.
std::vector<Product> productsAhead(const Graph &graph, RowId id, rows::Bias &bias) {
  std::vector<Product> products;
  for (uint32_t before = 0; id != kNoRow; ++before, id = graph.rows[id].start) {
    for (const Term &term : graph.rows[id].terms)
      products.push_back({term.x, before, term.block});
    bias = graph.rows[id].bias;
  }
  std::ranges::sort(products);
  return products;
}

} // namespace

std::optional<uint32_t> circularState(const Graph &graph) {
  if (graph.states.empty())
    return std::nullopt;
  for (RowId id = 0; id < graph.rows.size(); ++id)
    for (const Product &product : productsOf(graph, id))
      if (isState(graph, product.x))
        return graph.rows[product.x].state;
  return std::nullopt;
}

rows::Graph workAhead(const Graph &graph, bool longestWayFirst) {
  return Rewriter(graph).run(longestWayFirst);
}

std::optional<std::string> verifyAhead(const Graph &graph, const Graph &ahead) {
  for (RowId id = 0; id < graph.rows.size(); ++id) {
    const Row &before = graph.rows[id], &now = ahead.rows[id];
    rows::Bias bias;
    const std::vector<Product> products = productsAhead(ahead, id, bias);
    if (products != productsOf(graph, id) || now.kind != before.kind || now.step != before.step ||
        bias != before.bias || now.a != before.a || now.b != before.b || now.c != before.c ||
        now.ahead)
      return fmt::format("row {} has changed", id);
  }
  for (const State &state : ahead.states) {
    const auto was = std::ranges::find(graph.states, state.row, &State::row);
    RowId next = state.next;
    while (next >= graph.rows.size() && ahead.rows[next].kind == RowKind::Vector &&
           ahead.rows[next].step == rows::VectorStep{} && ahead.rows[next].a.size() == 1)
      next = ahead.rows[next].a[0];
    if (was == graph.states.end() || next != was->next || state.initial != was->initial)
      return fmt::format("state {} is updated differently", state.row);
  }
  return std::nullopt;
}

} // namespace sluice::plan
