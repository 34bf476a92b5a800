#include "compiler/costs/through.h"

#include "llvm/ADT/STLExtras.h"

namespace sluice::space {

std::optional<Projection> through(const Projection &of, const Projection &view) {
  if (of.outside || view.loops() != of.rank() ||
      llvm::any_of(of.region, [](int64_t extent) { return extent != 1; }))
    return std::nullopt;
  return Projection{mlir::simplifyAffineMap(view.map.compose(of.map)), view.region, view.tensor,
                    view.outside};
}

} // namespace sluice::space
