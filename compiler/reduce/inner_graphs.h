// The graphs in the attributes of nodes: loop bodies and branches.
#pragma once

#include <type_traits>

#include "compiler/frontend/onnx/onnx_proto.h"

namespace sluice::reduce {

/// Calls `visit` with each graph in the attributes of a node, which may be const.
template <typename Node, typename Visit> void forEachInnerGraph(Node &node, Visit visit) {
  for (int i = 0; i < node.attribute_size(); ++i) {
    if constexpr (std::is_const_v<Node>) {
      const onnx::AttributeProto &attribute = node.attribute(i);
      if (attribute.has_g())
        visit(attribute.g());
      for (const onnx::GraphProto &graph : attribute.graphs())
        visit(graph);
    } else {
      onnx::AttributeProto &attribute = *node.mutable_attribute(i);
      if (attribute.has_g())
        visit(*attribute.mutable_g());
      for (onnx::GraphProto &graph : *attribute.mutable_graphs())
        visit(graph);
    }
  }
}

} // namespace sluice::reduce
