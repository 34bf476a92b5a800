// Composition of the projections of a reader and of a view.
#include <gtest/gtest.h>

#include "compiler/costs/through.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"

namespace sluice::space {
namespace {

class Through : public ::testing::Test {
protected:
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};

  mlir::AffineMap map(const char *text) {
    const auto attribute =
        mlir::parseAttribute(("affine_map<" + std::string(text) + ">").c_str(), &context);
    return llvm::cast<mlir::AffineMapAttr>(attribute).getValue();
  }
};

// A product reads what its operand is a view of, by composition of both maps: the same elements
// as point by point.
TEST_F(Through, ViewsArePartOfTheMapsBehindThem) {
  const Projection product =
                       Projection::elements(map("(n, y, c, k) -> (n, y, c, k)"), {1, 9, 4, 3}),
                   mirrored =
                       Projection::elements(map("(n, y, c, k) -> (n, 8 - y, c, k)"), {1, 9, 4, 3});
  Projection view = Projection::elements(map("(n, y, c, k) -> (n, y * 2 + k - 1, c)"), {1, 18, 4});
  view.outside = 0;
  const auto both = through(product, view);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->map, map("(n, y, c, k) -> (n, y * 2 + k - 1, c)"));
  EXPECT_EQ(both->outside, 0);
  EXPECT_EQ(both->tensor, (Extents{1, 18, 4}));
  EXPECT_EQ(sharedElements(*both, {{0, 3, 0, 0}, {1, 1, 4, 3}}, 1), 4); // one position of three
  const auto back = through(mirrored, view);
  ASSERT_TRUE(back);
  for (int64_t y = 0; y < 9; ++y)
    for (int64_t k = 0; k < 3; ++k) {
      const Region at = regionOf(mirrored, {{0, y, 2, k}, {1, 1, 1, 1}});
      EXPECT_EQ(regionOf(*back, {{0, y, 2, k}, {1, 1, 1, 1}}),
                regionOf(view, {at.start, {1, 1, 1, 1}}));
    }
  // A sum over an axis asks for all of it at once; a border of a border is no single map.
  Projection line = product, border = product;
  line.region = {1, 1, 1, 3};
  border.outside = 0;
  EXPECT_FALSE(through(line, view));
  EXPECT_FALSE(through(border, view));
}

} // namespace
} // namespace sluice::space
