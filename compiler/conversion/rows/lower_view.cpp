// Rows of views: each element of the result is an element of an operand, as the pieces of the view
// say.
#include <deque>

#include "compiler/conversion/rows/lower_dynamic.h"
#include "compiler/conversion/rows/lowering.h"
#include "compiler/conversion/rows/models.h"
#include "compiler/conversion/scalar/constants.h"
#include "compiler/dialect/sluice/views.h"

using namespace mlir;

namespace sluice::rows {
namespace {

template <typename View> struct ViewModel : RowsInterface::ExternalModel<ViewModel<View>, View> {
  void lowerToRows(Operation *op, Lowering &lowering) const {
    const bool affine = lowering.usersTakeAffine(op->getResult(0));
    std::deque<RowTensor> made; // operands that are not kept
    std::vector<const RowTensor *> operands;
    for (Value operand : op->getOperands())
      if (ir::isConstant(operand))
        operands.push_back(&made.emplace_back(
            lowering.constantRows(lowering.layoutOf(operand), lowering.constant(operand))));
      else
        operands.push_back(affine ? &lowering.affineRows(operand, made) : &lowering.rows(operand));
    const space::Pieces view = llvm::cast<ir::ViewInterface>(op).pieces();
    const std::vector<space::Source> sources = space::sourcesOf(view);
    const Element outside{kNoRow, 0, 1, static_cast<float>(withinBf16(view.outside.value_or(0)))};

    RowTensor result{lowering.layoutOf(op->getResult(0)), {}};
    for (int64_t row = 0; row < result.layout.rows(); ++row) {
      std::vector<Element> elements;
      for (int64_t lane = 0; lane < result.layout.used(row); ++lane) {
        const auto &[operand, element] = sources[result.layout.flat(row, lane)];
        elements.push_back(operand ? operands[*operand]->element(element) : outside);
      }
      result.rows.push_back(makeRef(lowering.graph, std::move(elements)));
    }
    // Lanes that move are selected once, whoever needs them; a product selects
    // by its own weights.
    lowering.define(op->getResult(0), std::move(result));
  }
  bool takesAffine(Operation *op, Lowering &lowering) const {
    return lowering.usersTakeAffine(op->getResult(0));
  }
};

/// Selects, unless its elements are to become weights.
struct RelayoutModel : RowsInterface::ExternalModel<RelayoutModel, ir::RelayoutOp> {
  void lowerToRows(Operation *op, Lowering &lowering) const {
    if (llvm::cast<ir::RelayoutOp>(op).getDynamic())
      lowering.defineLazy(op->getResult(0), lowerRelayout(op));
    else
      ViewModel<ir::RelayoutOp>().lowerToRows(op, lowering);
  }
  bool takesAffine(Operation *op, Lowering &lowering) const {
    return !llvm::cast<ir::RelayoutOp>(op).getDynamic() &&
           lowering.usersTakeAffine(op->getResult(0));
  }
};

template <typename View>
using ModelOf =
    std::conditional_t<std::is_same_v<View, ir::RelayoutOp>, RelayoutModel, ViewModel<View>>;

} // namespace

void attachViewModels(MLIRContext &context) {
  ir::forEachView([&]<typename View>() { View::template attachInterface<ModelOf<View>>(context); });
}

} // namespace sluice::rows
