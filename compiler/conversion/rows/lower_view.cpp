// Selections: where each element of the result comes from is read off the
// operation's own definition, evaluated on tensors of labels.
#include <bit>

#include "compiler/conversion/rows/lower_dynamic.h"
#include "compiler/conversion/rows/lowering.h"
#include "compiler/conversion/rows/models.h"
#include "compiler/conversion/scalar/constants.h"
#include "compiler/dialect/sluice/operations.h"

using namespace mlir;

namespace sluice::rows {
namespace {

// A label is a quiet NaN whose payload numbers an element; a selection only
// copies values, so what it returns is a label or a value of its own (a
// padding). Payload 0 stays free for a padding that is NaN.
constexpr uint64_t kLabel = 0x7FFC000000000000;
constexpr uint64_t kNumber = 0x0003FFFFFFFFFFFF;

double labelOf(uint64_t number) { return std::bit_cast<double>(kLabel | number); }

std::optional<uint64_t> numberOf(double label) {
  const auto bits = std::bit_cast<uint64_t>(label);
  return (bits & ~kNumber) == kLabel ? std::optional(bits & kNumber) : std::nullopt;
}

template <typename View> struct ViewModel : RowsInterface::ExternalModel<ViewModel<View>, View> {
  void lowerToRows(Operation *op, Lowering &lowering) const {
    const bool affine = lowering.usersTakeAffine(op->getResult(0));
    std::vector<RowTensor> operands;
    std::vector<reference::Tensor> labels;
    std::vector<uint64_t> firsts;
    uint64_t next = 0;
    for (Value operand : op->getOperands()) {
      reference::Tensor tensor;
      if (Lowering::isConstant(operand)) {
        tensor = lowering.constant(operand);
        operands.push_back(lowering.constantRows(lowering.layoutOf(operand), tensor));
      } else {
        operands.push_back(affine ? lowering.affineRows(operand) : lowering.rows(operand));
        const auto shape = ir::shapeOf(operand);
        tensor = reference::Tensor({shape.begin(), shape.end()});
      }
      firsts.push_back(next);
      for (double &value : tensor.values)
        value = labelOf(next++);
      labels.push_back(std::move(tensor));
    }
    std::vector<const reference::Tensor *> pointers;
    for (const reference::Tensor &tensor : labels)
      pointers.push_back(&tensor);
    const reference::Tensor selected =
        llvm::cast<ir::ReferenceInterface>(op).evaluate(pointers).front();

    RowTensor result{lowering.layoutOf(op->getResult(0)), {}};
    for (int64_t row = 0; row < result.layout.rows(); ++row) {
      std::vector<Element> elements;
      for (int64_t lane = 0; lane < result.layout.used(row); ++lane) {
        const double value = selected.values[result.layout.flat(row, lane)];
        if (const auto number = numberOf(value)) {
          const auto operand = std::upper_bound(firsts.begin(), firsts.end(), *number) - 1;
          elements.push_back(
              operands[operand - firsts.begin()].element(static_cast<int64_t>(*number - *operand)));
        } else {
          elements.push_back({kNoRow, 0, 1, static_cast<float>(withinBf16(value))});
        }
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

template <typename... Views> void attach(MLIRContext &context) {
  (Views::template attachInterface<ViewModel<Views>>(context), ...);
}

} // namespace

void attachViewModels(MLIRContext &context) {
  ir::RelayoutOp::attachInterface<RelayoutModel>(context);
  attach<ir::TransposeOp, ir::ReverseOp, ir::SliceOp, ir::ReshapeOp, ir::UnsqueezeOp, ir::SqueezeOp,
         ir::BroadcastOp, ir::ConcatOp, ir::RotateOp, ir::TileOp, ir::RepeatOp, ir::InterleaveOp,
         ir::PadOp, ir::WindowOp>(context);
}

} // namespace sluice::rows
