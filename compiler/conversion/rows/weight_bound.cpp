// A block has a line of weights for each output lane. Where lines are equal, the signs of their
// weights are, but for the sign of the factor behind the product, which is one for an output lane.
// So a function stores at least as many lines as its weights have patterns of signs. Few lanes have
// few of these. If no factor differs from lane to lane, equal lines have equal ratios too, to the
// precision of bf16, and patterns of ratios are counted. Of each product the bound looks at one
// position of the result.
//
// Forms of a model with a state move constant factors from rows into weights, so lines that differ
// may become equal. A row of a state has no such factor, and sums that are precomputed read the
// weights of the rows of states. So of such a model only lines that read states alone are counted.
#include "compiler/conversion/rows/weight_bound.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include "compiler/conversion/rows/contraction_loops.h"
#include "compiler/conversion/rows/lower_dynamic.h"
#include "compiler/conversion/rows/read_places.h"
#include "compiler/conversion/rows/row_tensor.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/tensors.h"

using namespace mlir;

namespace sluice::rows {
namespace {

using Lines = llvm::DenseSet<uint64_t>; ///< hashes of patterns

/// Weights that the bound looks at, so that it takes a fraction of a second.
constexpr int64_t kMostWeights = int64_t{1} << 26;

/// Products with the same weights that the bound looks at. The steps of a recurrence are hundreds,
/// and those in the middle read their operands alike.
constexpr unsigned kMostAlike = 16;

/// Mixes a number into a hash.
void mix(uint64_t &hash, uint64_t number) {
  hash = (hash + number) * 0x9E3779B97F4A7C15;
  hash ^= hash >> 29;
}

/// The pattern of a line of weights, lane by lane.
class Pattern {
public:
  void add(int64_t lane, float weight) {
    const bool zero = weight == 0;
    unknown |= !zero && !(std::fabs(weight) >= kLeastWeight);
    if (zero)
      return;
    if (count++ == 0)
      first = weight;
    mix(signs, static_cast<uint64_t>(2 * lane + (std::signbit(weight) == std::signbit(first))));
    if (count > 1 && count <= kRatios)
      addRatio(std::fabs(weight / first));
  }

  /// Lines of one weight are left out: there are few.
  [[nodiscard]] bool counts() const { return !unknown && count > 1; }
  [[nodiscard]] bool countsByRatios() const { return counts() && distinct; }
  [[nodiscard]] uint64_t ofSigns() const { return signs >> 1; }
  [[nodiscard]] uint64_t ofRatios() const {
    uint64_t both = signs;
    mix(both, ratios);
    return both >> 1;
  }

private:
  /// Weights of a line whose ratios to its first weight are looked at.
  static constexpr int64_t kRatios = 8;
  /// Four roundings to bf16, each by 2^-8 of a number, change a ratio by less than this share.
  static constexpr float kRounding = 1.0F / 60;

  uint64_t signs = 0, ratios = 0; ///< hashes
  int64_t count = 0;              ///< of the weights that are not zero
  float first = 0;
  bool unknown = false;
  bool distinct = true; ///< no ratio is so close to a power of 2 that it may be below or above

  void addRatio(float ratio) {
    int exponent = 0;
    const float fraction = std::frexp(ratio, &exponent); // in [0.5, 1)
    distinct &= fraction > 0.5F * (1 + kRounding) && fraction < 1 - kRounding;
    mix(ratios, static_cast<uint64_t>(exponent + 1024));
  }
};

/// The weights of a product at one position of its result.
struct Position {
  llvm::ArrayRef<float> weights;
  std::vector<int64_t> features; ///< indices of the weights of each output lane
  std::vector<int64_t> sums;     ///< what each element that is read adds to them
  std::vector<int64_t> read;     ///< elements of the operand
  Value operand;
};

class Bound {
public:
  Bound(BoundFacts &facts, uint32_t lanes)
      : function(facts.function), lanes(lanes), keepsState(!function.getOps<ir::StateOp>().empty()),
        constants(facts.constants), reads(facts.reads) {}

  WeightBound run() {
    for (Operation &op : function.getBody().front().without_terminator())
      if (const auto position = positionOf(op))
        addLines(*position, ir::nodeOf(op.getLoc()));
    const Count &most = byRatios.lines > bySigns.lines ? byRatios : bySigns;
    WeightBound bound;
    for (const auto &[node, lines] : most.products)
      bound.products.push_back({node, static_cast<double>(lines) / lanes});
    bound.blocks = (most.lines + lanes - 1) / lanes;
    std::ranges::sort(bound.products, [](const ProductBlocks &a, const ProductBlocks &b) {
      return std::pair(b.blocks, a.node.index) < std::pair(a.blocks, b.node.index);
    });
    return bound;
  }

private:
  func::FuncOp function;
  const uint32_t lanes;
  const bool keepsState;
  ConstantValues &constants;
  ElementFollower follower{constants};
  const CertainReads &reads;
  int64_t left = kMostWeights; ///< weights that may be looked at

  /// Lines of the products so far, by one kind of pattern.
  struct Count {
    Lines seen;         ///< however the rows of a product are grouped
    uint64_t lines = 0; ///< in the groupings that have the fewest
    std::vector<std::pair<NodeRef, uint64_t>> products;

    /// Adds the lines of a product, by grouping.
    void add(const std::vector<Lines> &groupings, const NodeRef &node) {
      std::optional<uint64_t> fewest;
      for (const Lines &one : groupings) {
        const auto more = static_cast<uint64_t>(
            llvm::count_if(one, [&](uint64_t line) { return !seen.contains(line); }));
        fewest = std::min(fewest.value_or(more), more);
      }
      for (const Lines &one : groupings)
        seen.insert(one.begin(), one.end());
      if (fewest.value_or(0) == 0)
        return;
      lines += *fewest;
      products.emplace_back(node, *fewest);
    }
  };
  Count bySigns, byRatios;

  /// Elements in one row: the lane of each, and its index in Position::sums.
  using Group = std::vector<std::pair<int64_t, size_t>>;

  /// What of a product decides about its lines, but for the weights.
  struct Known {
    std::vector<int64_t> features, sums;
    std::vector<Group> groups;
    bool areScaledAlike = false;
    bool operator==(const Known &) const = default;
  };
  llvm::DenseMap<const float *, unsigned> products;         ///< by weights, how many there were
  llvm::DenseMap<const float *, std::vector<Known>> looked; ///< that was looked at, by weights

  /// Nothing if the operation is no product with constant weights, or if its weights may be
  /// rows, or each index of a batch may have its own.
  std::optional<Position> positionOf(Operation &op) {
    if (!isProduct(&op) || !ir::dataDim(op.getResult(0)))
      return std::nullopt;
    const Value result = op.getResult(0);
    const space::Region *needed = reads.of(result);
    const Loops loops = loopsOf(&op);
    if (!needed || reads.leastBehind(result) < kLeastWeight || isDynamic(&op, loops))
      return std::nullopt;
    const bool xFirst = ir::dataDim(op.getOperand(0)).has_value();
    const std::vector<int64_t> &x = xFirst ? loops.lhs : loops.rhs,
                               &w = xFirst ? loops.rhs : loops.lhs;
    const size_t feature = // none of a scalar
        loops.resultAxes.empty() ? kNoLoop : loops.resultAxes[*ir::dataDim(result)];
    std::vector<size_t> summed;
    for (size_t loop = 0; loop < loops.extents.size(); ++loop) {
      if (loops.extents[loop] == 1)
        continue;
      if (loops.result[loop] == 0)
        summed.push_back(loop);
      else if ((w[loop] != 0) != (loop == feature) || (loop == feature && x[loop] != 0))
        return std::nullopt;
    }
    Position position{
        constants.of(op.getOperand(xFirst ? 1 : 0)), {0}, {}, {}, op.getOperand(xFirst ? 0 : 1)};
    if (position.weights.size() < 2)
      return std::nullopt;
    int64_t first = 0; // element that is read
    for (const auto &[axis, loop] : llvm::enumerate(loops.resultAxes)) {
      const int64_t start = needed->start[axis], extent = needed->extents[axis];
      if (loop == kNoLoop || loops.extents[loop] == 1)
        continue;
      if (loop != feature) {
        first += (start + extent / 2) * x[loop];
        continue;
      }
      position.features.clear();
      for (int64_t i = start; i < start + extent; ++i)
        position.features.push_back(i * w[loop]);
    }
    for (const Trip &sum : loops.trips(summed, xFirst)) {
      position.sums.push_back(sum.w);
      position.read.push_back(first + sum.x);
    }
    return position;
  }

  void addLines(const Position &position, const NodeRef &node) {
    if (++products[position.weights.data()] > kMostAlike)
      return;
    std::vector<Lines> signs, ratios; // by grouping
    std::vector<Group> last;
    const WaysToRead ways = follower.waysToRead(position.operand, position.read);
    for (const ReadPlaces &places : ways.places) {
      std::vector<Group> groups = groupsOf(places);
      if (keepsState)
        std::erase_if(groups, [&](const Group &group) {
          return !std::ranges::all_of(
              group, [&](const auto &one) { return ways.areOfStates[one.second]; });
        });
      if (groups == last)
        continue;
      Lines &ofSigns = signs.emplace_back(), &ofRatios = ratios.emplace_back();
      Known known{position.features, position.sums, groups, ways.areScaledAlike};
      last = std::move(groups);
      // Each later step of a recurrence has the weights of the first one, and adds no line.
      std::vector<Known> &before = looked[position.weights.data()];
      if (llvm::is_contained(before, known))
        continue;
      const auto count = static_cast<int64_t>(position.features.size() * position.sums.size());
      if (count > left)
        return;
      left -= count;
      addLines(position, last, ofSigns, ofRatios);
      before.push_back(std::move(known));
    }
    bySigns.add(signs, node);
    if (ways.areScaledAlike)
      byRatios.add(ratios, node);
  }

  [[nodiscard]] std::vector<Group> groupsOf(const ReadPlaces &places) const {
    std::vector<std::tuple<int64_t, int64_t, size_t>> all; // row, lane, index
    std::optional<RowLayout> layout;
    for (size_t i = 0; i < places.size(); ++i)
      if (places[i]) {
        const Value value = places[i]->value;
        if (!layout) {
          const auto shape = ir::carriedShape(value);
          layout.emplace(std::vector<int64_t>(shape.begin(), shape.end()),
                         ir::dataDim(value).value_or(0), lanes);
        }
        const RowLayout::Place place = layout->place(places[i]->element);
        all.emplace_back(place.row, place.lane, i);
      }
    std::ranges::sort(all);
    std::vector<Group> groups;
    for (size_t i = 0; i < all.size(); ++i) {
      if (i == 0 || std::get<0>(all[i]) != std::get<0>(all[i - 1]))
        groups.emplace_back();
      groups.back().emplace_back(std::get<1>(all[i]), std::get<2>(all[i]));
    }
    return groups;
  }

  static void addLines(const Position &position, const std::vector<Group> &groups, Lines &signs,
                       Lines &ratios) {
    constexpr size_t kTogether = 64; // features, whose weights the cache holds
    for (size_t from = 0; from < position.features.size(); from += kTogether) {
      const size_t count = std::min(kTogether, position.features.size() - from);
      for (const Group &group : groups) {
        std::array<Pattern, kTogether> patterns;
        for (const auto &[lane, index] : group)
          for (size_t i = 0; i < count; ++i)
            patterns[i].add(lane,
                            position.weights[position.features[from + i] + position.sums[index]]);
        for (const Pattern &pattern : llvm::ArrayRef(patterns).take_front(count)) {
          if (pattern.counts())
            signs.insert(pattern.ofSigns());
          if (pattern.countsByRatios())
            ratios.insert(pattern.ofRatios());
        }
      }
    }
  }
};

} // namespace

WeightBound weightBound(BoundFacts &facts, uint32_t lanes) { return Bound(facts, lanes).run(); }

} // namespace sluice::rows
