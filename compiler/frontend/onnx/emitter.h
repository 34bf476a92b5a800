// Writes operations of the sluice dialect for the importer. Every operation is
// checked with the dialect's shape rules before it is built, because a builder
// whose inference fails ends the process; a refusal is a NodeError.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/dialect/sluice/attributes.h"
#include "compiler/frontend/onnx/host_tensor.h"
#include "compiler/frontend/onnx/integer_range.h"
#include "compiler/frontend/onnx/lookup.h"
#include "compiler/frontend/onnx/report.h"
#include "compiler/frontend/onnx/scalars.h"
#include "compiler/reference/axes.h"
#include "mlir/IR/Builders.h"
#include "runtime/format/host_tensor.h"

namespace sluice::frontend {

/// What a name of the model stands for.
enum class ValueKind : uint8_t {
  Tensor,
  Sequence, ///< of tensors, whose number is known
  Absent    ///< an optional without a value; one that has a value is that value
};

/// A tensor during import: known now, or computed by the program. A sequence is its elements.
struct Tensor {
  DataType type = onnx::TensorProto::FLOAT; ///< as in the model; the IR is fp32
  Shape shape;
  HostTensorRef known; ///< set if it does not depend on the model's inputs
  mlir::Value value;   ///< set if it does
  std::string name;    ///< known: the ONNX name, "w.T" of its transpose; may be empty
  ValueKind kind = ValueKind::Tensor;
  std::vector<Tensor> elements = {}; ///< of a sequence; `type` is theirs
  /// Of integers that the program computes, also as floats: narrower than the type's.
  std::optional<IntegerRange> range = std::nullopt;
  /// Of what depends on the elements of one integer input alone, element by element.
  ArrayLookupRef lookup = nullptr;
  std::vector<ArrayView> views = {}; ///< of the looked-up tensor, the first one first
  /// Of a constant that is integers times scales: they, less the zero points, as floats, and the
  /// scales, which have one element along every axis but one.
  HostTensorRef factors = nullptr, factorScales = nullptr;
  /// Of indices that the program computes: it has their codes (runtime/format/index_code.h). Views
  /// keep them, and the host decodes them.
  bool codes = false;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }

  bool isTensor() const { return kind == ValueKind::Tensor; }

  static Tensor ofKnown(HostTensor tensor, std::string name = {});
  static Tensor sequence(DataType type, std::vector<Tensor> elements);
  static Tensor absent(DataType type);
};

/// "a sequence of 2 tensors", "an empty optional"; of what is no tensor.
std::string kindText(const Tensor &value);

/// A known tensor with its elements in the type that it has: a map gives floats for bools.
Tensor withElementsOfItsType(Tensor tensor);

/// The values that a tensor of integers or bools may have.
IntegerRange rangeOf(const Tensor &tensor);

/// A known tensor of integers or bools as one of floats; others as they are.
Tensor asFloats(const Tensor &tensor);

/// The value of a condition, where it is known.
std::optional<bool> truthOf(const Tensor &condition);

/// A node that cannot be imported; caught where the node is.
struct NodeError {
  ErrorCode code = ""; ///< empty: what is wrong is already reported
  std::string message;
  std::vector<Fix> fixes = {};
};

/// The body of a map: the scalar result from the scalar operands.
using ScalarBody = std::function<mlir::Value(const Scalars &, mlir::ValueRange)>;

/// What a loop takes one element of along an axis in each trip.
struct Sequence {
  Tensor tensor;
  reference::LoopAxis along;
};

/// What a loop begins with, reads and collects.
struct LoopFrame {
  int64_t trips = 1;
  std::vector<Tensor> initial;
  std::vector<Sequence> sequences;
  std::vector<reference::LoopAxis> stacks;
};

/// The next carried values, then what goes to the stacks, from the carried values and the
/// elements of the sequences.
using LoopBody = std::function<std::vector<Tensor>(const std::vector<Tensor> &)>;

class Emitter {
public:
  explicit Emitter(mlir::OpBuilder &builder)
      : builder(builder), location(builder.getUnknownLoc()) {}

  mlir::OpBuilder &ir() { return builder; }
  mlir::Location where() const { return location; }
  void setLocation(mlir::Location where) { location = where; }
  /// The inputs of the model, and what adds one of the function that the host makes from them.
  using AddArgument = std::function<mlir::Value(const Shape &shape, size_t array, ArrayLookupRef,
                                                std::optional<format::Quantisation>)>;
  void setArrays(Arrays &inputs, AddArgument add) {
    arrays = &inputs;
    addArgument = std::move(add);
  }
  /// What adds an input of the function that the host fills with random numbers.
  using AddRandom = std::function<mlir::Value(const Shape &shape, format::HostType type,
                                              const random::RandomNumbers &)>;
  void setRandom(AddRandom add) { addRandom = std::move(add); }
  /// Random numbers that differ in every inference, of a floating-point type.
  Tensor randomNumbers(DataType type, const Shape &shape, const random::RandomNumbers &numbers) {
    return {type, shape, nullptr, addRandom(shape, *hostType(type), numbers), {}};
  }
  /// Where constants are written; everything else goes behind them, or into loops.
  void setConstants(mlir::Block &block) { home = &block; }
  /// What a user can do where a tensor has no elements and needs some.
  void setFixesForEmpty(std::vector<Fix> fixes) { fixesForEmpty = std::move(fixes); }

  /// The tensor as a value; a known one becomes a constant, each once, if bf16 has its integers.
  mlir::Value value(const Tensor &tensor);

  /// The function of ONNX-broadcast operands: `body` takes one scalar per
  /// operand. A known operand of one element becomes a scalar of the body
  /// unless all operands are known; an operand given twice is passed once. A small one of known
  /// floats is known.
  Tensor pointwise(const std::vector<Tensor> &operands, const ScalarBody &body);
  /// The same of a tensor and constants that may be a line, scale * x + shift: it and the lines
  /// before it become one where that takes fewer operations (emitter_lines.cpp).
  Tensor line(const std::vector<Tensor> &operands, const ScalarBody &body);
  [[nodiscard]] std::optional<Tensor> negationOf(const Tensor &tensor) const;
  /// Says that several nodes read a tensor: it is computed anyway, and no line goes past it.
  void setShared(const Tensor &tensor);

  /// Of restored integers and a constant of scaled ones, the product of the integers times both
  /// scales: the weights stay integers, which bf16 has.
  Tensor matmul(const Tensor &lhs, const Tensor &rhs);
  /// Sum of products over `loops` loops; `axes` names the loop of each axis of lhs, rhs and result.
  /// It may keep the data dimension (DD-MM-BAND).
  Tensor contract(size_t loops, const std::vector<std::vector<size_t>> &axes, const Tensor &lhs,
                  const Tensor &rhs);
  /// What a window sees of `input`, and `outside` it.
  Tensor window(const Tensor &input, const reference::Window &window, float outside);
  Tensor reduce(ir::Monoid monoid, const Tensor &input, const Shape &axes, bool keepdims);
  /// These rearrange a known tensor at once.
  Tensor transpose(const Tensor &input, const Shape &permutation);
  Tensor reshape(const Tensor &input, const Shape &shape);
  Tensor unsqueeze(const Tensor &input, const Shape &axes);
  Tensor squeeze(const Tensor &input, const Shape &axes);
  /// A slice without elements is known, whatever it is of.
  Tensor slice(const Tensor &input, const Shape &starts, const Shape &sizes, const Shape &steps);
  /// A border of `value`; a known tensor is not padded at import.
  Tensor pad(const Tensor &input, const Shape &low, const Shape &high, float value);
  /// Inputs without elements add nothing.
  Tensor concat(const std::vector<Tensor> &inputs, int64_t axis);
  /// Every axis so often, one copy behind the other; axes of extent 1 are broadcast.
  Tensor tile(const Tensor &input, const Shape &counts);
  /// Every element along an axis so often, behind itself.
  Tensor repeat(const Tensor &input, int64_t axis, int64_t count);
  /// Tensors of one shape in turns along an axis.
  Tensor interleave(const std::vector<Tensor> &inputs, int64_t axis);
  /// Unsqueezes in front and repeats axes of extent 1. A known tensor is not repeated at import.
  Tensor broadcast(const Tensor &input, const Shape &shape);

  /// Rows of a known table along its first axis, chosen by a tensor that is looked up; the axes of
  /// a row are behind those of the indices.
  Tensor chosenRows(const Tensor &table, const Tensor &indices);
  /// An input of the model, quantised by the host in fp32. Nothing if `x` is none.
  std::optional<Tensor> quantisedInput(const Tensor &x, const format::Quantisation &how);

  /// A loop with at least one trip, its body written once: the last carried values, then the
  /// stacks. Nothing is left of it if `body` throws.
  std::vector<Tensor> loop(const LoopFrame &frame, const LoopBody &body);

  // Restored integers (emitter_integers.cpp).

  /// Integers that are restored to real numbers: they, and how.
  struct Restored {
    mlir::Value integers;
    format::Quantisation how;
  };
  void setRestored(const Tensor &tensor, const Restored &from);
  /// Nothing if the tensor is not restored, or is a view of what is.
  [[nodiscard]] std::optional<Restored> restored(const Tensor &tensor) const;
  /// Integers less their zero point, and their scale.
  struct Centred {
    Tensor integers;
    float scale;
  };
  /// Nothing if the tensor is not restored by one scale, views included.
  std::optional<Centred> centred(const Tensor &tensor);
  /// Returns the views of what `function`, which goes element by element, makes of the tensors that
  /// `tensor` is views of. Nothing if `tensor` is no view, or one of constants.
  std::optional<Tensor> throughViews(const Tensor &tensor,
                                     const std::function<Tensor(const Tensor &)> &function);
  /// The sum, mean, maximum or minimum of `count` restored integers each, which `merge` makes of
  /// these and then scales. Nothing of other tensors and monoids.
  std::optional<Tensor>
  mergedIntegers(ir::Monoid monoid, const Tensor &input, int64_t count,
                 const std::function<Tensor(ir::Monoid, const Tensor &)> &merge);
  /// The integers of both less their zero points, and their scales: that of the constant has the
  /// rank of the result.
  struct IntegerFactors {
    Tensor x, weights, scale;
    float xScale;
  };
  /// Nothing if `x` is not restored or `weights` are no scaled integers, or if these have scales
  /// along another axis than `axis`, which in the result has `fromLast` axes behind it.
  std::optional<IntegerFactors> integerFactors(const Tensor &x, const Tensor &weights, int64_t axis,
                                               int64_t fromLast);
  Tensor scaled(const Tensor &x, float scale);
  /// The product of the integers times their scales.
  Tensor scaled(const Tensor &product, const IntegerFactors &by);

private:
  bool findSources(mlir::Value value, unsigned depth, std::vector<mlir::Value> &found) const;
  mlir::Value rebuilt(mlir::Value value, const std::function<mlir::Value(mlir::Value)> &source);
  Tensor folded(const std::vector<Tensor> &operands, const Shape &shape, const ScalarBody &body);
  std::optional<Tensor> pointwiseOfArray(const std::vector<Tensor> &operands, const Shape &shape,
                                         const ScalarBody &body);
  [[nodiscard]] bool isFixed(mlir::Value value) const;
  std::optional<Tensor> asLine(const std::vector<Tensor> &operands, const ScalarBody &body);
  std::optional<Tensor> asMean(const Tensor &x, double factor);
  std::optional<Tensor> factorsBehind(const Tensor &lhs, const Tensor &rhs);
  Tensor lookedUp(DataType type, const Tensor &by, ArrayLookup lookup);
  Tensor viewed(const Tensor &input, Tensor result, ArrayView view);
  std::optional<Tensor> evaluated(DataType type, mlir::Value value);
  Tensor computed(DataType type, mlir::Value value);
  mlir::Value transposed(mlir::Value value, Shape permutation);
  void addParts(const Tensor &input, int64_t axis, std::vector<Tensor> &parts) const;
  std::optional<Tensor> undone(const Tensor &input, const Shape &shape);
  std::optional<Tensor> asTranspose(const Tensor &input, const Shape &shape);
  std::optional<Tensor> withKeptAxes(const Tensor &input, const Shape &shape);
  std::optional<Tensor> withoutKeptAxes(const Tensor &input, const Shape &shape);
  /// Elements of `inputs`, of the type of the first.
  Tensor selected(const std::vector<Tensor> &inputs, mlir::Value value);

  mlir::OpBuilder &builder;
  mlir::Location location;
  mlir::Block *home = nullptr;
  std::map<HostTensorRef, mlir::Value> constants;
  std::vector<Fix> fixesForEmpty;
  Arrays *arrays = nullptr;
  AddArgument addArgument;
  AddRandom addRandom;
  llvm::DenseMap<mlir::Value, Restored> restoredValues;
  llvm::DenseSet<mlir::Value> sharedValues;
  uint64_t evaluatedWork = 0; ///< spent on operations on constants
};

/// The shape that numpy's rule broadcasts `shapes` to, or nothing.
std::optional<Shape> broadcastShape(const std::vector<Shape> &shapes);

/// Flat index in a tensor of shape `from` of element `flat` of its broadcast to `to`.
int64_t broadcastIndex(const Shape &from, const Shape &to, int64_t flat);

/// Row-major strides in elements.
Shape stridesOf(const Shape &shape);

} // namespace sluice::frontend
