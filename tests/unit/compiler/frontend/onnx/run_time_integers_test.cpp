// Integers that the program computes: what is computed of them is exact, or refused.
#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/frontend/onnx/operator.h"
#include "test_model.h"

namespace sluice::frontend::test {
namespace {

using Proto = onnx::TensorProto;

/// A model whose last node is of integers 'n', which a program has of the float 'x'.
struct Computed {
  explicit Computed(const Ints &shape, int type = Proto::INT64) : model(18) {
    model.input("x", shape).output("y");
    model.node("Cast", {"x"}, {"n"}).attribute("to", int64_t{type});
  }
  /// With 'n' in [low, high].
  Computed(const Ints &shape, int64_t low, int64_t high) : model(18) {
    model.input("x", shape).output("y").ints("low", {}, {low}).ints("high", {}, {high});
    model.node("Cast", {"x"}, {"m"}).attribute("to", int64_t{Proto::INT64});
    model.node("Clip", {"m", "low", "high"}, {"n"});
  }
  Computed &known(const std::string &name, const Ints &shape, const Ints &values) {
    model.ints(name, shape, values);
    return *this;
  }
  Model model;
};

constexpr const char *kExact = "integers computed at run time must fit their type and lie in "
                               "[-256, 256], where bf16 is exact; found ";

/// What a message has behind the operator, or all of it.
std::string refused(const std::string &text) {
  const size_t node = text.find("): ");
  if (node == std::string::npos || text.find("; found ") == std::string::npos)
    return text;
  return text.substr(text.find(": ", node + 3) + 2);
}

/// The condition that a node `op` violates, with E0205, and what was found instead.
std::string imported(Computed one, const std::string &op, const Names &inputs = {"n"}) {
  one.model.node(op, inputs, {"y"});
  const Imported result = import(one.model);
  for (const Problem &problem : result.problems)
    EXPECT_EQ(problem.code, "E0205");
  return refused(result.messages());
}

TEST(RunTimeIntegers, AreAddedWhereTheSumIsExact) {
  EXPECT_EQ(imported(Computed({4}, -100, 156).known("one", {1}, {100}), "Add", {"n", "one"}), "");
  EXPECT_EQ(imported(Computed({4}, -100, 156).known("one", {1}, {101}), "Add", {"n", "one"}),
            std::string(kExact) + "int64 in [1, 257]");
  EXPECT_EQ(imported(Computed({4}).known("one", {1}, {1}), "Add", {"n", "one"}),
            std::string(kExact) + "int64 of any value");
  EXPECT_EQ(imported(Computed({4}, 0, 256).known("one", {1}, {256}), "Sub", {"n", "one"}), "");
  EXPECT_EQ(imported(Computed({4}, 0, 256).known("one", {1}, {257}), "Sub", {"n", "one"}),
            std::string(kExact) + "int64 in [-257, -1]");
  EXPECT_EQ(imported(Computed({4}, -16, 9), "Mul", {"n", "n"}), "");
  EXPECT_EQ(imported(Computed({4}, -17, 9), "Mul", {"n", "n"}),
            std::string(kExact) + "int64 in [-153, 289]");
  EXPECT_EQ(imported(Computed({4}, 0, 9).known("one", {1}, {3}), "Div", {"n", "one"}),
            "integers must be known at compile time; found int64 at run time");
}

TEST(RunTimeIntegers, AreReducedWhereTheResultIsExact) {
  EXPECT_EQ(imported(Computed({2, 128}, -1, 1), "ReduceSum"), "");
  EXPECT_EQ(imported(Computed({2, 129}, -1, 1), "ReduceSum"),
            std::string(kExact) + "int64 in [-258, 258]");
  EXPECT_EQ(imported(Computed({4}), "ReduceSum"), std::string(kExact) + "int64 of any value");
  EXPECT_EQ(imported(Computed({4}, -8, 3), "ReduceSumSquare"), "");
  EXPECT_EQ(imported(Computed({4}, -9, 3), "ReduceSumSquare"),
            std::string(kExact) + "int64 in [0, 324]");
  EXPECT_EQ(imported(Computed({4}, -64, 3), "ReduceL1"), "");
  EXPECT_EQ(imported(Computed({4}, -65, 3), "ReduceL1"), std::string(kExact) + "int64 in [0, 260]");
  EXPECT_EQ(imported(Computed({4}, -4, 4), "ReduceProd"), "");
  EXPECT_EQ(imported(Computed({4}, -4, 5), "ReduceProd"),
            std::string(kExact) + "int64 in [-625, 625]");
  EXPECT_EQ(imported(Computed({4}), "ReduceMax"), "");
  EXPECT_EQ(imported(Computed({4}), "ReduceMin"), "");
  EXPECT_EQ(imported(Computed({4}, 0, 1), "ReduceMean"),
            "integers must be known at compile time; found int64 at run time");
}

TEST(RunTimeIntegers, AreSummedOverPrefixesAndMultipliedWhereThatIsExact) {
  const auto sums = [](int64_t extent, int64_t most) {
    return imported(Computed({2, extent}, 0, most).known("axis", {}, {1}), "CumSum", {"n", "axis"});
  };
  EXPECT_EQ(sums(64, 4), "");
  EXPECT_EQ(sums(64, 5), std::string(kExact) + "int64 in [0, 320]");
  const auto product = [](int64_t weight) {
    return imported(Computed({2, 4}, -8, 8).known("w", {4, 1}, {1, 2, 3, weight}), "MatMul",
                    {"n", "w"});
  };
  EXPECT_EQ(product(8), "");
  EXPECT_EQ(product(9), std::string(kExact) + "int64 in [-288, 288]");
}

TEST(RunTimeIntegers, HaveSlopesWhereThatIsExact) {
  const auto sloped = [](int64_t slope) {
    return imported(Computed({2}, -50, 200).known("s", {1}, {slope}), "PRelu", {"n", "s"});
  };
  EXPECT_EQ(sloped(5), "");
  EXPECT_EQ(sloped(-5), "");
  EXPECT_EQ(sloped(-6), std::string(kExact) + "int64 in [0, 300]");
}

TEST(RunTimeIntegers, AreScatteredWhereThatIsExact) {
  const auto scattered = [](const char *reduction, int64_t update) {
    Computed one({4}, 0, 100);
    one.known("i", {2}, {1, 1}).known("u", {2}, {1, update});
    one.model.node("ScatterElements", {"n", "i", "u"}, {"y"})
        .attribute("reduction", std::string(reduction));
    return refused(import(one.model).messages());
  };
  constexpr const char *kSums = "run-time sums and products of integers must fit their type and "
                                "lie in [-256, 256], where bf16 is exact; found ";
  EXPECT_EQ(scattered("none", 1024), "");
  EXPECT_EQ(scattered("max", 1024), "");
  EXPECT_EQ(scattered("add", 78), "");
  EXPECT_EQ(scattered("add", 79), std::string(kSums) + "int64 in [0, 258]");
  EXPECT_EQ(scattered("mul", 1), "");
  EXPECT_EQ(scattered("mul", 2), std::string(kSums) + "int64 in [0, 400]");
}

TEST(RunTimeIntegers, OfBytesStayBytes) {
  constexpr const char *kOfType = "8-bit integers computed at run time must fit their type; found ";
  EXPECT_EQ(imported(Computed({4}, Proto::INT8), "Neg"),
            std::string(kOfType) + "int8 in [-127, 128]");
  EXPECT_EQ(imported(Computed({4}, Proto::INT8), "Abs"), std::string(kOfType) + "int8 in [0, 128]");
  EXPECT_EQ(imported(Computed({4}, Proto::UINT8), "Abs"), "");
  EXPECT_EQ(imported(Computed({4}), "Neg"), "");
  EXPECT_EQ(imported(Computed({4}), "Abs"), "");
  EXPECT_EQ(imported(Computed({4}, Proto::INT8), "Add", {"n", "n"}),
            std::string(kExact) + "int8 in [-256, 254]");
  EXPECT_EQ(imported(Computed({4}, Proto::UINT8), "Sub", {"n", "n"}),
            std::string(kExact) + "uint8 in [-255, 255]");
}

TEST(RunTimeIntegers, SayWhatCouldBeDone) {
  Computed one({4});
  one.model.node("Mul", {"n", "n"}, {"y"});
  const Imported result = import(one.model);
  ASSERT_EQ(result.problems.size(), 1U);
  ASSERT_EQ(result.problems[0].fixes.size(), 1U);
  EXPECT_EQ(result.problems[0].fixes[0].text, "limit the range (Clip, fewer elements), or cast to "
                                              "a floating-point type first, which rounds results");
}

/// Ranges go along with what is selected, and come from what is counted.
TEST(RunTimeIntegers, KeepTheirRanges) {
  const auto sum = [](const std::function<void(Model &)> &way) {
    Computed one({4, 4}, 0, 16);
    way(one.model);
    one.model.node("ReduceSum", {"s"}, {"y"});
    return refused(import(one.model).messages());
  };
  EXPECT_EQ(sum([](Model &m) { m.node("Transpose", {"n"}, {"s"}); }), "");
  EXPECT_EQ(
      sum([](Model &m) { m.ints("shape", {1}, {16}).node("Reshape", {"n", "shape"}, {"s"}); }), "");
  EXPECT_EQ(sum([](Model &m) {
              m.node("Cast", {"n"}, {"f"}).attribute("to", int64_t{Proto::FLOAT});
              m.node("Cast", {"f"}, {"s"}).attribute("to", int64_t{Proto::INT32});
            }),
            "");
  EXPECT_EQ(sum([](Model &m) {
              m.ints("row", {1, 4}, {-17, 0, 0, 0});
              m.node("Concat", {"n", "row"}, {"s"}).attribute("axis", int64_t{0});
            }),
            std::string(kExact) + "int64 in [-340, 320]");
  EXPECT_EQ(sum([](Model &m) {
              m.ints("pads", {4}, {0, 0, 1, 0}).ints("value", {}, {-20});
              m.node("Pad", {"n", "pads", "value"}, {"s"});
            }),
            std::string(kExact) + "int64 in [-400, 320]");
  EXPECT_EQ(sum([](Model &m) { m.ints("k", {1}, {2}).node("TopK", {"n", "k"}, {"values", "s"}); }),
            "");
  EXPECT_EQ(sum([](Model &m) { m.node("ArgMax", {"n"}, {"s"}); }), "");
  EXPECT_EQ(sum([](Model &m) {
              m.node("Relu", {"n"}, {"r"});
              m.node("Neg", {"r"}, {"s"});
            }),
            "");
  EXPECT_EQ(sum([](Model &m) { m.node("Sign", {"m"}, {"s"}); }), "");
  EXPECT_EQ(sum([](Model &m) { m.node("Max", {"n", "m"}, {"s"}); }),
            std::string(kExact) + "int64 of any value");
  EXPECT_EQ(sum([](Model &m) {
              m.node("Equal", {"n", "m"}, {"t"});
              m.node("Cast", {"t"}, {"s"}).attribute("to", int64_t{Proto::INT64});
            }),
            "");
}

TEST(RunTimeIntegers, MeetKnownOnesThatAreExact) {
  const auto with = [](const char *op, const Ints &values) {
    Computed one({2});
    one.known("k", {static_cast<int64_t>(values.size())}, values);
    one.model.node(op, {"n", "k"}, {"y"});
    return import(one.model).messages();
  };
  EXPECT_EQ(with("Max", {1000, 1 << 20}), "");
  EXPECT_EQ(with("Max", {1000, 1001}), "E0205 node 1 (Max): Max: element 1001 of the int64 tensor "
                                       "[2] is not exact in bf16, the accelerator's format");
  EXPECT_EQ(with("Min", {1001}), "E0205 node 1 (Min): Min: element 1001 of the int64 tensor [1] is "
                                 "not exact in bf16, the accelerator's format");
  EXPECT_EQ(with("Equal", {1000, 1001}),
            "E0205 node 1 (Equal): Equal: element 1001 of the int64 tensor [2] is not exact in "
            "bf16, the accelerator's format");
  EXPECT_EQ(with("Less", {1001}), ""); // stays fp32
  EXPECT_EQ(with("Less", {(1 << 24) + 1}),
            "E0205 node 1 (Less): Less: the comparison needs 16777217, which is not exact in fp32");
  Computed one({2});
  one.known("pads", {2}, {1, 0}).known("v", {}, {1001});
  one.model.node("Pad", {"n", "pads", "v"}, {"y"});
  EXPECT_EQ(import(one.model).messages(),
            "E0205 node 1 (Pad): Pad: border value 1001 is not exact in bf16");
}

TEST(RunTimeIntegers, OfOneHotVectorsAreBf16Numbers) {
  const auto hot = [](int64_t on) {
    return imported(Computed({2}).known("d", {}, {4}).known("v", {2}, {0, on}), "OneHot",
                    {"n", "d", "v"});
  };
  EXPECT_EQ(hot(1000), "");
  EXPECT_EQ(hot(1001), "integers in 'values' must be exact in bf16 if 'indices' is computed at run "
                       "time; found 1001");
}

TEST(RunTimeIntegers, AreClippedToBf16Numbers) {
  const auto clipped = [](int64_t low, int64_t high) {
    return imported(Computed({2}).known("l", {}, {low}).known("h", {}, {high}), "Clip",
                    {"n", "l", "h"});
  };
  EXPECT_EQ(clipped(-1000, 1 << 20), "");
  EXPECT_EQ(clipped(INT64_MIN, INT64_MAX), "");
  constexpr const char *kBounds = "bounds of run-time integers must be exact in bf16, or the least "
                                  "or greatest of their type; found ";
  EXPECT_EQ(clipped(-1001, 5), std::string(kBounds) + "-1001");
  EXPECT_EQ(clipped(0, 257), std::string(kBounds) + "257");
}

TEST(RunTimeIntegers, PlacesAreCountedExactly) {
  const auto argMax = [](int64_t extent) {
    Model model(13);
    model.input("x", {2, extent}).output("y");
    model.node("ArgMax", {"x"}, {"y"}).attribute("axis", int64_t{1});
    return import(model).messages();
  };
  EXPECT_EQ(argMax(31616), ""); // from 257 on as codes
  EXPECT_EQ(argMax(31617), "E0205 node 0 (ArgMax): ArgMax: at run time 'axis' must have at most "
                           "31616 elements; found 31617");
}

TEST(RunTimeIntegers, OfCodesAreViewedAndNotComputedWith) {
  const auto index = [](const char *op, int64_t extent) {
    Model model(13);
    model.input("x", {2, extent}).output("y");
    model.node("ArgMax", {"x"}, {"i"}).attribute("axis", int64_t{1});
    Node node = model.node(op, {"i"}, {"y"});
    if (op == std::string("Cast"))
      node.attribute("to", int64_t{Proto::INT32});
    return import(model).messages();
  };
  EXPECT_EQ(index("Squeeze", 300), "");
  EXPECT_EQ(index("Cast", 300), "");
  EXPECT_EQ(index("Sign", 256), "");
  EXPECT_EQ(index("Sign", 300), "E0205 node 1 (Sign): Sign: the node computes with an index in "
                                "[0, 299]; allowed: up to 256, where bf16 has every whole number");
}

/// Every entry that takes integers which may be computed says what it computes of them, refuses
/// them, or is one of these, which give elements as they are, floats, bools, bytes or shapes.
TEST(RunTimeIntegers, HaveARuleWhereverTheyAreTaken) {
  std::set<std::string> without;
  for (const auto &[key, versions] : operatorTable().entries())
    for (const auto &[since, entry] : versions) {
      const bool takes = std::ranges::any_of(entry.inputs, [](const InputSpec &input) {
        return !input.known && input.types != Types::Float && input.types != Types::Sequence;
      });
      const bool refuses =
          std::ranges::any_of(entry.requirements, [](const Requirement &requirement) {
            return requirement.sentence == "integers must be known at compile time";
          });
      if (takes && !refuses && !entry.integers)
        without.insert(key.second);
    }
  EXPECT_THAT(without, testing::ElementsAreArray({"And",
                                                  "ArgMax",
                                                  "ArgMin",
                                                  "Attention",
                                                  "Cast",
                                                  "CastLike",
                                                  "CenterCropPad",
                                                  "Compress",
                                                  "Concat",
                                                  "ConvInteger",
                                                  "DepthToSpace",
                                                  "DequantizeLinear",
                                                  "DynamicQuantizeMatMul",
                                                  "Equal",
                                                  "Expand",
                                                  "EyeLike",
                                                  "FeatureVectorizer",
                                                  "Flatten",
                                                  "Gather",
                                                  "GatherElements",
                                                  "GatherND",
                                                  "Greater",
                                                  "GreaterOrEqual",
                                                  "Identity",
                                                  "If",
                                                  "Less",
                                                  "LessOrEqual",
                                                  "LinearClassifier",
                                                  "LinearRegressor",
                                                  "Loop",
                                                  "MatMulInteger",
                                                  "MatMulIntegerToFloat",
                                                  "MaxPool",
                                                  "Normalizer",
                                                  "Not",
                                                  "OneHot",
                                                  "Optional",
                                                  "OptionalGetElement",
                                                  "OptionalHasElement",
                                                  "Or",
                                                  "Pad",
                                                  "Pow",
                                                  "QAttention",
                                                  "QGemm",
                                                  "QLinearAdd",
                                                  "QLinearAveragePool",
                                                  "QLinearConcat",
                                                  "QLinearConv",
                                                  "QLinearGlobalAveragePool",
                                                  "QLinearLeakyRelu",
                                                  "QLinearMatMul",
                                                  "QLinearMul",
                                                  "QLinearSigmoid",
                                                  "QLinearSoftmax",
                                                  "QuantizeLinear",
                                                  "RandomNormalLike",
                                                  "RandomUniformLike",
                                                  "Reshape",
                                                  "Resize",
                                                  "ReverseSequence",
                                                  "Scaler",
                                                  "Scan",
                                                  "SequenceConstruct",
                                                  "SequenceInsert",
                                                  "SequenceMap",
                                                  "Shape",
                                                  "Size",
                                                  "Slice",
                                                  "SpaceToDepth",
                                                  "Split",
                                                  "SplitToSequence",
                                                  "Squeeze",
                                                  "TensorScatter",
                                                  "Tile",
                                                  "TopK",
                                                  "Transpose",
                                                  "Unsqueeze",
                                                  "Upsample",
                                                  "Xor"}));
}

} // namespace
} // namespace sluice::frontend::test
