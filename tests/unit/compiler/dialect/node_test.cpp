#include "compiler/dialect/sluice/node.h"

#include <gtest/gtest.h>

#include "compiler/dialect/sluice/dialect.h"
#include "compiler/support/problem.h"

namespace sluice::ir {
namespace {

class Node : public testing::Test {
protected:
  Node() { context.loadDialect<SluiceDialect>(); }
  mlir::Location named(llvm::StringRef name) {
    return mlir::NameLoc::get(mlir::StringAttr::get(&context, name));
  }
  mlir::MLIRContext context;
};

TEST_F(Node, RoundTrip) {
  const mlir::Location loc = nodeLoc(&context, {3, "fc/1", "Gemm"}, named("y"));
  const auto nodes = nodesOf(loc);
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_EQ(nodes[0].index, 3);
  EXPECT_EQ(nodes[0].name, "fc/1");
  EXPECT_EQ(nodes[0].op, "Gemm");
  EXPECT_EQ(tensorName(loc), "y");
}

TEST_F(Node, MergedLocationsAscendWithoutRepeats) {
  const mlir::Location a = nodeLoc(&context, {5, "a", "Add"}, named("sum"));
  const mlir::Location b = nodeLoc(&context, {2, "b", "Mul"});
  const mlir::Location merged = mlir::FusedLoc::get(
      &context, {mlir::FusedLoc::get(&context, {a, b}), nodeLoc(&context, {5, "a", "Add"})});
  const auto nodes = nodesOf(merged);
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].index, 2);
  EXPECT_EQ(nodes[1].index, 5);
  EXPECT_EQ(nodeOf(merged).name, "a");
}

TEST_F(Node, SourceLine) {
  const mlir::Location loc = nodeLoc(&context, {3, "fc", "Gemm", "a:b/model.py:12"}, named("y"));
  EXPECT_EQ(nodeOf(loc).source, "a:b/model.py:12");
  EXPECT_EQ(tensorName(loc), "y");
  EXPECT_EQ(nodeOf(nodeLoc(&context, {3, "fc", "Gemm", "no line"})).source, "");
  // Of an operation without a node: its own line.
  const NodeRef none = nodeOf(mlir::FileLineColLoc::get(&context, "m.mlir", 7, 3));
  EXPECT_EQ(none.index, -1);
  EXPECT_EQ(none.source, "m.mlir:7");
}

TEST_F(Node, NoNode) {
  const mlir::Location loc = mlir::UnknownLoc::get(&context);
  EXPECT_TRUE(nodesOf(loc).empty());
  EXPECT_EQ(nodeOf(loc).index, -1);
  EXPECT_EQ(tensorName(loc), "");
}

} // namespace
} // namespace sluice::ir
