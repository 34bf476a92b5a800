#include "compiler/streaming/whole.h"

#include <functional>
#include <set>

#include "compiler/dialect/sluice/operations.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLExtras.h"

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

/// Whether the inferences of the streamed function give the whole outputs, one part each.
bool isWhole(llvm::ArrayRef<Type> whole, FunctionOpInterface streamed, const Result &result,
             int64_t trips) {
  return llvm::all_of(llvm::enumerate(whole), [&](auto item) {
    const OutputPart &part = result.outputs[item.index()];
    llvm::SmallVector<int64_t> shape(shapeOf(streamed.getResultTypes()[item.index()]));
    if (part.axis)
      shape[*part.axis] = shape[*part.axis] * trips - part.skipped;
    return llvm::ArrayRef(shape) == shapeOf(item.value());
  });
}

/// Streams a copy of the function.
bool works(FunctionOpInterface function, const Options &options, int64_t trips) {
  const OwningOpRef<Operation *> module = function->getParentOp()->clone();
  auto copy = llvm::cast<FunctionOpInterface>(
      llvm::cast<ModuleOp>(*module).lookupSymbol(function.getNameAttr()));
  const llvm::SmallVector<Type> whole(copy.getResultTypes());
  const Result result = stream(copy, options);
  return result.problems.empty() && isWhole(whole, copy, result, trips);
}

} // namespace

std::optional<WholeSequence> wholeSequence(FunctionOpInterface function, int64_t most) {
  if (function.walk([](ir::StateOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return std::nullopt;
  std::set<int64_t, std::greater<>> extents;
  for (const BlockArgument argument : function.getArguments())
    extents.insert(shapeOf(argument.getType()).begin(), shapeOf(argument.getType()).end());
  int trials = kTrials;
  for (const int64_t extent : extents)
    for (int64_t steps = std::min(most, extent / 2); steps > 0; --steps) {
      if (extent % steps != 0)
        continue;
      for (const Options &options : choices(function, extent, steps)) {
        if (works(function, options, extent / steps))
          return WholeSequence{options, extent / steps};
        if (--trials == 0)
          return std::nullopt;
      }
    }
  return std::nullopt;
}

} // namespace sluice::streaming
