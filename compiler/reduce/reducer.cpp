#include "compiler/reduce/reducer.h"

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_set>

#include "compiler/reduce/bypass.h"
#include "compiler/reduce/graph_parts.h"
#include "compiler/reduce/simpler_tensors.h"

namespace sluice::reduce {
namespace {

class Search {
public:
  Search(Case first, const Laboratory &laboratory, unsigned most)
      : current(std::move(first)), laboratory(laboratory), most(most) {
    tried.insert(hashOf(current.model));
    sortConstantsAndNodes();
  }

  Reduced run() {
    do {
      look();
      keepAround();
      while (!isOver() && (dropNodes() || dropOutputs() || bypassNodes()))
        look();
    } while (!isOver() && simplify());
    declareOutputs();
    return {std::move(current), trials};
  }

private:
  [[nodiscard]] bool isOver() const {
    return trials >= most || (laboratory.isStopped && laboratory.isStopped());
  }
  [[nodiscard]] size_t nodeCount() const {
    return static_cast<size_t>(current.model.graph().node_size());
  }

  static size_t hashOf(const onnx::ModelProto &model) {
    return std::hash<std::string>()(model.SerializeAsString());
  }

  /// Replaces the current case by a candidate if that shows the failure.
  bool take(Case candidate) {
    if (isOver() || candidate.model.graph().node_size() == 0 ||
        candidate.model.graph().output_size() == 0)
      return false;
    if (!tried.insert(hashOf(candidate.model)).second)
      return false;
    ++trials;
    const bool isTaken = laboratory.showsFailure(candidate);
    if (isTaken)
      current = std::move(candidate);
    if (laboratory.watch)
      laboratory.watch(current, trials);
    return isTaken;
  }

  /// The same for a part of the current model, whose tensors have the same values.
  bool takePart(const std::vector<bool> &kept) {
    auto part = partOf(current.model, kept, known.facts);
    if (!part)
      return false;
    Case candidate{std::move(*part), {}, {}};
    for (const Sample &values : known.values) {
      Sample sample;
      for (const onnx::ValueInfoProto &input : candidate.model.graph().input())
        if (const auto found = values.find(input.name()); found != values.end())
          sample.insert(*found);
      candidate.samples.push_back(std::move(sample));
    }
    return take(std::move(candidate));
  }

  /// Finds out what is to be known of the current model.
  void look() {
    if (!isOver())
      known = laboratory.survey(current);
  }

  /// Brings the model into a form in which parts are easy to take.
  void sortConstantsAndNodes() {
    Case sorted = current;
    constantsToInitializers(*sorted.model.mutable_graph());
    sortNodes(*sorted.model.mutable_graph());
    removeUnread(sorted.model);
    take(std::move(sorted));
  }

  /// Keeps the nodes that the failure names and the fewest that they depend on.
  void keepAround() {
    const size_t count = nodeCount();
    std::vector<bool> kept(count, false);
    bool isAny = false;
    const auto add = [&](int64_t node) {
      if (node < 0 || static_cast<size_t>(node) >= count || kept[static_cast<size_t>(node)])
        return false;
      return isAny = kept[static_cast<size_t>(node)] = true;
    };
    const auto isSmaller = [&] {
      return std::ranges::count(kept, true) < static_cast<int64_t>(count);
    };
    const std::vector<int64_t> named = current.nodes;
    if (!named.empty() && add(named.front()) && isSmaller() && takePart(kept))
      return;
    bool isNew = false;
    for (const int64_t node : named)
      isNew |= add(node);
    if (isNew && isSmaller() && takePart(kept))
      return;
    const std::vector<std::vector<size_t>> before = producersOf(current.model.graph());
    for (size_t distance = 1, next = 1; isAny; ++distance) {
      const std::vector<bool> last = kept;
      for (size_t i = 0; i < count; ++i)
        if (last[i])
          for (const size_t one : before[i])
            kept[one] = true;
      if (kept == last || !isSmaller() || isOver())
        return;
      if (distance < next)
        continue;
      next *= 2;
      if (takePart(kept))
        return;
    }
  }

  /// Takes a model without some of the nodes, which follow each other.
  bool takeWithout(size_t first, size_t count) {
    std::vector<bool> kept(nodeCount(), true);
    std::fill_n(kept.begin() + static_cast<std::ptrdiff_t>(first), count, false);
    return takePart(kept);
  }

  /// Leaves out nodes in runs: at the end, at the beginning, then anywhere, in ever shorter runs.
  bool dropNodes() {
    bool isSmaller = false;
    for (size_t count = nodeCount() / 2; count > 0; count /= 2)
      while (count < nodeCount() && takeWithout(nodeCount() - count, count))
        isSmaller = true;
    for (size_t count = nodeCount() / 2; count > 0; count /= 2)
      while (count < nodeCount() && takeWithout(0, count))
        isSmaller = true;
    for (size_t count = nodeCount() / 4; count > 0; count /= 2)
      for (size_t first = 0; first + count <= nodeCount() && nodeCount() > count;)
        if (takeWithout(first, count))
          isSmaller = true;
        else
          first += count;
    return isSmaller;
  }

  bool dropOutputs() {
    bool isSmaller = false;
    for (int i = 0;
         i < current.model.graph().output_size() && current.model.graph().output_size() > 1;) {
      Case candidate = current;
      candidate.model.mutable_graph()->mutable_output()->DeleteSubrange(i, 1);
      removeUnread(candidate.model);
      if (take(std::move(candidate)))
        isSmaller = true;
      else
        ++i;
    }
    return isSmaller;
  }

  bool bypassAll(const std::vector<Bypass> &list) {
    Case candidate = current;
    for (const Bypass &one : list)
      if (!bypass(candidate.model, one))
        return false;
    removeUnread(candidate.model);
    return countNodes(candidate.model) < countNodes(current.model) && take(std::move(candidate));
  }

  /// Replaces results by operands of the same type and shape, many at once where that works.
  bool bypassNodes() {
    bool isSmaller = false;
    std::vector<Bypass> all = bypassesOf(current.model.graph(), known.facts);
    for (size_t count = all.size(); count > 0; count /= 2)
      for (size_t first = 0; first < all.size() && !isOver();) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end =
            all.begin() + static_cast<std::ptrdiff_t>(std::min(first + count, all.size()));
        // A node has one result.
        std::vector<Bypass> some;
        for (auto one = begin; one != end; ++one)
          if (std::ranges::find(some, one->result, &Bypass::result) == some.end())
            some.push_back(*one);
        if (!bypassAll(some)) {
          first += count;
          continue;
        }
        isSmaller = true;
        look();
        all = bypassesOf(current.model.graph(), known.facts);
        first = std::min(first, all.size());
      }
    return isSmaller;
  }

  bool shrink(int64_t from, int64_t to) {
    Case candidate = current;
    replaceExtent(*candidate.model.mutable_graph(), candidate.samples, from, to);
    Case other = candidate;
    forgetOutputShapes(*other.model.mutable_graph());
    return take(std::move(candidate)) || take(std::move(other));
  }

  /// Makes extents and constants smaller. Returns whether more nodes may be left out then.
  bool simplify() {
    bool isChanged = false;
    for (const int64_t from : extentsOf(current.model.graph())) {
      std::set<int64_t> smaller{1, 2};
      for (int64_t to = from / 2; to > 2; to /= 2)
        smaller.insert(to);
      for (const int64_t to : smaller) {
        if (to >= from)
          break;
        if (shrink(from, to)) {
          isChanged = true;
          break;
        }
      }
    }
    for (int i = 0; i < current.model.graph().initializer_size(); ++i)
      for (const auto change : {leaveOneElement, setToOne}) {
        Case candidate = current;
        if (change(*candidate.model.mutable_graph()->mutable_initializer(i)))
          isChanged |= take(std::move(candidate));
      }
    return isChanged;
  }

  /// Declares the types and shapes of the outputs.
  void declareOutputs() {
    look();
    Case candidate = current;
    for (onnx::ValueInfoProto &output : *candidate.model.mutable_graph()->mutable_output())
      if (known.facts.contains(output.name()))
        output = declarationOf(output.name(), known.facts);
    if (candidate.model.SerializeAsString() != current.model.SerializeAsString())
      take(std::move(candidate));
  }

  Case current;
  const Laboratory &laboratory;
  const unsigned most;
  unsigned trials = 0;
  Survey known; ///< of the current model; of a larger one after nodes are left out
  std::unordered_set<size_t> tried;
};

} // namespace

Reduced reduceModel(Case first, const Laboratory &laboratory, unsigned most) {
  return Search(std::move(first), laboratory, most).run();
}

} // namespace sluice::reduce
