// Golden evaluation of the body of a map: scalar arith and math operations,
// one element at a time, in double.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include "compiler/reference/function.h"

namespace mlir {
class Block;
class Operation;
class Region;
namespace arith {
class ConstantOp;
} // namespace arith
} // namespace mlir

namespace sluice::reference {

/// Whether a map's body may hold this operation (arith and math on scalar
/// floats and booleans, those the evaluator knows).
bool isScalarOperation(mlir::Operation *op);

/// What a scalar operation computes; nothing for a constant and for operations that are not
/// scalar operations.
std::optional<Function> functionOf(mlir::Operation *op);

/// A function and the values that it is applied to.
struct Applied {
  Function function;
  llvm::SmallVector<mlir::Value, 3> operands;
};

/// Returns what a scalar operation computes, and of what; not for a constant. log1p(exp(x)) is the
/// softplus of x: computed one by one, the exponential overflows where the logarithm is x.
Applied appliedBy(mlir::Operation *op);

/// Returns the value of a scalar constant; booleans are 0 and 1.
double constantOf(mlir::arith::ConstantOp op);

/// A map's body, decoded once and evaluated for many inputs. Holds no pointer
/// into the region.
class ScalarProgram {
public:
  /// Decodes a region of one block whose terminator names the result. Every
  /// operation must satisfy isScalarOperation, values are defined in the block.
  explicit ScalarProgram(mlir::Region &body);
  /// Decodes another scalar of a body instead of its result.
  ScalarProgram(mlir::Block &body, mlir::Value scalar);

  /// The value for one element of each operand. Every operation computes in
  /// double; booleans are 0 and 1.
  double operator()(llvm::ArrayRef<double> inputs) const;

private:
  struct Step {
    double (*function)(const double *operands); ///< null: the constant
    double constant;
    unsigned operands[3];
  };
  unsigned inputs = 0;
  unsigned result = 0;
  std::vector<Step> steps;
};

/// Evaluates a map's body once; for many inputs use ScalarProgram.
double evaluateScalarMap(mlir::Region &body, llvm::ArrayRef<double> inputs);

} // namespace sluice::reference
