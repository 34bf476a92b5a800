// Index spaces of the operations: what they compute is what the projections say.
#include <functional>

#include <gtest/gtest.h>

#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/reference/ops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "tests/support/rng.h"

namespace sluice::ir {
namespace {

using reference::Tensor;
using space::IndexSpace;
using space::Projection;
using space::Region;

/// Calls for every index of a box, the last axis fastest.
void forEach(const Region &box, const std::function<void(llvm::ArrayRef<int64_t>)> &visit) {
  for (int64_t flat = 0, size = box.size(); flat < size; ++flat) {
    space::Extents index(box.start);
    int64_t rest = flat;
    for (size_t axis = index.size(); axis-- > 0; rest /= box.extents[axis])
      index[axis] += rest % box.extents[axis];
    visit(index);
  }
}

int64_t flatIndex(llvm::ArrayRef<int64_t> index, space::ExtentsRef shape) {
  int64_t flat = 0;
  for (auto [i, extent] : llvm::zip_equal(index, shape))
    flat = flat * extent + i;
  return flat;
}

/// The elements of the region of a point, in order.
std::vector<double> elementsAt(const Projection &projection, const Tensor &tensor,
                               llvm::ArrayRef<int64_t> point) {
  std::vector<double> elements;
  Region region{projection.map.compose(point), projection.region};
  forEach(region, [&](llvm::ArrayRef<int64_t> index) {
    bool inside = true;
    for (auto [i, extent] : llvm::zip_equal(index, projection.tensor))
      inside &= i >= 0 && i < extent;
    elements.push_back(inside ? tensor.values[flatIndex(index, projection.tensor)]
                              : projection.outside.value());
  });
  return elements;
}

/// What a view or a contraction computes, from its index space alone: a point's region
/// of the result is the operands' one, or their product is added to it.
Tensor computed(const IndexSpace &space, llvm::ArrayRef<const Tensor *> operands) {
  const Projection &result = space.results.front();
  Tensor tensor(reference::Shape(result.tensor.begin(), result.tensor.end()));
  forEach(space.whole(), [&](llvm::ArrayRef<int64_t> point) {
    const std::vector<double> x = elementsAt(space.operands[0], *operands[0], point);
    size_t next = 0;
    forEach({result.map.compose(point), result.region}, [&](llvm::ArrayRef<int64_t> index) {
      double &to = tensor.values[flatIndex(index, result.tensor)];
      const size_t i = next++;
      if (space.work == space::Work::Address)
        to = x.at(i);
      else
        to += x.at(i) *
              (operands.size() == 1 ? 1 : elementsAt(space.operands[1], *operands[1], point).at(i));
    });
  });
  return tensor;
}

/// Every view, and contractions of every form.
constexpr llvm::StringLiteral kOperations = R"(
  func.func @all(%x: tensor<4x6xf32>, %v: tensor<6xf32>, %b: tensor<3x1x4x6xf32>,
                 %o: tensor<1x6xf32>, %s: tensor<f32>) {
    %0 = sluice.transpose %x [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %1 = sluice.slice %x starts [0, 5] sizes [4, 6] steps [1, -1] : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %2 = sluice.slice %x starts [3, 1] sizes [2, 3] steps [-2, 2]
      : (tensor<4x6xf32>) -> tensor<2x3xf32>
    %3 = sluice.broadcast %o : (tensor<1x6xf32>) -> tensor<5x6xf32>
    %4 = sluice.pad %x low [1, 0] high [0, 2] value -1.5 : (tensor<4x6xf32>) -> tensor<5x8xf32>
    %5 = sluice.reshape %x : (tensor<4x6xf32>) -> tensor<2x12xf32>
    %6 = sluice.reshape %b : (tensor<3x1x4x6xf32>) -> tensor<3x3x8xf32>
    %7 = sluice.reshape %b : (tensor<3x1x4x6xf32>) -> tensor<12x1x2x3xf32>
    %8 = sluice.unsqueeze %x axes [0, 3] : (tensor<4x6xf32>) -> tensor<1x4x6x1xf32>
    %9 = sluice.squeeze %b axes [1] : (tensor<3x1x4x6xf32>) -> tensor<3x4x6xf32>
    %10 = sluice.matmul %x, %v : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4xf32>
    %11 = sluice.matmul %v, %v : (tensor<6xf32>, tensor<6xf32>) -> tensor<f32>
    %12 = sluice.matmul %b, %0
      : (tensor<3x1x4x6xf32>, tensor<6x4xf32>) -> tensor<3x1x4x4xf32>
    %13 = sluice.transpose %9 [0, 2, 1] : (tensor<3x4x6xf32>) -> tensor<3x6x4xf32>
    %14 = sluice.matmul %b, %13
      : (tensor<3x1x4x6xf32>, tensor<3x6x4xf32>) -> tensor<3x3x4x4xf32>
    %15 = sluice.contract [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
                           affine_map<(i, j, k) -> (j, i)>] %x, %0
      : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
    %16 = sluice.reduce sum %b axes [0, 3] : (tensor<3x1x4x6xf32>) -> tensor<1x4xf32>
    %17 = sluice.reduce sum %b axes [2] keepdims : (tensor<3x1x4x6xf32>) -> tensor<3x1x1x6xf32>
    %18 = sluice.reshape %s : (tensor<f32>) -> tensor<1x1xf32>
    %19 = sluice.matmul %v, %0 : (tensor<6xf32>, tensor<6x4xf32>) -> tensor<4xf32>
    %20 = sluice.window %x axes [1] sizes [3] counts [3] starts [-1] strides [2] dilations [2]
      value -1.5 : (tensor<4x6xf32>) -> tensor<4x3x3xf32>
    %21 = sluice.window %b axes [0, 2, 3] sizes [2, 1, 4] counts [2, 4, 5] starts [0, -9, -2]
      strides [1, 5, 1] dilations [1, 7, 2] value 2.5
      : (tensor<3x1x4x6xf32>) -> tensor<2x1x4x5x2x1x4xf32>
    %22 = sluice.window %b axes [3] sizes [2] counts [2] starts [1] strides [2] dilations [2]
      value 0.0 : (tensor<3x1x4x6xf32>) -> tensor<3x1x4x2x2xf32>
    %23 = sluice.window %9 axes [2] sizes [2] counts [3] starts [0] strides [2] dilations [1]
      value 0.0 : (tensor<3x4x6xf32>) -> tensor<3x4x3x2xf32>
    %24 = sluice.reshape %x : (tensor<4x6xf32>) -> tensor<3x4x2xf32>
    %25 = sluice.contract banded [affine_map<(n, o, x, c, k) -> (n, c, x, k)>,
                                  affine_map<(n, o, x, c, k) -> (o, c, k)>,
                                  affine_map<(n, o, x, c, k) -> (n, o, x)>] %23, %24
      : (tensor<3x4x3x2xf32>, tensor<3x4x2xf32>) -> tensor<3x3x3xf32>
    %26 = sluice.tile %x counts [3, 2] : (tensor<4x6xf32>) -> tensor<12x12xf32>
    %27 = sluice.tile %b counts [1, 2, 1, 2] : (tensor<3x1x4x6xf32>) -> tensor<3x2x4x12xf32>
    %28 = sluice.repeat %x counts [3, 2] : (tensor<4x6xf32>) -> tensor<12x12xf32>
    %29 = sluice.repeat %b counts [1, 2, 1, 2] : (tensor<3x1x4x6xf32>) -> tensor<3x2x4x12xf32>
    %31 = sluice.interleave %x axis 0 : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %32 = sluice.reshape %26 : (tensor<12x12xf32>) -> tensor<9x16xf32>
    %33 = sluice.reshape %26 : (tensor<12x12xf32>) -> tensor<1x8x9x2xf32>
    return
  })";

class IndexSpaces : public ::testing::Test {
protected:
  IndexSpaces() {
    context.loadDialect<SluiceDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect>();
  }

  /// Calls for every operation with its operands, random, and its result.
  void forOperations(llvm::StringRef text,
                     const std::function<void(IndexSpaceInterface, llvm::ArrayRef<const Tensor *>,
                                              const Tensor &)> &visit) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    unsigned operations = 0;
    module->walk([&](IndexSpaceInterface op) {
      std::vector<Tensor> tensors;
      for (mlir::Value operand : op->getOperands())
        tensors.push_back(random(operand));
      llvm::SmallVector<const Tensor *> operands;
      for (const Tensor &tensor : tensors)
        operands.push_back(&tensor);
      visit(op, operands, llvm::cast<ReferenceInterface>(*op).evaluate(operands).front());
      ++operations;
    });
    EXPECT_GT(operations, 7U);
  }

  /// Small whole numbers: sums and products are exact in any order.
  Tensor random(mlir::Value value) {
    Tensor tensor(reference::Shape(shapeOf(value).begin(), shapeOf(value).end()));
    for (double &element : tensor.values)
      element = static_cast<double>(rng.range(-4, 4));
    return tensor;
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  sluice::fixtures::Rng rng{7};
};

TEST_F(IndexSpaces, ViewsAndContractionsAreWhatTheirProjectionsSay) {
  forOperations(kOperations, [](IndexSpaceInterface op, llvm::ArrayRef<const Tensor *> operands,
                                const Tensor &expected) {
    const IndexSpace space = op.indexSpace();
    std::string why;
    ASSERT_TRUE(space::verify(space, why)) << why;
    const Tensor found = computed(space, operands);
    EXPECT_EQ(found.shape, expected.shape) << op->getName().getStringRef().str();
    EXPECT_EQ(found.values, expected.values) << op->getName().getStringRef().str();
  });
}

TEST_F(IndexSpaces, TheSourcesOfAViewAreItsElements) {
  unsigned views = 0;
  forOperations(kOperations, [&](IndexSpaceInterface op, llvm::ArrayRef<const Tensor *> operands,
                                 const Tensor &expected) {
    auto view = llvm::dyn_cast<ViewInterface>(*op);
    if (!view)
      return;
    const space::Pieces pieces = view.pieces();
    std::vector<double> found;
    for (const auto &[operand, element] : space::sourcesOf(pieces))
      found.push_back(operand ? operands[*operand]->values.at(element) : pieces.outside.value());
    EXPECT_EQ(found, expected.values) << op->getName().getStringRef().str();
    int64_t points = 0; // each element of the result is written once
    for (const space::Piece &piece : pieces.pieces) {
      int64_t size = 1;
      for (const space::Piece::Loop &loop : piece.loops)
        size *= loop.extent;
      points += size;
    }
    EXPECT_EQ(points, static_cast<int64_t>(expected.values.size()));
    ++views;
  });
  EXPECT_GE(views, 24U);
}

TEST_F(IndexSpaces, ReshapesHaveLoopsWhereExtentsDivide) {
  forOperations(kOperations, [](IndexSpaceInterface op, llvm::ArrayRef<const Tensor *>,
                                const Tensor &expected) {
    if (!llvm::isa<ReshapeOp>(op))
      return;
    const IndexSpace space = op.indexSpace();
    if (expected.shape == reference::Shape{2, 12}) // [4 6] is 2 * 2 * 6
      EXPECT_EQ(space.extents(), (space::Extents{2, 2, 6}));
    if (expected.shape == reference::Shape{3, 3, 8}) { // of [4 6] and [3 8] nothing is common
      EXPECT_EQ(space.extents(), (space::Extents{3}));
      EXPECT_EQ(space.operands[0].region, (space::Extents{1, 1, 4, 6}));
      EXPECT_EQ(space.results[0].region, (space::Extents{1, 3, 8}));
    }
  });
}

/// A space that writes nothing of its result.
struct Broken : IndexSpaceInterface::ExternalModel<Broken, mlir::arith::ConstantOp> {
  static IndexSpace indexSpace(mlir::Operation *op) {
    IndexSpace space;
    space.loops = {{3}};
    space.results = {
        Projection::elements(mlir::AffineMap::getMultiDimIdentityMap(1, op->getContext()), {4})};
    return space;
  }
};

TEST_F(IndexSpaces, ABrokenProjectionIsAnError) {
  mlir::arith::ConstantOp::attachInterface<Broken>(context);
  std::vector<std::string> errors;
  const mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) { errors.push_back(diagnostic.str()); });
  mlir::OpBuilder builder(&context);
  context.printOpOnDiagnostic(false);
  const mlir::OwningOpRef<mlir::arith::ConstantOp> op =
      builder.create<mlir::arith::ConstantOp>(builder.getUnknownLoc(), builder.getF32FloatAttr(1));
  EXPECT_TRUE(mlir::failed(verifyIndexSpace(*op)));
  EXPECT_EQ(errors,
            std::vector<std::string>{"'arith.constant' op index space: only elements 0 to 2 of "
                                     "result 0 are written along axis 0 of extent 4 (IS-COVER)"});
}

} // namespace
} // namespace sluice::ir
