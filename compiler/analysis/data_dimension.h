// The data dimension of every tensor of a function, or why there is none.
// The rules are the operations' own (LayoutInterface); docs/errors/E03xx.md has
// the problems.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/support/problem.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace sluice::analysis {

struct DataDimensionOptions {
  /// Tensors by ONNX name and the axis they must have as data dimension.
  std::vector<std::pair<std::string, int64_t>> pins;
  /// Tensors by ONNX name, for pins; no value: a constant. Other names are
  /// looked for in the function.
  llvm::StringMap<mlir::Value> names;
  bool allowDynamicWeights = false;
  int64_t lanes = 8;           ///< of the target, for costs
  uint64_t budget = 2'000'000; ///< revisions spent on searching one component
};

/// What was found for one function.
struct DataDimensions {
  struct Entry {
    int64_t dim;
    std::string why; ///< one clause
  };
  /// Every runtime tensor, in program order; empty if there are problems.
  llvm::MapVector<mlir::Value, Entry> dims;
  int64_t cost = 0;    ///< of the choice, in cycles of a rough model
  bool optimal = true; ///< proved to be the least cost
  Problems problems;
  /// Where each problem is, for diagnostics.
  std::vector<mlir::Location> locations;
};

/// Whether a value is known at compile time: a constant, or computed from
/// constants alone.
class ConstantValues {
public:
  explicit ConstantValues(mlir::FunctionOpInterface function);
  bool contains(mlir::Value value) const { return constants.contains(value); }

private:
  llvm::DenseSet<mlir::Value> constants;
};

/// Solves a function of one block. Encodings on types are pins.
DataDimensions inferDataDimensions(mlir::FunctionOpInterface function,
                                   const DataDimensionOptions &options);

/// The ONNX name of a tensor: the attribute of an argument, the location of a
/// result. Empty if it has none.
std::string tensorName(mlir::Value value);

} // namespace sluice::analysis
