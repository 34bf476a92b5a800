#include "compiler/dialect/sluice/folding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/support/fold_limits.h"
#include "compiler/support/problem.h"

using namespace mlir;

namespace sluice::ir {
namespace {

/// The product of extents, or the largest number.
uint64_t volumeOf(ExtentsRef extents) {
  uint64_t volume = 1;
  for (const int64_t extent : extents)
    volume = llvm::SaturatingMultiply<uint64_t>(volume, extent);
  return volume;
}

} // namespace

uint64_t foldingWork(Operation *op) {
  auto computed = llvm::dyn_cast<IndexSpaceInterface>(op);
  if (computed && !llvm::isa<ViewInterface>(op)) {
    const uint64_t points = volumeOf(computed.indexSpace().extents());
    auto map = llvm::dyn_cast<MapOp>(op);
    return map ? llvm::SaturatingMultiply<uint64_t>(points,
                                                    map.getBody().front().getOperations().size())
               : points;
  }
  uint64_t work = 0;
  for (const Value result : op->getResults())
    work = llvm::SaturatingAdd(work, volumeOf(shapeOf(result)));
  return work;
}

namespace {

class FoldCounter {
public:
  Problems run(Block &block) {
    findConstants(block);
    count(block, 1);
    return std::move(problems);
  }

private:
  Problems problems;
  llvm::DenseSet<Value> constants, rejected;
  uint64_t work = 0;
  bool stopped = false;

  void findConstants(Block &block) {
    for (Operation &op : block.without_terminator()) {
      const bool constant = isConstant(&op);
      if (constant)
        constants.insert(op.result_begin(), op.result_end());
      auto loop = llvm::dyn_cast<LoopOp>(op);
      if (!loop)
        continue;
      Block &body = loop.getBody().front();
      if (constant)
        constants.insert(body.args_begin(), body.args_end());
      findConstants(body);
    }
  }

  void count(Block &block, uint64_t executions) {
    for (Operation &op : block.without_terminator()) {
      if (stopped)
        return;
      auto loop = llvm::dyn_cast<LoopOp>(op);
      const bool readsRejected =
          llvm::any_of(readValues(&op), [&](Value value) { return rejected.contains(value); });
      if (readsRejected || (isComputed(&op) && !isAllowed(&op, loop ? 0 : executions)))
        rejected.insert(op.result_begin(), op.result_end());
      else if (loop)
        count(loop.getBody().front(),
              llvm::SaturatingMultiply<uint64_t>(executions, loop.getTrips()));
    }
  }

  bool isConstant(Operation *op) const {
    if (llvm::isa<ConstantOp>(op))
      return true;
    return llvm::isa<ReferenceInterface>(op) && isMemoryEffectFree(op) &&
           llvm::all_of(readValues(op), [&](Value value) { return constants.contains(value); });
  }

  /// Whether the compiler computes the results of an operation. A broadcast constant that only maps
  /// of computed values read is as large as these values: they are rejected before it is computed.
  bool isComputed(Operation *op) const {
    if (llvm::isa<ConstantOp>(op) ||
        !llvm::all_of(op->getResults(), [&](Value value) { return constants.contains(value); }))
      return false;
    return !llvm::isa<BroadcastOp>(op) || !llvm::all_of(op->getUsers(), [&](Operation *user) {
      return llvm::isa<MapOp>(user) && !constants.contains(user->getResult(0));
    });
  }

  bool isAllowed(Operation *op, uint64_t executions) {
    for (const Value result : op->getResults())
      if (const ExtentsRef shape = shapeOf(result); volumeOf(shape) > kMostFoldedElements) {
        add(op, fmt::format("the result [{}] of constants has more than {} elements",
                            fmt::join(shape, " "), kMostFoldedElements));
        return false;
      }
    work = llvm::SaturatingAdd(work, llvm::SaturatingMultiply(foldingWork(op), executions));
    if (work <= kMostFoldedWork)
      return true;
    add(op, fmt::format("computing the constants of the model takes more than {} operations",
                        kMostFoldedWork));
    stopped = true;
    return false;
  }

  void add(Operation *op, std::string message) {
    Problem &problem = problems.emplace_back();
    problem.code = "E0205";
    problem.reason = NotSupported();
    problem.message = std::move(message);
    if (NodeRef node = nodeOf(op->getLoc()); node.index >= 0) {
      problem.message = fmt::format("{}: {}", node.op, problem.message);
      problem.node = std::move(node);
    }
    problem.fixes.push_back(
        {"compute the constant before the export, or make it smaller", std::nullopt, false, {}});
  }
};

} // namespace

Problems foldingProblems(FunctionOpInterface function) {
  if (function.isExternal())
    return {};
  return FoldCounter().run(function.getFunctionBody().front());
}

std::optional<reference::Tensor> constantValue(Value value) {
  llvm::DenseMap<Operation *, reference::Tensors> known;
  llvm::SmallVector<Operation *> pending{value.getDefiningOp()};
  while (!pending.empty()) {
    Operation *op = pending.back();
    auto computed = llvm::dyn_cast_if_present<ReferenceInterface>(op);
    if (!op || (!llvm::isa<ConstantOp>(op) && (!computed || !isMemoryEffectFree(op))))
      return std::nullopt;
    if (known.contains(op)) {
      pending.pop_back();
      continue;
    }
    if (auto constant = llvm::dyn_cast<ConstantOp>(op)) {
      known[op].push_back(toTensor(constant.getValue()));
      continue;
    }
    const size_t before = pending.size();
    const llvm::SmallVector<Value> values = readValues(op);
    for (const Value operand : values)
      if (!operand.getDefiningOp() || !known.contains(operand.getDefiningOp()))
        pending.push_back(operand.getDefiningOp());
    if (pending.size() != before)
      continue; // operands first
    llvm::SmallVector<const reference::Tensor *> operands;
    for (const Value operand : values)
      operands.push_back(
          &known[operand.getDefiningOp()][llvm::cast<OpResult>(operand).getResultNumber()]);
    reference::Tensors results = computed.evaluate(operands);
    known[op] = std::move(results);
    pending.pop_back();
  }
  return std::move(known[value.getDefiningOp()][llvm::cast<OpResult>(value).getResultNumber()]);
}

} // namespace sluice::ir
