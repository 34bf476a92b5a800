// Which elements of each value an output may depend on.
#pragma once

#include <vector>

#include "compiler/dialect/sluice/operations.h"
#include "compiler/index_space/projection.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace sluice::ir {

class KnownChoices;

/// For each value of a function, boxes that contain all elements that a result or a state depends
/// on. They follow from the pieces of views, from the index spaces of other operations, and from
/// the choices that constants make in maps.
class NeededElements {
public:
  using Boxes = llvm::SmallVector<space::Region, 2>;

  explicit NeededElements(mlir::func::FuncOp function);

  /// Empty if nothing depends on the value. Boxes may overlap.
  [[nodiscard]] llvm::ArrayRef<space::Region> of(mlir::Value value) const;

  /// Calls `visit` with the elements of an operand of a view, in row-major order, that needed
  /// elements of the view are. It looks at them one by one.
  void forEachRead(mlir::OpOperand &operand, llvm::function_ref<void(size_t element)> visit) const;

private:
  llvm::DenseMap<mlir::Value, Boxes> boxes;

  void add(mlir::Operation &op);
  void addChosen(MapOp map, const KnownChoices &choices, const Boxes &neededBoxes);
  void addView(ViewInterface view, const Boxes &neededBoxes);
  /// Calls `visit` with the source of each needed element of a view, in row-major order.
  void forEachSource(ViewInterface view,
                     llvm::function_ref<void(const space::Source &)> visit) const;
  void need(mlir::Value value, const space::Region &box);
  bool need(mlir::Value value, std::vector<unsigned> isRead);
};

} // namespace sluice::ir
