#include "compiler/conversion/model/passes.h"

#include <map>

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "compiler/conversion/model/forms.h"
#include "compiler/conversion/rows/program_ops.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/transforms/passes.h"
#include "runtime/format/targets.h"

using namespace mlir;

namespace sluice::conversion {

#define GEN_PASS_DEF_CONVERTSLUICETOROWS
#include "compiler/conversion/model/passes.h.inc"

namespace {

format::HostTensor hostTensor(Value value, StringAttr name) {
  format::HostTensor tensor;
  tensor.name = name ? name.str() : ir::tensorName(value.getLoc());
  tensor.shape = {ir::shapeOf(value).begin(), ir::shapeOf(value).end()};
  return tensor;
}

/// What the function says of its model.
rows::ModelInfo modelOf(func::FuncOp function) {
  rows::ModelInfo model;
  model.name = function.getName().str();
  for (BlockArgument argument : function.getArguments())
    model.inputs.push_back(hostTensor(
        argument, function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), ir::kNameAttr)));
  Block &block = function.getBody().front();
  for (OpOperand &result : block.getTerminator()->getOpOperands())
    model.outputs.push_back(
        hostTensor(result.get(), function.getResultAttrOfType<StringAttr>(result.getOperandNumber(),
                                                                          ir::kNameAttr)));
  std::map<int64_t, format::SourceNode> nodes;
  for (Operation &op : block)
    for (const NodeRef &node : ir::nodesOf(op.getLoc()))
      nodes.try_emplace(node.index, format::SourceNode{node.index, node.name, node.op});
  for (auto &[index, node] : nodes)
    model.nodes.push_back(std::move(node));
  return model;
}

struct ConvertSluiceToRows : impl::ConvertSluiceToRowsBase<ConvertSluiceToRows> {
  using ConvertSluiceToRowsBase::ConvertSluiceToRowsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
    const auto geometry = format::loadTarget(target);
    if (const auto *wrong = std::get_if<format::FileProblem>(&geometry))
      return fail(module, wrong->message);
    if (functions.size() != 1 || !functions[0].getBody().hasOneBlock())
      return fail(module, "the module must have one function with one block");
    func::FuncOp function = functions[0];
    for (const Type type : function.getArgumentTypes())
      if (!llvm::isa_and_present<ir::DimAttr>(llvm::cast<RankedTensorType>(type).getEncoding()))
        return fail(function, "the function has no layout; run sluice-infer-data-dimension first");
    const rows::ModelInfo model = modelOf(function);
    function.setName("main");
    ModelForms found =
        formsOf(module, std::get<format::Geometry>(geometry), model, {.onlyLoops = loops});
    for (const std::string &note : found.notes)
      function.emitRemark(note);
    for (const Problem &problem : found.problems)
      ir::emitProblem(function.getLoc(), problem);
    if (found.forms.empty())
      return signalPassFailure();
    Problems invalid;
    std::vector<OwningOpRef<rows::ProgramOp>> programs;
    for (Form &form : found.forms)
      if (const rows::Program *program = form.program(invalid))
        programs.push_back(rows::toOps(getContext(), *program));
    for (const Problem &problem : invalid)
      ir::emitProblem(function.getLoc(), problem);
    function.erase();
    for (OwningOpRef<rows::ProgramOp> &program : programs)
      module.push_back(program.release());
  }

private:
  void fail(Operation *op, const llvm::Twine &why) {
    op->emitError(why);
    signalPassFailure();
  }
};

} // namespace
} // namespace sluice::conversion
