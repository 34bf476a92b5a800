#include <filesystem>

#include <gtest/gtest.h>

#include "compiler/frontend/onnx/model_file.h"
#include "test_model.h"

namespace sluice::frontend::test {
namespace {

std::string smallModel() {
  Model model;
  model.input("x", {1, 2}).floats("w", {2, 2}, {1, 2, 3, 4}).output("y", {1, 2});
  model.node("MatMul", {"x", "w"}, {"y"}).name("fc");
  return model.proto.SerializeAsString();
}

std::string parseErrors(const std::string &bytes) {
  Problems problems;
  Report report(problems);
  EXPECT_EQ(parseModel(bytes, report), nullptr);
  return linesOf(problems);
}

TEST(ModelFile, ImportsAFile) {
  TemporaryFolder folder;
  writeFile(folder.file("m.onnx"), smallModel());
  Imported imported = importFile(folder.file("m.onnx"));
  EXPECT_EQ(imported.messages(), "");
  EXPECT_EQ(imported.info.parameters, 4U);
}

TEST(ModelFile, RefusesWhatIsNoFile) {
  TemporaryFolder folder;
  EXPECT_EQ(importFile(folder.file("none.onnx")).messages(),
            "E0101: cannot open '" + folder.file("none.onnx") + "': No such file or directory");
  EXPECT_EQ(importFile(folder.path.string()).messages(),
            "E0101: '" + folder.path.string() + "' is a directory, not a model file");
}

TEST(ModelFile, RefusesWhatIsNoModel) {
  EXPECT_EQ(parseErrors(""), "E0102: the file is empty");
  EXPECT_EQ(parseErrors("{\"model\": 1}\n"),
            "E0102: the file is text, not an ONNX model (a binary protobuf)");
  EXPECT_EQ(parseErrors(std::string("\x93NUMPY\x01\x00", 8)),
            "E0102: byte 0 does not start a protobuf field; this is not an ONNX model");
  EXPECT_EQ(parseErrors(std::string(8, 0)),
            "E0102: byte 0 does not start a protobuf field; this is not an ONNX model");
  EXPECT_EQ(parseErrors(std::string("\x08\x08", 2)),
            "E0102: the model has no graph; the file is truncated, or not an ONNX model");
  EXPECT_EQ(parseErrors(std::string("\x3a\x7f\x01", 3)),
            "E0102: field 7 at byte 0 claims 127 bytes, but only 1 follow; the file is truncated "
            "or damaged");
  EXPECT_EQ(parseErrors(std::string("\x08\x80", 2)),
            "E0102: field 1 at byte 0 is incomplete; the file is truncated or damaged");
  EXPECT_EQ(parseErrors(std::string("\x08\x08\x80", 3)),
            "E0102: the file ends inside a field tag at byte 2 of 3; it is truncated or damaged");
  EXPECT_EQ(
      parseErrors(std::string("\x3a\x02\x0a\x7f", 4)),
      "E0102: the protobuf is malformed inside a field, or nests messages more than 100 deep");
}

TEST(ModelFile, RefusesAModelCutAnywhere) {
  std::string bytes = smallModel();
  for (size_t length = 0; length < bytes.size(); ++length) {
    TemporaryFolder folder;
    writeFile(folder.file("cut.onnx"), bytes.substr(0, length));
    Imported imported = importFile(folder.file("cut.onnx"));
    EXPECT_FALSE(imported.module) << "cut after " << length << " bytes";
    for (const Problem &problem : imported.problems)
      EXPECT_NE(problem.code, "E0199") << problem.message;
  }
}

TEST(ModelFile, RefusesAHugeFile) {
  TemporaryFolder folder;
  writeFile(folder.file("huge.onnx"), "");
  std::filesystem::resize_file(folder.file("huge.onnx"), int64_t{3} << 30); // sparse
  EXPECT_EQ(importFile(folder.file("huge.onnx")).messages(),
            "E0103: the model has 3221225472 bytes; at most 2147483647 are allowed");
}

TEST(ModelFile, RefusesDeepNesting) {
  Model model;
  onnx::GraphProto *graph = model.proto.mutable_graph();
  for (int depth = 0; depth < 60; ++depth) {
    onnx::AttributeProto *attribute = graph->add_node()->add_attribute();
    attribute->set_name("body");
    attribute->set_type(onnx::AttributeProto::GRAPH);
    graph = attribute->mutable_g();
  }
  EXPECT_EQ(
      parseErrors(model.proto.SerializeAsString()),
      "E0102: the protobuf is malformed inside a field, or nests messages more than 100 deep");
}

} // namespace
} // namespace sluice::frontend::test
