// Pieces of views: the elements of random views are those of the reference, and pieces have the
// loops that they should.
#include <set>

#include <gtest/gtest.h>

#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/reference/tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "tests/support/rng.h"

namespace sluice::ir {
namespace {

using reference::Tensor;
using space::Extents;

class PiecesOfViews : public ::testing::Test {
protected:
  PiecesOfViews() : builder(&context) {
    context.loadDialect<SluiceDialect>();
    module = mlir::ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
  }

  mlir::Value tensor(llvm::ArrayRef<int64_t> shape) {
    const auto type = mlir::RankedTensorType::get(shape, builder.getF32Type());
    return builder.create<ConstantOp>(builder.getUnknownLoc(),
                                      mlir::DenseElementsAttr::get(type, 0.0F));
  }

  Extents shape(int64_t most = 6) {
    Extents extents;
    for (int64_t rank = rng.range(1, 3); rank > 0; --rank)
      extents.push_back(rng.range(1, most));
    return extents;
  }

  /// Expects the elements that the reference selects.
  void check(mlir::Operation *view) {
    std::vector<Tensor> operands;
    double next = 0;
    for (const mlir::Value operand : view->getOperands()) {
      Tensor &numbers =
          operands.emplace_back(reference::Shape(shapeOf(operand).begin(), shapeOf(operand).end()));
      for (double &value : numbers.values)
        value = ++next;
    }
    llvm::SmallVector<const Tensor *> pointers;
    for (const Tensor &operand : operands)
      pointers.push_back(&operand);
    const Tensor expected = llvm::cast<ReferenceInterface>(view).evaluate(pointers).front();
    const space::Pieces pieces = llvm::cast<ViewInterface>(view).pieces();
    std::vector<double> found;
    for (const auto &[operand, element] : space::sourcesOf(pieces))
      found.push_back(operand ? operands[*operand].values.at(element) : pieces.outside.value());
    EXPECT_EQ(found, expected.values) << view->getName().getStringRef().str();
    checkElements(pieces);
    checkRegions(pieces);
    std::string why;
    EXPECT_TRUE(space::verify(llvm::cast<IndexSpaceInterface>(view).indexSpace(), why)) << why;
  }

  static Extents indexOf(int64_t element, space::ExtentsRef extents) {
    Extents index(extents.size(), 0);
    for (size_t axis = extents.size(); axis-- > 0; element /= extents[axis])
      index[axis] = element % extents[axis];
    return index;
  }

  /// Expects that one element has the source that it has among all.
  static void checkElements(const space::Pieces &pieces) {
    const std::vector<space::Source> sources = space::sourcesOf(pieces);
    for (size_t i = 0; i < sources.size(); ++i)
      ASSERT_EQ(space::sourceOf(pieces, indexOf(static_cast<int64_t>(i), pieces.result)),
                sources[i]);
  }

  /// Expects that a random box of the result reads the regions that it certainly reads.
  void checkRegions(const space::Pieces &pieces) {
    space::Region needed = space::wholeOf(pieces.result);
    for (const size_t axis : llvm::seq(pieces.result.size()))
      if (rng.range(0, 1) == 0) {
        needed.start[axis] = rng.range(0, pieces.result[axis] - 1);
        needed.extents[axis] = rng.range(1, pieces.result[axis] - needed.start[axis]);
      }
    std::set<std::pair<unsigned, int64_t>> read;
    const std::vector<space::Source> sources = space::sourcesOf(pieces);
    for (size_t i = 0; i < sources.size(); ++i) {
      const Extents index = indexOf(static_cast<int64_t>(i), pieces.result);
      const space::Region one{index, Extents(index.size(), 1)};
      if (sources[i].operand && !space::intersection(one, needed).empty())
        read.emplace(*sources[i].operand, sources[i].element);
    }
    for (const space::Piece &piece : pieces.pieces) {
      const auto region = space::regionRead(pieces, piece, needed, &context);
      if (!region)
        continue;
      ++regions;
      const space::ExtentsRef shape = pieces.operands[piece.operand];
      for (int64_t i = 0; i < space::wholeOf(shape).size(); ++i) {
        const space::Region one{indexOf(i, shape), Extents(shape.size(), 1)};
        if (!space::intersection(one, *region).empty())
          ASSERT_TRUE(read.contains({piece.operand, i}));
      }
    }
  }

  unsigned regions = 0; ///< that were checked
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  sluice::fixtures::Rng rng{33};
};

/// Shapes of the same number of elements: factors dealt out to axes.
std::pair<Extents, Extents> reshapeOf(fixtures::Rng &rng) {
  Extents from(rng.range(1, 4), 1), to(rng.range(1, 4), 1);
  for (int64_t factors = rng.range(0, 5); factors > 0; --factors) {
    const int64_t factor = rng.range(2, 3);
    from[rng.range(0, static_cast<int64_t>(from.size()) - 1)] *= factor;
    to[rng.range(0, static_cast<int64_t>(to.size()) - 1)] *= factor;
  }
  return {from, to};
}

TEST_F(PiecesOfViews, RandomReshapesKeepTheOrder) {
  for (unsigned i = 0; i < 400; ++i) {
    const auto [from, to] = reshapeOf(rng);
    check(builder.create<ReshapeOp>(builder.getUnknownLoc(), tensor(from), to));
  }
}

TEST_F(PiecesOfViews, RandomViewsSelectTheElementsOfTheReference) {
  for (unsigned i = 0; i < 200; ++i) {
    const Extents from = shape();
    const mlir::Value x = tensor(from);
    const mlir::Location at = builder.getUnknownLoc();
    const auto rank = static_cast<int64_t>(from.size());
    const int64_t axis = rng.range(0, rank - 1);
    Extents by, counts, starts, sizes, steps, low, high;
    for (const int64_t extent : from) {
      by.push_back(rng.range(0, extent - 1));
      counts.push_back(rng.range(1, 3));
      starts.push_back(rng.range(0, extent - 1));
      steps.push_back(rng.range(0, 1) == 0 ? rng.range(1, 3) : -rng.range(1, 3));
      const int64_t room = steps.back() > 0 ? extent - 1 - starts.back() : starts.back();
      sizes.push_back(1 + rng.range(0, room / std::abs(steps.back())));
      low.push_back(rng.range(0, 2));
      high.push_back(rng.range(0, 2));
    }
    check(builder.create<RotateOp>(at, x, by));
    check(builder.create<TileOp>(at, x, counts));
    check(builder.create<RepeatOp>(at, x, counts));
    check(builder.create<SliceOp>(at, x, starts, sizes, steps));
    check(builder.create<PadOp>(at, x, low, high, -1.5F));
    check(builder.create<ReverseOp>(at, x, llvm::ArrayRef<int64_t>{axis}));
    llvm::SmallVector<mlir::Value> same(rng.range(1, 3)), joined;
    for (mlir::Value &one : same) {
      one = tensor(from);
      Extents other = from;
      other[axis] = rng.range(1, 4);
      joined.push_back(tensor(other));
    }
    check(builder.create<InterleaveOp>(at, same, axis));
    check(builder.create<ConcatOp>(at, joined, axis));
  }
  EXPECT_GT(regions, 1000U);
}

TEST_F(PiecesOfViews, AReshapeWithoutCommonFactorsRepeatsItsBorders) {
  // Borders lie at multiples of 6 and of 8, and repeat after 24 elements.
  const space::Pieces pieces = space::reshaped({1000, 6}, {750, 8});
  EXPECT_EQ(pieces.pieces.size(), 6U);
  const space::Piece &first = pieces.pieces.front();
  ASSERT_EQ(first.loops.size(), 2U);
  EXPECT_EQ(first.loops[0], (space::Piece::Loop{250, {4, 0}, {3, 0}}));
  EXPECT_EQ(first.loops[1], (space::Piece::Loop{6, {0, 1}, {0, 1}}));
  const space::IndexSpace space = space::spaceOf(pieces, &context);
  EXPECT_EQ(space.extents(), (Extents{250}));
  EXPECT_EQ(space.operands[0].region, (Extents{4, 6}));
  EXPECT_EQ(space.results[0].region, (Extents{3, 8}));
}

} // namespace
} // namespace sluice::ir
