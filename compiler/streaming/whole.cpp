#include "compiler/streaming/whole.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

#include "compiler/dialect/sluice/operations.h"
#include "compiler/streaming/history.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sluice::streaming {
namespace {

llvm::ArrayRef<int64_t> shapeOf(Type type) { return llvm::cast<RankedTensorType>(type).getShape(); }

/// The axes of an argument that have `extent` positions; none if it has no name to stream it by.
llvm::SmallVector<int64_t> axesOf(FunctionOpInterface function, unsigned argument, int64_t extent) {
  llvm::SmallVector<int64_t> axes;
  if (function.getArgAttrOfType<StringAttr>(argument, ir::kNameAttr))
    for (auto [axis, size] : llvm::enumerate(shapeOf(function.getArgument(argument).getType())))
      if (size == extent)
        axes.push_back(static_cast<int64_t>(axis));
  return axes;
}

/// Ways to stream a function that are tried: each streams a copy of it.
constexpr int kTrials = 40;

/// Every choice of one axis for each argument that has axes of `extent` positions, but not more
/// than a few.
std::vector<Options> choices(FunctionOpInterface function, int64_t extent, int64_t steps) {
  constexpr size_t kMost = 16;
  std::vector<Options> all(1);
  for (const unsigned argument : llvm::seq(0U, function.getNumArguments())) {
    std::vector<Options> longer;
    for (const int64_t axis : axesOf(function, argument, extent))
      for (const Options &one : all) {
        Options with = one;
        with.inputs.push_back(
            {function.getArgAttrOfType<StringAttr>(argument, ir::kNameAttr).str(), axis, steps});
        longer.push_back(std::move(with));
      }
    if (!longer.empty() && longer.size() <= kMost)
      all = std::move(longer);
  }
  return all;
}

/// Whether so many inferences give a part of each `whole` position along an axis, and no more
/// than the last ones need.
bool sharesOut(int64_t part, int64_t whole, int64_t trips) {
  return part == static_cast<int64_t>(llvm::divideCeil(whole, trips));
}

/// Whether the inferences of the streamed function give the whole outputs, one part each.
bool isWhole(llvm::ArrayRef<Type> whole, FunctionOpInterface streamed, const Result &result,
             const WholeSequence &way, int64_t extent) {
  return sharesOut(way.options.inputs.front().steps, extent, way.trips) &&
         llvm::all_of(llvm::enumerate(whole), [&](auto item) {
           const OutputPart &part = result.outputs[item.index()];
           llvm::SmallVector<int64_t> shape(shapeOf(streamed.getResultTypes()[item.index()]));
           const auto all = shapeOf(item.value());
           if (part.axis && sharesOut(shape[*part.axis], all[*part.axis] + part.skipped, way.trips))
             shape[*part.axis] = all[*part.axis];
           return llvm::ArrayRef(shape) == all;
         });
}

/// Streams copies of a function until it is known how many inferences give all that is late.
class Trials {
public:
  explicit Trials(FunctionOpInterface function) : function(function) {}

  /// Of a sequence of `extent` steps.
  std::optional<WholeSequence> of(Options options, int64_t extent) {
    const int64_t steps = options.inputs.front().steps;
    refused.reset();
    options.delay = std::numeric_limits<int32_t>::max();
    for (int64_t late = 0;;) {
      const auto trips = static_cast<int64_t>(llvm::divideCeil(extent + late, steps));
      options.beyond = trips * steps - extent;
      if (options.beyond != 0 && trips > kMostCounted)
        return std::nullopt;
      ++count;
      const OwningOpRef<Operation *> module = function->getParentOp()->clone();
      auto copy = llvm::cast<FunctionOpInterface>(
          llvm::cast<ModuleOp>(*module).lookupSymbol(function.getNameAttr()));
      const llvm::SmallVector<Type> whole(copy.getResultTypes());
      const Result result = stream(copy, options);
      if (!result.problems.empty()) {
        refused = result.together;
        return std::nullopt;
      }
      const WholeSequence way{options, trips};
      if (result.late <= 0)
        return isWhole(whole, copy, result, way, extent) ? std::optional(way) : std::nullopt;
      if (late != 0)
        return std::nullopt;
      late = options.beyond + result.late;
    }
  }

  [[nodiscard]] bool enough() const { return count >= kTrials; }
  /// Whether the last trial was refused for what another number of steps does not change.
  [[nodiscard]] bool isHopeless() const { return refused == 0; }
  /// The number of steps that might do where the last one did not; 0: that is not what was wrong.
  [[nodiscard]] int64_t better() const { return refused.value_or(0); }

private:
  FunctionOpInterface function;
  int count = 0;
  std::optional<int64_t> refused; ///< whether the last trial was: its Result::together
};

/// How many steps to take together, the best first: at most `most`, and rather as many as divide
/// the sequence, if those are more than half of it.
std::vector<int64_t> stepsTogether(int64_t extent, int64_t most) {
  most = std::min(most, extent / 2);
  std::vector<int64_t> all;
  for (const bool preferred : {true, false})
    for (int64_t steps = most; steps > 0; --steps)
      if (preferred == (2 * steps > most && extent % steps == 0))
        all.push_back(steps);
  return all;
}

} // namespace

std::optional<WholeSequence> wholeSequence(FunctionOpInterface function, int64_t most) {
  if (function.walk([](ir::StateOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return std::nullopt;
  std::set<int64_t, std::greater<>> extents;
  for (const BlockArgument argument : function.getArguments())
    extents.insert(shapeOf(argument.getType()).begin(), shapeOf(argument.getType()).end());
  Trials trials(function);
  for (const int64_t extent : extents) {
    std::set<size_t> hopeless; // of the choices
    std::vector<int64_t> steps = stepsTogether(extent, most);
    for (size_t i = 0; i < steps.size(); ++i) {
      const std::vector<Options> all = choices(function, extent, steps[i]);
      for (size_t choice = 0; choice < all.size(); ++choice) {
        if (hopeless.contains(choice))
          continue;
        if (auto way = trials.of(all[choice], extent))
          return way;
        if (trials.enough())
          return std::nullopt;
        // Some operations cannot have steps beyond the end, but fewer steps at a time.
        if (trials.isHopeless() && all[choice].beyond == 0)
          hopeless.insert(choice);
        // Positions for every few steps: at least so many are taken, even if those are many.
        if (const int64_t better = trials.better();
            better > most && 2 * better <= extent && !llvm::is_contained(steps, better))
          steps.push_back(better);
      }
    }
  }
  return std::nullopt;
}

} // namespace sluice::streaming
