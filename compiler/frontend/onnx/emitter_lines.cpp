// Lines: functions scale * x + shift of a tensor with constants that are known at import. Models
// spell them in many ways; lines of lines become one.
#include <cmath>
#include <utility>

#include "llvm/Support/SaveAndRestore.h"

#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/tensors.h"
#include "compiler/frontend/onnx/emitter.h"
#include "compiler/frontend/onnx/scalars.h"

namespace sluice::frontend {
namespace {

namespace arith = mlir::arith;

/// Most elements of the constants of a line.
constexpr int64_t kMostElements = int64_t{1} << 18;

/// Constants that broadcast to the shape of a tensor.
struct Constants {
  Shape shape;
  std::vector<double> values;

  static Constants of(double value) { return {{}, {value}}; }

  [[nodiscard]] bool are(double value) const {
    return llvm::all_of(values, [&](double one) { return one == value; });
  }
};

/// A scalar of a body: scale * x + shift, or shift alone where no scale is.
struct Line {
  std::optional<Constants> scale;
  Constants shift;

  static Line identity() { return {Constants::of(1), Constants::of(0)}; }

  [[nodiscard]] bool isNegation() const { return scale && scale->are(-1) && shift.are(0); }

  /// Operations that compute it: 0 - x and c - x take one.
  [[nodiscard]] unsigned operations() const {
    return static_cast<unsigned>(!scale->are(1) && !(scale->are(-1) && !shift.are(0))) +
           static_cast<unsigned>(!shift.are(0));
  }

  /// Whether fp32 has the constants: merged ones may be too large or too small.
  [[nodiscard]] bool fits() const {
    return llvm::all_of(scale->values,
                        [](double one) { return std::isnormal(static_cast<float>(one)); }) &&
           llvm::all_of(shift.values,
                        [](double one) { return std::isfinite(static_cast<float>(one)); });
  }
};

using Function = double (*)(double, double);
double sum(double l, double r) { return l + r; }
double difference(double l, double r) { return l - r; }
double product(double l, double r) { return l * r; }
double quotient(double l, double r) { return l / r; }

/// No number where there are too many elements; a line of it does not fit.
Constants combined(const Constants &l, const Constants &r, Function function) {
  Constants out{*broadcastShape({l.shape, r.shape}), {}};
  const int64_t count = elementCount(out.shape, kMostElements);
  if (count < 0)
    return Constants::of(std::nan(""));
  for (int64_t i = 0; i < count; ++i)
    out.values.push_back(function(l.values[broadcastIndex(l.shape, out.shape, i)],
                                  r.values[broadcastIndex(r.shape, out.shape, i)]));
  return out;
}

Constants negated(const Constants &x) { return combined(Constants::of(0), x, difference); }

std::optional<Line> plus(const Line &l, const Line &r, Function function) {
  Line out{l.scale, combined(l.shift, r.shift, function)};
  if (l.scale && r.scale)
    out.scale = combined(*l.scale, *r.scale, function);
  else if (r.scale)
    out.scale = function == sum ? *r.scale : negated(*r.scale);
  return out;
}

std::optional<Line> times(const Line &l, const Line &r, Function function) {
  if (r.scale && (l.scale || function == quotient))
    return std::nullopt; // a square, or a reciprocal
  const Line &x = r.scale ? r : l;
  const Constants &by = r.scale ? l.shift : r.shift;
  Line out{std::nullopt, combined(x.shift, by, function)};
  if (x.scale)
    out.scale = combined(*x.scale, by, function);
  return out;
}

std::optional<Line> lineOf(mlir::Operation *op, llvm::ArrayRef<Line> operands) {
  if (llvm::isa<arith::AddFOp>(op))
    return plus(operands[0], operands[1], sum);
  if (llvm::isa<arith::SubFOp>(op))
    return plus(operands[0], operands[1], difference);
  if (llvm::isa<arith::MulFOp>(op))
    return times(operands[0], operands[1], product);
  if (llvm::isa<arith::DivFOp>(op))
    return times(operands[0], operands[1], quotient);
  if (llvm::isa<arith::NegFOp>(op))
    return plus({std::nullopt, Constants::of(0)}, operands[0], difference);
  if (auto constant = llvm::dyn_cast<arith::ConstantOp>(op))
    if (auto value = llvm::dyn_cast<mlir::FloatAttr>(constant.getValue()))
      return Line{std::nullopt, Constants::of(value.getValueAsDouble())};
  return std::nullopt;
}

/// The constants that an operand of a map has, before they are repeated.
std::optional<Constants> constantsOf(mlir::Value value) {
  if (auto broadcast = value.getDefiningOp<ir::BroadcastOp>())
    value = broadcast.getInput();
  auto constant = value.getDefiningOp<ir::ConstantOp>();
  if (!constant || constant.getType().getNumElements() > kMostElements)
    return std::nullopt;
  const reference::Tensor tensor = ir::toTensor(constant.getValue());
  return Constants{{tensor.shape.begin(), tensor.shape.end()},
                   {tensor.values.begin(), tensor.values.end()}};
}

/// A line of a tensor, and the operations that compute it.
struct LineOf {
  mlir::Value base;
  Line line = Line::identity();
  unsigned operations = 0;
};

/// What a block computes of its arguments, if that is a line.
std::optional<Line> lineOf(mlir::Block &block, mlir::Value result,
                           llvm::DenseMap<mlir::Value, Line> lines, unsigned &operations) {
  for (mlir::Operation &op : block) {
    if (op.hasTrait<mlir::OpTrait::IsTerminator>())
      break;
    llvm::SmallVector<Line> operands;
    for (const mlir::Value operand : op.getOperands())
      operands.push_back(lines[operand]);
    auto line = lineOf(&op, operands);
    if (!line)
      return std::nullopt;
    operations += llvm::isa<arith::ConstantOp>(op) ? 0 : 1;
    lines[op.getResult(0)] = std::move(*line);
  }
  const Line &found = lines[result];
  return found.scale && found.fits() ? std::optional(found) : std::nullopt;
}

/// Follows a line to what a map computes it from; false if no map does, or not as a line.
bool follow(LineOf &from) {
  auto map = from.base.getDefiningOp<ir::MapOp>();
  if (!map)
    return false;
  LineOf inner;
  inner.operations = from.operations;
  llvm::DenseMap<mlir::Value, Line> lines;
  for (auto [argument, operand] : llvm::zip_equal(map.getBody().getArguments(), map.getInputs())) {
    if (auto constants = constantsOf(operand)) {
      lines[argument] = {std::nullopt, std::move(*constants)};
      continue;
    }
    if (inner.base)
      return false;
    inner.base = operand;
    lines[argument] = Line::identity();
  }
  mlir::Block &block = map.getBody().front();
  const auto line =
      inner.base ? lineOf(block, block.getTerminator()->getOperand(0), lines, inner.operations)
                 : std::nullopt;
  if (!line)
    return false;
  inner.line.scale = combined(*line->scale, *from.line.scale, product);
  inner.line.shift =
      combined(combined(line->shift, *from.line.scale, product), from.line.shift, sum);
  if (!inner.line.fits())
    return false;
  from = std::move(inner);
  return true;
}

bool isReal(const Tensor &tensor) {
  return tensor.type == onnx::TensorProto::FLOAT && tensor.isTensor() && !tensor.range &&
         !tensor.lookup;
}

Tensor ofConstants(const Constants &from) {
  const bool isUniform = from.are(from.values.front());
  std::vector<float> values;
  for (const double one : isUniform ? std::vector{from.values.front()} : from.values)
    values.push_back(static_cast<float>(one));
  return Tensor::ofKnown(HostTensor::ofFloats(isUniform ? Shape{} : from.shape, values));
}

/// The line of `base`, in the fewest operations.
Tensor written(Emitter &emit, const Tensor &base, const Line &line) {
  const Tensor scale = ofConstants(*line.scale), shift = ofConstants(line.shift);
  if (line.operations() == 0)
    return base;
  if (line.shift.are(0))
    return line.scale->are(-1)
               ? emit.pointwise({base},
                                [](const Scalars &s, mlir::ValueRange x) {
                                  return s.make<arith::NegFOp>(x[0]);
                                })
               : emit.pointwise({base, scale}, [](const Scalars &s, mlir::ValueRange x) {
                   return s.mul(x[0], x[1]);
                 });
  if (line.scale->are(1))
    return emit.pointwise({base, shift},
                          [](const Scalars &s, mlir::ValueRange x) { return s.add(x[0], x[1]); });
  if (line.scale->are(-1))
    return emit.pointwise({shift, base},
                          [](const Scalars &s, mlir::ValueRange x) { return s.sub(x[0], x[1]); });
  return emit.pointwise({base, scale, shift}, [](const Scalars &s, mlir::ValueRange x) {
    return s.add(s.mul(x[0], x[1]), x[2]);
  });
}

} // namespace

void Emitter::setShared(const Tensor &tensor) {
  if (tensor.value)
    sharedValues.insert(tensor.value);
}

/// Whether a value is computed as it is, whatever reads it.
bool Emitter::isFixed(mlir::Value value) const {
  return sharedValues.contains(value) || restoredValues.contains(value);
}

/// Returns the mean of the elements of which `x` is the sum, if `factor` divides it by their
/// number.
std::optional<Tensor> Emitter::asMean(const Tensor &x, double factor) {
  auto sum = x.value.getDefiningOp<ir::ReduceOp>();
  if (!sum || sum.getMonoid() != ir::Monoid::Sum || isFixed(x.value))
    return std::nullopt;
  double count = 1;
  for (const int64_t axis : sum.getAxes())
    count *= static_cast<double>(ir::shapeOf(sum.getInput())[axis]);
  if (static_cast<float>(factor) != static_cast<float>(1 / count))
    return std::nullopt;
  const auto where = builder.getFusedLoc({location, sum.getLoc()});
  return computed(x.type, builder.create<ir::ReduceOp>(where, ir::Monoid::Mean, sum.getInput(),
                                                       sum.getAxes(), sum.getKeepdims()));
}

/// Returns the line of a tensor and constants that `body` computes, if it and the lines that the
/// tensor is computed by take fewer operations as one line.
std::optional<Tensor> Emitter::asLine(const std::vector<Tensor> &operands, const ScalarBody &body) {
  const Tensor *x = nullptr;
  for (const Tensor &operand : operands)
    if (!operand.known && std::exchange(x, &operand))
      return std::nullopt;
  if (!x)
    return std::nullopt;
  mlir::Block block;
  mlir::OpBuilder inside(builder.getContext());
  inside.setInsertionPointToEnd(&block);
  llvm::DenseMap<mlir::Value, Line> lines;
  for (const Tensor &operand : operands) {
    if (!isReal(operand) || broadcastShape({x->shape, operand.shape}) != x->shape ||
        (operand.known && (operand.known->size() == 0 || operand.known->size() > kMostElements)))
      return std::nullopt;
    const mlir::Value argument = block.addArgument(builder.getF32Type(), location);
    lines[argument] = Line::identity();
    if (operand.known)
      lines[argument] = {
          std::nullopt,
          {operand.shape, {operand.known->floats.begin(), operand.known->floats.end()}}};
  }
  const mlir::Value result =
      body({inside, location}, llvm::to_vector_of<mlir::Value>(block.getArguments()));
  LineOf found{x->value};
  const auto own = lineOf(block, result, lines, found.operations);
  if (!own)
    return std::nullopt;
  found.line = *own;
  if (own->shift.are(0) && own->scale->are(own->scale->values.front()))
    if (auto mean = asMean(*x, own->scale->values.front()))
      return mean;
  llvm::SmallVector<mlir::Location> locations = {location};
  for (mlir::Value base = found.base; !isFixed(base) && follow(found); base = found.base)
    locations.push_back(base.getLoc());
  if (found.line.operations() >= found.operations)
    return std::nullopt;
  Tensor base = *x;
  base.value = found.base;
  const llvm::SaveAndRestore fused(location, builder.getFusedLoc(locations));
  return written(*this, base, found.line);
}

Tensor Emitter::line(const std::vector<Tensor> &operands, const ScalarBody &body) {
  auto merged = asLine(operands, body);
  return merged ? *merged : pointwise(operands, body);
}

/// Returns the tensor of which `tensor` is the negative, if it is computed as one.
std::optional<Tensor> Emitter::negationOf(const Tensor &tensor) const {
  if (tensor.known || !isReal(tensor) || isFixed(tensor.value))
    return std::nullopt;
  LineOf found{tensor.value};
  if (!follow(found) || !found.line.isNegation())
    return std::nullopt;
  Tensor base = tensor;
  base.value = found.base;
  return base;
}

/// Returns the product of two tensors that are each multiplied by a number, as a product that is
/// multiplied by both numbers. Returns nothing if either tensor is not multiplied.
std::optional<Tensor> Emitter::factorsBehind(const Tensor &lhs, const Tensor &rhs) {
  const auto factorOf = [&](const Tensor &tensor) -> LineOf {
    LineOf found{tensor.value};
    while (!isFixed(found.base) && follow(found))
      ;
    const Line &line = found.line;
    const bool isFactor = line.shift.are(0) && line.scale->are(line.scale->values.front());
    return isFactor ? found : LineOf{tensor.value};
  };
  if (lhs.known || rhs.known || !isReal(lhs) || !isReal(rhs))
    return std::nullopt;
  Tensor left = lhs, right = rhs;
  llvm::SmallVector<mlir::Location> locations = {location};
  Line factor = Line::identity();
  for (Tensor *operand : {&left, &right}) {
    const LineOf found = factorOf(*operand);
    if (found.base == operand->value)
      return std::nullopt;
    locations.push_back(operand->value.getLoc());
    operand->value = found.base;
    factor.scale = Constants::of(factor.scale->values.front() * found.line.scale->values.front());
  }
  if (!factor.fits())
    return std::nullopt;
  const Tensor product = matmul(left, right);
  const llvm::SaveAndRestore fused(location, builder.getFusedLoc(locations));
  return written(*this, product, factor);
}

} // namespace sluice::frontend
