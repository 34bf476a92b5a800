// The sentences of the rules of index spaces.
#include <gtest/gtest.h>

#include "compiler/index_space/index_space.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"

namespace sluice::space {
namespace {

class Spaces : public ::testing::Test {
protected:
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};

  mlir::AffineMap map(const char *text) {
    const auto attribute =
        mlir::parseAttribute(("affine_map<" + std::string(text) + ">").c_str(), &context);
    return llvm::cast<mlir::AffineMapAttr>(attribute).getValue();
  }

  /// y = 9 positions of a window of 3 over x, in steps of `stride`.
  IndexSpace window(int64_t stride, int64_t pad) {
    IndexSpace space;
    space.loops = {{9}, {3, LoopKind::Reduced}};
    const std::string text =
        "(y, k) -> (y * " + std::to_string(stride) + " + k - " + std::to_string(pad) + ")";
    space.operands.push_back(Projection::elements(map(text.c_str()), {8 * stride + 3 - 2 * pad}));
    if (pad != 0)
      space.operands.back().outside = 0;
    space.results.push_back(Projection::elements(map("(y, k) -> (y)"), {9}));
    return space;
  }

  /// [4 6] @ [6 8].
  IndexSpace linear() {
    IndexSpace space;
    space.loops = {{4}, {8}, {6, LoopKind::Reduced}};
    space.operands = {Projection::elements(map("(i, n, k) -> (i, k)"), {4, 6}),
                      Projection::elements(map("(i, n, k) -> (k, n)"), {6, 8})};
    space.results = {Projection::elements(map("(i, n, k) -> (i, n)"), {4, 8})};
    return space;
  }

  static std::string sentence(const IndexSpace &space) {
    std::string why;
    EXPECT_FALSE(verify(space, why));
    return why;
  }
};

TEST_F(Spaces, EveryRuleHasItsSentence) {
  std::string why;
  IndexSpace space = window(1, 1);
  ASSERT_TRUE(verify(space, why)) << why;
  space.loops[1].extent = 0;
  EXPECT_EQ(sentence(space), "loop 1 has extent 0; it must be at least 1 (IS-EMPTY)");

  space = window(1, 0);
  space.operands[0].region[0] = 0;
  EXPECT_EQ(sentence(space),
            "the region of operand 0 has extent 0 along axis 0; it must be at least 1 (IS-EMPTY)");

  space = window(1, 0);
  space.operands[0].map = map("(y) -> (y)");
  EXPECT_EQ(sentence(space), "the map of operand 0 has 1 loops; the index space has 2 (IS-AFFINE)");

  space = window(1, 0);
  space.operands[0].map = map("(y, k) -> (y floordiv 2 + k)");
  EXPECT_EQ(sentence(space), "the map of operand 0 is (d0, d1) -> (d0 floordiv 2 + d1); divisions "
                             "and symbols are not allowed (IS-AFFINE)");

  space = window(1, 0);
  space.operands[0].region.push_back(1);
  EXPECT_EQ(sentence(space), "the map of operand 0 has 1 axes, its region 2 and its tensor 1; they "
                             "must be equal (IS-SHAPE)");

  space = window(1, 1);
  space.operands[0].outside = std::nullopt;
  EXPECT_EQ(sentence(space), "operand 0 is indexed from -1 to 9 along axis 0 of extent 9 and has "
                             "no value outside (IS-INSIDE)");

  space = window(1, 1);
  space.operands[0].map = map("(y, k) -> (y * 4611686018427387904 + k)");
  EXPECT_EQ(sentence(space), "operand 0 is indexed beyond 2^62 along axis 0 (IS-INSIDE)");

  space = linear();
  space.operands[0].map = map("(i, n, k) -> (k, k)");
  space.operands[0].tensor = {6, 6};
  EXPECT_EQ(sentence(space),
            "a step of loop 2 moves the region of operand 0 along 2 axes, allowed: at most 1 "
            "(IS-COHERENT)");

  space = linear();
  space.results[0].outside = 0;
  EXPECT_EQ(sentence(space), "result 0 is written and must not have a value outside (IS-COVER)");

  space = linear();
  space.loops[1].kind = LoopKind::Reduced;
  EXPECT_EQ(sentence(space), "loop 1 is reduced and must not move result 0 (IS-REDUCED)");

  space = linear();
  space.loops[2].kind = LoopKind::Parallel;
  EXPECT_EQ(sentence(space),
            "every step of loop 2 writes the same elements of result 0 (IS-COVER)");

  space = linear();
  space.results[0].region[1] = 2;
  space.results[0].tensor[1] = 9;
  EXPECT_EQ(sentence(space), "elements of result 0 are written more than once along axis 1: a step "
                             "of 1 over 2 elements (IS-COVER)");

  space = linear();
  space.results[0].map = map("(i, n, k) -> (i, n * 2)");
  space.results[0].tensor[1] = 15;
  EXPECT_EQ(sentence(space), "elements of result 0 are never written along axis 1: a step of 2 "
                             "over 1 elements (IS-COVER)");

  space = linear();
  space.results[0].tensor[0] = 5;
  EXPECT_EQ(sentence(space),
            "only elements 0 to 3 of result 0 are written along axis 0 of extent 5 (IS-COVER)");
}

TEST_F(Spaces, PositionsOfAWindowShareAHalo) {
  EXPECT_EQ(sharedElements(window(1, 1).operands[0], {{3, 0}, {3, 3}}, 0), 2);
}

} // namespace
} // namespace sluice::space
