#include "compiler/dialect/sluice/folding.h"

#include <deque>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

#include "compiler/dialect/sluice/cone.h"
#include "compiler/dialect/sluice/interpret.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/support/fold_limits.h"
#include "compiler/support/problem.h"

using namespace mlir;

namespace sluice::ir {
namespace {

/// The product of extents, or the largest number.
uint64_t volumeOf(space::ExtentsRef extents) {
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
    return isComputable(op) &&
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
      if (const space::ExtentsRef shape = shapeOf(result); volumeOf(shape) > kMostFoldedElements) {
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

std::optional<reference::Tensors> constantResults(Operation *op) {
  const Cone cone = coneOf(op->getResult(0));
  if (!cone.arguments.empty() || !llvm::all_of(cone.body, isComputable))
    return std::nullopt;
  std::deque<reference::Tensor> computed; // stay where they are
  Values values;
  for (Operation *before : llvm::drop_end(cone.body))
    for (auto [value, tensor] : llvm::zip_equal(before->getResults(), resultsOf(before, values)))
      values[value] = &computed.emplace_back(std::move(tensor));
  return resultsOf(op, values);
}

std::optional<reference::Tensor> constantValue(Value value) {
  const auto result = llvm::dyn_cast<OpResult>(value);
  auto all = result ? constantResults(result.getOwner()) : std::nullopt;
  return all ? std::optional(std::move((*all)[result.getResultNumber()])) : std::nullopt;
}

} // namespace sluice::ir
