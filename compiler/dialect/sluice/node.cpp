#include "compiler/dialect/sluice/node.h"

#include "compiler/dialect/sluice/dialect.h"

using namespace mlir;

namespace sluice::ir {

Location nodeLoc(MLIRContext *context, const NodeRef &node, std::optional<Location> inner) {
  auto attribute = NodeAttr::get(context, node.index, StringAttr::get(context, node.name),
                                 StringAttr::get(context, node.op));
  return FusedLoc::get(context, {inner.value_or(UnknownLoc::get(context))}, attribute);
}

llvm::SmallVector<NodeRef, 1> nodesOf(Location location) {
  llvm::SmallVector<NodeRef, 1> nodes;
  location->walk([&](Location part) {
    if (auto fused = llvm::dyn_cast<FusedLoc>(part))
      if (auto node = llvm::dyn_cast_if_present<NodeAttr>(fused.getMetadata()))
        nodes.push_back({node.getIndex(), node.getNodeName().str(), node.getOpType().str()});
    return WalkResult::advance();
  });
  llvm::sort(nodes, [](const NodeRef &a, const NodeRef &b) { return a.index < b.index; });
  nodes.erase(std::unique(nodes.begin(), nodes.end(),
                          [](const NodeRef &a, const NodeRef &b) { return a.index == b.index; }),
              nodes.end());
  return nodes;
}

NodeRef nodeOf(Location location) {
  auto nodes = nodesOf(location);
  return nodes.empty() ? NodeRef{} : nodes.back();
}

Location fuseLocs(MLIRContext *context, llvm::ArrayRef<Location> locations) {
  return FusedLoc::get(context, locations);
}

std::string tensorName(Location location) {
  std::string name;
  location->walk([&](Location part) {
    if (auto named = llvm::dyn_cast<NameLoc>(part)) {
      name = named.getName().str();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return name;
}

} // namespace sluice::ir
