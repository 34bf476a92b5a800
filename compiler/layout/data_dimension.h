// The data dimension of every tensor of a function, or why there is none.
// The rules are the operations' own (LayoutInterface); docs/errors/E03xx.md has
// the problems.
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

/// Which changes of a function without a solution are looked for.
enum class Rewrites : uint8_t {
  None,
  Free, ///< those that cost no cycle
  Any,
};

/// What compiling a changed model found out.
struct Trial {
  bool compiles = false;
  std::optional<uint64_t> cycles; ///< of one inference; nothing if finding them takes too long
  std::vector<Change> rewrites;   ///< that --rewrite-layout made
};

struct DataDimensionOptions {
  /// Tensors by ONNX name and the axis they must have as data dimension.
  std::vector<std::pair<std::string, int64_t>> pins;
  /// Tensors by ONNX name, for pins; no value: a constant. Other names are
  /// looked for in the function.
  llvm::StringMap<mlir::Value> names;
  bool allowDynamicWeights = false;
  Rewrites rewrites = Rewrites::Free;
  bool offerRewrites = false;   ///< name the cheapest rewrites in refusals
  int64_t lanes = 8, cores = 1; ///< of the target, for costs
  uint64_t budget = 2'000'000;  ///< revisions spent on searching one component
  /// With dynamic weights and all rewrites allowed: products use dynamic weights only where no
  /// rewrite helps.
  bool rewriteFirst = false;
  /// With rewriteFirst: the products that may use dynamic weights; empty until they are found.
  llvm::DenseSet<mlir::Operation *> dynamicProducts;
  /// Compile a copy of the function with a change, alone in a module, and the model with these
  /// flags; nothing if that would take too long. Without them, layouts are all that is checked of a
  /// fix.
  std::function<std::optional<Trial>(mlir::FunctionOpInterface, DataDimensionOptions)> tryCopy;
  std::function<std::optional<Trial>(RepairFlags)> tryFlags;
};

/// A change at one operation that lets a function lay out.
struct LayoutRewrite {
  /// A tensor of the operation whose data dimension is another one on the outside.
  struct Relayout {
    unsigned tensor = 0; ///< operand; the number of operands: the result
    int64_t outside = 0, inside = 0;
  };
  mlir::Operation *op = nullptr;
  ir::LayoutTuple tuple; ///< of the operation
  std::vector<Relayout> relayouts;
  int64_t cost = 0; ///< in cycles of a rough model
  /// "relayout of operand 1 'x' from [3 4!] to [3! 4]"; without a text: no change but axes of
  /// extent 1 that swap places (DD-ONE).
  Change change;
};

/// What was found for one function.
struct DataDimensions {
  struct Entry {
    int64_t dim;
    std::string why; ///< one clause
  };
  /// Every runtime tensor, in program order; empty if there are problems.
  llvm::MapVector<mlir::Value, Entry> dims;
  int64_t cost = 0;             ///< of the choice, in cycles of a rough model
  std::vector<NodeRef> dynamic; ///< products that use activations as weights
  bool optimal = true;          ///< proved to be the least cost
  /// Without a solution, if DataDimensionOptions::rewrites are enough: what has to
  /// be done first (layOut does it), and the tensors pinned by name. Then there are no
  /// problems and no dims yet.
  std::vector<LayoutRewrite> rewrites;
  /// With rewriteFirst: see DataDimensionOptions::dynamicProducts.
  llvm::DenseSet<mlir::Operation *> dynamicProducts;
  std::vector<std::pair<std::string, mlir::Value>> pinned;
  /// After layOut: tensors of the function before it that others stand for.
  /// The keys may be gone.
  llvm::DenseMap<mlir::Value, mlir::Value> replaced;
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
                                   DataDimensionOptions options);

/// The ONNX name of a tensor: the attribute of an argument, the location of a
/// result. Empty if it has none.
std::string tensorName(mlir::Value value);

} // namespace sluice::layout
