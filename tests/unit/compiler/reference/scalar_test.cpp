// Scalar evaluation of map bodies, one operation each, against the C library.
#include "compiler/reference/scalar.h"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

namespace sluice::reference {
namespace {

class Scalar : public testing::Test {
protected:
  Scalar() {
    context.loadDialect<ir::SluiceDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect,
                        mlir::math::MathDialect>();
  }

  /// Evaluates a body over %a, %b, %c that defines %r.
  double run(const std::string &body, double a, double b = 0, double c = 0) {
    const std::string text = "func.func @f(%x: tensor<1xf32>) -> tensor<1xf32> {\n"
                             "%0 = sluice.map (%a = %x, %b = %x, %c = %x) : (tensor<1xf32>, "
                             "tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> {\n" +
                             body + "\nsluice.yield %r\n}\nreturn %0 : tensor<1xf32>\n}";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << "does not parse: " << body;
      return 0;
    }
    double result = 0;
    module->walk([&](ir::MapOp map) { result = evaluateScalarMap(map.getBody(), {a, b, c}); });
    return result;
  }

  double unary(const std::string &name, double x) { return run("%r = " + name + " %a : f32", x); }
  double binary(const std::string &name, double x, double y) {
    return run("%r = " + name + " %a, %b : f32", x, y);
  }

  mlir::MLIRContext context;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
};

TEST_F(Scalar, Arithmetic) {
  EXPECT_EQ(binary("arith.addf", 1.25, 2), 3.25);
  EXPECT_EQ(binary("arith.subf", 1.25, 2), -0.75);
  EXPECT_EQ(binary("arith.mulf", 1.25, 2), 2.5);
  EXPECT_EQ(binary("arith.divf", 1, 4), 0.25);
  EXPECT_EQ(binary("arith.divf", 1, 0), infinity);
  EXPECT_EQ(binary("arith.remf", -5.5, 2), -1.5);
  EXPECT_EQ(unary("arith.negf", 2), -2);
  EXPECT_EQ(run("%r = math.fma %a, %b, %c : f32", 2, 3, 4), 10);
}

TEST_F(Scalar, ComputesInDouble) {
  // In f32 the sum would lose the 1.
  EXPECT_EQ(binary("arith.addf", 1e8, 1), 1e8 + 1);
}

TEST_F(Scalar, MaximumAndMinimum) {
  EXPECT_TRUE(std::isnan(binary("arith.maximumf", nan, 1)));
  EXPECT_TRUE(std::isnan(binary("arith.minimumf", 1, nan)));
  EXPECT_EQ(binary("arith.maxnumf", nan, 1), 1);
  EXPECT_EQ(binary("arith.minnumf", 1, nan), 1);
  EXPECT_EQ(binary("arith.maximumf", 3, -1), 3);
  EXPECT_EQ(binary("arith.minimumf", 3, -1), -1);
  EXPECT_FALSE(std::signbit(binary("arith.maximumf", -0.0, 0.0)));
  EXPECT_FALSE(std::signbit(binary("arith.maximumf", 0.0, -0.0)));
  EXPECT_TRUE(std::signbit(binary("arith.minimumf", 0.0, -0.0)));
}

TEST_F(Scalar, Functions) {
  const std::pair<const char *, double (*)(double)> functions[] = {
      {"math.absf", std::fabs},   {"math.acos", std::acos},   {"math.asin", std::asin},
      {"math.asinh", std::asinh}, {"math.atan", std::atan},   {"math.atanh", std::atanh},
      {"math.cbrt", std::cbrt},   {"math.ceil", std::ceil},   {"math.cos", std::cos},
      {"math.cosh", std::cosh},   {"math.erf", std::erf},     {"math.exp", std::exp},
      {"math.exp2", std::exp2},   {"math.expm1", std::expm1}, {"math.floor", std::floor},
      {"math.log", std::log},     {"math.log10", std::log10}, {"math.log1p", std::log1p},
      {"math.log2", std::log2},   {"math.round", std::round}, {"math.sin", std::sin},
      {"math.sinh", std::sinh},   {"math.sqrt", std::sqrt},   {"math.tan", std::tan},
      {"math.tanh", std::tanh},   {"math.trunc", std::trunc}};
  for (auto [name, function] : functions)
    for (double x : {0.25, 0.5, 0.875})
      EXPECT_EQ(unary(name, x), function(x)) << name << ' ' << x;
  EXPECT_EQ(unary("math.acosh", 1.5), std::acosh(1.5));
  EXPECT_EQ(unary("math.rsqrt", 4), 0.5);
  EXPECT_EQ(binary("math.powf", 2, 10), 1024);
  EXPECT_EQ(binary("math.atan2", 1, -1), std::atan2(1.0, -1.0));
  EXPECT_EQ(binary("math.copysign", 3, -0.5), -3);
}

TEST_F(Scalar, RoundsHalfToEven) {
  EXPECT_EQ(unary("math.roundeven", 0.5), 0);
  EXPECT_EQ(unary("math.roundeven", 1.5), 2);
  EXPECT_EQ(unary("math.roundeven", -2.5), -2);
  EXPECT_EQ(unary("math.roundeven", infinity), infinity);
  EXPECT_EQ(unary("math.round", 2.5), 3);
}

TEST_F(Scalar, ComparisonsAndLogic) {
  auto compare = [&](const std::string &predicate, double x, double y) {
    return run("%t = arith.cmpf " + predicate + ", %a, %b : f32\n%r = arith.uitofp %t : i1 to f32",
               x, y);
  };
  const struct {
    const char *predicate;
    double less, equal, greater, unordered;
  } table[] = {
      {"false", 0, 0, 0, 0}, {"oeq", 0, 1, 0, 0}, {"ogt", 0, 0, 1, 0}, {"oge", 0, 1, 1, 0},
      {"olt", 1, 0, 0, 0},   {"ole", 1, 1, 0, 0}, {"one", 1, 0, 1, 0}, {"ord", 1, 1, 1, 0},
      {"ueq", 0, 1, 0, 1},   {"ugt", 0, 0, 1, 1}, {"uge", 0, 1, 1, 1}, {"ult", 1, 0, 0, 1},
      {"ule", 1, 1, 0, 1},   {"une", 1, 0, 1, 1}, {"uno", 0, 0, 0, 1}, {"true", 1, 1, 1, 1}};
  for (const auto &row : table) {
    EXPECT_EQ(compare(row.predicate, 1, 2), row.less) << row.predicate;
    EXPECT_EQ(compare(row.predicate, 2, 2), row.equal) << row.predicate;
    EXPECT_EQ(compare(row.predicate, 3, 2), row.greater) << row.predicate;
    EXPECT_EQ(compare(row.predicate, nan, 2), row.unordered) << row.predicate;
  }
  auto logic = [&](const std::string &name, double x, double y) {
    return run("%z = arith.constant 0.0 : f32\n%p = arith.cmpf une, %a, %z : f32\n"
               "%q = arith.cmpf une, %b, %z : f32\n%l = " +
                   name + " %p, %q : i1\n%r = arith.uitofp %l : i1 to f32",
               x, y);
  };
  for (double x : {0.0, 1.0})
    for (double y : {0.0, 1.0}) {
      EXPECT_EQ(logic("arith.andi", x, y), x != 0 && y != 0);
      EXPECT_EQ(logic("arith.ori", x, y), x != 0 || y != 0);
      EXPECT_EQ(logic("arith.xori", x, y), (x != 0) != (y != 0));
    }
  const std::string select = "%t = arith.constant true\n%r = arith.select %t, %a, %b : f32";
  EXPECT_EQ(run(select, 7, 8), 7);
}

TEST_F(Scalar, OneProgramForManyInputs) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    func.func @f(%x: tensor<1xf32>) -> tensor<1xf32> {
      %0 = sluice.map (%a = %x) : (tensor<1xf32>) -> tensor<1xf32> {
        %one = arith.constant 1.0 : f32
        %n = arith.negf %a : f32
        %e = math.exp %n : f32
        %d = arith.addf %e, %one : f32
        %r = arith.divf %one, %d : f32
        sluice.yield %r
      }
      return %0 : tensor<1xf32>
    })",
                                                        &context);
  ASSERT_TRUE(module);
  module->walk([&](ir::MapOp map) {
    const ScalarProgram sigmoid(map.getBody());
    for (double x = -8; x <= 8; x += 0.125)
      EXPECT_EQ(sigmoid(x), 1 / (std::exp(-x) + 1));
  });
}

} // namespace
} // namespace sluice::reference
