// Random graphs with neighbouring axes merged, against themselves as they were: values, rows, and
// which tensors of the model their values are.
#include <map>

#include <gtest/gtest.h>

#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/interpret.h"
#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/transforms/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "tests/support/environment.h"
#include "tests/support/rng.h"

namespace sluice::ir {
namespace {

using mlir::Value;
using Shape = llvm::SmallVector<int64_t, 4>;

constexpr int64_t kLanes = 4;

/// A function of two arguments and up to eight operations, all of whose results it returns.
class Graph {
public:
  Graph(mlir::MLIRContext &context, uint64_t seed)
      : module(mlir::ModuleOp::create(mlir::UnknownLoc::get(&context))), rng(seed),
        builder(&context), where(builder.getUnknownLoc()) {
    builder.setInsertionPointToStart(module->getBody());
    const Shape shape = random(2, 4);
    const auto type = mlir::RankedTensorType::get(shape, builder.getF32Type());
    function = builder.create<mlir::func::FuncOp>(where, "main",
                                                  builder.getFunctionType({type, type}, {}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    llvm::SmallVector<Value> made(function.getArguments());
    for (int64_t count = rng.range(1, 8); count > 0; --count) {
      const Value from = made[rng.percent(60) ? made.size() - 1 : below(made.size())];
      if (const Value value = operation(from, made)) {
        setModelTensor(value, "t" + std::to_string(made.size()));
        made.push_back(value);
      }
    }
    const llvm::ArrayRef<Value> results = llvm::ArrayRef(made).drop_front(2);
    builder.create<mlir::func::ReturnOp>(where, results);
    function.setType(builder.getFunctionType({type, type}, mlir::ValueRange(results).getTypes()));
  }

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;

  [[nodiscard]] std::string text() {
    std::string result;
    llvm::raw_string_ostream(result) << *module;
    return result;
  }

private:
  sluice::fixtures::Rng rng;
  mlir::OpBuilder builder;
  mlir::Location where;

  size_t below(size_t count) { return rng.range(0, static_cast<int64_t>(count) - 1); }

  Shape random(int64_t low, int64_t high) {
    Shape shape(rng.range(low, high));
    for (int64_t &extent : shape)
      extent = rng.range(1, 5);
    return shape;
  }

  Value constant(llvm::ArrayRef<int64_t> shape) {
    reference::Tensor tensor({shape.begin(), shape.end()});
    for (double &value : tensor.values)
      value = static_cast<double>(rng.range(-3, 3));
    return builder.create<ConstantOp>(where, toElements(tensor, builder.getContext()));
  }

  Value map(mlir::ValueRange inputs) {
    return builder.create<MapOp>(
        where, inputs, [](mlir::OpBuilder &b, mlir::Location at, mlir::ValueRange v) -> Value {
          return v.size() == 1 ? Value(b.create<mlir::arith::NegFOp>(at, v[0]))
                               : Value(b.create<mlir::arith::SubFOp>(at, v[0], v[1]));
        });
  }

  Value operation(Value x, llvm::ArrayRef<Value> made) {
    const Shape shape(shapeOf(x));
    const auto rank = static_cast<int64_t>(shape.size());
    const auto axis = static_cast<int64_t>(below(shape.size()));
    Shape zeros(rank, 0), ones(rank, 1), changed = shape;
    switch (rng.range(0, 11)) {
    case 0:
      return map(x);
    case 1:
    case 2: {
      for (const Value other : made)
        if (shapeOf(other) == llvm::ArrayRef(shape) && rng.percent(50))
          return map({x, other});
      return map({x, constant(shape)});
    }
    case 3: {
      Shape axes;
      for (int64_t i = 0; i < rank; ++i)
        if (rng.percent(40))
          axes.push_back(i);
      const bool keepdims = rng.percent(60);
      if (axes.empty() || (!keepdims && axes.size() == shape.size()))
        return {};
      return builder.create<ReduceOp>(where, rng.percent(50) ? Monoid::Max : Monoid::Sum, x, axes,
                                      keepdims);
    }
    case 4: {
      Shape permutation;
      for (int64_t i = 0; i < rank; ++i)
        permutation.insert(permutation.begin() + static_cast<int64_t>(below(i + 1)), i);
      return builder.create<TransposeOp>(where, x, permutation);
    }
    case 5: {
      for (int64_t &extent : changed)
        extent = extent == 1 ? rng.range(1, 3) : extent;
      return builder.create<BroadcastOp>(where, x, changed);
    }
    case 6: {
      zeros[axis] = rng.range(0, shape[axis] - 1);
      ones[axis] = rng.range(1, 3);
      changed[axis] = rng.range(1, (shape[axis] - zeros[axis] + ones[axis] - 1) / ones[axis]);
      return builder.create<SliceOp>(where, x, zeros, changed, ones);
    }
    case 7:
      return builder.create<ConcatOp>(where, mlir::ValueRange{x, x}, axis);
    case 8:
      changed = zeros;
      changed[axis] = 1;
      return builder.create<PadOp>(where, x, zeros, changed, 2.0F);
    case 9: { // neighbours become one axis, or one becomes two
      if (rng.percent(60) && axis + 1 < rank) {
        changed[axis] *= changed[axis + 1];
        changed.erase(changed.begin() + axis + 1);
      } else if (shape[axis] % 2 == 0 && rank < 5) {
        changed[axis] = 2;
        changed.insert(changed.begin() + axis + 1, shape[axis] / 2);
      }
      return builder.create<ReshapeOp>(where, x, changed);
    }
    case 10:
      if (rank < 5)
        return builder.create<UnsqueezeOp>(where, x, Shape{axis});
      return {};
    default: { // one or two neighbouring axes are summed over, a new one comes somewhere
      if (rank > 4 || shape[axis] > 12)
        return {};
      const int64_t summed = axis + 1 < rank && rng.percent(50) ? 2 : 1;
      llvm::SmallVector<mlir::AffineExpr> left, right, out;
      Shape weights;
      const auto loop = [&](int64_t i) {
        return builder.getAffineDimExpr(static_cast<unsigned>(i));
      };
      for (int64_t i = 0; i < rank; ++i) {
        left.push_back(loop(i));
        const bool isSummed = i >= axis && i < axis + summed;
        (isSummed ? right : out).push_back(loop(i));
        if (isSummed)
          weights.push_back(shape[i]);
      }
      right.push_back(loop(rank));
      weights.push_back(rng.range(1, 5));
      out.insert(out.begin() + static_cast<int64_t>(below(out.size() + 1)), loop(rank));
      const auto of = [&](llvm::ArrayRef<mlir::AffineExpr> places) {
        return mlir::AffineMap::get(static_cast<unsigned>(rank) + 1, 0, places,
                                    builder.getContext());
      };
      return builder.create<ContractOp>(where, llvm::ArrayRef{of(left), of(right), of(out)}, x,
                                        constant(weights));
    }
    }
  }
};

int64_t rowsOf(Value value) {
  const auto shape = carriedShape(value);
  const int64_t extent = shape[*dataDim(value)];
  int64_t rows = (extent + kLanes - 1) / kLanes;
  for (const int64_t other : shape)
    rows *= other;
  return rows / extent;
}

class MergeAxes : public ::testing::Test {
protected:
  MergeAxes() {
    context.loadDialect<SluiceDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect>();
    registerSluicePasses();
    context.getDiagEngine().registerHandler(
        [](mlir::Diagnostic &) {}); // layouts that there are not
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

/// The tensors of the model that values of a function are, with their elements in order.
std::map<std::string, reference::Tensor> namedTensors(mlir::func::FuncOp function,
                                                      const reference::Tensors &results) {
  std::map<std::string, reference::Tensor> tensors;
  for (auto [value, result] :
       llvm::zip_equal(function.front().getTerminator()->getOperands(), results))
    if (const std::string name = modelTensor(value); !name.empty()) {
      const auto shape = modelShape(value);
      tensors[name] = {{shape.begin(), shape.end()}, result.values};
    }
  return tensors;
}

TEST_F(MergeAxes, KeepsValuesNamesAndTakesNoMoreRows) {
  const uint64_t graphs = sluice::fixtures::fromEnvironment("SLUICE_MERGED_GRAPHS", 3000);
  mlir::PassManager layOut(&context), merge(&context);
  ASSERT_TRUE(mlir::succeeded(
      mlir::parsePassPipeline("func.func(sluice-infer-data-dimension{lanes=4})", layOut)));
  ASSERT_TRUE(
      mlir::succeeded(mlir::parsePassPipeline("func.func(sluice-merge-axes{lanes=4})", merge)));
  size_t laid = 0, merged = 0, arguments = 0, names = 0;
  for (uint64_t seed = 0; seed < graphs; ++seed) {
    Graph graph(context, seed);
    if (graph.function.front().getOperations().size() < 2 ||
        mlir::failed(layOut.run(*graph.module)))
      continue;
    ++laid;
    mlir::func::FuncOp function = graph.function;
    sluice::fixtures::Rng rng(seed);
    reference::Tensors given;
    for (const Value argument : function.getArguments()) {
      reference::Tensor &tensor =
          given.emplace_back(reference::Shape(shapeOf(argument).begin(), shapeOf(argument).end()));
      for (double &value : tensor.values)
        value = static_cast<double>(rng.range(-9, 9));
    }
    const auto rows = [&] {
      llvm::SmallVector<int64_t> counts;
      for (const Value argument : function.getArguments())
        counts.push_back(rowsOf(argument));
      for (const Value result : function.front().getTerminator()->getOperands())
        counts.push_back(rowsOf(result));
      return counts;
    };
    const reference::Tensors before = interpret(function, given);
    const auto named = namedTensors(function, before);
    const auto rowsBefore = rows();
    const auto typesBefore = llvm::to_vector(function.getArgumentTypes());
    ASSERT_TRUE(mlir::succeeded(merge.run(*graph.module))) << "seed " << seed;
    for (auto [argument, tensor] : llvm::zip_equal(function.getArguments(), given))
      tensor.shape.assign(shapeOf(argument).begin(), shapeOf(argument).end());
    const reference::Tensors after = interpret(function, given);
    ASSERT_EQ(after.size(), before.size());
    for (auto [one, other] : llvm::zip_equal(before, after))
      ASSERT_EQ(one.values, other.values) << "seed " << seed;
    for (const auto &[name, tensor] : namedTensors(function, after)) {
      ASSERT_TRUE(named.contains(name)) << "seed " << seed;
      ASSERT_EQ(tensor, named.at(name)) << "seed " << seed << ", " << name;
      ++names;
    }
    for (auto [one, other] : llvm::zip_equal(rowsBefore, rows()))
      ASSERT_LE(other, one) << "seed " << seed << "\n" << graph.text();
    merged += rowsBefore != rows();
    arguments += typesBefore != llvm::to_vector(function.getArgumentTypes());
  }
  // Each of these happens often enough to be tested.
  EXPECT_GT(laid, graphs / 2);
  EXPECT_GT(merged, graphs / 10);
  EXPECT_GT(arguments, graphs / 10);
  EXPECT_GT(names, graphs / 2);
}

} // namespace
} // namespace sluice::ir
