// The vocabulary of the data dimension: what an operation's rule is asked and
// how it answers. docs/data-dimension.md has the rules by id.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace mlir {
class Operation;
}

namespace sluice::ir {

/// The data dimension of a constant: none.
inline constexpr int8_t kNoDim = -1;

/// An axis of a tensor that products with constants sum over.
struct SummedAxis {
  int64_t axis = 0;
  int64_t products = 0; ///< of blocks, with each row of lanes along the axis
};

/// What a rule needs to know about an operation. Shapes are carried shapes:
/// rank 0 appears as [1].
struct LayoutQuery {
  llvm::SmallVector<llvm::SmallVector<int64_t, 4>, 2> operands;
  llvm::SmallVector<bool, 2> constant; ///< per operand: known at compile time
  llvm::SmallVector<int64_t, 4> result;
  /// Of the result, if products with constants are all that reads it: the axes that
  /// each of them sums over.
  llvm::SmallVector<SummedAxis, 1> summed;
  int64_t lanes = 8; ///< elements of a row, for costs
  int64_t cores = 1; ///< that share the work, for costs
  bool allowDynamicWeights = false;
  bool allowRewrites = false; ///< adds tuples with LayoutTuple::rewrite

  /// Rows of tensor RAM that hold a tensor with this data dimension.
  [[nodiscard]] int64_t rows(llvm::ArrayRef<int64_t> shape, int64_t dim) const;
};

/// One allowed assignment.
struct LayoutTuple {
  llvm::SmallVector<int8_t, 4> dims; ///< of each operand (kNoDim: constant), then of the result
  llvm::StringLiteral rule;          ///< "DD-PW"
  llvm::StringRef why;               ///< clause for a chain of deductions, a literal
  int64_t cost = 0;                  ///< cycles of a rough model, to choose between tuples
  int64_t writes = 0;                ///< of them, rows of activations that become weights
  llvm::StringRef rewrite = {}; ///< how the operation changes to allow this; empty: it does not
  int64_t rewriteCost = 0;      ///< cycles more than without the change

  [[nodiscard]] int8_t result() const { return dims.back(); }
};

/// A rule by name, for the tuples of an operation that has one rule only.
struct LayoutRule {
  llvm::StringLiteral id; ///< "DD-SLICE"
  llvm::StringRef why;    ///< LayoutTuple::why
};

/// Every assignment an operation allows.
using LayoutRelation = llvm::SmallVector<LayoutTuple, 4>;

/// What is said when no assignment fits.
struct LayoutRefusal {
  llvm::StringLiteral code;    ///< "E0302"
  llvm::StringLiteral rule;    ///< "DD-MM-CONST"
  llvm::StringLiteral formula; ///< the rule in one line
  std::string message;
};

/// The refusal of a rule: its code and formula from the table of rules.
LayoutRefusal refusal(llvm::StringRef rule, std::string message);

/// Adds the tuples of an operation whose runtime operands and result share one data dimension.
/// `cost` returns the cycles if that is a given axis of the result.
void addEqual(const LayoutQuery &query, LayoutRelation &relation, llvm::StringLiteral rule,
              llvm::StringRef why, llvm::function_ref<int64_t(int64_t)> cost);

/// A change of the operation that may remove a conflict.
struct LayoutFix {
  std::string text;
  LayoutRelation relation; ///< of the changed operation, on the same operands and result
  /// Makes the change at the operation of a copy of the function. False if what follows
  /// does not take the result as it is then.
  std::function<bool(mlir::Operation *)> apply;
};

/// What it costs to move a tensor to another data dimension.
struct RelayoutCost {
  int64_t cycles = 0;
  bool dynamic = false; ///< as weights times unit vectors; else by selection matrices
};
RelayoutCost relayoutCost(llvm::ArrayRef<int64_t> shape, int64_t from, int64_t to,
                          const LayoutQuery &query);

/// "[a b! c]": extents with the data dimension marked; "[]" for rank 0.
std::string notation(llvm::ArrayRef<int64_t> shape, std::optional<int64_t> dim = std::nullopt);

/// The axis a reshape moves the data dimension to: the leftmost axis of `to`
/// with the stride of axis `dim` of `from`. Empty if there is none.
std::optional<int64_t> reshapeDim(llvm::ArrayRef<int64_t> from, int64_t dim,
                                  llvm::ArrayRef<int64_t> to);

/// Neighbouring axes: `first` and those up to before `end`.
struct AxisRange {
  int64_t first = 0, end = 0;
  [[nodiscard]] bool contains(int64_t axis) const { return axis >= first && axis < end; }
};

/// The axes of `from` that a reshape makes axis `axis` of `to` from, those of extent 1
/// beside them included. Empty if it takes parts of axes.
std::optional<AxisRange> mergedAxes(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to,
                                    int64_t axis);

} // namespace sluice::ir
