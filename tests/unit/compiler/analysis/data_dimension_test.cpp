// Data dimensions of random graphs against enumeration of all assignments, the
// problems that are reported, and the time for a large graph.
#include "compiler/analysis/data_dimension.h"

#include <chrono>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/analysis/layout_system.h"
#include "compiler/dialect/sluice/dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"

namespace sluice::analysis {
namespace {

using mlir::Value;

/// A random function of the dialect's operations.
class Graph {
public:
  Graph(mlir::MLIRContext &context, unsigned seed, int64_t maxElements = 48)
      : random(seed), maxElements(maxElements), builder(&context), loc(builder.getUnknownLoc()),
        module(mlir::ModuleOp::create(loc)) {}

  mlir::FunctionOpInterface build(int arguments, int operations) {
    llvm::SmallVector<mlir::Type> types;
    for (int i = 0; i < arguments; ++i)
      types.push_back(tensor(shape(pick(1, 3))));
    return build(types, operations);
  }

  mlir::FunctionOpInterface build(llvm::ArrayRef<mlir::Type> types, int operations) {
    builder.setInsertionPointToStart(module->getBody());
    auto function =
        builder.create<mlir::func::FuncOp>(loc, "f", builder.getFunctionType(types, {}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    for (Value argument : function.getArguments())
      values.push_back(argument);
    for (int i = 0; i < operations; ++i)
      values.push_back(operation());
    builder.create<mlir::func::ReturnOp>(loc);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
    return function;
  }

private:
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  llvm::SmallVector<int64_t> shape(int64_t rank) {
    llvm::SmallVector<int64_t> result;
    for (int64_t i = 0; i < rank; ++i)
      result.push_back(pick(1, 3));
    return result;
  }
  mlir::RankedTensorType tensor(llvm::ArrayRef<int64_t> shape) {
    return mlir::RankedTensorType::get(shape, builder.getF32Type());
  }
  Value constant(llvm::ArrayRef<int64_t> shape) {
    return builder.create<ir::ConstantOp>(loc, mlir::DenseElementsAttr::get(tensor(shape), 1.0F));
  }
  /// An earlier value of the same shape, if there is another; else the value.
  Value sibling(Value value) {
    llvm::SmallVector<Value> same;
    for (Value other : values)
      if (ir::shapeOf(other) == ir::shapeOf(value))
        same.push_back(other);
    return same[pick(0, static_cast<int64_t>(same.size()) - 1)];
  }

  Value operation() {
    while (true)
      if (Value made = tryOperation(values[pick(0, static_cast<int64_t>(values.size()) - 1)]))
        return made;
  }

  Value tryOperation(Value x) {
    auto shape = ir::shapeOf(x);
    const auto rank = static_cast<int64_t>(shape.size());
    const int64_t axis = rank == 0 ? 0 : pick(0, rank - 1);
    llvm::SmallVector<int64_t> extents(shape);
    switch (pick(0, 9)) {
    case 0: {
      Value y = pick(0, 3) == 0 ? constant(shape) : sibling(x);
      return builder.create<ir::MapOp>(
          loc, mlir::ValueRange{x, y},
          [](mlir::OpBuilder &b, mlir::Location l, mlir::ValueRange in) {
            return Value(b.create<mlir::arith::AddFOp>(l, in[0], in[1]));
          });
    }
    case 1: {
      llvm::SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
      std::shuffle(order.begin(), order.end(), random);
      return builder.create<ir::TransposeOp>(loc, x, order);
    }
    case 2: {
      // Another factorisation: merge two neighbours, or split off a factor.
      if (rank == 0 || rank > 4)
        return {};
      if (rank > 1 && axis + 1 < rank && pick(0, 1)) {
        extents[axis] *= extents[axis + 1];
        extents.erase(extents.begin() + axis + 1);
      } else {
        const int64_t factor = extents[axis] % 2 == 0 ? 2 : extents[axis];
        extents[axis] /= factor;
        extents.insert(extents.begin() + axis + pick(0, 1), factor);
      }
      return builder.create<ir::ReshapeOp>(loc, x, extents);
    }
    case 3:
      if (rank > 4)
        return {};
      return builder.create<ir::UnsqueezeOp>(loc, x, llvm::ArrayRef<int64_t>{pick(0, rank)});
    case 4:
      if (rank == 0 || shape[axis] != 1)
        return {};
      return builder.create<ir::SqueezeOp>(loc, x, llvm::ArrayRef<int64_t>{axis});
    case 5:
      if (rank == 0 || shape[axis] != 1 ||
          llvm::cast<mlir::RankedTensorType>(x.getType()).getNumElements() > maxElements)
        return {};
      extents[axis] = pick(1, 3);
      return builder.create<ir::BroadcastOp>(loc, x, extents);
    case 6:
      if (rank == 0)
        return {};
      return builder.create<ir::ReduceOp>(loc, ir::Monoid::Sum, x, llvm::ArrayRef<int64_t>{axis},
                                          pick(0, 1) == 1);
    case 7:
      if (rank == 0 ||
          llvm::cast<mlir::RankedTensorType>(x.getType()).getNumElements() > maxElements)
        return {};
      return builder.create<ir::ConcatOp>(loc, mlir::ValueRange{x, sibling(x)}, axis);
    case 8:
      if (rank == 0)
        return {};
      if (rank == 1 || pick(0, 1))
        return builder.create<ir::MatmulOp>(loc, x, constant({shape.back(), pick(1, 3)}));
      return builder.create<ir::MatmulOp>(loc, constant({pick(1, 3), shape[rank - 2]}), x);
    default: {
      if (rank == 0)
        return {};
      // Two activations: x times something of its last extent.
      llvm::SmallVector<Value> fitting;
      for (Value y : values) {
        auto other = ir::shapeOf(y);
        if (other.size() <= 2 && !other.empty() && other.front() == shape.back())
          fitting.push_back(y);
      }
      if (fitting.empty() || rank > 2)
        return {};
      return builder.create<ir::MatmulOp>(
          loc, x, fitting[pick(0, static_cast<int64_t>(fitting.size()) - 1)]);
    }
    }
  }

  std::mt19937 random;
  int64_t maxElements;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Value> values;
};

/// The least cost over all assignments that satisfy every step of `active`, by
/// trying all; nothing if there is none. The tuples come from the operations.
std::optional<int64_t> enumerate(const LayoutSystem &layout, llvm::ArrayRef<RelationId> active) {
  std::vector<std::vector<RelationId>> complete(layout.values.size() + 1);
  for (RelationId id : active) {
    VariableId last = 0;
    for (VariableId variable : layout.system.variablesOf(id))
      last = std::max(last, variable);
    complete[last].push_back(id);
  }
  std::vector<int8_t> values(layout.values.size(), -1);
  auto dimOf = [&](Value value) {
    auto found = layout.variables.find(value);
    return found == layout.variables.end() ? ir::kNoDim : values[found->second];
  };
  auto costOf = [&](const Step &step) -> std::optional<int64_t> {
    if (step.kind == Step::Kind::Pin)
      return dimOf(step.value) == step.axis ? std::optional<int64_t>(0) : std::nullopt;
    if (step.kind == Step::Kind::Input) {
      ir::LayoutQuery query;
      return query.rows(ir::carriedShape(step.value), dimOf(step.value));
    }
    std::optional<int64_t> least;
    for (const ir::LayoutTuple &tuple : step.relation) {
      bool fits = tuple.result() == dimOf(step.value);
      for (auto [operand, dim] : llvm::zip_first(step.op->getOperands(), tuple.dims))
        fits &= dim == dimOf(operand);
      if (fits && (!least || tuple.cost < *least))
        least = tuple.cost;
    }
    return least;
  };
  std::optional<int64_t> best;
  std::function<void(size_t, int64_t)> assign = [&](size_t variable, int64_t cost) {
    if (variable == values.size()) {
      if (!best || cost < *best)
        best = cost;
      return;
    }
    const auto rank = ir::carriedShape(layout.values[variable]).size();
    for (size_t dim = 0; dim < rank; ++dim) {
      values[variable] = static_cast<int8_t>(dim);
      int64_t total = cost;
      bool fits = true;
      for (RelationId id : complete[variable]) {
        auto step = costOf(layout.steps[id]);
        fits &= step.has_value();
        total += step.value_or(0);
      }
      if (fits)
        assign(variable + 1, total);
    }
  };
  assign(0, 0);
  return best;
}

class DataDimension : public testing::Test {
protected:
  DataDimension() {
    context.loadDialect<ir::SluiceDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect>();
  }
  mlir::MLIRContext context;
};

TEST_F(DataDimension, AgreesWithEnumerationOnRandomGraphs) {
  int solved = 0, refused = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Graph graph(context, seed);
    auto function = graph.build(1 + static_cast<int>(seed % 3), 2 + static_cast<int>(seed % 9));
    DataDimensionOptions options;
    options.allowDynamicWeights = seed % 2 == 0;
    DataDimensions ignored;
    const LayoutSystem layout(function, options, ignored);
    std::vector<RelationId> all(layout.steps.size());
    std::iota(all.begin(), all.end(), 0);

    const auto expected = enumerate(layout, all);
    const DataDimensions found = inferDataDimensions(function, options);
    ASSERT_EQ(found.problems.empty(), expected.has_value()) << "seed " << seed;
    if (expected) {
      ++solved;
      EXPECT_EQ(found.cost, *expected) << "seed " << seed;
      EXPECT_TRUE(found.optimal);
      EXPECT_EQ(found.dims.size(), layout.values.size());
      continue;
    }
    ++refused;
    const auto solution = layout.system.solve(all, options.budget);
    const auto chain = layout.system.minimise(solution.reason, 1u << 24);
    EXPECT_EQ(found.problems.front().chain.size(), chain.size());
    EXPECT_FALSE(enumerate(layout, chain)) << "seed " << seed;
    for (RelationId dropped : chain) {
      std::vector<RelationId> rest = chain;
      std::erase(rest, dropped);
      EXPECT_TRUE(enumerate(layout, rest)) << "seed " << seed << ": " << dropped << " not needed";
    }
    for (const Problem &problem : found.problems)
      for (const Fix &fix : problem.fixes)
        EXPECT_TRUE(fix.verified);
  }
  EXPECT_GT(solved, 300);
  EXPECT_GT(refused, 300);
}

TEST_F(DataDimension, SameResultEveryTime) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::vector<std::string> texts;
    for (int run = 0; run < 2; ++run) {
      Graph graph(context, seed);
      const auto found = inferDataDimensions(graph.build(2, 30), {});
      std::string text;
      for (const auto &[value, entry] : found.dims)
        text += std::to_string(entry.dim) + entry.why + ";";
      for (const Problem &problem : found.problems) {
        text += problem.code + problem.message;
        for (const ChainStep &step : problem.chain)
          text += step.why;
        for (const Fix &fix : problem.fixes)
          text += fix.text;
      }
      texts.push_back(text);
    }
    EXPECT_EQ(texts[0], texts[1]);
  }
}

/// Pairs of a transpose and a pointwise operation on [16 16], then as many
/// conflicts as asked for.
mlir::FunctionOpInterface chain(mlir::OpBuilder &builder, mlir::ModuleOp module, int operations,
                                int conflicts) {
  const mlir::Location loc = builder.getUnknownLoc();
  auto type = mlir::RankedTensorType::get({16, 16}, builder.getF32Type());
  builder.setInsertionPointToStart(module.getBody());
  auto function = builder.create<mlir::func::FuncOp>(loc, "f", builder.getFunctionType({type}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  auto add = [&](Value a, Value b) -> Value {
    return builder.create<ir::MapOp>(loc, mlir::ValueRange{a, b},
                                     [](mlir::OpBuilder &b, mlir::Location l, mlir::ValueRange in) {
                                       return Value(b.create<mlir::arith::AddFOp>(l, in[0], in[1]));
                                     });
  };
  auto transpose = [&](Value x) -> Value {
    return builder.create<ir::TransposeOp>(loc, x, llvm::ArrayRef<int64_t>{1, 0});
  };
  Value x = function.getArgument(0);
  for (int i = 0; i < operations / 2; ++i) {
    x = transpose(x);
    x = add(x, x);
  }
  for (int i = 0; i < conflicts; ++i)
    add(x, transpose(x));
  builder.create<mlir::func::ReturnOp>(loc);
  return function;
}

TEST_F(DataDimension, TenThousandOperationsInASecond) {
  mlir::OpBuilder builder(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(builder.getUnknownLoc());
  auto function = chain(builder, *module, 10'000, 0);
  const auto start = std::chrono::steady_clock::now();
  const auto found = inferDataDimensions(function, {});
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  EXPECT_TRUE(found.problems.empty());
  EXPECT_EQ(found.dims.size(), 10'001U);
  RecordProperty("milliseconds", std::to_string(time.count() * 1e3));
#ifdef NDEBUG
  EXPECT_LT(time.count(), 1.0);
#endif
}

TEST_F(DataDimension, EveryIndependentConflictIsReported) {
  mlir::OpBuilder builder(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(builder.getUnknownLoc());
  const auto found = inferDataDimensions(chain(builder, *module, 200, 25), {});
  ASSERT_EQ(found.problems.size(), 25U);
  ASSERT_EQ(found.locations.size(), 25U);
  for (const Problem &problem : found.problems) {
    EXPECT_EQ(problem.code, "E0301");
    EXPECT_EQ(problem.rule, "DD-PW");
    // The transpose and the addition; nothing of the 200 before.
    EXPECT_EQ(problem.chain.size(), 2U);
    ASSERT_FALSE(problem.fixes.empty());
    EXPECT_TRUE(problem.fixes.front().verified);
  }
  EXPECT_TRUE(found.dims.empty());
}

} // namespace
} // namespace sluice::analysis
