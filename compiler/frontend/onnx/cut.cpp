#include "compiler/frontend/onnx/cut.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/frontend/onnx/cut_types.h"
#include "compiler/frontend/onnx/model_graph.h"
#include "compiler/support/suggestion.h"

namespace sluice::frontend {
namespace {

/// Finds the part and reports what is wrong with it.
class PartFinder {
public:
  PartFinder(const onnx::GraphProto &proto, const CutGraph &graph, const Cut &cut, Report &report)
      : proto(proto), graph(graph), cut(cut), report(report),
        stops(cut.inputs.begin(), cut.inputs.end()) {}

  std::optional<Part> run() {
    const size_t before = report.count();
    checkNames(cut.inputs, "--inputs");
    checkNames(cut.outputs, "--outputs");
    for (const std::string &name : cut.outputs)
      if (stops.contains(name))
        report.add(kWrongCut, fmt::format("--inputs and --outputs both list {}", inQuotes(name)));
      else if (graph.isInput(name))
        report.add(kWrongCut, fmt::format("--outputs lists {}, which is an input of the model",
                                          inQuotes(name)));
    if (report.count() != before)
      return std::nullopt;
    part.outputs = cut.outputs;
    if (cut.outputs.empty())
      for (const onnx::ValueInfoProto &output : proto.output())
        if (!stops.contains(output.name()))
          part.outputs.push_back(output.name());
    const Reach reach = graph.needs(part.outputs, stops);
    part.nodes = reach.nodes;
    part.inputs = cut.inputs;
    if (cut.inputs.empty()) {
      for (const onnx::ValueInfoProto &input : graph.inputsOf(reach))
        part.inputs.push_back(input.name());
    } else {
      checkListed(reach);
      if (report.count() == before)
        checkConvex(reach);
    }
    return report.count() == before ? std::optional(part) : std::nullopt;
  }

private:
  void checkNames(const std::vector<std::string> &names, const char *flag) {
    std::set<std::string> seen;
    for (const std::string &name : names)
      if (!graph.has(name))
        report
            .add(kWrongCut,
                 fmt::format("the model has no tensor {}, which {} lists", inQuotes(name), flag))
            .fixes = suggestion(name, graph.names());
      else if (graph.isConstant(name))
        report.add(kWrongCut, fmt::format("{} lists {}, which is a constant", flag, inQuotes(name)))
            .fixes.push_back(fix("leave it out: every part that reads a constant has it"));
      else if (!seen.insert(name).second)
        report.add(kWrongCut, fmt::format("{} lists {} more than once", flag, inQuotes(name)));
  }

  /// Checks that the inputs are those that the outputs need.
  void checkListed(const Reach &reach) {
    std::vector<std::string> all = cut.inputs;
    for (const onnx::ValueInfoProto &input : graph.inputsOf(reach))
      all.push_back(input.name());
    for (size_t i = cut.inputs.size(); i < all.size(); ++i) {
      const auto needing = std::ranges::find_if(part.outputs, [&](const std::string &output) {
        return graph.needs({output}, stops).inputs.contains(all[i]);
      });
      report
          .add(kWrongCut,
               fmt::format("output {} needs input {} of the model, which --inputs does not "
                           "list",
                           inQuotes(*needing), inQuotes(all[i])))
          .fixes.push_back(fix("list it, or a tensor between the two",
                               fmt::format("--inputs {}", fmt::join(all, ","))));
    }
    for (const std::string &name : cut.inputs)
      if (!reach.stops.contains(name))
        report
            .add(kWrongCut, fmt::format("no output needs {}, which --inputs lists", inQuotes(name)))
            .fixes.push_back(fix("leave it out, or list an output that depends on it"));
  }

  /// Checks that no input depends on a tensor that the part computes.
  void checkConvex(const Reach &reach) {
    for (const std::string &name : cut.inputs) {
      const auto node = graph.producer(name);
      if (!node)
        continue;
      const auto inner =
          reach.nodes[*node] ? std::optional(name) : lastShared(reach, graph.needs({name}, {}));
      if (!inner)
        continue;
      if (*inner == name)
        report
            .add(kWrongCut,
                 fmt::format("input {} is an output of {}, which the compiled part needs",
                             inQuotes(name), textOf(*node)))
            .fixes.push_back(fix("list the other outputs of the node too, or its inputs"));
      else
        report
            .add(kWrongCut, fmt::format("input {} depends on {}, which the compiled part computes",
                                        inQuotes(name), inQuotes(*inner)))
            .fixes.push_back(fix(fmt::format("list {} in --inputs, or leave {} out",
                                             inQuotes(*inner), inQuotes(name))));
    }
  }

  /// Returns a tensor that the part computes and another node of `front` reads.
  [[nodiscard]] std::optional<std::string> lastShared(const Reach &reach,
                                                      const Reach &front) const {
    for (size_t n = 0; n < front.nodes.size(); ++n) {
      if (!front.nodes[n] || reach.nodes[n])
        continue;
      for (const std::string &name : graph.reads(n))
        if (const auto from = graph.producer(name);
            from && reach.nodes[*from] && !graph.isConstantNode(*from))
          return name;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string textOf(size_t node) const {
    const onnx::NodeProto &found = proto.node(static_cast<int>(node));
    return nodeText({static_cast<int64_t>(node), found.name(), found.op_type()});
  }

  const onnx::GraphProto &proto;
  const CutGraph &graph;
  const Cut &cut;
  Report &report;
  const std::set<std::string> stops;
  Part part;
};

} // namespace

std::optional<Part> findPart(const onnx::GraphProto &proto, const CutGraph &graph, const Cut &cut,
                             Report &report) {
  return PartFinder(proto, graph, cut, report).run();
}

bool cutModel(onnx::ModelProto &model, ImportOptions &options, std::vector<std::string> &notes,
              Report &report) {
  const size_t before = report.count();
  onnx::GraphProto whole;
  whole.Swap(model.mutable_graph());
  const CutGraph graph(whole);
  const std::optional<Part> part = findPart(whole, graph, options.cut, report);
  if (!part)
    return false;
  CutTypes types(model, whole, graph, options);
  ValueInfos inputs, outputs;
  for (const std::string &name : part->inputs)
    if (const auto type = types.ofInput(name, notes, report))
      inputs.push_back(*type);
  for (const std::string &name : part->outputs) {
    const auto declared = std::ranges::find(whole.output(), name, &onnx::ValueInfoProto::name);
    onnx::ValueInfoProto &output = outputs.emplace_back();
    if (declared != whole.output().end())
      output = *declared;
    output.set_name(name);
  }
  if (report.count() != before)
    return false;
  const std::set<std::string> known = namesOfShapes(inputs);
  for (const std::string &name : types.usedShapes())
    if (!known.contains(name))
      options.inputShapes.erase(name);
  *model.mutable_graph() = partOf(whole, graph, part->nodes, inputs, outputs, true);
  return true;
}

} // namespace sluice::frontend
