#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/selection.h"
#include "compiler/dialect/sluice/unrolling.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_UNROLLLOOPS
#include "compiler/transforms/passes.h.inc"

namespace {

/// Writes out one loop, in whose body no loops are left.
class Unrolling {
public:
  explicit Unrolling(LoopOp loop)
      : loop(loop), builder(loop), trips(static_cast<int64_t>(loop.getTrips())),
        slices(loop.slices()), stacks(loop.stacks()), added(stacks.size()) {}

  /// What stands for the results; null for what nobody reads.
  llvm::SmallVector<Value> run() {
    Block &body = loop.getBody().front();
    llvm::SmallVector<Value> carried(loop.getInitial());
    for (int64_t trip = 0; trip < trips; ++trip) {
      IRMapping mapping;
      const auto arguments = body.getArguments();
      mapping.map(arguments.take_front(carried.size()), carried);
      for (auto [i, argument] : llvm::enumerate(arguments.drop_front(carried.size())))
        if (!argument.use_empty())
          mapping.map(argument, element(i, trip));
      for (Operation &op : body.without_terminator())
        made.push_back(builder.clone(op, mapping));
      const auto next = llvm::map_to_vector(body.getTerminator()->getOperands(), [&](Value value) {
        return mapping.lookupOrDefault(value);
      });
      for (const size_t i : llvm::seq<size_t>(0, carried.size()))
        carried[i] = next[i];
      for (const size_t i : llvm::seq<size_t>(0, stacks.size()))
        if (!loop.getResult(carried.size() + i).use_empty())
          added[i].push_back(next[carried.size() + i]);
    }
    llvm::SmallVector<Value> results = std::move(carried);
    for (const size_t i : llvm::seq<size_t>(0, stacks.size()))
      results.push_back(added[i].empty() ? Value() : stack(i));
    for (auto [result, value] : llvm::zip_equal(loop.getResults(), results)) {
      if (result.use_empty())
        value = Value();
      else
        result.replaceAllUsesWith(value);
    }
    loop.erase();
    for (Operation *op : llvm::reverse(made)) // last trips first: what only they read goes too
      if (isOpTriviallyDead(op))
        op->erase();
    return results;
  }

private:
  Value element(size_t i, int64_t trip) {
    const auto [axis, reversed] = slices[i];
    const Value sequence = loop.getSequences()[i];
    const Value slice =
        slicedAlong(builder, loop.getLoc(), sequence, axis, reversed ? trips - 1 - trip : trip, 1);
    if (slice != sequence)
      made.push_back(slice.getDefiningOp());
    made.push_back(builder.create<SqueezeOp>(loop.getLoc(), slice, axis));
    return made.back()->getResult(0);
  }

  Value stack(size_t i) {
    llvm::SmallVector<Value> rows;
    for (const Value value : added[i])
      rows.push_back(builder.create<UnsqueezeOp>(loop.getLoc(), value, stacks[i].axis));
    if (stacks[i].reversed)
      std::reverse(rows.begin(), rows.end());
    return rows.size() == 1 ? rows.front()
                            : builder.create<ConcatOp>(loop.getLoc(), rows, stacks[i].axis);
  }

  LoopOp loop;
  OpBuilder builder;
  int64_t trips;
  llvm::SmallVector<reference::LoopAxis> slices, stacks;
  std::vector<llvm::SmallVector<Value>> added; ///< by stack and trip
  llvm::SmallVector<Operation *> made;         ///< in their order
};

struct UnrollLoops : impl::UnrollLoopsBase<UnrollLoops> {
  void runOnOperation() override {
    const UnrolledLoops unrolled = unrollLoops(getOperation());
    for (auto [problem, location] : llvm::zip_equal(unrolled.problems, unrolled.locations))
      emitProblem(location, problem);
    if (!unrolled.problems.empty())
      signalPassFailure();
  }
};

} // namespace

UnrolledLoops unrollLoops(FunctionOpInterface function) {
  UnrolledLoops result;
  llvm::SmallVector<LoopOp> loops; // the inner ones first
  function->walk([&](LoopOp loop) { loops.push_back(loop); });
  for (LoopOp loop : loops) {
    if (loop->getParentOp() != function)
      continue; // counted with the outermost one
    const int64_t each = operationsPerTrip(loop);
    if (llvm::SaturatingMultiply<uint64_t>(loop.getTrips(), each) <= kMostUnrolledOperations)
      continue;
    Problem problem = tooLongToUnroll(std::to_string(loop.getTrips()), each);
    if (const NodeRef node = nodeOf(loop.getLoc()); node.index >= 0)
      problem.node = node;
    result.problems.push_back(std::move(problem));
    result.locations.push_back(loop.getLoc());
  }
  if (!result.problems.empty())
    return result;
  for (LoopOp loop : loops) {
    const llvm::SmallVector<Value> before(loop.getResults());
    const llvm::SmallVector<Value> after = Unrolling(loop).run();
    for (auto [from, to] : llvm::zip_equal(before, after))
      result.replaced[from] = to;
  }
  return result;
}

} // namespace sluice::ir
