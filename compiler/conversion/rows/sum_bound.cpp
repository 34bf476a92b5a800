// A row of a product that reads a state begins with a preload row: the sum of its products of
// states, which the inference before has left there. Where the state is a delay line, its rows
// become one another, and the sum passes through one more preload row for each of these.
//
// Rows of a product are counted only if their weights have different patterns of signs: equal rows
// are computed once. Rows of two products may be parts of one sum, so the product with the most
// preload rows is the bound.
#include "compiler/conversion/rows/sum_bound.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include "compiler/conversion/rows/certain_reads.h"
#include "compiler/conversion/rows/contraction_loops.h"
#include "compiler/conversion/rows/lower_dynamic.h"
#include "compiler/conversion/rows/row_tensor.h"
#include "compiler/conversion/rows/viewed_rows.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/tensors.h"

using namespace mlir;

namespace sluice::rows {
namespace {

/// Weights that the bound looks at, so that it takes a fraction of a second.
constexpr int64_t kMostSumWeights = int64_t{1} << 26;

/// Follows rows that views pass on as they are to the rows of states.
class StateRows {
public:
  StateRows(func::FuncOp function, uint32_t lanes) : viewed(lanes) {
    for (auto keep : function.getOps<ir::KeepOp>())
      kept[keep.getState()] = keep.getValue();
  }

  [[nodiscard]] RowLayout layoutOf(Value value) const { return viewed.layoutOf(value); }

  struct Found {
    Value state;
    int64_t row = 0;
    uint64_t inferences = 0; ///< for which a row that no state holds is passed on
  };

  /// The row of a state that a row of a value is, lane by lane.
  std::optional<Found> of(Value value, int64_t row) {
    const auto found = stateRow(value, layoutOf(value), row);
    if (!found)
      return std::nullopt;
    const auto inferences = inferencesOf(found->first, found->second);
    return inferences ? std::optional(Found{found->first, found->second, *inferences})
                      : std::nullopt;
  }

private:
  using StateRow = std::pair<Value, int64_t>;

  ViewedRows viewed;
  llvm::DenseMap<Value, Value> kept;        ///< by state, its value in the next inference
  llvm::DenseMap<StateRow, uint64_t> known; ///< inferencesOf()

  /// Returns the row of a state that views pass on as this row; nothing if the row is computed.
  std::optional<StateRow> stateRow(Value value, const RowLayout &layout, int64_t row) {
    const auto found = viewed.of(value, layout, row);
    if (!found || !found->value.getDefiningOp<ir::StateOp>())
      return std::nullopt;
    return StateRow(found->value, found->row);
  }

  /// Nothing if the row never becomes anything but a row of a state.
  std::optional<uint64_t> inferencesOf(Value state, int64_t row) {
    std::vector<StateRow> way;
    llvm::DenseSet<StateRow> seen;
    std::optional<StateRow> at(std::in_place, state, row);
    uint64_t inferences = 0;
    for (; at; at = kept.contains(at->first)
                        ? stateRow(kept[at->first], layoutOf(at->first), at->second)
                        : std::nullopt) {
      if (const auto found = known.find(*at); found != known.end()) {
        inferences = found->second;
        break;
      }
      if (!seen.insert(*at).second)
        return std::nullopt;
      way.push_back(*at);
    }
    for (size_t i = way.size(); i-- > 0;)
      known[way[i]] = ++inferences;
    return inferences;
  }
};

class StateSums {
public:
  StateSums(func::FuncOp function, uint32_t lanes)
      : function(function), states(function, lanes), reads(function, constants) {}

  SumBound run() {
    for (Operation &op : function.getBody().front().without_terminator())
      if (isProduct(&op) && ir::dataDim(op.getResult(0)))
        look(op);
    return bound;
  }

private:
  func::FuncOp function;
  StateRows states;
  ConstantValues constants;
  const CertainReads reads;
  int64_t left = kMostSumWeights; ///< weights that may be looked at
  SumBound bound;

  /// An element of a state that a product reads.
  struct Term {
    int64_t w = 0; ///< index of its weight, without that of the row
    uint64_t inferences = 0;
  };

  /// The elements of states that are read at one position, in whole rows.
  struct Terms {
    std::vector<Term> all;
    uint64_t rows = 0;
  };
  Terms termsOf(Value x, int64_t first, const std::vector<Trip> &sums) {
    const RowLayout layout = states.layoutOf(x);
    std::map<int64_t, std::optional<StateRows::Found>> rows;
    std::set<std::tuple<void *, int64_t, int64_t>> seen;
    Terms terms;
    for (const Trip &sum : sums) {
      const RowLayout::Place place = layout.place(first + sum.x);
      const auto [row, added] = rows.try_emplace(place.row);
      if (added) {
        row->second = states.of(x, place.row);
        terms.rows += row->second.has_value();
      }
      if (!row->second)
        continue;
      // Weights of an element that is read twice are added.
      if (!seen.insert({row->second->state.getAsOpaquePointer(), row->second->row, place.lane})
               .second)
        return {};
      terms.all.push_back({sum.w, row->second->inferences});
    }
    return terms;
  }

  void look(Operation &op) {
    const Value result = op.getResult(0);
    const space::Region *needed = reads.of(result);
    const Loops loops = loopsOf(&op);
    if (!needed || reads.leastBehind(result) < kLeastWeight || isDynamic(&op, loops))
      return;
    const bool xFirst = ir::dataDim(op.getOperand(0)).has_value();
    const std::vector<int64_t> &x = xFirst ? loops.lhs : loops.rhs,
                               &w = xFirst ? loops.rhs : loops.lhs;
    const llvm::ArrayRef<float> weights = constants.of(op.getOperand(xFirst ? 1 : 0));
    if (weights.size() < 2)
      return;
    std::vector<size_t> summed;
    for (size_t loop = 0; loop < loops.extents.size(); ++loop)
      if (loops.extents[loop] > 1 && loops.result[loop] == 0)
        summed.push_back(loop);
      else if (loops.extents[loop] > 1 && w[loop] != 0 && x[loop] != 0)
        return;
    std::vector<Trip> features{{}};
    int64_t first = 0; // element that is read
    for (const auto &[axis, loop] : llvm::enumerate(loops.resultAxes)) {
      const int64_t start = needed->start[axis], extent = needed->extents[axis];
      if (extent == 0)
        return;
      if (loop == kNoLoop || loops.extents[loop] == 1)
        continue;
      const bool isFeature = w[loop] != 0;
      const int64_t from = isFeature ? start : start + extent / 2, count = isFeature ? extent : 1;
      first += isFeature ? 0 : from * x[loop];
      std::vector<Trip> more;
      for (const Trip &feature : features)
        for (int64_t i = from; i < from + count; ++i)
          more.push_back({0, feature.w + i * w[loop], feature.out + i * loops.result[loop]});
      features = std::move(more);
    }
    const Terms terms = termsOf(op.getOperand(xFirst ? 0 : 1), first, loops.trips(summed, xFirst));
    const auto count = static_cast<int64_t>(terms.all.size() * features.size());
    if (terms.all.empty() || count > left)
      return;
    left -= count;
    countRows(op, features, terms, weights);
  }

  /// Counts the rows of a product whose weights of states differ.
  void countRows(Operation &op, const std::vector<Trip> &features, const Terms &terms,
                 llvm::ArrayRef<float> weights) {
    const RowLayout layout = states.layoutOf(op.getResult(0));
    std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> rows; // lanes and weights
    for (const Trip &feature : features) {
      const RowLayout::Place place = layout.place(feature.out);
      rows[place.row].emplace_back(place.lane, feature.w);
    }
    SumBound here;
    here.node = ir::nodeOf(op.getLoc());
    std::set<std::vector<bool>> patterns;
    for (auto &[row, lanes] : rows) {
      std::ranges::sort(lanes);
      std::vector<bool> pattern;
      uint64_t inferences = 0;
      bool isKnown = true;
      for (const auto &[lane, feature] : lanes) {
        std::optional<bool> sign; // of the first weight: a factor behind may change all
        for (const Term &term : terms.all) {
          const float weight = weights[feature + term.w];
          isKnown &= weight == 0 || std::fabs(weight) >= kLeastWeight;
          pattern.push_back(weight != 0);
          if (weight == 0)
            continue;
          sign = sign.value_or(std::signbit(weight));
          pattern.push_back(std::signbit(weight) == *sign);
          inferences = std::max(inferences, term.inferences);
        }
      }
      if (!isKnown || inferences == 0 || !patterns.insert(std::move(pattern)).second)
        continue;
      here.rows += inferences;
      here.products += terms.rows;
    }
    if (here.rows > bound.rows)
      bound = here;
  }
};

} // namespace

SumBound sumBound(func::FuncOp function, uint32_t lanes) {
  return function.getOps<ir::StateOp>().empty() ? SumBound() : StateSums(function, lanes).run();
}

} // namespace sluice::rows
