#include "tools/cli/report/node_figures.h"

#include <algorithm>
#include <map>
#include <set>

#include "tools/cli/compare_report.h"
#include "tools/cli/layer_difference.h"

namespace sluice::cli {
namespace {

/// Adds what the layers of a program do to the figures of their nodes.
void addLayers(const ReportSubject &subject, const std::vector<frontend::ViewedNode> &nodes,
               std::vector<NodeFigures> &figures) {
  std::map<int64_t, NodeFigures *> byIndex;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].index >= 0)
      byIndex[nodes[i].index] = &figures[i];
  const Listing listing(subject.model.program());
  const std::vector<LayerUse> uses = layerUses(subject.activity, listing);
  for (size_t i = 0; i < uses.size(); ++i) {
    const Layer &layer = listing.layers[i];
    // A node that calls a function is several nodes of the program.
    for (const int64_t index : std::set<int64_t>(layer.nodes.begin(), layer.nodes.end())) {
      const auto found = byIndex.find(index);
      if (found == byIndex.end())
        continue;
      NodeFigures &node = *found->second;
      node.layers.push_back(layer.title());
      node.cycles += uses[i].cycles;
      node.rows += uses[i].rows;
      for (uint32_t core = 0; core < uses[i].rowsByCore.size(); ++core)
        if (uses[i].rowsByCore[core] + uses[i].blocksByCore[core] > 0 &&
            std::ranges::find(node.cores, core) == node.cores.end())
          node.cores.push_back(core);
      std::ranges::sort(node.cores);
    }
  }
}

} // namespace

std::vector<NodeFigures> nodeFigures(const ReportSubject &subject,
                                     const std::vector<frontend::ViewedNode> &nodes,
                                     const check::LayerErrors *errors) {
  std::map<std::string, const pipeline::TensorLayout *> layouts;
  for (const pipeline::TensorLayout &one : subject.compiled->tensors)
    layouts[one.name] = &one;
  std::map<std::string, NodeError> compared;
  if (errors)
    for (const check::TensorError &layer : errors->layers)
      if (layer.largest)
        compared[layer.tensor] = {layer.largest->error, layer.range, shareOfBound(layer)};
  std::vector<NodeFigures> figures(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    figures[i].name = nodes[i].name;
    for (const std::string &output : nodes[i].outputs) {
      if (const auto found = layouts.find(output); found != layouts.end() && found->second->dataDim)
        figures[i].layouts.push_back(*found->second);
      if (const auto found = compared.find(output); found != compared.end() && !figures[i].error)
        figures[i].error = found->second;
    }
  }
  addLayers(subject, nodes, figures);
  return figures;
}

} // namespace sluice::cli
