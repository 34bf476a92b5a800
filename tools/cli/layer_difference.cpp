#include "tools/cli/layer_difference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sluice::cli {
namespace {

/// Rounds numbers with a whole sum to whole numbers with the same sum.
std::vector<uint64_t> rounded(const std::vector<double> &numbers) {
  std::vector<uint64_t> whole;
  double sum = 0;
  uint64_t given = 0;
  for (const double number : numbers) {
    sum += number;
    whole.push_back(static_cast<uint64_t>(std::llround(sum)) - given);
    given += whole.back();
  }
  return whole;
}

/// The cycles of each layer, see LayerUse.
std::vector<uint64_t> cyclesOf(const Activity &activity, const Listing &listing) {
  std::map<uint64_t, std::map<size_t, int64_t>> changes; // of the number of units, by cycle
  for (const sluice_rt_span &span : activity.spans)
    if (span.activity == SLUICE_RT_BUSY) {
      const size_t layer = listing.cores[span.core][span.instruction].layer;
      ++changes[span.first][layer];
      --changes[span.last + 1][layer];
    }
  std::vector<double> cycles(listing.layers.size());
  std::map<size_t, int64_t> busy, last;
  uint64_t from = activity.first; // of the cycles that count for the next beat
  const auto count = [&](const std::map<size_t, int64_t> &units, uint64_t to) {
    double sum = 0;
    for (const auto &[layer, number] : units)
      sum += static_cast<double>(number);
    for (const auto &[layer, number] : units)
      cycles[layer] += static_cast<double>(to - from) * static_cast<double>(number) / sum;
    from = to;
  };
  for (const auto &[cycle, units] : changes) {
    if (!busy.empty())
      count(busy, cycle);
    for (const auto &[layer, number] : units) {
      busy[layer] += number;
      if (busy[layer] == 0)
        busy.erase(layer);
    }
    if (busy.empty())
      continue;
    count(busy, cycle); // those before, without a beat
    last = busy;
  }
  if (!last.empty())
    count(last, activity.last + 1);
  return rounded(cycles);
}

/// "fc1", or "#3 Relu" of a node without a name.
std::string keyOf(const ComparedNode &node) {
  return node.name.empty() ? fmt::format("#{} {}", node.index, node.op) : node.name;
}

std::vector<ComparedNode> nodesOf(const Layer &layer) {
  std::vector<ComparedNode> nodes;
  for (size_t i = 0; i < layer.names.size(); ++i)
    nodes.push_back({i < layer.nodes.size() ? layer.nodes[i] : -1, layer.names[i],
                     i < layer.operators.size() ? layer.operators[i] : ""});
  return nodes;
}

void add(std::vector<uint64_t> &sums, const std::vector<uint64_t> &more) {
  sums.resize(std::max(sums.size(), more.size()));
  for (size_t i = 0; i < more.size(); ++i)
    sums[i] += more[i];
}

void add(std::optional<LayerUse> &sum, const LayerUse &more) {
  if (!sum)
    sum.emplace();
  sum->cycles += more.cycles;
  sum->rows += more.rows;
  sum->blocks += more.blocks;
  add(sum->rowsByCore, more.rowsByCore);
  add(sum->blocksByCore, more.blocksByCore);
  add(sum->waits, more.waits);
  sum->isInLoop |= more.isInLoop;
  sum->groups.insert(sum->groups.end(), more.groups.begin(), more.groups.end());
}

/// The layers of both programs, joined where they have a node in common.
class Joined {
public:
  explicit Joined(size_t layers) : parents(layers) { std::iota(parents.begin(), parents.end(), 0); }

  size_t find(size_t layer) const {
    while (parents[layer] != layer)
      layer = parents[layer];
    return layer;
  }
  /// The earlier layer stands for both.
  void join(size_t a, size_t b) {
    a = find(a);
    b = find(b);
    parents[std::max(a, b)] = std::min(a, b);
  }

private:
  std::vector<size_t> parents;
};

std::string groupsText(const LayerUse &use) {
  std::vector<std::string> groups;
  for (const auto &names : use.groups)
    groups.push_back(fmt::format("{}", fmt::join(names, "+")));
  return fmt::format("{}", fmt::join(groups, ", "));
}

/// "token 52 / 60, result 8 / 0" of the waits that differ.
std::string waitsText(const LayerUse &a, const LayerUse &b) {
  static constexpr std::pair<sluice_rt_activity, const char *> kWaits[] = {
      {SLUICE_RT_WAITS_TOKEN, "token"},       {SLUICE_RT_WAITS_RESULT, "result"},
      {SLUICE_RT_WAITS_TAKER, "taker"},       {SLUICE_RT_WAITS_NETWORK, "network"},
      {SLUICE_RT_WAITS_PIPELINE, "pipeline"}, {SLUICE_RT_WAITS_HOST, "host"}};
  std::vector<std::string> parts;
  for (const auto &[activity, name] : kWaits)
    if (a.waits[activity] != b.waits[activity])
      parts.push_back(fmt::format("{} {} / {}", name, a.waits[activity], b.waits[activity]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// The reasons that are choices of the compiler.
std::vector<std::string> choicesOf(const LayerUse &x, const LayerUse &y, const sluice_rt_machine &a,
                                   const sluice_rt_machine &b) {
  std::vector<std::string> reasons;
  const auto form = [](const LayerUse &use) { return use.isInLoop ? "loop" : "straight line"; };
  if (x.groups != y.groups)
    reasons.push_back(fmt::format("fusion: {} / {}", groupsText(x), groupsText(y)));
  if (x.isInLoop != y.isInLoop)
    reasons.push_back(fmt::format("form: {} / {}", form(x), form(y)));
  const bool isOfBlocks = x.blocks + y.blocks > 0;
  if (a.lanes != b.lanes && isOfBlocks)
    reasons.push_back(fmt::format("blocks of {} / {} lanes", a.lanes, b.lanes));
  else if (x.rows != y.rows || x.blocks != y.blocks)
    reasons.push_back(
        fmt::format("split: {} / {} rows, {} / {} blocks", x.rows, y.rows, x.blocks, y.blocks));
  const auto onCores = [&](const LayerUse &use) {
    const std::vector<uint64_t> &all = isOfBlocks ? use.blocksByCore : use.rowsByCore;
    return std::vector<uint64_t>(all.begin(), all.end() - 1); // the host port computes nothing
  };
  const auto used = [&](const LayerUse &use) {
    const std::vector<uint64_t> cores = onCores(use);
    return std::ranges::count_if(cores, [](uint64_t work) { return work > 0; });
  };
  if (a.cores == b.cores && onCores(x) != onCores(y))
    reasons.push_back(fmt::format("placement: {} by core {} / {}", isOfBlocks ? "blocks" : "rows",
                                  fmt::join(onCores(x), " "), fmt::join(onCores(y), " ")));
  else if (used(x) != used(y))
    reasons.push_back(fmt::format("placement: on {} / {} cores", used(x), used(y)));
  return reasons;
}

} // namespace

std::vector<LayerUse> layerUses(const Activity &activity, const Listing &listing) {
  std::vector<LayerUse> uses(listing.layers.size());
  const std::vector<uint64_t> cycles = cyclesOf(activity, listing);
  for (size_t layer = 0; layer < uses.size(); ++layer) {
    LayerUse &use = uses[layer];
    use.cycles = cycles[layer];
    use.rowsByCore.resize(listing.cores.size());
    use.blocksByCore.resize(listing.cores.size());
    use.waits.resize(SLUICE_RT_WAITS_OUTPUT + 1);
    use.groups.emplace_back();
    for (const ComparedNode &node : nodesOf(listing.layers[layer]))
      use.groups.front().push_back(keyOf(node));
  }
  for (const auto &core : listing.cores) {
    size_t depth = 0;
    for (const ListedInstruction &one : core) {
      if (one.unit != SLUICE_RT_SEQUENCER)
        uses[one.layer].isInLoop |= depth > 0;
      else if (one.text.starts_with("endloop"))
        --depth;
      else if (one.text.starts_with("loop"))
        ++depth;
    }
  }
  for (const sluice_rt_span &span : activity.spans) {
    if (span.activity == SLUICE_RT_IDLE)
      continue;
    const ListedInstruction &listed = listing.cores[span.core][span.instruction];
    LayerUse &use = uses[listed.layer];
    const uint64_t length = span.last - span.first + 1;
    use.waits[span.activity] += length;
    if (span.activity != SLUICE_RT_BUSY)
      continue;
    if (span.unit == SLUICE_RT_VECTOR) {
      use.rows += length;
      use.rowsByCore[span.core] += length;
    }
    if (listed.multiplies) {
      use.blocks += length;
      use.blocksByCore[span.core] += length;
    }
  }
  return uses;
}

int64_t LayerDifference::cycles() const {
  return static_cast<int64_t>(b ? b->cycles : 0) - static_cast<int64_t>(a ? a->cycles : 0);
}

bool LayerDifference::isNone() const {
  if (!a || !b || a->cycles != b->cycles)
    return false;
  return !isOfModel() || (a->rows == b->rows && a->blocks == b->blocks &&
                          a->rowsByCore == b->rowsByCore && a->blocksByCore == b->blocksByCore &&
                          a->isInLoop == b->isInLoop && a->groups == b->groups);
}

std::vector<LayerDifference> differencesOf(const Profiled &a, const Profiled &b) {
  const size_t ofA = a.listing.layers.size();
  std::vector<const Layer *> layers;
  for (const Profiled *program : {&a, &b})
    for (const Layer &layer : program->listing.layers)
      layers.push_back(&layer);
  Joined joined(layers.size());
  std::map<std::string, size_t> firsts; // the first layer with the node
  for (size_t layer = 0; layer < layers.size(); ++layer)
    for (const ComparedNode &node : nodesOf(*layers[layer]))
      joined.join(layer, firsts.emplace(keyOf(node), layer).first->second);

  const std::vector<LayerUse> usesA = layerUses(a.activity, a.listing),
                              usesB = layerUses(b.activity, b.listing);
  std::map<size_t, LayerDifference> found;
  std::map<std::string, bool> listed;
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    LayerDifference &one = found[joined.find(layer)];
    for (const ComparedNode &node : nodesOf(*layers[layer]))
      if (listed.emplace(keyOf(node), true).second)
        one.nodes.push_back(node);
    if (layer < ofA)
      add(one.a, usesA[layer]);
    else
      add(one.b, usesB[layer - ofA]);
  }
  std::vector<LayerDifference> differences;
  for (auto &[layer, one] : found)
    differences.push_back(std::move(one));
  return differences;
}

std::string reasonText(const LayerDifference &one, const sluice_rt_machine &a,
                       const sluice_rt_machine &b) {
  if (!one.a || !one.b)
    return one.a ? "only in a" : "only in b";
  if (one.isOfModel())
    if (const auto choices = choicesOf(*one.a, *one.b, a, b); !choices.empty())
      return fmt::format("{}", fmt::join(choices, "; "));
  if (one.a->cycles == one.b->cycles)
    return "";
  const std::string waits = waitsText(*one.a, *one.b);
  return waits.empty() ? "order of the beats" : "waits: " + waits;
}

} // namespace sluice::cli
