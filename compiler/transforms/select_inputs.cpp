#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/input_part.h"
#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/selection.h"
#include "compiler/index_space/projection.h"
#include "compiler/transforms/needed_elements.h"
#include "compiler/transforms/row_boxes.h"
#include "mlir/IR/Builders.h"
#include "runtime/addressing/addressing.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_SELECTINPUTS
#include "compiler/transforms/passes.h.inc"

namespace {

using space::Extents;
using space::ExtentsRef;

/// More parts of an input, with zeros between them, are not worth their instructions.
constexpr size_t kMostBoxes = 48;

/// The elements of a larger view are not looked at one by one.
constexpr int64_t kMostElements = 1 << 20;

/// The whole rows that a slice reads. Along the data dimension, these are all elements from the
/// first row to the last.
space::Selection rowsReadBy(SliceOp slice, int64_t dim, int64_t lanes) {
  space::Selection part{Extents(slice.getStarts()), Extents(slice.getSizes()),
                        Extents(slice.getSteps())};
  const space::Region box = part.box();
  const int64_t first = box.start[dim] / lanes * lanes;
  const int64_t end =
      std::min<int64_t>(shapeOf(slice.getInput())[dim], llvm::alignTo(box.end(dim), lanes));
  part.take(dim, first, end - first, 1);
  return part;
}

struct SelectInputs : impl::SelectInputsBase<SelectInputs> {
  using SelectInputsBase::SelectInputsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    needed.reset();
    for (unsigned i = function.getNumArguments(); i-- > 0;)
      if (inputOf(function, i) && !inputPartOf(function, i))
        select(i);
  }

private:
  using Read = std::pair<SliceOp, space::Selection>; ///< a slice and the whole rows that it reads

  std::optional<NeededElements> needed; ///< once some argument asks for them

  /// Removes an argument that nothing reads, or replaces it by arguments for the parts that are
  /// read.
  void select(unsigned index) {
    func::FuncOp function = getOperation();
    const Value whole = function.getArgument(index);
    if (whole.use_empty()) {
      if (function.getNumArguments() > 1)
        function.eraseArgument(index);
      return;
    }
    const std::optional<int64_t> dim = dataDim(whole);
    if (!dim || shapeOf(whole).empty())
      return;
    if (!needed)
      needed.emplace(function);
    std::vector<unsigned> isRead = readRows(function.getArgument(index), *dim);
    if (!llvm::all_of(whole.getUsers(), llvm::IsaPred<SliceOp>) ||
        !selectSlices(index, *dim, llvm::count(isRead, 1U)))
      selectNeeded(index, *dim, std::move(isRead));
  }

  /// Replaces an argument that only slices read by one for each part that they read, or for the box
  /// around these, whichever has the fewest rows. False, and nothing is done, if outputs depend on
  /// fewer rows, namely on `needed`.
  bool selectSlices(unsigned index, int64_t dim, int64_t needed) {
    func::FuncOp function = getOperation();
    const Value whole = function.getArgument(index);
    llvm::SmallVector<Read> reads;
    llvm::SmallVector<space::Selection, 2> parts;
    for (Operation &op : function.front())
      if (auto slice = llvm::dyn_cast<SliceOp>(op); slice && slice.getInput() == whole) {
        const space::Selection &part =
            reads.emplace_back(slice, rowsReadBy(slice, dim, lanes)).second;
        if (!llvm::is_contained(parts, part))
          parts.push_back(part);
      }
    const auto rows = [&](const space::Selection &part) {
      return addressing::rowsOf(part.sizes, dim, lanes);
    };
    space::Region around = parts[0].box();
    int64_t apart = 0;
    for (const space::Selection &part : parts) {
      around = space::around(around, part.box());
      apart += rows(part);
    }
    const auto box = space::Selection::all(around);
    if (needed < std::min(apart, rows(box)) && (needed != 0 || function.getNumArguments() > 1))
      return false;
    if (rows(box) <= apart)
      parts = {box};
    if (std::min(apart, rows(box)) < addressing::rowsOf(shapeOf(whole), dim, lanes))
      replace(index, dim, reads, parts);
    return true;
  }

  /// Replaces an argument by a concat of arguments for the boxes of rows that an output may depend
  /// on, and of zeros in the place of all others.
  void selectNeeded(unsigned index, int64_t dim, std::vector<unsigned> isRead) {
    func::FuncOp function = getOperation();
    const BlockArgument whole = function.getArgument(index);
    const Extents shape(shapeOf(whole));
    const auto read = static_cast<size_t>(llvm::count(isRead, 1U));
    // A loop over positions reads its input in equal tiles, which parts are not.
    if (read == isRead.size() || (hasWindows() && 2 * read > isRead.size()) ||
        (read == 0 && function.getNumArguments() == 1))
      return;
    const NumberedRows rows(shape, dim, lanes, std::move(isRead));
    const auto boxes = rows.boxes(kMostBoxes);
    if (!boxes)
      return;
    OpBuilder builder(&getContext());
    builder.setInsertionPointToStart(&function.front());
    llvm::SmallVector<Value> values;
    unsigned next = index + 1;
    for (const RowBox &box : *boxes) {
      if (box.number == 0) {
        const auto &extents = box.elements.extents;
        values.push_back(builder.create<ConstantOp>(
            whole.getLoc(), reference::Tensor({extents.begin(), extents.end()})));
        continue;
      }
      insert(index, next, dim, space::Selection::all(box.elements));
      values.push_back(function.getArgument(next++));
    }
    const Value joined = rows.joined(builder, whole.getLoc(), typeOf(whole), values);
    function.getArgument(index).replaceAllUsesWith(joined);
    function.eraseArgument(index);
  }

  bool hasWindows() {
    return llvm::any_of(getOperation().front(), [](Operation &op) {
      auto view = llvm::dyn_cast<ViewInterface>(op);
      return view && !view.windowAxes().empty();
    });
  }

  /// By row, 1 if an output may depend on it. Views tell the elements, other operations boxes of
  /// them.
  std::vector<unsigned> readRows(BlockArgument whole, int64_t dim) const {
    const Extents shape(shapeOf(whole)), cells = NumberedRows::extents(shape, dim, lanes);
    std::vector<unsigned> isRead(static_cast<size_t>(space::wholeOf(cells).size()), 0);
    const auto mark = [&](ExtentsRef row) {
      isRead[static_cast<size_t>(addressing::rowMajorPosition(row, cells))] = 1;
    };
    const auto isSmallView = [&](Operation *op) {
      return llvm::isa<ViewInterface>(op) &&
             space::wholeOf(shapeOf(op->getResult(0))).size() <= kMostElements;
    };
    if (llvm::all_of(whole.getUsers(), isSmallView)) {
      for (OpOperand &use : whole.getUses())
        needed->forEachRead(use, [&](size_t element) {
          addressing::Indices index =
              addressing::rowMajorIndex(static_cast<int64_t>(element), shape);
          index[dim] /= lanes;
          mark(index);
        });
      return isRead;
    }
    for (const space::Region &box : needed->of(whole)) {
      space::Region rows = box;
      rows.start[dim] = box.start[dim] / lanes;
      rows.extents[dim] = llvm::divideCeil(box.end(dim), lanes) - rows.start[dim];
      space::forEachIndex(rows, mark);
    }
    return isRead;
  }

  void replace(unsigned index, int64_t dim, llvm::ArrayRef<Read> reads,
               llvm::ArrayRef<space::Selection> parts) {
    func::FuncOp function = getOperation();
    for (const space::Selection &part : llvm::reverse(parts))
      insert(index, index + 1, dim, part);
    for (const auto &[slice, part] : reads) {
      const auto *place = parts.size() == 1 ? parts.begin() : llvm::find(parts, part);
      readFrom(function.getArgument(index + 1 + (place - parts.begin())), *place, slice);
    }
    function.eraseArgument(index);
  }

  /// Inserts an argument at `place` for a part of argument `index`.
  void insert(unsigned index, unsigned place, int64_t dim, const space::Selection &part) {
    func::FuncOp function = getOperation();
    const BlockArgument whole = function.getArgument(index);
    function.insertArgument(place, withShape(typeOf(whole), part.sizes, dim),
                            function.getArgAttrDict(index), whole.getLoc());
    setInputPart(function, place, part);
    nameOf(function, place, part, shapeOf(whole));
  }

  /// Names a part as Python does: "x[3:5]".
  static void nameOf(func::FuncOp function, unsigned argument, const space::Selection &part,
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
  static void readFrom(Value part, const space::Selection &selected, SliceOp slice) {
    Extents starts(slice.getStarts()), steps(slice.getSteps());
    for (auto [start, step, from, apart] :
         llvm::zip_equal(starts, steps, selected.starts, selected.steps)) {
      start = (start - from) / apart;
      step /= apart;
    }
    OpBuilder builder(slice);
    replaceOp(slice,
              sliced(builder, slice.getLoc(), part, {starts, Extents(slice.getSizes()), steps}));
  }
};

} // namespace
} // namespace sluice::ir
