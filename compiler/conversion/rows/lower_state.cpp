// What is kept from one inference to the next.
#include "compiler/conversion/rows/lowering.h"
#include "compiler/conversion/rows/models.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/operations.h"

#include <fmt/format.h>

using namespace mlir;

namespace sluice::rows {
namespace {

struct StateModel : RowsInterface::ExternalModel<StateModel, ir::StateOp> {
  void lowerToRows(Operation *op, Lowering &lowering) const {
    const Value value = op->getResult(0);
    const reference::Tensor initial = llvm::cast<ir::StateOp>(op).evaluate({}).front();
    RowTensor result{lowering.layoutOf(value), {}};
    lowering.beginGroup(op);
    for (int64_t row = 0; row < result.layout.rows(); ++row) {
      std::vector<double> lanes;
      for (int64_t lane = 0; lane < result.layout.used(row); ++lane)
        lanes.push_back(initial.values[result.layout.flat(row, lane)]);
      const std::string name = fmt::format("{}_{}", ir::tensorName(op->getLoc()), row);
      result.rows.push_back({lowering.graph.state(name, std::move(lanes)), false, {}});
    }
    lowering.define(value, std::move(result));
  }
  bool takesAffine(Operation *, Lowering &) const { return false; }
};

/// The rows of the value are those that the state's rows become.
struct KeepModel : RowsInterface::ExternalModel<KeepModel, ir::KeepOp> {
  void lowerToRows(Operation *op, Lowering &lowering) const {
    auto keep = llvm::cast<ir::KeepOp>(op);
    const RowTensor next = lowering.heldRows(keep.getValue(), lowering.layoutOf(keep.getState()));
    const RowTensor &states = lowering.rows(keep.getState());
    lowering.beginGroup(op);
    for (const auto &[state, row] : llvm::zip_equal(states.rows, next.rows))
      lowering.graph.keep(state.row, row.row);
    lowering.define(op->getResult(0), next);
  }
  bool takesAffine(Operation *, Lowering &) const { return false; }
};

} // namespace

void attachStateModels(MLIRContext &context) {
  ir::StateOp::attachInterface<StateModel>(context);
  ir::KeepOp::attachInterface<KeepModel>(context);
}

} // namespace sluice::rows
