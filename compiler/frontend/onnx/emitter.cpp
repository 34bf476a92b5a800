#include "compiler/frontend/onnx/emitter.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "compiler/dialect/sluice/folding.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/frontend/onnx/checked_shape.h"
#include "compiler/frontend/onnx/report.h"
#include "compiler/support/fold_limits.h"
#include "runtime/addressing/addressing.h"

namespace sluice::frontend {
namespace {

/// Most elements of a map of constants that is computed at import: what extents, counts and
/// parameters are computed with. Larger ones are folded behind it.
constexpr int64_t kMostFolded = 256;

bool isFoldable(const std::vector<Tensor> &operands, const Shape &shape) {
  return elementCount(shape, kMostFolded) > 0 &&
         std::all_of(operands.begin(), operands.end(),
                     [](const Tensor &operand) { return operand.known->isFloat(); });
}

/// Integers beside those that the program computes are bf16 numbers there.
void checkExact(const Tensor &tensor) {
  for (const int64_t value : tensor.known->ints)
    if (!isExact(value))
      throw NodeError{
          kNotSupported,
          fmt::format(
              "element {2} of the {0} tensor {1} is not exact in bf16, the accelerator's format",
              dataTypeName(tensor.type), shapeText(tensor.shape), value)};
}

bool isScalar(const Tensor &tensor) { return tensor.known && tensor.known->size() == 1; }

} // namespace

Tensor withElementsOfItsType(Tensor tensor) {
  if (!tensor.known || tensor.known->type == tensor.type)
    return tensor;
  HostTensor out{tensor.type, tensor.shape, {}, {}};
  for (const float value : tensor.known->floats)
    if (out.isFloat())
      out.floats.push_back(roundToType(value, out.type));
    else
      out.ints.push_back(wrapToType(static_cast<int64_t>(value), out.type));
  for (const int64_t value : tensor.known->ints)
    if (out.isFloat())
      out.floats.push_back(roundToType(static_cast<double>(value), out.type));
    else
      out.ints.push_back(wrapToType(value, out.type));
  return Tensor::ofKnown(std::move(out), std::move(tensor.name));
}

IntegerRange rangeOf(const Tensor &tensor) {
  if (!tensor.known || tensor.known->isFloat() || tensor.known->size() == 0)
    return tensor.range.value_or(rangeOf(tensor.type));
  const auto [low, high] = std::ranges::minmax(tensor.known->ints);
  return {static_cast<double>(low), static_cast<double>(high)};
}

Tensor asFloats(const Tensor &tensor) {
  if (!tensor.known || tensor.known->isFloat())
    return tensor;
  const std::vector<int64_t> &ints = tensor.known->ints;
  return Tensor::ofKnown(
      HostTensor::ofFloats(tensor.shape, std::vector<float>(ints.begin(), ints.end())),
      tensor.name);
}

std::optional<bool> truthOf(const Tensor &condition) {
  if (!condition.known || condition.known->isFloat() || condition.known->size() != 1)
    return std::nullopt;
  return condition.known->ints.front() != 0;
}

Tensor Tensor::ofKnown(HostTensor tensor, std::string name) {
  auto shared = std::make_shared<const HostTensor>(std::move(tensor));
  return {shared->type, shared->shape, shared, {}, std::move(name)};
}

Tensor Tensor::sequence(DataType type, std::vector<Tensor> elements) {
  return {type, {}, nullptr, {}, {}, ValueKind::Sequence, std::move(elements)};
}

Tensor Tensor::absent(DataType type) { return {type, {}, nullptr, {}, {}, ValueKind::Absent, {}}; }

std::string kindText(const Tensor &value) {
  if (value.kind == ValueKind::Absent)
    return "an empty optional";
  return fmt::format("a sequence of {} tensor{}", value.elements.size(),
                     value.elements.size() == 1 ? "" : "s");
}

std::optional<Shape> broadcastShape(const std::vector<Shape> &shapes) {
  size_t rank = 0;
  for (const Shape &shape : shapes)
    rank = std::max(rank, shape.size());
  Shape out(rank, 1);
  for (const Shape &shape : shapes)
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t &extent = out[rank - shape.size() + i];
      if (extent != 1 && shape[i] != 1 && extent != shape[i])
        return std::nullopt;
      if (extent == 1)
        extent = shape[i];
    }
  return out;
}

int64_t broadcastIndex(const Shape &from, const Shape &to, int64_t flat) {
  int64_t index = 0, stride = 1;
  for (size_t i = 0; i < to.size(); ++i) {
    int64_t extent = to[to.size() - 1 - i];
    int64_t coordinate = flat % extent;
    flat /= extent;
    if (i < from.size()) {
      int64_t own = from[from.size() - 1 - i];
      index += own == 1 ? 0 : coordinate * stride;
      stride *= own;
    }
  }
  return index;
}

Shape stridesOf(const Shape &shape) { return addressing::rowMajorStrides(shape); }

/// Returns the floats that an operation on constants computes, if that is little work. Importers
/// choose forms by values that are known, however a model spells them. The operation stays: another
/// tensor may be its result, as integers. What nothing reads is erased at the end of the import.
std::optional<Tensor> Emitter::evaluated(DataType type, mlir::Value value) {
  mlir::Operation *op = value.getDefiningOp();
  const auto isConstant = [](mlir::Value operand) {
    if (auto broadcast = operand.getDefiningOp<ir::BroadcastOp>())
      operand = broadcast.getInput();
    return operand.getDefiningOp<ir::ConstantOp>() != nullptr;
  };
  // Views of constants take no room of their own.
  if (!isFloatType(type) ||
      !llvm::isa_and_nonnull<ir::MapOp, ir::ReduceOp, ir::MatmulOp, ir::ContractOp>(op) ||
      !llvm::all_of(op->getOperands(), isConstant))
    return std::nullopt;
  const uint64_t work = ir::foldingWork(op);
  if (work > kMostFoldedWork / 4 - evaluatedWork)
    return std::nullopt;
  evaluatedWork += work;
  std::vector<reference::Tensor> operands;
  for (const mlir::Value operand : op->getOperands())
    operands.push_back(*ir::constantValue(operand));
  std::vector<const reference::Tensor *> pointers;
  for (const reference::Tensor &operand : operands)
    pointers.push_back(&operand);
  const reference::Tensors results = llvm::cast<ir::ReferenceInterface>(op).evaluate(pointers);
  const llvm::ArrayRef<int64_t> shape = ir::shapeOf(value);
  HostTensor out{type, Shape(shape.begin(), shape.end()), {}, {}};
  for (const double one : results.front().values)
    out.floats.push_back(roundToType(one, type));
  return Tensor::ofKnown(std::move(out));
}

Tensor Emitter::computed(DataType type, mlir::Value value) {
  if (auto known = evaluated(type, value))
    return *known;
  llvm::ArrayRef<int64_t> shape = ir::shapeOf(value);
  return {type, Shape(shape.begin(), shape.end()), nullptr, value, {}};
}

Tensor Emitter::selected(const std::vector<Tensor> &inputs, mlir::Value value) {
  Tensor out = computed(inputs.front().type, value);
  out.codes = inputs.front().codes;
  if (isFloatType(out.type) && !inputs.front().range)
    return out;
  out.range = rangeOf(inputs.front());
  for (const Tensor &input : inputs)
    out.range = joined(*out.range, rangeOf(input));
  return out;
}

mlir::Value Emitter::value(const Tensor &tensor) {
  if (!tensor.isTensor())
    throw NodeError{kShapes, kindText(tensor) + " is given where a tensor is needed"};
  if (tensor.codes)
    throw NodeError{
        kNotSupported,
        fmt::format("the node computes with an index {}; allowed: up to {}, where bf16 "
                    "has every whole number",
                    rangeText(rangeOf(tensor)), kMostExact),
        {fix("make the index an output of the model, and compute with it on the host")}};
  if (!tensor.known)
    return tensor.value;
  mlir::Value &constant = constants[tensor.known];
  if (constant)
    return constant;
  checkExact(tensor);
  if (tensor.known->size() == 0)
    throw NodeError{kNotSupported,
                    "the operand " + shapeText(tensor.shape) +
                        " has no elements; the accelerator needs at least 1",
                    fixesForEmpty};
  auto type = mlir::RankedTensorType::get(tensor.shape, builder.getF32Type());
  auto elements =
      mlir::DenseElementsAttr::get(type, llvm::ArrayRef<float>(asFloats(tensor).known->floats));
  // The location's name is the node's output, which an operand is not.
  mlir::MLIRContext *context = builder.getContext();
  std::optional<mlir::Location> named;
  if (!tensor.name.empty())
    named = mlir::NameLoc::get(builder.getStringAttr(tensor.name));
  auto node = ir::nodeOf(location);
  auto where = node.index < 0 ? named.value_or(location) : ir::nodeLoc(context, node, named);
  const mlir::OpBuilder::InsertionGuard guard(builder); // loops read it from around them
  builder.setInsertionPointToEnd(home);
  return constant = builder.create<ir::ConstantOp>(where, elements);
}

Tensor Emitter::pointwise(const std::vector<Tensor> &operands, const ScalarBody &body) {
  std::vector<Shape> shapes;
  for (const Tensor &operand : operands)
    shapes.push_back(operand.shape);
  std::optional<Shape> shape = broadcastShape(shapes);
  if (!shape)
    throw NodeError{kShapes, "the shapes of the operands do not broadcast"};

  bool allKnown = std::all_of(operands.begin(), operands.end(),
                              [](const Tensor &operand) { return operand.known != nullptr; });
  if (allKnown && isFoldable(operands, *shape))
    return folded(operands, *shape, body);
  if (auto found = pointwiseOfArray(operands, *shape, body))
    return *found;
  llvm::SmallVector<mlir::Value> inputs;
  std::vector<int> argumentOf; // of each operand; -1: a scalar of the body
  for (const Tensor &operand : operands) {
    if (isScalar(operand) && !allKnown) {
      checkExact(operand);
      argumentOf.push_back(-1);
      continue;
    }
    mlir::Value input = value(broadcast(operand, *shape));
    auto *found = llvm::find(inputs, input);
    argumentOf.push_back(static_cast<int>(found - inputs.begin()));
    if (found == inputs.end())
      inputs.push_back(input);
  }
  auto scalars = [&](mlir::OpBuilder &b, mlir::Location where, mlir::ValueRange arguments) {
    const Scalars s{b, where};
    llvm::SmallVector<mlir::Value> values;
    for (size_t i = 0; i < operands.size(); ++i)
      values.push_back(argumentOf[i] >= 0
                           ? arguments[argumentOf[i]]
                           : s.constant(asFloats(operands[i]).known->floats.front()));
    return body(s, values);
  };
  return computed(operands.front().type,
                  builder.create<ir::MapOp>(location, inputs, scalars).getResult());
}

Tensor Emitter::folded(const std::vector<Tensor> &operands, const Shape &shape,
                       const ScalarBody &body) {
  mlir::Block scratch; // nothing is left of the map
  const auto type = mlir::RankedTensorType::get(shape, builder.getF32Type());
  std::vector<reference::Tensor> values;
  for (const Tensor &operand : operands) {
    scratch.addArgument(type, location);
    reference::Tensor &value = values.emplace_back(shape);
    for (size_t i = 0; i < value.values.size(); ++i)
      value.values[i] =
          operand.known->floats[broadcastIndex(operand.shape, shape, static_cast<int64_t>(i))];
  }
  std::vector<const reference::Tensor *> pointers;
  for (const reference::Tensor &value : values)
    pointers.push_back(&value);
  const mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&scratch);
  auto map = builder.create<ir::MapOp>(
      location, mlir::ValueRange(scratch.getArguments()),
      [&](mlir::OpBuilder &b, mlir::Location where, mlir::ValueRange arguments) {
        return body(Scalars{b, where}, arguments);
      });
  const reference::Tensors results =
      llvm::cast<ir::ReferenceInterface>(map.getOperation()).evaluate(pointers);
  HostTensor out{operands.front().type, shape, {}, {}};
  for (const double value : results.front().values)
    out.floats.push_back(roundToType(value, out.type));
  return Tensor::ofKnown(std::move(out));
}

Tensor Emitter::matmul(const Tensor &lhs, const Tensor &rhs) {
  if (lhs.rank() > 1 && rhs.rank() > 1) {
    if (const auto exact = integerFactors(lhs, rhs, rhs.rank() - 1, 0))
      return scaled(matmul(exact->x, exact->weights), *exact);
    if (const auto exact = integerFactors(rhs, lhs, lhs.rank() - 2, 1))
      return scaled(matmul(exact->weights, exact->x), *exact);
  }
  if (auto product = factorsBehind(lhs, rhs))
    return *product;
  std::string why;
  checked(ir::inferMatmul(lhs.shape, rhs.shape, why), why);
  return computed(lhs.type, builder.create<ir::MatmulOp>(location, value(lhs), value(rhs)));
}

Tensor Emitter::contract(size_t loops, const std::vector<std::vector<size_t>> &axes,
                         const Tensor &lhs, const Tensor &rhs) {
  llvm::SmallVector<mlir::AffineMap> maps;
  for (const std::vector<size_t> &ofTensor : axes) {
    llvm::SmallVector<mlir::AffineExpr> dims;
    for (const size_t loop : ofTensor)
      dims.push_back(builder.getAffineDimExpr(loop));
    maps.push_back(mlir::AffineMap::get(loops, 0, dims, builder.getContext()));
  }
  std::string why;
  checked(ir::inferContract(maps, lhs.shape, rhs.shape, why), why);
  return computed(lhs.type,
                  builder.create<ir::ContractOp>(location, maps, value(lhs), value(rhs), true));
}

Tensor Emitter::window(const Tensor &input, const reference::Window &window, float outside) {
  std::string why;
  checked(ir::inferWindow(input.shape, window, why), why);
  return computed(input.type,
                  builder.create<ir::WindowOp>(location, value(input), window, outside));
}

Tensor Emitter::reduce(ir::Monoid monoid, const Tensor &input, const Shape &axes, bool keepdims) {
  int64_t count = 1;
  for (const int64_t axis : axes)
    count *= input.shape[axis];
  const bool isOwnResult = monoid != ir::Monoid::ArgMax && monoid != ir::Monoid::Variance;
  if (count == 1 && isOwnResult && !input.known)
    return keepdims ? input : squeeze(input, axes);
  if (auto exact = mergedIntegers(monoid, input, count, [&](ir::Monoid of, const Tensor &integers) {
        return reduce(of, integers, axes, keepdims);
      }))
    return *exact;
  std::string why;
  checked(ir::inferReduce(input.shape, axes, keepdims, why), why);
  return computed(input.type,
                  builder.create<ir::ReduceOp>(location, monoid, value(input), axes, keepdims));
}

std::vector<Tensor> Emitter::loop(const LoopFrame &frame, const LoopBody &body) {
  mlir::Region region;
  mlir::Block &block = region.emplaceBlock();
  std::vector<Tensor> arguments;
  const auto addArgument = [&](DataType type, const Shape &shape) {
    auto tensor = mlir::RankedTensorType::get(shape, builder.getF32Type());
    arguments.push_back(computed(type, block.addArgument(tensor, location)));
  };
  llvm::SmallVector<mlir::Value> initial, sequences;
  llvm::SmallVector<int64_t> sliceAxes, stackAxes;
  llvm::SmallVector<bool> sliceReversed, stackReversed;
  for (const Tensor &tensor : frame.initial) {
    initial.push_back(value(tensor));
    addArgument(tensor.type, tensor.shape);
  }
  for (const auto &[tensor, along] : frame.sequences) {
    std::string why;
    const auto shape = checked(ir::inferElement(tensor.shape, along.axis, frame.trips, why), why);
    sequences.push_back(value(tensor));
    sliceAxes.push_back(along.axis);
    sliceReversed.push_back(along.reversed);
    addArgument(tensor.type, {shape.begin(), shape.end()});
  }
  mlir::OpBuilder::InsertionGuard guard(builder);
  const auto outside = builder.saveInsertionPoint();
  builder.setInsertionPointToEnd(&block);
  const std::vector<Tensor> next = body(arguments);
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<mlir::Type> types;
  for (size_t i = 0; i < next.size(); ++i) {
    values.push_back(value(next[i]));
    Shape shape = next[i].shape;
    if (i < initial.size()) {
      if (shape != frame.initial[i].shape)
        throw NodeError{kShapes, "loop-carried value " + std::to_string(i) + " has shape " +
                                     shapeText(frame.initial[i].shape) +
                                     " before the first iteration and " + shapeText(shape) +
                                     " after it"};
    } else {
      const reference::LoopAxis &stack = frame.stacks[i - initial.size()];
      std::string why;
      const auto stacked =
          checked(ir::inferStack(next[i].shape, stack.axis, frame.trips, why), why);
      shape.assign(stacked.begin(), stacked.end());
      stackAxes.push_back(stack.axis);
      stackReversed.push_back(stack.reversed);
    }
    types.push_back(mlir::RankedTensorType::get(shape, builder.getF32Type()));
  }
  builder.create<ir::NextOp>(location, values);
  builder.restoreInsertionPoint(outside);
  auto loop = builder.create<ir::LoopOp>(location, types, frame.trips, initial, sequences,
                                         sliceAxes, sliceReversed, stackAxes, stackReversed);
  loop.getBody().takeBody(region);
  std::vector<Tensor> results;
  for (size_t i = 0; i < next.size(); ++i)
    results.push_back(computed(next[i].type, loop.getResult(i)));
  return results;
}

} // namespace sluice::frontend
