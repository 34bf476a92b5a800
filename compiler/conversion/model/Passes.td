// Passes from one dialect to the next.
#ifndef SLUICE_CONVERSION_PASSES_TD
#define SLUICE_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertSluiceToRows : Pass<"convert-sluice-to-rows", "::mlir::ModuleOp"> {
  let summary = "make the rows of a function that is laid out";
  let description = [{
    Replaces the module's function by a `rows.program` for each of its forms that the planner would
    try: row by row, with factors behind products, as loops over positions.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"c2b8\"", "preset of the machine">,
    Option<"loops", "loops", "bool", "false", "make loops, however small the model is">
  ];
  let dependentDialects = ["::sluice::rows::RowsDialect"];
}

def PlanRows : Pass<"plan-rows", "::mlir::ModuleOp"> {
  let summary = "say who computes which row, where and when";
  let description = [{
    Replaces the module's `rows.program` operations, which are forms of one model, by the
    `core.program` of the one whose plan is fastest.
  }];
  let options = [
    Option<"work", "work", "uint64_t", "::sluice::plan::kDefaultWork",
           "beats that may be looked at; 0 takes the first schedule that fits">
  ];
  let dependentDialects = ["::sluice::core::CoreDialect", "::sluice::rows::RowsDialect"];
}

#endif
