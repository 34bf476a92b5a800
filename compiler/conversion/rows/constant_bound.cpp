// Rows with the same bits are stored once, and a product with a row of zeros may be left out. So
// rows are counted that differ and are not zero.
#include "compiler/conversion/rows/constant_bound.h"

#include <algorithm>
#include <utility>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"

#include "compiler/conversion/rows/contraction_loops.h"
#include "compiler/conversion/rows/lower_dynamic.h"
#include "compiler/conversion/rows/row_tensor.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/tensors.h"
#include "compiler/index_space/projection.h"
#include "hw/numerics/numerics.h"

using namespace mlir;

namespace sluice::rows {
namespace {

class Bound {
public:
  Bound(BoundFacts &facts, uint32_t lanes, uint64_t most)
      : facts(facts), lanes(lanes), most(most) {}

  ConstantBound run() {
    for (Operation &op : facts.function.getBody().front().without_terminator())
      if (isProduct(&op) && op.getNumOperands() == 2 && rows.size() < most)
        read(op);
    bound.rows = rows.size();
    std::ranges::sort(bound.nodes, [](const auto &left, const auto &right) {
      return std::pair(right.second, left.first.index) < std::pair(left.second, right.first.index);
    });
    return std::move(bound);
  }

private:
  BoundFacts &facts;
  const int64_t lanes;
  const uint64_t most;
  llvm::DenseSet<uint64_t> rows; ///< hashes: equal ones make the bound lower
  ConstantBound bound;

  void read(Operation &op) {
    const auto constant = llvm::find_if(op.getOperands(), ir::isConstant);
    if (constant == op.getOperands().end())
      return;
    const Loops loops = loopsOf(&op);
    const auto axis = isDynamic(&op, loops) ? axisOfConstant(&op, loops) : std::nullopt;
    const space::Region *const needed = facts.reads.of(op.getResult(0));
    if (!axis || !needed || *needed != space::wholeOf(ir::shapeOf(op.getResult(0))))
      return;
    const llvm::ArrayRef<float> values = facts.constants.of(*constant);
    if (values.size() == 1)
      return;
    const auto shape = ir::shapeOf(*constant);
    const RowLayout layout({shape.begin(), shape.end()}, *axis, lanes);
    const size_t before = rows.size();
    std::vector<uint16_t> row(lanes);
    for (int64_t i = 0; i < layout.rows() && rows.size() < most; ++i) {
      std::ranges::fill(row, 0);
      for (int64_t lane = 0; lane < layout.used(i); ++lane)
        row[lane] = numerics::roundToBf16(double{values[layout.flat(i, lane)]});
      if (std::ranges::any_of(row, [](uint16_t bits) { return (bits & 0x7fff) != 0; }))
        rows.insert(hashOf(row));
    }
    if (rows.size() != before)
      bound.nodes.emplace_back(ir::nodeOf(op.getLoc()), rows.size() - before);
  }

  /// The set reserves two large numbers for itself; no hash is one of them.
  static uint64_t hashOf(llvm::ArrayRef<uint16_t> row) {
    return static_cast<uint64_t>(llvm::hash_combine_range(row.begin(), row.end())) >> 1;
  }
};

} // namespace

ConstantBound constantBound(BoundFacts &facts, uint32_t lanes, uint64_t most) {
  return Bound(facts, lanes, most).run();
}

} // namespace sluice::rows
