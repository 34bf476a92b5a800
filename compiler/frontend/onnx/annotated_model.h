// A copy of a model file whose nodes carry properties, for viewers of ONNX models.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/import.h"
#include "compiler/support/problem.h"

namespace sluice::frontend {

/// A node of the graph as a viewer knows it.
struct ViewedNode {
  /// Its name; of a node without one, or with the name of another node, a name made of its first
  /// output that no other node has.
  std::string name;
  std::vector<std::string> outputs;
  int64_t index = -1; ///< NodeRef::index: among the nodes that are compiled; -1: it is cut off
};

/// Returns the nodes of the model at `options.path` in the order of its graph. Returns problems
/// (E01xx) if the file cannot be read or cut.
std::vector<ViewedNode> viewedNodes(const ImportOptions &options, Problems &problems);

/// Returns the paths of the files that hold external weights of the model at `options.path`.
/// Returns problems (E01xx) if it cannot be read.
std::vector<std::string> weightFiles(const ImportOptions &options, Problems &problems);

struct Property {
  std::string key, value;
};

/// Properties of a model: of its nodes in the order of the graph, and of the whole.
struct Properties {
  std::vector<std::vector<Property>> nodes;
  std::vector<Property> model;
};

/// Returns the bytes of the model at `options.path` with these properties (metadata_props), all
/// weights inside, and the names of viewedNodes. They replace properties whose keys begin with
/// `prefix`. Returns problems (E01xx) instead.
std::string annotatedModel(const ImportOptions &options, const Properties &properties,
                           const std::string &prefix, Problems &problems);

} // namespace sluice::frontend
