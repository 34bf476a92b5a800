// The line of source of a node, in the forms PyTorch's exporters record it.
#include "compiler/frontend/onnx/source_line.h"

#include <gtest/gtest.h>

#include "compiler/dialect/sluice/node.h"
#include "test_model.h"

namespace sluice::frontend {
namespace {

std::string fromDoc(const std::string &text) {
  onnx::NodeProto node;
  node.set_doc_string(text);
  return sourceLine(node);
}

/// A node with an entry of metadata_props, which libonnx does not know.
onnx::NodeProto withMetadata(const std::string &key, const std::string &value) {
  onnx::StringStringEntryProto entry;
  entry.set_key(key);
  entry.set_value(value);
  onnx::NodeProto node;
  node.GetReflection()->MutableUnknownFields(&node)->AddLengthDelimited(9)->assign(
      entry.SerializeAsString());
  return node;
}

TEST(SourceLine, TorchScriptDocString) {
  // The innermost frame comes first; those of packages are not the user's.
  EXPECT_EQ(
      fromDoc("/usr/lib/python3/dist-packages/torch/nn/functional.py(1848): linear\n"
              "/home/ann/net (old)/model.py(12): forward\n/home/ann/train.py(40): <module>\n"),
      "/home/ann/net (old)/model.py:12");
  EXPECT_EQ(fromDoc("/x/site-packages/torch/nn/modules/linear.py(114): forward\n"),
            "/x/site-packages/torch/nn/modules/linear.py:114");
}

TEST(SourceLine, StackTraceInTheMetadata) {
  const onnx::NodeProto node = withMetadata(
      "pkg.torch.onnx.stack_trace",
      "File \"/home/ann/train.py\", line 40, in <module>\n    y = model(x)\n"
      "  File \"/home/ann/model.py\", line 12, in forward\n    return self.fc(x)\n"
      "  File \"/x/site-packages/torch/nn/modules/linear.py\", line 125, in forward\n");
  EXPECT_EQ(sourceLine(node), "/home/ann/model.py:12");
  EXPECT_EQ(sourceLine(withMetadata("namespace", "File \"a.py\", line 1, in f")), "");
}

TEST(SourceLine, NoneInOtherTexts) {
  for (const char *text : {"", "a layer", "model.py(): forward", "model.py(x): forward",
                           "(12): forward", "File \"model.py\", line 12, in forward",
                           "model.py(12345678901): forward", "): ", "(", "a(1)"})
    EXPECT_EQ(fromDoc(text), "") << text;
  for (const char *text :
       {"File \"", "File \"\", line 3", "\", line 3, in f File \"x", "model.py(1): f"})
    EXPECT_EQ(sourceLine(withMetadata("pkg.torch.onnx.stack_trace", text)), "") << text;
}

TEST(SourceLine, OfProblemsAndLocations) {
  test::Model model;
  model.input("x", {2}).output("y");
  model.node("Relu", {"x"}, {"y"}).proto->set_doc_string("net.py(5): forward\n");
  const test::Imported imported = test::import(model);
  ASSERT_EQ(imported.messages(), "");
  EXPECT_EQ(ir::nodeOf(imported.info.tensors.back().value.getLoc()).source, "net.py:5");

  test::Model wrong;
  wrong.input("x", {2}).output("y");
  wrong.node("Rleu", {"x"}, {"y"}).proto->set_doc_string("net.py(6): forward\n");
  const test::Imported refused = test::import(wrong);
  ASSERT_FALSE(refused.problems.empty());
  EXPECT_EQ(refused.problems[0].node->source, "net.py:6");
}

} // namespace
} // namespace sluice::frontend
