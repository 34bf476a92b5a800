// Models changed field by field, through the whole compiler: what comes out is a
// program that the loader accepts and that runs to its end, or problems that the
// model, not the compiler, has.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include "compiler/pipeline/pipeline.h"
#include "runtime/format/program_file.h"
#include "tests/fuzz/budget.h"
#include "tests/fuzz/model_mutator.h"
#include "tests/support/time_limit.h"

namespace sluice::test {
namespace {

using frontend::test::Floats;
using frontend::test::Model;
using frontend::test::TemporaryFolder;

Floats ramp(size_t count) {
  Floats values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = 0.125F * static_cast<float>(i % 17) - 1;
  return values;
}

/// Two dense layers with a residual path and a function of one variable.
onnx::ModelProto dense() {
  Model model(13);
  model.input("x", {1, 12}).output("y", {1, 12});
  model.floats("w", {12, 20}, ramp(240)).floats("b", {20}, ramp(20));
  model.floats("v", {20, 12}, ramp(240)).floats("c", {12}, ramp(12));
  model.node("Gemm", {"x", "w", "b"}, {"h"}).attribute("transB", int64_t{0});
  model.node("Sigmoid", {"h"}, {"s"});
  model.node("MatMul", {"s", "v"}, {"m"});
  model.node("Add", {"m", "c"}, {"a"});
  model.node("Add", {"a", "x"}, {"r"});
  model.node("Relu", {"r"}, {"y"});
  return model.proto;
}

/// Normalisation, gating, slices and reshapes.
onnx::ModelProto gated() {
  Model model(13);
  model.input("x", {1, 16}).output("y", {1, 16});
  model.floats("g", {16}, ramp(16)).floats("eps", {1}, {1e-5F});
  model.ints("half", {2}, {8, 8}).ints("shape", {2}, {1, -1}).ints("axes", {1}, {-1});
  model.node("Mul", {"x", "x"}, {"xx"});
  model.node("ReduceMean", {"xx"}, {"mean"}).attribute("axes", frontend::test::Ints{-1});
  model.node("Add", {"mean", "eps"}, {"e"});
  model.node("Sqrt", {"e"}, {"root"});
  model.node("Div", {"x", "root"}, {"n"});
  model.node("Mul", {"n", "g"}, {"k"});
  model.node("Split", {"k", "half"}, {"p", "q"}).attribute("axis", int64_t{1});
  model.node("Tanh", {"p"}, {"t"});
  model.node("Mul", {"t", "q"}, {"o"});
  model.node("Concat", {"o", "p"}, {"j"}).attribute("axis", int64_t{1});
  model.node("Reshape", {"j", "shape"}, {"l"});
  model.node("Softmax", {"l"}, {"y"}).attribute("axis", int64_t{-1});
  return model.proto;
}

/// A recurrence in both directions, then a loop whose body is a graph of its own.
onnx::ModelProto recurrent() {
  Model model(14);
  model.input("x", {4, 1, 6}).output("y", {1, 8});
  model.floats("w", {2, 16, 6}, ramp(192)).floats("r", {2, 16, 4}, ramp(128));
  model.floats("b", {2, 32}, ramp(64)).ints("lens", {1}, {3}).ints("trips", {1}, {2});
  model.ints("shape", {2}, {1, 8});
  model.node("Cast", {"lens"}, {"lengths"}).attribute("to", int64_t{onnx::TensorProto::INT32});
  model.node("LSTM", {"x", "w", "r", "b", "lengths"}, {"", "h"})
      .attribute("hidden_size", int64_t{4})
      .attribute("direction", std::string("bidirectional"));
  model.node("Reshape", {"h", "shape"}, {"f"});
  frontend::test::Node loop = model.node("Loop", {"trips", "", "f"}, {"y"});
  onnx::AttributeProto &body = loop.attribute("body");
  body.set_type(onnx::AttributeProto::GRAPH);
  for (const char *name : {"i", "go", "v"})
    body.mutable_g()->add_input()->set_name(name);
  for (const char *name : {"go", "next"})
    body.mutable_g()->add_output()->set_name(name);
  frontend::test::addNode(*body.mutable_g(), "Mul", {"v", "f"}, {"m"});
  frontend::test::addNode(*body.mutable_g(), "Tanh", {"m"}, {"next"});
  return model.proto;
}

/// Choices by index and by order, resizing, and quantised tensors.
onnx::ModelProto selecting() {
  Model model(13);
  model.input("x", {1, 2, 4, 4}).output("y").output("loss");
  model.ints("sizes", {4}, {1, 2, 2, 6}).ints("k", {1}, {3}).ints("labels", {1, 4}, {0, 1, 1, 0});
  model.ints("picked", {1, 2, 2, 2}, {0, 1, 5, -1, 2, 2, 0, 3});
  model.floats("scale", {}, {0.25F}).floats("spread", {1, 2, 4}, ramp(8));
  model.node("QuantizeLinear", {"x", "scale"}, {"q"});
  model.node("DequantizeLinear", {"q", "scale"}, {"d"});
  model.node("Resize", {"d", "", "", "sizes"}, {"r"})
      .attribute("mode", std::string("linear"))
      .attribute("coordinate_transformation_mode", std::string("align_corners"));
  model.node("GatherElements", {"r", "picked"}, {"e"}).attribute("axis", int64_t{3});
  model.node("TopK", {"r", "k"}, {"t", "i"}).attribute("axis", int64_t{3});
  model.node("LRN", {"e"}, {"n"}).attribute("size", int64_t{3});
  model.node("Concat", {"n", "t"}, {"y"}).attribute("axis", int64_t{3});
  model.node("SoftmaxCrossEntropyLoss", {"spread", "labels"}, {"loss"});
  return model.proto;
}

/// Attention of both domains with masks, turned by positions, and normalisations around them.
onnx::ModelProto attending() {
  Model model(24);
  auto *import = model.proto.add_opset_import();
  import->set_domain("com.microsoft");
  import->set_version(1);
  const auto fused = [&model](const char *op, const frontend::test::Names &in,
                              const frontend::test::Names &out) {
    auto node = model.node(op, in, out);
    model.graph().mutable_node(model.graph().node_size() - 1)->set_domain("com.microsoft");
    return node;
  };
  model.input("x", {1, 3, 8}).output("y").output("e");
  model.floats("w", {8, 24}, ramp(192)).floats("b", {24}, ramp(24)).floats("g", {8}, ramp(8));
  model.floats("c", {4, 2}, ramp(8)).floats("s", {4, 2}, ramp(8)).floats("t", {5, 8}, ramp(40));
  model.ints("ids", {1, 3}, {0, 3, 1}).ints("keep", {1, 3}, {1, 1, 0}).ints("kept", {1}, {2});
  fused("SkipLayerNormalization", {"x", "x", "g"}, {"n"});
  model.node("RotaryEmbedding", {"n", "c", "s", "ids"}, {"r"}).attribute("num_heads", int64_t{2});
  fused("Attention", {"r", "w", "b", "keep"}, {"a"}).attribute("num_heads", int64_t{2});
  model.node("Attention", {"a", "r", "x", "", "", "", "kept"}, {"o"})
      .attribute("q_num_heads", int64_t{2})
      .attribute("kv_num_heads", int64_t{1})
      .attribute("is_causal", int64_t{0});
  fused("MultiHeadAttention", {"a", "r", "x", "b", "keep"}, {"m"})
      .attribute("num_heads", int64_t{2});
  fused("BiasGelu", {"m", "g"}, {"y"});
  fused("EmbedLayerNormalization", {"ids", "", "t", "t", "", "g", "g", "keep"}, {"e"});
  return model.proto;
}

/// Quantised convolutions, a product of three operands with a diagonal, powers.
onnx::ModelProto quantised() {
  Model model(13);
  model.input("x", {1, 2, 4, 4}).output("y").output("z");
  model.floats("scale", {}, {0.25F}).floats("each", {3}, {0.5F, 0.25F, 1});
  model.floats("p", {3}, {5, -3, 2}).floats("w", {4, 5}, ramp(20));
  const auto bytes = [&model](const char *name, const frontend::test::Ints &shape, int type) {
    onnx::TensorProto &tensor = *model.graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    int64_t count = 1;
    for (const int64_t extent : shape) {
      tensor.add_dims(extent);
      count *= extent;
    }
    for (int64_t i = 0; i < count; ++i)
      tensor.add_int32_data(static_cast<int32_t>(i % 7));
  };
  bytes("zero", {}, onnx::TensorProto::UINT8);
  bytes("k", {3, 2, 3, 3}, onnx::TensorProto::INT8);
  bytes("kz", {3}, onnx::TensorProto::INT8);
  bytes("bias", {3}, onnx::TensorProto::INT32);
  model.node("QuantizeLinear", {"x", "scale", "zero"}, {"q"});
  model
      .node("QLinearConv", {"q", "scale", "zero", "k", "each", "kz", "scale", "zero", "bias"},
            {"r"})
      .attribute("pads", frontend::test::Ints{1, 1, 1, 1})
      .attribute("group", int64_t{1});
  model.node("ConvInteger", {"q", "k", "zero", "kz"}, {"i"});
  model.node("DequantizeLinear", {"r", "scale", "zero"}, {"d"});
  model.node("Einsum", {"d", "w", "w"}, {"e"})
      .attribute("equation", std::string("bcii,ij,kj->bck"));
  model.node("Cast", {"i"}, {"f"}).attribute("to", int64_t{onnx::TensorProto::FLOAT});
  model.node("ReduceSum", {"e"}, {"u"});
  model.node("Pow", {"u", "p"}, {"y"});
  model.node("ReduceMax", {"f"}, {"z"});
  return model.proto;
}

/// Layers of com.microsoft between bytes.
onnx::ModelProto quantisedLayers() {
  Model model(13);
  auto *import = model.proto.add_opset_import();
  import->set_domain("com.microsoft");
  import->set_version(1);
  const auto layer = [&model](const char *op, const frontend::test::Names &in, const char *out) {
    auto node = model.node(op, in, {out});
    model.graph().mutable_node(model.graph().node_size() - 1)->set_domain("com.microsoft");
    return node;
  };
  model.input("x", {1, 2, 4, 4}).output("y").output("z");
  model.floats("s", {}, {0.25F}).ints("flat", {2}, {1, -1});
  onnx::TensorProto &weights = *model.graph().add_initializer();
  weights.set_name("w");
  weights.set_data_type(onnx::TensorProto::UINT8);
  for (const int64_t extent : {16, 3})
    weights.add_dims(extent);
  for (int32_t i = 0; i < 48; ++i)
    weights.add_int32_data(i % 7);
  onnx::TensorProto &zero = *model.graph().add_initializer();
  zero.set_name("o");
  zero.set_data_type(onnx::TensorProto::UINT8);
  zero.add_int32_data(3);
  model.node("QuantizeLinear", {"x", "s", "o"}, {"q"});
  layer("QLinearAdd", {"q", "s", "o", "q", "s", "o", "s", "o"}, "a");
  layer("QLinearConcat", {"s", "o", "q", "s", "o", "a", "s", "o"}, "c")
      .attribute("axis", int64_t{1});
  layer("QLinearAveragePool", {"c", "s", "o", "s", "o"}, "p")
      .attribute("kernel_shape", frontend::test::Ints{2, 2})
      .attribute("strides", frontend::test::Ints{2, 2})
      .attribute("channels_last", int64_t{0});
  model.node("Reshape", {"p", "flat"}, {"f"});
  layer("QGemm", {"f", "s", "o", "w", "s", "o", "", "s", "o"}, "y");
  layer("MatMulIntegerToFloat", {"f", "w", "s", "s", "o"}, "z");
  return model.proto;
}

std::vector<onnx::ModelProto> seeds() {
  return {dense(), gated(), recurrent(), selecting(), attending(), quantised(), quantisedLayers()};
}

/// And those of the folder SLUICE_FUZZ_MODELS, whose folders have a model.onnx each.
std::vector<onnx::ModelProto> allSeeds() {
  std::vector<onnx::ModelProto> models = seeds();
  const char *folder = std::getenv("SLUICE_FUZZ_MODELS");
  if (folder == nullptr)
    return models;
  std::set<std::filesystem::path> paths; // in an order
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    paths.insert(entry.path() / "model.onnx");
  for (const std::filesystem::path &path : paths) {
    std::ifstream file(path, std::ios::binary);
    if (!models.emplace_back().ParseFromIstream(&file))
      throw std::runtime_error(path.string() + " is no model");
  }
  return models;
}

pipeline::CompileOptions optionsFor(const std::string &path) {
  pipeline::CompileOptions options;
  options.modelPath = path;
  options.target = "c2b8";
  options.effort = pipeline::Effort::Fast;
  options.allowDynamicWeights = true;
  options.fixedRandom = true;
  return options;
}

void write(const onnx::ModelProto &model, const std::string &path) {
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
}

TEST(ModelFuzz, SeedsCompile) {
  const TemporaryFolder folder;
  const pipeline::CompileOptions options = optionsFor(folder.file("model.onnx"));
  for (const onnx::ModelProto &seed : seeds()) {
    write(seed, options.modelPath);
    pipeline::CompileResult result;
    Problems problems;
    EXPECT_TRUE(pipeline::compileModel(options, result, problems))
        << problems.front().code << ": " << problems.front().message;
  }
}

TEST(ModelFuzz, ChangedModelsCompileOrAreRefused) {
  const TemporaryFolder folder;
  const std::vector<onnx::ModelProto> models = allSeeds();
  Budget budget(12); // of which reading them is no part
  const pipeline::CompileOptions options = optionsFor(folder.file("model.onnx"));
  unsigned compiled = 0, refused = 0;
  while (budget.left()) {
    const uint64_t round = budget.next();
    SCOPED_TRACE("SLUICE_FUZZ_ROUND=" + std::to_string(round));
    ModelMutator mutator(round);
    onnx::ModelProto model = models[round % models.size()];
    for (uint64_t changes = round % 5; changes > 0; --changes)
      mutator.change(model);
    write(model, options.modelPath);

    pipeline::CompileResult result;
    Problems problems;
    const bool done = [&] {
      const TimeLimit limit; // a compiler that does not come back ends the test here
      return pipeline::compileModel(options, result, problems);
    }();
    if (!done) {
      ++refused;
      ASSERT_FALSE(problems.empty());
      for (const Problem &problem : problems) {
        ASSERT_TRUE(problem.code.size() == 5 && problem.code[0] == 'E') << problem.code;
        ASSERT_TRUE(problem.code != "E0199" && problem.code != "E0499") << problem.message;
        ASSERT_FALSE(problem.message.empty());
      }
      continue;
    }
    ++compiled;
    ASSERT_TRUE(result.cycles) << "the program does not run to its end";
    const auto read = format::read(format::write(result.program));
    ASSERT_TRUE(read.program) << read.problems.front().message;
  }
  std::printf("%u refused, %u compiled\n", refused, compiled);
  EXPECT_GT(refused, 0U);
  EXPECT_GT(compiled, 0U);
}

} // namespace
} // namespace sluice::test
