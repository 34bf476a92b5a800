#include "compiler/transforms/passes.h"

#include "compiler/layout/lay_out.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_INFERDATADIMENSION
#include "compiler/transforms/passes.h.inc"

/// "node 12 "/blk/fc" (Gemm)", or nothing.
static std::string nodeText(const std::optional<NodeRef> &node) {
  if (!node || node->index < 0)
    return {};
  return "node " + std::to_string(node->index) + " \"" + node->name + "\" (" + node->op + ")";
}

void emitProblem(Location location, const Problem &problem) {
  InFlightDiagnostic error = emitError(location) << problem.code << ": " << problem.message;
  if (std::string node = nodeText(problem.node); !node.empty())
    error << ": " << node;
  for (const std::string &note : problem.notes)
    error.attachNote(location) << note;
  for (const ChainStep &step : problem.chain) {
    Diagnostic &note = error.attachNote(location) << "chain: ";
    if (std::string node = nodeText(step.node); !node.empty())
      note << node << ": ";
    if (!step.tensor.empty())
      note << "'" << step.tensor << "' ";
    note << notation(step.shape, step.dataDim) << ", " << step.why;
  }
  for (const Fix &fix : problem.fixes)
    error.attachNote(location) << "help: " << fix.text;
}

namespace {

struct InferDataDimension : impl::InferDataDimensionBase<InferDataDimension> {
  using InferDataDimensionBase::InferDataDimensionBase;

  void runOnOperation() override {
    FunctionOpInterface function = getOperation();
    if (function.isExternal())
      return;
    if (!function.getFunctionBody().hasOneBlock()) {
      function.emitError("a function with several blocks cannot be laid out");
      return signalPassFailure();
    }
    layout::DataDimensionOptions options;
    options.allowDynamicWeights = allowDynamicWeights;
    options.rewrites = rewriteLayout ? layout::Rewrites::Any : layout::Rewrites::Free;
    options.offerRewrites = offerRewrites;
    options.lanes = lanes;
    for (const std::string &pin : pins) {
      const auto [name, axis] = llvm::StringRef(pin).rsplit('=');
      int64_t number = 0;
      if (axis.getAsInteger(10, number)) {
        function.emitError("pin '") << pin << "' is not of the form name=axis";
        return signalPassFailure();
      }
      options.pins.emplace_back(name.str(), number);
    }
    const layout::DataDimensions found = layout::layOut(function, options);
    for (const layout::LayoutRewrite &rewrite : found.rewrites)
      if (!rewrite.change.text.empty())
        function.emitRemark(rewrite.change.text) << (rewrite.cost == 0 ? ", at no cost" : "");
    for (auto [problem, location] : llvm::zip(found.problems, found.locations))
      emitProblem(location, problem);
    if (!found.problems.empty())
      return signalPassFailure();
    layout::annotate(function, found);
  }
};

} // namespace
} // namespace sluice::ir
