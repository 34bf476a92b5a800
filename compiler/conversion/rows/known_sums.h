// Sums of products that were made before, with the same weights.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include "compiler/conversion/rows/linear_sum.h"

namespace sluice::rows {

/// The sums of one operation, or of all operations with the same constant: further positions of a
/// layer, and further steps of a recurrence, multiply the same weights. A sum is used again where
/// its elements lie in rows and lanes in the same way.
class KnownSums {
public:
  /// Operations with equal weights share their sums.
  struct Weights {
    mlir::Value constant;
    std::vector<int64_t> loops; ///< extents and strides in the constant
    bool operator<(const Weights &other) const {
      return std::pair(constant.getAsOpaquePointer(), loops) <
             std::pair(other.constant.getAsOpaquePointer(), other.loops);
    }
  };
  /// Where in the constant the weights of a sum begin, and its first lane.
  using Place = std::pair<int64_t, size_t>;
  /// A sum depends on its weights and on these.
  struct Factors {
    std::vector<Element> elements; ///< [lane, unless they are shared][trip of the summed loops]
    std::vector<double> scale;     ///< by lane; empty: 1
    /// Typical values by trip of the summed loops; empty if the sum has no bias.
    std::vector<double> means;
    bool operator==(const Factors &) const = default;
  };

  /// Returns the sum, made if it is not known. If nobody else will ask for one with its weights, a
  /// sum that is made is not kept.
  LinearSum::Rounded sumOf(const Place &place, const Factors &factors, bool isLast,
                           llvm::function_ref<LinearSum::Rounded()> make);

private:
  struct Known {
    Factors factors;        ///< rows replaced by their order of appearance
    LinearSum::Rounded sum; ///< its sources too
  };
  std::map<Place, std::vector<Known>> known;
};

} // namespace sluice::rows
