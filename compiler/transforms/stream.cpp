#include "compiler/streaming/streaming.h"

#include "compiler/transforms/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_STREAM
#include "compiler/transforms/passes.h.inc"

namespace {

struct Stream : impl::StreamBase<Stream> {
  using StreamBase::StreamBase;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    streaming::Options options;
    options.delay = delay;
    for (const std::string &text : inputs) {
      auto input = streaming::parseInput(text);
      if (!input) {
        getOperation()->emitError("'") << text << "' is not of the form NAME=AXIS:STEPS";
        return signalPassFailure();
      }
      options.inputs.push_back(std::move(*input));
    }
    const streaming::Result result = streaming::stream(getOperation(), options);
    for (auto [problem, location] : llvm::zip_equal(result.problems, result.locations))
      emitProblem(location, problem);
    if (!result.problems.empty())
      signalPassFailure();
  }
};

} // namespace
} // namespace sluice::ir
