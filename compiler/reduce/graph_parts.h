// Parts of models: some of the nodes.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/onnx_proto.h"
#include "compiler/reduce/facts.h"

namespace sluice::reduce {

/// Returns the number of nodes of a model, those of loop bodies and branches included.
size_t countNodes(const onnx::ModelProto &model);

/// Returns the tensors that a node reads, those that the graphs in its attributes read included.
std::set<std::string> readsOf(const onnx::NodeProto &node);

/// Returns for each node the nodes whose results it reads.
std::vector<std::vector<size_t>> producersOf(const onnx::GraphProto &graph);

/// Puts the nodes in an order of execution. Nodes of a cycle stay where they are.
void sortNodes(onnx::GraphProto &graph);

/// Returns a tensor's declaration, without a shape if nothing is known of it.
onnx::ValueInfoProto declarationOf(const std::string &name, const Facts &facts);

/// Returns the model of some of the nodes. Results of other nodes become inputs, or initializers if
/// they are known. Results that nobody reads become outputs. Returns nothing if the shape of a new
/// input is unknown or no node is left.
std::optional<onnx::ModelProto> partOf(const onnx::ModelProto &model, const std::vector<bool> &kept,
                                       const Facts &facts);

/// Removes nodes, initializers, inputs and functions that no output depends on.
void removeUnread(onnx::ModelProto &model);

/// Turns `Constant` nodes into initializers.
void constantsToInitializers(onnx::GraphProto &graph);

} // namespace sluice::reduce
