// Inference of the data dimension of every tensor of a function. The rules come from the operations
// (LayoutInterface); docs/errors/E03xx.md explains the errors.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/dialect/sluice/layout.h"
#include "compiler/support/repair.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace sluice::layout {

/// The changes that layout may make to a function without a solution.
enum class Rewrites : uint8_t {
  None,
  Free, ///< only changes that cost no cycle
  Any,
};

/// The outcome of compiling a changed model.
struct Trial {
  bool compiles = false;
  std::optional<uint64_t> cycles; ///< of one inference; nothing if measuring them takes too long
  std::vector<Change> rewrites;   ///< changes that --rewrite-layout made
};

struct DataDimensionOptions {
  /// ONNX names of tensors, and the axis that each must have as its data dimension (--data-dim).
  std::vector<std::pair<std::string, int64_t>> pins;
  /// Tensors by ONNX name, for `pins`. A null value stands for a constant. Names that are not here
  /// are looked up in the function.
  llvm::StringMap<mlir::Value> names;
  bool allowDynamicWeights = false;
  Rewrites rewrites = Rewrites::Free;
  bool findFixes = true;        ///< name fixes in errors
  bool offerRewrites = false;   ///< name the cheapest rewrites in errors
  int64_t lanes = 8, cores = 1; ///< of the target, for costs
  uint64_t budget = 2'000'000;  ///< revisions that the search of one component may take
  /// If dynamic weights and all rewrites are allowed: use dynamic weights only for products that no
  /// rewrite helps.
  bool rewriteFirst = false;
  /// With rewriteFirst: the products that may use dynamic weights; empty until they are known.
  llvm::DenseSet<mlir::Operation *> dynamicProducts;
  /// tryCopy compiles a changed copy of the function, alone in its module; tryFlags compiles the
  /// model with other flags. Both return nothing if that would take too long. If they are null,
  /// only the layout of a fix is checked.
  std::function<std::optional<Trial>(mlir::FunctionOpInterface, DataDimensionOptions)> tryCopy;
  std::function<std::optional<Trial>(RepairFlags)> tryFlags;
};

/// A change at one operation with which a function has a layout.
struct LayoutRewrite {
  /// A tensor that gets another data dimension before the operation reads it, or after the
  /// operation writes it.
  struct Relayout {
    unsigned tensor = 0; ///< index of the operand; the number of operands stands for the result
    int64_t outside = 0, inside = 0; ///< data dimension for other operations, and for this one
  };
  mlir::Operation *op = nullptr;
  ir::LayoutTuple tuple; ///< data dimensions of the operation
  std::vector<Relayout> relayouts;
  int64_t cost = 0; ///< in cycles of a rough model
  /// "relayout of operand 1 'x' from [3 4!] to [3! 4]". The text is empty if only axes of extent 1
  /// change places (DD-ONE).
  Change change;
};

/// The data dimensions of one function, or its problems.
struct DataDimensions {
  struct Entry {
    int64_t dim;
    std::string why; ///< one clause
  };
  /// Every runtime tensor, in program order; empty if there are problems.
  llvm::MapVector<mlir::Value, Entry> dims;
  int64_t cost = 0;             ///< of this choice, in cycles of a rough model
  std::vector<NodeRef> dynamic; ///< products that use activations as weights
  bool optimal = true;          ///< the budget was enough to prove the least cost
  /// The changes to make first, and the tensors that `pins` name, if the function has a solution
  /// only with changes that DataDimensionOptions::rewrites allows. `dims` and `problems` are then
  /// empty. layOut() makes the changes.
  std::vector<LayoutRewrite> rewrites;
  /// With rewriteFirst: the value for DataDimensionOptions::dynamicProducts.
  llvm::DenseSet<mlir::Operation *> dynamicProducts;
  std::vector<std::pair<std::string, mlir::Value>> pinned;
  /// After layOut: the new tensor for each replaced tensor. The keys may be erased values.
  llvm::DenseMap<mlir::Value, mlir::Value> replaced;
  Problems problems;
  /// The location of each problem, for diagnostics.
  std::vector<mlir::Location> locations;
};

/// The values of a function that are known at compile time: constants, and values computed from
/// constants alone.
class ConstantValues {
public:
  explicit ConstantValues(mlir::FunctionOpInterface function);
  bool contains(mlir::Value value) const { return constants.contains(value); }

private:
  llvm::DenseSet<mlir::Value> constants;
};

/// Infers the data dimensions of a function with one block. Encodings on types are pins.
DataDimensions inferDataDimensions(mlir::FunctionOpInterface function,
                                   DataDimensionOptions options);

/// Returns the ONNX name of a tensor, from the attribute of an argument or the location of a
/// result. Returns an empty string if it has none.
std::string tensorName(mlir::Value value);

} // namespace sluice::layout
