// Inputs and outputs of a network that takes steps, and the option that names them.
#include <fmt/format.h>

#include "compiler/dialect/sluice/selection.h"
#include "compiler/streaming/steps.h"
#include "compiler/support/suggestion.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sluice::streaming {
namespace {

std::string nameOf(FunctionOpInterface function, unsigned argument) {
  const auto name = function.getArgAttrOfType<StringAttr>(argument, ir::kNameAttr);
  return name ? name.str() : "";
}

} // namespace

bool Steps::takeInputs() {
  const auto refuseOption = [&](std::string message) -> Problem & {
    result.locations.push_back(function.getLoc());
    return result.problems.emplace_back(wrongOption(std::move(message)));
  };
  std::vector<std::string> names;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    names.push_back(nameOf(function, i));
  for (const StreamedInput &input : options.inputs) {
    const auto place = llvm::find(names, input.name);
    if (place == names.end()) {
      refuseOption(fmt::format("the model has no input '{}'", input.name)).fixes =
          suggestion(input.name, names);
      continue;
    }
    const auto index = static_cast<unsigned>(place - names.begin());
    const BlockArgument argument = function.getArgument(index);
    const auto type = ir::typeOf(argument);
    if (input.axis < 0 || input.axis >= type.getRank()) {
      refuseOption(fmt::format("input '{}' has rank {} and no axis {} to stream along", input.name,
                               type.getRank(), input.axis));
      continue;
    }
    const int64_t extent = type.getDimSize(input.axis);
    if (input.steps < 1 || input.steps > extent) {
      refuseOption(fmt::format("input '{}': {} per inference along axis {}, allowed: 1 to {}",
                               input.name, counted(input.steps, "step"), input.axis, extent));
      continue;
    }
    if (total != 0 && (extent != total || input.steps != steps)) {
      refuseOption(
          fmt::format("input '{}' has {}, {} per inference; another streamed input has {}, "
                      "{} per inference",
                      input.name, counted(extent, "step"), input.steps, total, steps));
      continue;
    }
    total = extent;
    steps = input.steps;
    timings[argument] =
        Timing{Timing::Stream, Sequence{static_cast<unsigned>(input.axis), 1, 0}, extent};
  }
  if (!result.problems.empty())
    return false;
  // Behind those of before, which are erased at the end.
  for (const unsigned index : llvm::reverse(llvm::seq(0U, function.getNumArguments()))) {
    const BlockArgument argument = function.getArgument(index);
    const Timing time = timing(argument);
    if (time.kind != Timing::Stream)
      continue;
    const auto type = ir::withExtent(ir::typeOf(argument), time.sequence.axis, steps);
    function.insertArgument(index + 1, type, function.getArgAttrDict(index), argument.getLoc());
    result.replaced[argument] = function.getArgument(index + 1);
  }
  return true;
}

void Steps::outputs() {
  Operation *end = function.getFunctionBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(end->getOperands())) {
    const Timing time = timing(value);
    OutputPart &part = result.outputs.emplace_back();
    if (time.kind == Timing::Pairs)
      refuse(value.getLoc(), "an output has a value for each pair of positions of the sequence");
    if (time.kind != Timing::Stream)
      continue;
    part = {time.sequence.axis, std::max<int64_t>(0, time.sequence.behind)};
    const auto known = function.getResultAttrOfType<StringAttr>(index, ir::kNameAttr);
    const std::string name =
        fmt::format("output '{}'", known ? known.str() : std::to_string(index));
    mayBeLate(time, name);
    const auto &[axis, every, behind] = time.sequence;
    if (behind > 0)
      result.notes.push_back(fmt::format("{} lags the input by {}; ignore its first {}", name,
                                         counted(behind * every, "step"),
                                         counted(behind, "position")));
    if (behind < 0) { // what is to come is kept for its step
      Timing inTime = time;
      inTime.sequence.behind = 0;
      result.late = std::max(result.late, ahead(inTime) * every);
      builder.setInsertionPoint(end);
      result.replaced[value] = positions(value, behind, perInference(time.sequence));
    }
  }
}

std::optional<StreamedInput> parseInput(llvm::StringRef text) {
  const auto [name, place] = text.rsplit('=');
  const auto [axis, steps] = place.split(':');
  StreamedInput input;
  input.name = name.str();
  if (name.empty() || axis.getAsInteger(10, input.axis) ||
      (place.contains(':') && steps.getAsInteger(10, input.steps)))
    return std::nullopt;
  return input;
}

Result stream(FunctionOpInterface function, const Options &options) {
  return Steps(function, options).run();
}

} // namespace sluice::streaming
