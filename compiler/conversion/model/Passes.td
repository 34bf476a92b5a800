// Passes from one dialect to the next.
#ifndef SLUICE_CONVERSION_PASSES_TD
#define SLUICE_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertSluiceToRows : Pass<"convert-sluice-to-rows", "::mlir::ModuleOp"> {
  let summary = "lower a function with a layout to rows";
  let description = [{
    Replaces the function of the module by one `rows.program` for each form that the planner tries:
    row by row, with factors applied after products, and as loops over positions.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"c2b8\"", "preset of the target">,
    Option<"loops", "loops", "bool", "false", "also use loops for small models">
  ];
  let dependentDialects = ["::sluice::rows::RowsDialect"];
}

def PlanRows : Pass<"plan-rows", "::mlir::ModuleOp"> {
  let summary = "assign rows to cores and schedule them";
  let description = [{
    Replaces the `rows.program` operations of the module, which are forms of one model, by the
    `core.program` of the form with the fastest plan.
  }];
  let options = [
    Option<"work", "work", "uint64_t", "::sluice::plan::kDefaultWork",
           "search budget in beats; 0 takes the first schedule that fits">
  ];
  let dependentDialects = ["::sluice::core::CoreDialect", "::sluice::rows::RowsDialect"];
}

#endif
