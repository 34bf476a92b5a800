// ONNX nodes in locations. An operation's location is
//   loc(fused<#sluice.node<index, "name", "op">>[...])
// or a fused location of several of these once operations have been merged. A
// file location in the brackets is the line of source the node was made from.
#pragma once

#include "compiler/support/problem_fwd.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace sluice::ir {

/// Location of an operation made from a node, with its source line. `inner`
/// names the tensor it makes.
mlir::Location nodeLoc(mlir::MLIRContext *context, const NodeRef &node,
                       std::optional<mlir::Location> inner = std::nullopt);

/// The nodes in a location, ascending by index, each once.
llvm::SmallVector<NodeRef, 1> nodesOf(mlir::Location location);

/// The node to name in a message: the last of nodesOf, which is the one that
/// makes the operation's result. Index -1 if there is none, the source line is
/// then that of the operation itself.
NodeRef nodeOf(mlir::Location location);

/// The name in a location (outermost NameLoc), or empty: the ONNX tensor.
std::string tensorName(mlir::Location location);

} // namespace sluice::ir
