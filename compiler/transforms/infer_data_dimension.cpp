#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/dialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_INFERDATADIMENSION
#include "compiler/transforms/passes.h.inc"

void annotate(FunctionOpInterface function, const analysis::DataDimensions &dimensions) {
  MLIRContext *context = function->getContext();
  for (const auto &[value, entry] : dimensions.dims) {
    Value tensor = value;
    tensor.setType(RankedTensorType::get(shapeOf(tensor), BFloat16Type::get(context),
                                         DimAttr::get(context, entry.dim, carriedShape(tensor))));
  }
  Block &block = function.getFunctionBody().front();
  function.setType(FunctionType::get(context, block.getArgumentTypes(),
                                     block.getTerminator()->getOperandTypes()));
}

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
      function.emitError("a function of several blocks has no data dimensions");
      return signalPassFailure();
    }
    analysis::DataDimensionOptions options;
    options.allowDynamicWeights = allowDynamicWeights;
    options.rewrites = rewriteLayout ? analysis::Rewrites::Any : analysis::Rewrites::Free;
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
    const analysis::DataDimensions found = layOut(function, options);
    for (const analysis::LayoutRewrite &rewrite : found.rewrites)
      function.emitRemark(rewrite.text) << ", about " << rewrite.cycles << " cycles";
    for (auto [problem, location] : llvm::zip(found.problems, found.locations))
      emitProblem(location, problem);
    if (!found.problems.empty())
      return signalPassFailure();
    annotate(function, found);
  }
};

} // namespace
} // namespace sluice::ir
