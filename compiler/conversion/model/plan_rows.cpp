#include "compiler/conversion/model/passes.h"

#include "compiler/conversion/model/fastest_plan.h"
#include "compiler/conversion/model/to_core.h"
#include "compiler/conversion/rows/program_ops.h"
#include "compiler/transforms/passes.h"

using namespace mlir;

namespace sluice::conversion {

#define GEN_PASS_DEF_PLANROWS
#include "compiler/conversion/model/passes.h.inc"

namespace {

struct PlanRows : impl::PlanRowsBase<PlanRows> {
  using PlanRowsBase::PlanRowsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::vector<Form> forms;
    for (auto program : llvm::make_early_inc_range(module.getOps<rows::ProgramOp>())) {
      forms.emplace_back(rows::fromOps(program));
      program.erase();
    }
    if (forms.empty())
      return;
    plan::PlanOptions options;
    options.work = work;
    plan::Plan plan;
    if (const Problems problems = planFastest(forms, options, plan); !problems.empty()) {
      for (const Problem &problem : problems)
        ir::emitProblem(module.getLoc(), problem);
      return signalPassFailure();
    }
    OwningOpRef<core::ProgramOp> program = toCore(getContext(), plan);
    if (!program)
      return signalPassFailure();
    module.push_back(program.release());
  }
};

} // namespace
} // namespace sluice::conversion
