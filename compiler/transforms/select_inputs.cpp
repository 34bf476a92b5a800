#include "compiler/transforms/passes.h"

#include <tuple>

#include "compiler/dialect/sluice/input_part.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/index_space/projection.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_SELECTINPUTS
#include "compiler/transforms/passes.h.inc"

namespace {

using space::Extents;
using space::ExtentsRef;

int64_t rowsOf(ExtentsRef shape, int64_t dim, int64_t lanes) {
  int64_t rows = 1;
  for (auto [axis, extent] : llvm::enumerate(shape))
    rows *= static_cast<int64_t>(axis) == dim ? llvm::divideCeil(extent, lanes) : extent;
  return rows;
}

/// The whole rows that a slice reads. Along the data dimension, these are all elements from the
/// first row to the last.
InputPart rowsReadBy(SliceOp slice, int64_t dim, int64_t lanes) {
  InputPart part{Extents(slice.getStarts()), Extents(slice.getSizes()), Extents(slice.getSteps())};
  const int64_t extent = shapeOf(slice.getInput())[dim];
  const int64_t first = part.first(dim) / lanes * lanes;
  const int64_t end = std::min(extent, (part.last(dim) / lanes + 1) * lanes);
  std::tie(part.starts[dim], part.steps[dim], part.sizes[dim]) = std::tuple(first, 1, end - first);
  return part;
}

/// The box of all elements from the first ones to the last ones of some parts.
InputPart boxOf(llvm::ArrayRef<InputPart> parts) {
  InputPart box;
  for (const size_t axis : llvm::seq(parts[0].starts.size())) {
    int64_t first = parts[0].first(axis), last = parts[0].last(axis);
    for (const InputPart &part : parts) {
      first = std::min(first, part.first(axis));
      last = std::max(last, part.last(axis));
    }
    box.starts.push_back(first);
    box.steps.push_back(1);
    box.sizes.push_back(last - first + 1);
  }
  return box;
}

struct SelectInputs : impl::SelectInputsBase<SelectInputs> {
  using SelectInputsBase::SelectInputsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    for (unsigned i = function.getNumArguments(); i-- > 0;)
      if (inputOf(function, i) && !inputPartOf(function, i))
        select(i);
  }

private:
  using Read = std::pair<SliceOp, InputPart>; ///< a slice and the whole rows that it reads

  /// Removes an argument that nothing reads, or replaces it by one for each part that slices read,
  /// or for the box around these, whichever has the fewest rows.
  void select(unsigned index) {
    func::FuncOp function = getOperation();
    const Value whole = function.getArgument(index);
    if (whole.use_empty()) {
      if (function.getNumArguments() > 1)
        function.eraseArgument(index);
      return;
    }
    const std::optional<int64_t> dim = dataDim(whole);
    if (!dim || !llvm::all_of(whole.getUsers(), llvm::IsaPred<SliceOp>))
      return;
    llvm::SmallVector<Read> reads;
    llvm::SmallVector<InputPart, 2> parts;
    for (Operation &op : function.front())
      if (auto slice = llvm::dyn_cast<SliceOp>(op); slice && slice.getInput() == whole) {
        const InputPart &part = reads.emplace_back(slice, rowsReadBy(slice, *dim, lanes)).second;
        if (!llvm::is_contained(parts, part))
          parts.push_back(part);
      }
    const auto rows = [&](const InputPart &part) { return rowsOf(part.sizes, *dim, lanes); };
    const InputPart box = boxOf(parts);
    int64_t apart = 0;
    for (const InputPart &part : parts)
      apart += rows(part);
    if (rows(box) <= apart)
      parts = {box};
    if (std::min(apart, rows(box)) < rowsOf(shapeOf(whole), *dim, lanes))
      replace(index, *dim, reads, parts);
  }

  void replace(unsigned index, int64_t dim, llvm::ArrayRef<Read> reads,
               llvm::ArrayRef<InputPart> parts) {
    func::FuncOp function = getOperation();
    for (const InputPart &part : llvm::reverse(parts)) {
      auto encoding = DimAttr::get(&getContext(), dim, part.sizes);
      const BlockArgument whole = function.getArgument(index);
      function.insertArgument(
          index + 1, RankedTensorType::get(part.sizes, getElementTypeOrSelf(whole), encoding),
          function.getArgAttrDict(index), whole.getLoc());
      setInputPart(function, index + 1, part);
      nameOf(function, index + 1, part, shapeOf(whole));
    }
    for (const auto &[slice, part] : reads) {
      const auto *place = parts.size() == 1 ? parts.begin() : llvm::find(parts, part);
      readFrom(function.getArgument(index + 1 + (place - parts.begin())), *place, slice);
    }
    function.eraseArgument(index);
  }

  /// Names a part as Python does: "x[3:5]".
  static void nameOf(func::FuncOp function, unsigned argument, const InputPart &part,
                     ExtentsRef shape) {
    const auto name = function.getArgAttrOfType<StringAttr>(argument, kNameAttr);
    if (!name)
      return;
    std::string axes;
    size_t named = 0; // length up to the last axis of which there is a part
    for (auto [axis, extent] : llvm::enumerate(shape)) {
      const int64_t start = part.starts[axis], size = part.sizes[axis], step = part.steps[axis];
      axes += axis == 0 ? "" : ", ";
      if (size == extent && step > 0) {
        axes += ":";
        continue;
      }
      axes += std::to_string(start);
      if (size > 1)
        axes += ":" + std::to_string(start + (size - 1) * step + (step > 0 ? 1 : -1)) +
                (step == 1 ? "" : ":" + std::to_string(step));
      named = axes.size();
    }
    function.setArgAttr(
        argument, kNameAttr,
        StringAttr::get(function.getContext(), name.str() + "[" + axes.substr(0, named) + "]"));
  }

  /// Replaces a slice of the whole input by one of a part, or by the part itself.
  static void readFrom(Value part, const InputPart &selected, SliceOp slice) {
    Extents starts(slice.getStarts()), steps(slice.getSteps());
    for (auto [start, step, from, apart] :
         llvm::zip_equal(starts, steps, selected.starts, selected.steps)) {
      start = (start - from) / apart;
      step /= apart;
    }
    const bool isAll = shapeOf(part) == slice.getSizes() &&
                       llvm::all_of(starts, [](int64_t start) { return start == 0; }) &&
                       llvm::all_of(steps, [](int64_t step) { return step == 1; });
    if (isAll) {
      slice.replaceAllUsesWith(part);
      slice.erase();
      return;
    }
    slice.getInputMutable().assign(part);
    slice.setStarts(starts);
    slice.setSteps(steps);
  }
};

} // namespace
} // namespace sluice::ir
