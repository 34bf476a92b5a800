#include "compiler/pipeline/repairs.h"

#include <algorithm>
#include <limits>

#include "compiler/pipeline/copy_trials.h"
#include "compiler/pipeline/one_way.h"

namespace sluice::pipeline {
namespace {

constexpr RepairFlags kRewrite{.dynamicWeights = false, .rewriteLayout = true},
    kDynamic{.dynamicWeights = true, .rewriteLayout = false},
    kBoth{.dynamicWeights = true, .rewriteLayout = true};

RepairFlags flagsOf(const CompileOptions &options) {
  return {options.allowDynamicWeights, options.rewriteLayout};
}

CompileOptions withWay(CompileOptions options, const RepairWay &way) {
  options.allowDynamicWeights = way.flags.dynamicWeights;
  options.rewriteLayout = way.flags.rewriteLayout;
  options.rewriteFirst = way.rewriteFirst;
  return options;
}

/// Calls `compile` with each way that the flags allow; it returns whether the model has a layout.
template <typename Compile> void forEachWay(RepairFlags flags, Compile compile) {
  if (flags != kBoth) {
    compile(RepairWay{flags});
    return;
  }
  // The flags work together only where one of them alone leaves a conflict.
  const bool rewrites = compile(RepairWay{kRewrite}), dynamic = compile(RepairWay{kDynamic});
  if (!dynamic)
    compile(RepairWay{kBoth});
  if (!rewrites)
    compile(RepairWay{kBoth, true});
}

/// The changes that only added flags allow, in the order of the nodes.
std::vector<Change> changesOf(const CompileResult &result, RepairFlags given) {
  std::vector<Change> products, rewrites, changes;
  if (!given.dynamicWeights)
    for (const NodeRef &node : result.dynamicProducts)
      products.push_back(usesDynamicWeights(node));
  if (!given.rewriteLayout)
    for (const Rewrite &rewrite : result.rewrites)
      if (!rewrite.free)
        rewrites.push_back(rewrite.change);
  const auto position = [](const Change &change) { return change.node.index; };
  std::ranges::merge(products, rewrites, std::back_inserter(changes), {}, position, position);
  return changes;
}

/// Adds a repair. Those of the same flags become the better of them; the fewest cycles come first.
void add(std::vector<Repair> &repairs, Repair repair) {
  const auto cycles = [](const Repair &one) {
    return one.cycles.value_or(std::numeric_limits<uint64_t>::max());
  };
  const auto same = std::ranges::find(repairs, repair.flags, &Repair::flags);
  if (same != repairs.end() && cycles(*same) <= cycles(repair))
    return;
  if (same != repairs.end())
    repairs.erase(same);
  repairs.insert(std::ranges::upper_bound(repairs, cycles(repair), {}, cycles), std::move(repair));
}

/// Compiles a model in several ways and keeps the fastest program, of equals the first.
class Fastest {
public:
  Fastest(const CompileOptions &options, ImportOnce &imported)
      : options(options), imported(imported) {}

  /// Nothing if none compiles.
  std::optional<Compilation> run(RepairFlags flags) {
    forEachWay(flags, [&](const RepairWay &way) { return compile(way); });
    if (!best)
      return std::nullopt;
    if (options.stage != Stage::Program)
      best = compileAnyWay(withWay(options, bestWay), imported);
    if (!best->compiles())
      return std::nullopt;
    best->result.repairs = std::move(repairs);
    return std::move(best);
  }

private:
  bool compile(const RepairWay &way) {
    CompileOptions how = withWay(options, way);
    how.stage = Stage::Program;
    how.measure = true;
    Compilation other = compileAnyWay(how, imported);
    if (!other.compiles())
      return !other.is<NoLayout>();
    const auto spaced = [](const CompileResult &result) {
      return result.cycles ? std::optional(result.cycles->spaced) : std::nullopt;
    };
    const std::optional<uint64_t> cycles = spaced(other.result);
    add(repairs, {way.flags, cycles, changesOf(other.result, flagsOf(options))});
    if (!best || cycles < spaced(best->result)) {
      best = std::move(other);
      bestWay = way;
    }
    return true;
  }

  const CompileOptions &options;
  ImportOnce &imported;
  std::optional<Compilation> best;
  RepairWay bestWay;
  std::vector<Repair> repairs;
};

} // namespace

const Repairs::Tried &Repairs::compile(const RepairWay &way) {
  if (const auto known = std::ranges::find(tried, way, &Tried::way); known != tried.end())
    return *known;
  const Compilation made = compileAnyWay(withWay(trialOptions(options), way), imported);
  const CompileResult &result = made.result;
  const bool compiled = made.compiles();
  Tried &one = tried.emplace_back();
  one.way = way;
  one.hasLayout = !made.is<NoLayout>();
  const bool limited =
      !compiled && result.stopped && (!way.rewriteFirst || !result.rewrites.empty());
  if (!limited)
    one.compiles = compiled;
  if (compiled && result.cycles)
    one.cycles = result.cycles->spaced;
  one.changes = changesOf(result, flagsOf(options));
  for (const Rewrite &rewrite : result.rewrites)
    one.rewrites.push_back(rewrite.change);
  return one;
}

std::optional<layout::Trial> Repairs::tryFlags(RepairFlags more) {
  const RepairFlags given = flagsOf(options);
  const RepairFlags flags{given.dynamicWeights || more.dynamicWeights,
                          given.rewriteLayout || more.rewriteLayout};
  layout::Trial trial;
  bool unknown = false, unmeasured = false;
  forEachWay(flags, [&](const RepairWay &way) {
    const Tried &one = compile(way);
    unknown |= !one.compiles;
    if (one.compiles.value_or(false)) {
      unmeasured |= !one.cycles;
      if (!trial.compiles || (one.cycles && one.cycles < trial.cycles)) {
        trial.cycles = one.cycles;
        trial.rewrites = one.rewrites;
      }
      trial.compiles = true;
    }
    return one.hasLayout;
  });
  if (!trial.compiles && unknown)
    return std::nullopt;
  if (unmeasured || unknown)
    trial.cycles.reset();
  return trial;
}

std::vector<Repair> Repairs::found() {
  const RepairFlags given = flagsOf(options);
  std::vector<Repair> repairs;
  forEachWay(kBoth, [&](const RepairWay &way) {
    const Tried &one = compile(way);
    const bool adds = (way.flags.dynamicWeights || !given.dynamicWeights) &&
                      (way.flags.rewriteLayout || !given.rewriteLayout);
    if (adds && one.compiles.value_or(false))
      add(repairs, {one.way.flags, one.cycles, one.changes});
    return one.hasLayout;
  });
  return repairs;
}

Compilation compileRepaired(const CompileOptions &options, ImportOnce &imported) {
  const RepairFlags given = flagsOf(options);
  if (given == kBoth) {
    if (auto best = Fastest(options, imported).run(kBoth)) {
      if (!options.applyFixes)
        best->result.repairs.clear();
      return std::move(*best);
    }
  } else if (options.applyFixes) {
    Compilation made = compileAnyWay(options, imported);
    if (!made.is<NoLayout>())
      return made;
    if (auto best = Fastest(options, imported).run(kBoth))
      return std::move(*best);
  }
  if (!options.advise)
    return compileAnyWay(options, imported);
  Repairs repairs(options, imported);
  Compilation made = compileAnyWay(options, imported, &repairs);
  if (given != kBoth && made.is<NoLayout>())
    made.result.repairs = repairs.found();
  return made;
}

} // namespace sluice::pipeline
