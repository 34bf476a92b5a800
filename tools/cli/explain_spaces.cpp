// sluice explain --index-space: the loops of every operation, the regions of its
// tensors, what neighbours share, what one more step costs, and the split taken.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/support/problem_text.h"
#include "tools/cli/commands.h"
#include "tools/cli/model_options.h"
#include "tools/cli/plan_summary.h"

namespace sluice::cli {
namespace {

using pipeline::CompileResult;
using pipeline::OperationSpace;
using pipeline::SpaceLoop;
using pipeline::SpaceTensor;
using pipeline::TakenSplit;

/// "[16 40!]", the axis along the lanes marked.
std::string shapeNotation(const SpaceTensor &tensor) {
  std::string text;
  for (size_t axis = 0; axis < tensor.shape.size(); ++axis)
    text += fmt::format("{}{}{}", axis == 0 ? "" : " ", tensor.shape[axis],
                        tensor.dataDim == static_cast<int64_t>(axis) ? "!" : "");
  return '[' + text + ']';
}

/// "elements 8..23, 0..7 of each axis".
std::string regionText(const SpaceTensor &tensor) {
  if (tensor.shape.empty())
    return "its element";
  std::vector<std::string> axes;
  for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    const int64_t first = tensor.blockStart[axis], count = tensor.blockShape[axis];
    axes.push_back(count == 1 ? fmt::format("{}", first)
                              : fmt::format("{}..{}", first, first + count - 1));
  }
  return fmt::format("[{}]", fmt::join(axes, ", "));
}

std::string kindText(const SpaceLoop &loop) {
  return loop.monoid.empty() ? loop.kind + (loop.batch ? ", batch" : "")
                             : fmt::format("{}, {}", loop.kind, loop.monoid);
}

/// "none", "all" or "32 of 96".
std::string sharedText(const SpaceLoop::Shared &shared) {
  return shared.elements == 0           ? "none"
         : shared.elements == shared.of ? "all"
                                        : fmt::format("{} of {}", shared.elements, shared.of);
}

std::string spaceCostText(const OperationSpace &op, const space::Cost &cost) {
  std::string text = fmt::format("reads {} rows, writes {}", cost.rowsRead, cost.rowsWritten);
  if (!op.unit.empty())
    text += fmt::format(", {} {}", cost.beats, op.unit);
  if (cost.weightBlocks != 0)
    text += fmt::format(", {} weight blocks", cost.weightBlocks);
  return text;
}

/// What the plan makes of an operation's nodes: several stages, if they are bodies of loops or
/// steps of a recurrence.
std::optional<TakenSplit> splitOf(const CompileResult &result, const OperationSpace &op) {
  std::optional<TakenSplit> all;
  for (const TakenSplit &split : result.splits) {
    const bool of = std::any_of(op.nodes.begin(), op.nodes.end(), [&](const NodeRef &node) {
      return std::find(split.nodes.begin(), split.nodes.end(), node.index) != split.nodes.end();
    });
    if (!of)
      continue;
    if (!all) {
      all = split;
      continue;
    }
    all->rows += split.rows;
    for (size_t core = 0; core < split.rowsByCore.size(); ++core) {
      all->rowsByCore[core] += split.rowsByCore[core];
      all->readsByCores[core] += split.readsByCores[core];
    }
  }
  return all;
}

std::string howText(const TakenSplit &split) {
  return fmt::format("{} rows over cores, {}", split.rows, fmt::join(split.rowsByCore, " "));
}

std::string tensorText(std::string_view role, const SpaceTensor &tensor) {
  return fmt::format(
      "  {} {}{}{}{}: {}, block {}{}\n", role, shapeNotation(tensor),
      tensor.name.empty() ? "" : fmt::format(" '{}'", printable(tensor.name)),
      tensor.dataDim ? "" : ", constant",
      tensor.through.empty() ? "" : fmt::format(", through {}", fmt::join(tensor.through, ", ")),
      tensor.map, regionText(tensor),
      tensor.outside ? fmt::format(", {} outside", *tensor.outside) : "");
}

std::string spaceText(const CompileResult &result, const OperationSpace &op) {
  std::vector<std::string> nodes;
  for (const NodeRef &node : op.nodes)
    nodes.push_back(printable(nodeText(node)));
  std::string text =
      fmt::format("{}{}{}\n", fmt::join(nodes, ", "), nodes.empty() ? "" : ": ", op.operation);
  size_t index = 0;
  for (const SpaceTensor &operand : op.operands)
    text += tensorText(fmt::format("operand {}", index++), operand);
  for (const SpaceTensor &one : op.results)
    text += tensorText("result", one);
  text += fmt::format("  a block {}; all {}\n", spaceCostText(op, op.block),
                      spaceCostText(op, op.whole));
  if (!op.loops.empty())
    text += fmt::format("  {:<5}{:>7} {:<19}{:>5}{:>6}{:>7}{:>9}{:>9}  {}\n", "loop", "extent",
                        "kind", "step", "reads", "writes", op.unit.empty() ? "" : op.unit,
                        op.unit == "products" ? "weights" : "", "neighbours share");
  index = 0;
  for (const SpaceLoop &loop : op.loops) {
    text += fmt::format("  {:<5}{:>7} {:<19}{:>5}", fmt::format("d{}", index++), loop.extent,
                        kindText(loop), loop.step);
    if (!loop.next) {
      text += "  one step\n";
      continue;
    }
    const auto number = [](bool has, int64_t value) {
      return has ? fmt::format("{}", value) : std::string();
    };
    std::vector<std::string> shared;
    for (size_t i = 0; i < op.operands.size(); ++i)
      shared.push_back(sharedText(loop.shared[i]));
    text += fmt::format("{:>6}{:>7}{:>9}{:>9}  {}\n", loop.next->rowsRead, loop.next->rowsWritten,
                        number(!op.unit.empty(), loop.next->beats),
                        number(op.unit == "products", loop.next->weightBlocks),
                        fmt::join(shared, ", "));
  }
  if (const auto split = splitOf(result, op))
    text += fmt::format("  split: {}; reads {}; {}\n", howText(*split),
                        readsText(split->readsByCores), split->why);
  return text + '\n';
}

Json costJson(const space::Cost &cost) {
  return {{"rows_read", cost.rowsRead},
          {"rows_written", cost.rowsWritten},
          {"beats", cost.beats},
          {"weight_blocks", cost.weightBlocks},
          {"working_rows", cost.workingRows}};
}

/// What lies outside may be an infinity, the least of a maximum.
Json outsideJson(const SpaceTensor &tensor) {
  if (!tensor.outside)
    return nullptr;
  return std::isfinite(*tensor.outside) ? Json(*tensor.outside)
                                        : Json(fmt::format("{}", *tensor.outside));
}

Json tensorJson(const SpaceTensor &tensor) {
  return {{"name", tensor.name},
          {"through", tensor.through},
          {"shape", tensor.shape},
          {"data_dim", tensor.dataDim ? Json(*tensor.dataDim) : Json(nullptr)},
          {"map", tensor.map},
          {"matrix", tensor.steps},
          {"offset", tensor.offset},
          {"region", tensor.region},
          {"outside", outsideJson(tensor)},
          {"block", {{"start", tensor.blockStart}, {"shape", tensor.blockShape}}}};
}

Json loopJson(const SpaceLoop &loop) {
  Json shared = Json::array();
  for (const SpaceLoop::Shared &one : loop.shared)
    shared.push_back({{"elements", one.elements}, {"of", one.of}});
  return {{"extent", loop.extent},
          {"kind", loop.kind},
          {"monoid", loop.monoid.empty() ? Json(nullptr) : Json(loop.monoid)},
          {"batch", loop.batch},
          {"step", loop.step},
          {"shared", shared},
          {"next_step", loop.next ? costJson(*loop.next) : Json(nullptr)}};
}

Json spaceJson(const CompileResult &result, const OperationSpace &op) {
  Json nodes = Json::array(), loops = Json::array(), operands = Json::array(),
       results = Json::array();
  for (const NodeRef &node : op.nodes)
    nodes.push_back({{"index", node.index}, {"name", node.name}, {"op", node.op}});
  for (const SpaceLoop &loop : op.loops)
    loops.push_back(loopJson(loop));
  for (const SpaceTensor &tensor : op.operands)
    operands.push_back(tensorJson(tensor));
  for (const SpaceTensor &tensor : op.results)
    results.push_back(tensorJson(tensor));
  const auto split = splitOf(result, op);
  return {
      {"nodes", nodes},
      {"operation", op.operation},
      {"unit", op.unit.empty() ? Json(nullptr) : Json(op.unit)},
      {"loops", loops},
      {"operands", operands},
      {"results", results},
      {"block", {{"start", op.blockStart}, {"shape", op.blockShape}, {"cost", costJson(op.block)}}},
      {"cost", costJson(op.whole)},
      {"split", split ? Json{{"how", howText(*split)},
                             {"rows_by_core", split->rowsByCore},
                             {"reads_by_cores", split->readsByCores},
                             {"why", split->why}}
                      : Json(nullptr)}};
}

/// Whether an operation comes from the node of this number or name.
bool isOf(const OperationSpace &op, std::string_view wanted) {
  int64_t index = -1;
  const auto parsed = std::from_chars(wanted.data(), wanted.data() + wanted.size(), index);
  const bool number = parsed.ec == std::errc() && parsed.ptr == wanted.data() + wanted.size();
  return std::any_of(op.nodes.begin(), op.nodes.end(), [&](const NodeRef &node) {
    return node.name == wanted || (number && node.index == index);
  });
}

} // namespace

int explainSpaces(ModelOptions options, const std::string &node, const Common &common) {
  const Report report(common);
  if (const auto wrong = report.checkFiles({{"the model", options.compile.modelPath}}, {}))
    return report.fail({*wrong}, "");
  Problems problems;
  options.finish(problems);
  if (!problems.empty())
    return report.fail(problems, "");
  options.compile.spaces = true;
  options.compile.measure = false;
  const CompileResult result = options.run("planning", problems).result;
  // What does not fit has index spaces all the same.
  if (result.spaces.empty() && !problems.empty())
    return report.fail(problems, options.compile.modelPath);
  Json operations = Json::array();
  bool found = node.empty();
  for (const OperationSpace &op : result.spaces) {
    if (!node.empty() && !isOf(op, node))
      continue;
    found = true;
    report.text(spaceText(result, op));
    operations.push_back(spaceJson(result, op));
  }
  if (!found)
    return report.fail(
        "E0602",
        fmt::format(
            "no accelerated operation comes from node '{}', allowed: the number or name of a node",
            node),
        options.compile.modelPath);
  report.log(problems, options.compile.modelPath);
  const Json json = {{"schema", 1},
                     {"ok", problems.empty()},
                     {"errors", errorsJson(problems)},
                     {"target", result.program.geometry.name},
                     {"lanes", result.program.geometry.lanes},
                     {"operations", operations}};
  return report.json(json) ? exitCodeOf(problems) : Usage;
}

} // namespace sluice::cli
