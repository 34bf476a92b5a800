#include <filesystem>
#include <random>

#include <gtest/gtest.h>

#include "test_model.h"

namespace sluice::frontend::test {
namespace {

/// Every operator family in one small model.
Model seed() {
  Model model(13);
  model.input("x", {2, 4}).output("y").output("z");
  model.floats("w", {4, 4}, Floats(16, 0.5F)).floats("b", {4}, {1, 2, 3, 4});
  model.ints("axes", {1}, {0})
      .ints("from", {1}, {-1})
      .ints("to", {1}, {-9})
      .ints("step", {1}, {-1});
  model.ints("shape", {2}, {0, -1});
  model.node("Gemm", {"x", "w", "b"}, {"g"})
      .attribute("transB", int64_t{1})
      .attribute("alpha", 2.0F);
  model.node("Softmax", {"g"}, {"s"}).attribute("axis", int64_t{1});
  model.node("Clip", {"s"}, {"c"});
  model.node("Unsqueeze", {"c", "axes"}, {"u"});
  model.node("Squeeze", {"u", "axes"}, {"q"});
  model.node("Slice", {"q", "from", "to", "axes", "step"}, {"r"});
  model.node("Reshape", {"r", "shape"}, {"t"});
  model.node("Split", {"t"}, {"p1", "p2"}).attribute("axis", int64_t{1});
  model.node("Concat", {"p2", "p1"}, {"y"}).attribute("axis", int64_t{1});
  model.node("LeakyRelu", {"y"}, {"l"}).attribute("alpha", 0.1F);
  Node scan = model.node("Scan", {"b", "l"}, {"sum", "z"});
  scan.attribute("num_scan_inputs", int64_t{1});
  onnx::AttributeProto &body = scan.attribute("body");
  body.set_type(onnx::AttributeProto::GRAPH);
  for (const char *name : {"before", "row"})
    body.mutable_g()->add_input()->set_name(name);
  for (const char *name : {"after", "row"})
    body.mutable_g()->add_output()->set_name(name);
  addNode(*body.mutable_g(), "Add", {"before", "row"}, {"after"});
  return model;
}

/// Imports mutations of `bytes`; each must give a module or problems, no more.
void fuzz(const std::string &bytes, int rounds, unsigned seedNumber) {
  std::mt19937 random(seedNumber);
  TemporaryFolder folder;
  int imported = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string mutated = bytes;
    int changes = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < changes; ++i) {
      size_t at = random() % mutated.size();
      switch (random() % 4) {
      case 0:
        mutated[at] = static_cast<char>(random());
        break;
      case 1:
        mutated.erase(at, random() % 4);
        break;
      case 2:
        mutated.insert(at, 1, static_cast<char>(random()));
        break;
      default:
        mutated[at] = static_cast<char>(mutated[at] ^ (1 << random() % 8));
      }
      if (mutated.empty())
        mutated = bytes;
    }
    writeFile(folder.file("m.onnx"), mutated);
    Imported result = importFile(folder.file("m.onnx")); // checks module == no problems
    imported += result.module ? 1 : 0;
    for (const Problem &problem : result.problems) {
      ASSERT_NE(problem.code, "E0199") << problem.message;
      ASSERT_FALSE(problem.message.empty());
    }
  }
  EXPECT_LT(imported, rounds); // some damage is noticed
}

TEST(Fuzz, ASmallModelOfEveryFamily) {
  Model model = seed();
  ASSERT_EQ(import(model).messages(), "");
  fuzz(model.proto.SerializeAsString(), 3000, 1);
}

TEST(Fuzz, ARealModel) {
  std::string path = std::string(SHARED_MODELS) + "/acasxu/model.onnx";
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << path << " is not here";
  fuzz(readFile(path), 300, 2);
}

} // namespace
} // namespace sluice::frontend::test
