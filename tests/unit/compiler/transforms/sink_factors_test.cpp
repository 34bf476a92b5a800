// Whether factors can be moved behind products is known before anything is moved.
#include <string>

#include <gtest/gtest.h>

#include "compiler/dialect/sluice/dialect.h"
#include "compiler/transforms/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

namespace sluice::ir {
namespace {

class SinkFactors : public ::testing::Test {
protected:
  SinkFactors() {
    context.loadDialect<SluiceDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect>();
  }

  /// x times a factor for each of its rows, or for each lane, before a product with constant
  /// weights or with an activation.
  mlir::OwningOpRef<mlir::ModuleOp> scaled(bool byRow, bool constantWeights) {
    const std::string factor =
        byRow ? "tensor<4x1xbf16, #sluice.dim<1>>" : "tensor<1x8xbf16, #sluice.dim<1>>";
    const std::string weights =
        constantWeights ? "tensor<8x2xf32>" : "tensor<8x2xbf16, #sluice.dim<0>>";
    const std::string x = "tensor<4x8xbf16, #sluice.dim<1>>",
                      y = "tensor<4x2xbf16, #sluice.dim<1>>";
    return mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @f(%x: " + x + ", %r: " + factor +
            ", %a: tensor<8x2xbf16, #sluice.dim<0>>) -> " + y +
            " {\n  %c = sluice.constant dense<0.5> : tensor<8x2xf32>\n"
            "  %b = sluice.broadcast %r : (" +
            factor + ") -> " + x +
            "\n"
            "  %m = sluice.map (%p = %x, %q = %b) : (" +
            x + ", " + x + ") -> " + x +
            " {\n"
            "    %0 = arith.mulf %p, %q : f32\n    sluice.yield %0\n  }\n"
            "  %y = sluice.matmul %m, " +
            (constantWeights ? "%c" : "%a") + " : (" + x + ", " + weights + ") -> " + y +
            "\n  return %y : " + y + "\n}",
        &context);
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(SinkFactors, AreFoundBefore) {
  for (const bool byRow : {false, true})
    for (const bool constantWeights : {false, true}) {
      auto module = scaled(byRow, constantWeights);
      ASSERT_TRUE(module);
      const auto function = *module->getOps<mlir::FunctionOpInterface>().begin();
      EXPECT_EQ(sinksFactors(function), byRow) << constantWeights;
      EXPECT_EQ(sinkFactors(function, /*constantWeights=*/false),
                byRow && !constantWeights ? 1U : 0U);
      EXPECT_EQ(sinkFactors(function, /*constantWeights=*/true),
                byRow && constantWeights ? 1U : 0U);
      EXPECT_FALSE(sinksFactors(function));
    }
}

} // namespace
} // namespace sluice::ir
