// Pieces of views: the elements of random views are those of the reference, and pieces have the
// loops that they should.
#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/index_space/tile.h"
#include "compiler/reference/tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
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
    checkTiles(view);
    checkText(view);
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
    checkMost(pieces, needed, read);
    for (const space::Piece &piece : pieces.pieces) {
      const auto all = space::regionRead(pieces, piece, needed);
      const auto region = space::partRead(pieces, piece, needed);
      ASSERT_TRUE(!all || region == all);
      if (!region)
        continue;
      ++regions;
      parts += all ? 0 : 1;
      const space::ExtentsRef shape = pieces.operands[piece.operand];
      for (int64_t i = 0; i < space::wholeOf(shape).size(); ++i) {
        const space::Region one{indexOf(i, shape), Extents(shape.size(), 1)};
        if (!space::intersection(one, *region).empty())
          ASSERT_TRUE(read.contains({piece.operand, i}));
      }
    }
  }

  /// Expects that the boxes of what a box of the result reads contain all of it.
  void checkMost(const space::Pieces &pieces, const space::Region &needed,
                 const std::set<std::pair<unsigned, int64_t>> &read) {
    std::set<std::pair<unsigned, int64_t>> most;
    for (const space::Piece &piece : pieces.pieces) {
      const space::ExtentsRef shape = pieces.operands[piece.operand];
      space::forEachIndex(space::mostRead(pieces, piece, needed), [&](space::ExtentsRef index) {
        int64_t element = 0;
        for (auto [extent, at] : llvm::zip_equal(shape, index))
          element = element * extent + at;
        most.emplace(piece.operand, element);
      });
    }
    ASSERT_TRUE(std::ranges::includes(most, read));
    readElements += read.size();
    mostElements += most.size();
  }

  /// Expects that every tile of the result is the view of a tile from what it reads.
  void checkTiles(mlir::Operation *view) {
    const space::Pieces pieces = llvm::cast<ViewInterface>(view).pieces();
    const Extents windows(llvm::cast<ViewInterface>(view).windowAxes());
    for (const size_t axis : llvm::seq(pieces.result.size()))
      for (int64_t block = 1; 2 * block <= pieces.result[axis]; ++block) {
        const space::Cut cut{static_cast<int64_t>(axis), block, rng.range(0, 1) == 1};
        const auto needs = space::readsOf(pieces, cut, windows);
        if (!needs)
          continue;
        for (int64_t tile = 0; tile < pieces.result[axis] / block; ++tile)
          checkTile(pieces, cut, *needs, tile);
        ++tiles[view->getName().getStringRef().str()];
        for (unsigned operand = 0; operand < needs->size(); ++operand)
          if (const auto read = (*needs)[operand].cut)
            EXPECT_EQ(space::tileFrom(pieces, operand, *read, windows), cut);
      }
  }

  /// The elements of an operand that an iteration reads.
  struct Part {
    Extents shape;
    std::vector<int64_t> elements; ///< row-major in the operand
    int64_t missing = 0;
  };

  static Part partOf(space::ExtentsRef shape, const space::Need &need, int64_t iteration) {
    Part part{Extents(shape), {}, 0};
    int64_t axis = 0, first = 0, step = 1;
    if (const auto &cut = need.cut) {
      axis = cut->axis;
      const int64_t last = shape[axis] / cut->block - 1;
      first = (cut->mirrored ? last - iteration : iteration) * cut->block;
      part.shape[axis] = cut->block;
    } else if (const auto &slab = need.slab) {
      axis = slab->axis;
      step = slab->spacing;
      first = slab->first + iteration * slab->step;
      int64_t size = slab->size;
      for (; size > 0 && first < 0; --size, first += step)
        ++part.missing;
      while (size > 0 && first + (size - 1) * step >= shape[axis])
        --size;
      part.shape[axis] = size;
    }
    for (int64_t i = 0; i < space::wholeOf(part.shape).size(); ++i) {
      Extents index = indexOf(i, part.shape);
      if (!index.empty())
        index[axis] = first + index[axis] * step;
      int64_t element = 0;
      for (auto [extent, at] : llvm::zip_equal(shape, index))
        element = element * extent + at;
      part.elements.push_back(element);
    }
    return part;
  }

  void checkTile(const space::Pieces &pieces, const space::Cut &cut, const space::Needs &needs,
                 int64_t iteration) {
    std::vector<Part> parts;
    std::optional<int64_t> missing;
    for (auto [shape, need] : llvm::zip_equal(pieces.operands, needs)) {
      parts.push_back(partOf(shape, need, iteration));
      if (need.slab)
        missing = parts.back().missing;
      if (need.slab && parts.back().shape[need.slab->axis] == 0)
        return; // all of it lies outside
    }
    llvm::SmallVector<space::ExtentsRef> shapes;
    for (const Part &part : parts)
      shapes.push_back(part.shape);
    const space::Pieces tile = space::tileOf(pieces, cut, shapes, missing);
    std::string why;
    ASSERT_TRUE(space::verify(tile, why)) << why;
    const std::vector<space::Source> found = space::sourcesOf(tile);
    const int64_t number =
        cut.mirrored ? pieces.result[cut.axis] / cut.block - 1 - iteration : iteration;
    for (size_t i = 0; i < found.size(); ++i) {
      Extents index = indexOf(static_cast<int64_t>(i), tile.result);
      index[cut.axis] += number * cut.block;
      space::Source source = found[i];
      if (source.operand)
        source.element = parts[*source.operand].elements.at(source.element);
      ASSERT_EQ(source, space::sourceOf(pieces, index));
    }
  }

  /// Expects the same pieces from the same view in textual form.
  void checkText(mlir::Operation *view) {
    const space::Pieces pieces = llvm::cast<ViewInterface>(view).pieces();
    auto type = llvm::cast<mlir::RankedTensorType>(view->getResult(0).getType());
    auto same = builder.create<ViewOp>(view->getLoc(), type, view->getOperands(), pieces);
    ASSERT_TRUE(mlir::succeeded(mlir::verify(same)));
    EXPECT_EQ(space::sourcesOf(same.pieces()), space::sourcesOf(pieces));
    EXPECT_EQ(same.pieces().outside, pieces.outside);
  }

  uint64_t readElements = 0, mostElements = 0; ///< read by boxes, and in the boxes around them
  unsigned regions = 0;                        ///< that were checked
  unsigned parts = 0;                          ///< of these, those that only partRead() finds
  std::map<std::string, unsigned> tiles;       ///< cuts that were checked
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
    Extents counts, starts, sizes, steps, low, high;
    for (const int64_t extent : from) {
      counts.push_back(rng.range(1, 3));
      starts.push_back(rng.range(0, extent - 1));
      steps.push_back(rng.range(0, 1) == 0 ? rng.range(1, 3) : -rng.range(1, 3));
      const int64_t room = steps.back() > 0 ? extent - 1 - starts.back() : starts.back();
      sizes.push_back(1 + rng.range(0, room / std::abs(steps.back())));
      low.push_back(rng.range(0, 2));
      high.push_back(rng.range(0, 2));
    }
    check(builder.create<TileOp>(at, x, counts));
    check(builder.create<RepeatOp>(at, x, counts));
    check(builder.create<SliceOp>(at, x, starts, sizes, steps));
    check(builder.create<PadOp>(at, x, low, high, -1.5F));
    llvm::SmallVector<mlir::Value> same(rng.range(1, 3)), joined;
    for (mlir::Value &one : same) {
      one = tensor(from);
      Extents other = from;
      other[axis] = rng.range(1, 4);
      joined.push_back(tensor(other));
    }
    check(builder.create<InterleaveOp>(at, same, axis));
    check(builder.create<ConcatOp>(at, joined, axis));
    auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    std::swap(permutation[0], permutation[axis]);
    check(builder.create<TransposeOp>(at, x, permutation));
    Extents one = from, many = from;
    one[axis] = 1;
    many[axis] = rng.range(1, 5);
    check(builder.create<BroadcastOp>(at, tensor(one), many));
    const reference::Window window{{axis},
                                   {rng.range(1, 3)},
                                   {rng.range(1, 5)},
                                   {rng.range(-2, 1)},
                                   {rng.range(1, 3)},
                                   {rng.range(1, 2)}};
    check(builder.create<WindowOp>(at, x, window, -1.5F));
  }
  EXPECT_GT(regions, 1000U);
  EXPECT_GT(parts, 50U);
  // Steps leave elements out, and there is nothing else between.
  EXPECT_LT(mostElements, readElements + readElements / 4);
  for (const char *name : {"tile", "repeat", "slice", "pad", "interleave", "concat", "transpose",
                           "broadcast", "window"})
    EXPECT_GT(tiles["sluice." + std::string(name)], 30U) << name;
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
