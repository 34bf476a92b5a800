#include "compiler/dialect/sluice/unrolling.h"

#include <fmt/format.h>

#include "llvm/Support/MathExtras.h"

namespace sluice::ir {

int64_t operationsPerTrip(LoopOp loop) {
  int64_t count = 0;
  for (mlir::Operation &op : loop.getBody().front().without_terminator()) {
    if (llvm::isa<ConstantOp>(op))
      continue;
    int64_t own = 1;
    if (auto inner = llvm::dyn_cast<LoopOp>(op))
      own = llvm::SaturatingMultiply<uint64_t>(inner.getTrips(), operationsPerTrip(inner));
    count = static_cast<int64_t>(
        std::min<uint64_t>(llvm::SaturatingAdd<uint64_t>(count, own), INT64_MAX));
  }
  return count;
}

Problem tooLongToUnroll(const std::string &trips, int64_t operationsPerTrip) {
  Problem problem;
  problem.code = "E0415";
  problem.reason = TooLong{operationsPerTrip, kMostUnrolledOperations};
  problem.message = fmt::format(
      "the loop has {} iterations of {} operations; at most {} operations can be unrolled", trips,
      operationsPerTrip, kMostUnrolledOperations);
  Fix fix;
  fix.text =
      "shorten the sequence, make the states inputs and outputs, and run the model part by part";
  problem.fixes.push_back(fix);
  return problem;
}

} // namespace sluice::ir
