#include "compiler/frontend/onnx/annotated_model.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <new>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "compiler/frontend/onnx/cut.h"
#include "compiler/frontend/onnx/file_bytes.h"
#include "compiler/frontend/onnx/model_file.h"

namespace sluice::frontend {
namespace {

/// NodeProto.metadata_props, which IR version 10 added and libonnx does not know.
constexpr int kNodeProperties = 9;

/// Names as viewedNodes returns them.
std::vector<std::string> namesOf(const onnx::GraphProto &graph) {
  std::map<std::string, int> counts;
  for (const onnx::NodeProto &node : graph.node())
    ++counts[node.name()];
  std::set<std::string> taken;
  for (const auto &[name, count] : counts)
    taken.insert(name);
  std::vector<std::string> names;
  for (const onnx::NodeProto &node : graph.node()) {
    std::string name = node.name();
    if (name.empty() || counts[name] > 1) {
      name = node.output().empty() ? node.op_type() : node.output(0);
      while (!taken.insert(name).second)
        name += '_';
    }
    names.push_back(std::move(name));
  }
  return names;
}

onnx::StringStringEntryProto entryOf(const Property &property) {
  onnx::StringStringEntryProto entry;
  entry.set_key(property.key);
  entry.set_value(property.value);
  return entry;
}

/// Replaces the properties whose keys begin with `prefix`.
void annotate(onnx::NodeProto &node, const std::vector<Property> &properties,
              const std::string &prefix) {
  google::protobuf::UnknownFieldSet fields;
  fields.Swap(node.mutable_unknown_fields());
  google::protobuf::UnknownFieldSet &kept = *node.mutable_unknown_fields();
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField &field = fields.field(i);
    onnx::StringStringEntryProto entry;
    const bool isOld = field.number() == kNodeProperties &&
                       field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED &&
                       entry.ParseFromString(field.length_delimited()) &&
                       entry.key().starts_with(prefix);
    if (!isOld)
      kept.AddField(field);
  }
  for (const Property &property : properties)
    kept.AddLengthDelimited(kNodeProperties, entryOf(property).SerializeAsString());
}

void annotate(onnx::ModelProto &model, const std::vector<Property> &properties,
              const std::string &prefix) {
  auto &entries = *model.mutable_metadata_props();
  entries.erase(std::remove_if(entries.begin(), entries.end(),
                               [&](const auto &entry) { return entry.key().starts_with(prefix); }),
                entries.end());
  for (const Property &property : properties)
    *entries.Add() = entryOf(property);
}

/// Calls `use` with the model; memory that runs out is a problem of the model.
template <typename Use>
auto withModel(const ImportOptions &options, Problems &problems, const Use &use)
    -> decltype(use(std::declval<onnx::ModelProto &>(), std::declval<Report &>())) {
  Report report(problems);
  try {
    if (const auto model = readModelFile(options.path, report))
      return use(*model, report);
  } catch (const std::bad_alloc &) {
    report.add("E0103", "the model needs more memory than this machine has");
  } catch (const std::length_error &) {
    report.add("E0103", "the model needs more memory than this machine has");
  }
  return {};
}

} // namespace

std::vector<ViewedNode> viewedNodes(const ImportOptions &options, Problems &problems) {
  return withModel(options, problems, [&](const onnx::ModelProto &model, Report &report) {
    const onnx::GraphProto &graph = model.graph();
    const std::vector<std::string> names = namesOf(graph);
    std::vector<bool> isCompiled(names.size(), true);
    if (!options.cut.isEmpty())
      if (const auto part = findPart(graph, CutGraph(graph), options.cut, report))
        isCompiled = part->nodes;
    std::vector<ViewedNode> nodes;
    int64_t index = 0;
    for (size_t i = 0; i < names.size(); ++i) {
      const auto &outputs = graph.node(static_cast<int>(i)).output();
      nodes.push_back({names[i], {outputs.begin(), outputs.end()}, isCompiled[i] ? index++ : -1});
    }
    return nodes;
  });
}

std::vector<std::string> weightFiles(const ImportOptions &options, Problems &problems) {
  return withModel(options, problems, [&](onnx::ModelProto &model, Report &) {
    const std::filesystem::path folder = withDataFolder(options).externalData;
    std::vector<std::string> files;
    for (const std::string &name : weightFilesOf(model))
      files.push_back((folder / name).string());
    return files;
  });
}

std::string annotatedModel(const ImportOptions &options, const Properties &properties,
                           const std::string &prefix, Problems &problems) {
  return withModel(options, problems, [&](onnx::ModelProto &model, Report &report) -> std::string {
    onnx::GraphProto &graph = *model.mutable_graph();
    if (static_cast<size_t>(graph.node_size()) != properties.nodes.size()) {
      report.add("E0101", fmt::format("the model had {} nodes when it was compiled, and has {} now",
                                      properties.nodes.size(), graph.node_size()));
      return {};
    }
    const std::vector<std::string> names = namesOf(graph);
    for (int i = 0; i < graph.node_size(); ++i) {
      graph.mutable_node(i)->set_name(names[static_cast<size_t>(i)]);
      annotate(*graph.mutable_node(i), properties.nodes[static_cast<size_t>(i)], prefix);
    }
    annotate(model, properties.model, prefix);
    return bytesWithWeights(model, withDataFolder(options).externalData,
                            "the nodes of the model have", report);
  });
}

} // namespace sluice::frontend
