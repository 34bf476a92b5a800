#include "tools/cli/report/viewer_files.h"

#include <array>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/support/problem_text.h"
#include "tools/cli/compare_report.h"

namespace sluice::cli {
namespace {

/// The result of a node; null: the node has no such figure.
using ValueOf = std::function<Json(const NodeFigures &)>;

/// A figure that Model Explorer shows, in a file of its own.
struct Figure {
  const char *ending; ///< of the file name
  const char *name;   ///< that Model Explorer shows
  ValueOf valueOf;    ///< a number, or a text of a few different ones
};

std::string coresText(const NodeFigures &node) {
  return fmt::format("{}", fmt::join(node.cores, ", "));
}

Json layoutJson(const NodeFigures &node) {
  if (node.layouts.empty())
    return nullptr;
  return fmt::format("axis {}", *node.layouts.front().dataDim);
}

/// The largest error in percent of the range.
Json errorJson(const NodeFigures &node) {
  if (!node.error)
    return nullptr;
  const double percent = percentOfRange(node.error->error, node.error->range);
  return std::isfinite(percent) ? Json(percent) : Json("inf");
}

const std::array<Figure, 5> &figuresShown() {
  const auto ofLayers = [](auto value) {
    return [value](const NodeFigures &node) {
      return node.layers.empty() ? Json(nullptr) : Json(value(node));
    };
  };
  static const std::array<Figure, 5> all = {
      {{"cycles", "cycles", ofLayers([](const NodeFigures &node) { return node.cycles; })},
       {"rows", "rows", ofLayers([](const NodeFigures &node) { return node.rows; })},
       {"cores", "cores", ofLayers(coresText)},
       {"data-dimension", "data dimension", layoutJson},
       {"error", "error (% of range)", errorJson}}};
  return all;
}

/// The node data of one figure, as Model Explorer reads it: GraphNodeData of its API.
Json nodeData(const Figure &figure, const std::vector<NodeFigures> &figures) {
  // From ColorBrewer: 7 colours for texts, and the ends of a gradient for numbers.
  static constexpr std::array kColours = {"#8dd3c7", "#ffffb3", "#bebada", "#fb8072",
                                          "#80b1d3", "#fdb462", "#b3de69"};
  Json results = Json::object();
  std::map<std::string, size_t> texts;
  bool areNumbers = false;
  for (const NodeFigures &node : figures) {
    const Json value = figure.valueOf(node);
    if (value.is_null())
      continue;
    Json result = {{"value", value}};
    if (value.is_string()) {
      const size_t number = texts.emplace(value.get<std::string>(), texts.size()).first->second;
      result["bgColor"] = kColours[number % kColours.size()];
    }
    areNumbers |= value.is_number();
    results[node.name] = std::move(result);
  }
  Json data = {{"name", figure.name}, {"results", std::move(results)}};
  if (areNumbers) {
    data["gradient"] = {{{"stop", 0}, {"bgColor", "#fff7ec"}},
                        {{"stop", 1}, {"bgColor", "#fc8d59"}}};
    // Nodes of one layer share its figures, so that their sum counts them twice.
    data["hideAggregatedStats"] = {"sum", "avg"};
    data["hideInChildrenStatsTable"] = true;
  } else {
    data["showExpandedSummaryOnGroupNode"] = true;
  }
  return data;
}

std::string layoutText(const pipeline::TensorLayout &layout) {
  return fmt::format("axis {} of {}: {}", *layout.dataDim, shapeText(layout.shape), layout.why);
}

} // namespace

std::vector<std::string> nodeDataEndings(bool compared) {
  std::vector<std::string> endings;
  for (const Figure &figure : figuresShown())
    endings.push_back(fmt::format(".{}.json", figure.ending));
  if (!compared)
    endings.pop_back();
  return endings;
}

std::vector<std::string> nodeDataFiles(const std::vector<NodeFigures> &figures, bool compared) {
  std::vector<std::string> files;
  for (const Figure &figure : figuresShown())
    files.push_back(nodeData(figure, figures).dump(2, ' ', false, Json::error_handler_t::replace) +
                    "\n");
  if (!compared)
    files.pop_back();
  return files;
}

frontend::Properties nodeProperties(const ReportSubject &subject,
                                    const std::vector<NodeFigures> &figures) {
  frontend::Properties properties;
  const auto add = [](auto &list, const char *key, std::string value) {
    list.push_back({std::string(kPropertyPrefix) + key, std::move(value)});
  };
  for (const NodeFigures &node : figures) {
    auto &list = properties.nodes.emplace_back();
    add(list, "layer",
        node.layers.empty() ? "no instruction" : fmt::format("{}", fmt::join(node.layers, "; ")));
    if (!node.layers.empty()) {
      add(list, "cycles", std::to_string(node.cycles));
      add(list, "rows", std::to_string(node.rows));
      add(list, "cores", coresText(node));
    }
    if (node.layouts.size() == 1)
      add(list, "data_dimension", layoutText(node.layouts.front()));
    else
      for (const pipeline::TensorLayout &layout : node.layouts)
        add(list, fmt::format("data_dimension of {}", layout.name).c_str(), layoutText(layout));
    if (node.error)
      add(list, "error",
          fmt::format("{:.3g}, {} of the range, {:.3g} % of the bound", node.error->error,
                      shareOfRange(node.error->error, node.error->range),
                      100 * node.error->shareOfBound));
  }
  add(properties.model, "target", subject.model.program().machine().target);
  add(properties.model, "cycles", std::to_string(subject.activity.cycles()));
  add(properties.model, "compiler", subject.program.compilerVersion);
  add(properties.model, "options", subject.program.options);
  return properties;
}

} // namespace sluice::cli
