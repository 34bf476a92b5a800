// Canonical maps: a map reads each of its operands, and chooses by no constant.
#include "compiler/dialect/sluice/cone.h"
#include "compiler/dialect/sluice/operations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace sluice::ir {
namespace {

/// Replaces the selects whose condition is a constant by the value that they select.
bool replaceKnownSelects(Block &body, PatternRewriter &rewriter) {
  bool changed = false;
  for (auto select : llvm::make_early_inc_range(body.getOps<arith::SelectOp>()))
    if (const auto condition = constantScalar(select.getCondition())) {
      rewriter.replaceOp(select, *condition != 0 ? select.getTrueValue() : select.getFalseValue());
      changed = true;
    }
  return changed;
}

/// Removes the operands that the result does not depend on. A map of none keeps its shape by one
/// constant.
bool dropUnread(MapOp map, PatternRewriter &rewriter) {
  Block &body = map.getBody().front();
  llvm::BitVector unread(body.getNumArguments());
  for (const BlockArgument argument : body.getArguments())
    if (argument.use_empty())
      unread.set(argument.getArgNumber());
  bool changed = false;
  if (unread.all()) {
    unread.reset(0);
    if (!map.getInputs().front().getDefiningOp<ConstantOp>()) {
      const space::ExtentsRef shape = shapeOf(map.getResult());
      const Value zeros = rewriter.create<ConstantOp>(
          map.getLoc(), reference::Tensor({shape.begin(), shape.end()}));
      rewriter.modifyOpInPlace(map, [&] { map->setOperand(0, zeros); });
      changed = true;
    }
  }
  if (unread.none())
    return changed;
  rewriter.modifyOpInPlace(map, [&] {
    body.eraseArguments(unread);
    map->eraseOperands(unread);
  });
  return true;
}

struct ReadOperands : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MapOp map, PatternRewriter &rewriter) const override {
    Block &body = map.getBody().front();
    bool changed = replaceKnownSelects(body, rewriter);
    const auto isUnread = [](Operation &op) { return op.use_empty(); };
    if (llvm::any_of(body.without_terminator(), isUnread))
      changed |= succeeded(runRegionDCE(rewriter, map->getRegions()));
    changed |= dropUnread(map, rewriter);
    return success(changed);
  }
};

} // namespace

void MapOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReadOperands>(context);
}

} // namespace sluice::ir
