#include "compiler/dialect/sluice/node.h"

#include "compiler/dialect/sluice/attributes.h"
#include "compiler/support/problem.h"

using namespace mlir;

namespace sluice::ir {

Location nodeLoc(MLIRContext *context, const NodeRef &node, std::optional<Location> inner) {
  auto attribute = NodeAttr::get(context, node.index, StringAttr::get(context, node.name),
                                 StringAttr::get(context, node.op));
  llvm::SmallVector<Location, 2> parts{inner.value_or(UnknownLoc::get(context))};
  const auto [file, digits] = llvm::StringRef(node.source).rsplit(':');
  if (unsigned line = 0; !digits.getAsInteger(10, line))
    parts.push_back(FileLineColLoc::get(context, file, line, 0));
  return FusedLoc::get(context, parts, attribute);
}

/// "file:line" of the first file location in a location, or empty.
static std::string sourceOf(Location location) {
  const auto line = location->findInstanceOf<FileLineColLoc>();
  return line ? (line.getFilename().getValue() + ":" + llvm::Twine(line.getLine())).str() : "";
}

llvm::SmallVector<NodeRef, 1> nodesOf(Location location) {
  llvm::SmallVector<NodeRef, 1> nodes;
  location->walk([&](Location part) {
    if (auto fused = llvm::dyn_cast<FusedLoc>(part))
      if (auto node = llvm::dyn_cast_if_present<NodeAttr>(fused.getMetadata()))
        nodes.push_back(
            {node.getIndex(), node.getNodeName().str(), node.getOpType().str(), sourceOf(fused)});
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
  return nodes.empty() ? NodeRef{-1, "", "", sourceOf(location)} : nodes.back();
}

std::string tensorName(Location location) {
  const auto named = location->findInstanceOf<NameLoc>();
  return named ? named.getName().str() : "";
}

} // namespace sluice::ir
