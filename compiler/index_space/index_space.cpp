#include "compiler/index_space/index_space.h"

#include <cstdlib>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace sluice::space {
namespace {

/// The first and the last index a space asks for are computed without overflow.
constexpr int64_t kFarthest = int64_t{1} << 62;

class Verifier {
public:
  Verifier(const IndexSpace &space, std::string &why) : space(space), why(why) {}

  bool run() {
    for (auto [index, loop] : llvm::enumerate(space.loops))
      if (loop.extent < 1)
        return refuse("IS-EMPTY", "loop {0} has extent {1}; it must be at least 1", index,
                      loop.extent);
    for (auto [index, operand] : llvm::enumerate(space.operands))
      if (!projection(operand, {"operand", index}))
        return false;
    for (auto [index, result] : llvm::enumerate(space.results)) {
      const Name name{"result", index};
      if (!projection(result, name) || !covers(result, name))
        return false;
    }
    return true;
  }

private:
  const IndexSpace &space;
  std::string &why;

  /// Of an operand or a result, as text only if a rule is broken.
  struct Name {
    const char *kind;
    size_t index;
    friend llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Name &name) {
      return os << name.kind << ' ' << name.index;
    }
  };

  template <typename... Args>
  bool refuse(llvm::StringRef rule, const char *format, const Args &...args) {
    why = (llvm::formatv(format, args...).str() + " (" + rule + ")").str();
    return false;
  }

  /// What holds for operands and results.
  bool projection(const Projection &one, const Name &name) {
    if (one.loops() != space.loops.size())
      return refuse("IS-AFFINE", "the map of {0} has {1} loops; the index space has {2}", name,
                    one.loops(), space.loops.size());
    if (!isAffine(one.map))
      return refuse("IS-AFFINE", "the map of {0} is {1}; divisions and symbols are not allowed",
                    name, one.map);
    if (one.region.size() != one.rank() || one.tensor.size() != one.rank())
      return refuse(
          "IS-SHAPE",
          "the map of {0} has {1} axes, its region {2} and its tensor {3}; they must be equal",
          name, one.rank(), one.region.size(), one.tensor.size());
    for (unsigned axis = 0; axis < one.rank(); ++axis)
      if (one.region[axis] < 1)
        return refuse("IS-EMPTY",
                      "the region of {0} has extent {1} along axis {2}; it must be at least 1",
                      name, one.region[axis], axis);
    const ProjectionSteps steps = stepsOf(one);
    return inside(one, steps, name) && coherent(steps, name);
  }

  bool inside(const Projection &one, const ProjectionSteps &steps, const Name &name) {
    for (unsigned axis = 0; axis < one.rank(); ++axis) {
      __int128 low = steps.first[axis], high = low + one.region[axis] - 1;
      for (auto [loop, of] : llvm::enumerate(space.loops)) {
        const __int128 reach = static_cast<__int128>(steps.loops[loop][axis]) * (of.extent - 1);
        (reach < 0 ? low : high) += reach;
      }
      if (low < -kFarthest || high > kFarthest)
        return refuse("IS-INSIDE", "{0} is indexed beyond 2^62 along axis {1}", name, axis);
      if (!one.outside && (low < 0 || high >= one.tensor[axis]))
        return refuse(
            "IS-INSIDE",
            "{0} is indexed from {1} to {2} along axis {3} of extent {4} and has no value outside",
            name, static_cast<int64_t>(low), static_cast<int64_t>(high), axis, one.tensor[axis]);
    }
    return true;
  }

  bool coherent(const ProjectionSteps &steps, const Name &name) {
    for (auto [loop, of] : llvm::enumerate(space.loops)) {
      const auto axes = llvm::count_if(steps.loops[loop], [](int64_t step) { return step != 0; });
      if (of.extent > 1 && axes > 1)
        return refuse(
            "IS-COHERENT",
            "a step of loop {0} moves the region of {1} along {2} axes, allowed: at most 1", loop,
            name, axes);
    }
    return true;
  }

  /// Arithmetic progressions and a run tile 0..n-1 exactly once if and only if,
  /// in the order of their steps, each step is what all before it cover.
  bool covers(const Projection &result, const Name &name) {
    if (result.outside)
      return refuse("IS-COVER", "{0} is written and must not have a value outside", name);
    const ProjectionSteps steps = stepsOf(result);
    for (auto [loop, of] : llvm::enumerate(space.loops)) {
      if (of.extent == 1)
        continue;
      const bool moves = llvm::any_of(steps.loops[loop], [](int64_t step) { return step != 0; });
      if (of.kind == LoopKind::Reduced && moves)
        return refuse("IS-REDUCED", "loop {0} is reduced and must not move {1}", loop, name);
      if (of.kind != LoopKind::Reduced && !moves)
        return refuse("IS-COVER", "every step of loop {0} writes the same elements of {1}", loop,
                      name);
    }
    for (unsigned axis = 0; axis < result.rank(); ++axis) {
      llvm::SmallVector<std::pair<int64_t, int64_t>> progressions; // step, extent
      int64_t first = steps.first[axis];
      for (auto [loop, of] : llvm::enumerate(space.loops))
        if (const int64_t step = steps.loops[loop][axis]; step != 0 && of.extent > 1) {
          progressions.emplace_back(std::abs(step), of.extent);
          first += step < 0 ? step * (of.extent - 1) : 0;
        }
      llvm::sort(progressions);
      int64_t covered = result.region[axis];
      for (const auto &[step, extent] : progressions) {
        if (step != covered)
          return refuse("IS-COVER",
                        step < covered ? "elements of {0} are written more than once along axis "
                                         "{1}: a step of {2} over {3} elements"
                                       : "elements of {0} are never written along axis {1}: a step "
                                         "of {2} over {3} elements",
                        name, axis, step, covered);
        covered *= extent;
      }
      if (first != 0 || covered != result.tensor[axis])
        return refuse("IS-COVER",
                      "only elements {0} to {1} of {2} are written along axis {3} of extent {4}",
                      first, first + covered - 1, name, axis, result.tensor[axis]);
    }
    return true;
  }
};

} // namespace

Extents IndexSpace::extents() const {
  return llvm::map_to_vector<4>(loops, [](const Loop &loop) { return loop.extent; });
}

bool verify(const IndexSpace &space, std::string &why) { return Verifier(space, why).run(); }

llvm::StringRef nameOf(LoopKind kind) {
  return kind == LoopKind::Parallel ? "parallel" : "reduced";
}

} // namespace sluice::space
