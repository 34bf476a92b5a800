// Where the rows of values are that are views of others: a view that selects whole rows has none of
// its own.
#pragma once

#include <memory>
#include <vector>

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include "compiler/conversion/rows/row_tensor.h"

namespace sluice::bodies {

using rows::layoutOf;

/// Where the rows of a value are in a family: its own, or that of the value it is a view of.
struct Places {
  mlir::Value of;
  std::vector<int64_t> rows; ///< by row of the value
};

/// Remembers what it has found.
class ViewPlaces {
public:
  explicit ViewPlaces(int64_t lanes) : lanes(lanes) {}

  /// Stays where it is.
  const Places &of(mlir::Value value);

  /// The same rows in a value between that one and this, of those that `may` be read the one with
  /// the fewest: a view that repeats rows has them once there.
  Places fewest(mlir::Value value, llvm::function_ref<bool(mlir::Value)> may);

private:
  const int64_t lanes;
  llvm::DenseMap<mlir::Value, std::unique_ptr<Places>> known;
  llvm::DenseMap<mlir::Value, std::unique_ptr<Places>> selected; ///< null: no rows of another

  /// What a view selects whole rows of, and which; null if it does something else.
  const Places *selectedBy(mlir::Value value);
};

} // namespace sluice::bodies
