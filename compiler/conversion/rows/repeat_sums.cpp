#include "compiler/conversion/rows/repeat_sums.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/dialect/sluice/operations.h"

using namespace mlir;

namespace sluice::rows {
namespace {

/// The most readers of a sum, and the most block products of a sum, with which each reader computes
/// its own sum: the matrix unit then issues twice the beats and the vector unit one pass fewer.
constexpr size_t kMostRepeated = 2;

/// Returns how many other operations read the tensor that `value` is a view of. It ends with the
/// tensor at which they are too many.
size_t otherReadersOf(Value value) {
  size_t others = 0;
  for (Operation *view = value.getDefiningOp();
       llvm::isa_and_nonnull<ir::ViewInterface>(view) && view->getNumOperands() == 1 &&
       others <= kMostRepeated;
       view = value.getDefiningOp()) {
    value = view->getOperand(0);
    // The steps of a recurrence are hundreds of views of one tensor.
    const auto uses = llvm::make_range(value.use_begin(), value.use_end());
    for (auto use = std::next(uses.begin()); use != uses.end() && others <= kMostRepeated; ++use)
      ++others;
  }
  return others;
}

} // namespace

bool canRepeatSums(const GraphBuilder &graph, const RowTensor &tensor, size_t others) {
  std::map<RowId, size_t> readers;
  for (const RowRef &ref : tensor.rows) {
    if (ref.broadcast || !graph.isScaledLinear(ref.row))
      return false;
    ++readers[ref.row];
  }
  return std::ranges::all_of(readers, [&](const auto &entry) {
    const size_t count = entry.second + others;
    return count == 1 || (count <= kMostRepeated && graph.termsOf(entry.first) <= kMostRepeated &&
                          graph.facts(entry.first, graph.lanes()).uniform);
  });
}

void repeatSharedSums(GraphBuilder &graph, Value value, RowTensor &tensor) {
  const size_t others = otherReadersOf(value);
  if (!canRepeatSums(graph, tensor, others))
    return;
  std::set<RowId> seen;
  for (RowRef &ref : tensor.rows)
    if (!seen.insert(ref.row).second || others != 0)
      ref.row = graph.repeated(ref.row);
}

} // namespace sluice::rows
