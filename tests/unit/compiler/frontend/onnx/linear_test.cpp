#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/reference/ops.h"
#include "test_model.h"

namespace sluice::frontend::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Doubles = std::vector<double>;

/// a [2 3] (or its transpose) times known b [3 2] = 1..6 (or its transpose).
Model gemm(int64_t opset, bool transA, bool transB) {
  Model model(opset);
  model.input("a", transA ? Ints{3, 2} : Ints{2, 3}).output("y", {2, 2});
  model.floats("b", transB ? Ints{2, 3} : Ints{3, 2},
               transB ? Floats{1, 3, 5, 2, 4, 6} : Floats{1, 2, 3, 4, 5, 6});
  model.floats("c", {2}, {100, 200});
  model.node("Gemm", {"a", "b", "c"}, {"y"})
      .attribute("transA", int64_t{transA})
      .attribute("transB", int64_t{transB});
  return model;
}

reference::Tensor operand(bool transposed) {
  return transposed ? reference::Tensor({3, 2}, {1, 0, 2, 1, 3, 0})
                    : reference::Tensor({2, 3}, {1, 2, 3, 0, 1, 0});
}

TEST(Gemm, Transposes) {
  for (int64_t opset : {7, 9, 11, 13, 23})
    for (bool transA : {false, true})
      for (bool transB : {false, true}) {
        Model model = gemm(opset, transA, transB);
        EXPECT_EQ(evaluateModel(model, {operand(transA)}).values, (Doubles{122, 228, 103, 204}));
        // A known B is transposed at import.
        EXPECT_EQ(import(model).text().find("sluice.transpose") != std::string::npos, transA);
      }
}

TEST(Gemm, ScalesConstantsAtImport) {
  Model model = gemm(13, false, false);
  Node(model.graph().mutable_node(0)).attribute("alpha", 2.0F).attribute("beta", 0.5F);
  EXPECT_EQ(evaluateModel(model, {operand(false)}).values, (Doubles{94, 156, 56, 108}));
  EXPECT_THAT(import(model).text(), Not(HasSubstr("arith.mulf")));
}

TEST(Gemm, ScalesRunTimeTensorsInTheMap) {
  Model model(13);
  model.input("a", {1, 2}).input("b", {2, 1}).input("c", {1}).output("y", {1, 1});
  model.node("Gemm", {"a", "b", "c"}, {"y"}).attribute("alpha", 3.0F).attribute("beta", 0.5F);
  EXPECT_EQ(evaluateModel(model, {{{1, 2}, {1, 2}}, {{2, 1}, {3, 4}}, {{1}, {8}}}).values,
            (Doubles{37}));
}

TEST(Gemm, BiasIsOptionalFromOpset11On) {
  Model model = gemm(11, false, false);
  model.graph().mutable_node(0)->mutable_input()->RemoveLast();
  EXPECT_EQ(evaluateModel(model, {operand(false)}).values, (Doubles{22, 28, 3, 4}));
  model.proto.mutable_opset_import(0)->set_version(9);
  EXPECT_EQ(import(model).messages(), "E0204 node 0 (Gemm): Gemm has 2 inputs; expected 3");
}

TEST(Gemm, BetaZeroDropsTheBias) {
  Model model = gemm(13, false, false);
  Node(model.graph().mutable_node(0)).attribute("beta", 0.0F);
  EXPECT_EQ(evaluateModel(model, {operand(false)}).values, (Doubles{22, 28, 3, 4}));
}

TEST(Gemm, ChecksShapes) {
  Model model;
  model.input("a", {2, 3}).input("v", {3}).floats("b", {2, 2}, {1, 2, 3, 4});
  model.floats("c", {3}, {1, 2, 3}).floats("d", {3, 3}, Floats(9, 1));
  model.node("Gemm", {"a", "b"}, {"p"});
  model.node("Gemm", {"v", "b"}, {"q"});
  model.node("Gemm", {"b", "b", "c"}, {"r"});
  model.node("Gemm", {"b", "b", "d"}, {"s"});
  model.output("p").output("q").output("r").output("s");
  EXPECT_EQ(import(model).messages(),
            "E0206 node 0 (Gemm): Gemm: the contracted extents of 'A' and 'B' must be equal; found "
            "3 and 2\n"
            "E0206 node 1 (Gemm): Gemm: inputs 'A' and 'B' must have rank 2; found [3] and [2 2]\n"
            "E0206 node 2 (Gemm): Gemm: input 'C' must broadcast to the shape of the product; "
            "found [3] for a product [2 2]\n"
            "E0206 node 3 (Gemm): Gemm: input 'C' must broadcast to the shape of the product; "
            "found [3 3] for a product [2 2]");
}

struct Product {
  Ints a, b, y;
};

TEST(MatMul, TakesAnyRanks) {
  for (const Product &p : {Product{{2, 3}, {3, 4}, {2, 4}},
                           {{3}, {3, 4}, {4}},
                           {{2, 3}, {3}, {2}},
                           {{3}, {3}, {}},
                           {{5, 1, 2, 3}, {6, 3, 4}, {5, 6, 2, 4}}}) {
    Model model;
    model.input("a", p.a).input("b", p.b).output("y", p.y);
    model.node("MatMul", {"a", "b"}, {"y"});
    EXPECT_EQ(evaluateModel(model, {counting(p.a), counting(p.b)}),
              reference::matmul(counting(p.a), counting(p.b)));
  }
}

TEST(MatMul, ChecksShapes) {
  Model model;
  model.input("a", {2, 3}).input("b", {2, 3}).input("s", {}).output("y").output("z");
  model.node("MatMul", {"a", "b"}, {"y"});
  model.node("MatMul", {"a", "s"}, {"z"});
  const std::string sentence =
      "inputs must have rank 1 or more, equal contracted extents, and leading axes that broadcast";
  EXPECT_EQ(import(model).messages(), "E0206 node 0 (MatMul): MatMul: " + sentence +
                                          "; found [2 3] and [2 3]\n"
                                          "E0206 node 1 (MatMul): MatMul: " +
                                          sentence + "; found [2 3] and []");
}

} // namespace
} // namespace sluice::frontend::test
