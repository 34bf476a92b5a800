// Maps that round to integers: exactly wherever they can, and what is known where they cannot.
#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/conversion/rows/lazy_map.h"
#include "compiler/conversion/scalar/integer_windows.h"
#include "compiler/conversion/scalar/plan_values.h"
#include "compiler/dialect/sluice/node.h"

using namespace mlir;

namespace sluice::rows {
namespace {

/// Windows have no sums that are larger, in steps.
constexpr double kMostInWindows = 512;

/// An error that fp32 hides: how far a sum that is no integer may be from a tie, in steps.
constexpr double kHidden = 0x1p-10;

/// What is rounded before a zero point is added: bytes less a zero point that is one.
constexpr IntegerSpan kSpanOfBytes = {-255, 255};

bool rounds(const ScalarNode &node) {
  return node.op == ScalarOp::Call && node.function == reference::Function::RoundEven;
}

/// The nodes that round to integers, ascending, of which the result depends other than through
/// `cut`.
std::vector<NodeId> roundingsOf(const Expr &expr, std::optional<NodeId> cut = std::nullopt) {
  std::set<NodeId> seen;
  std::vector<NodeId> pending{expr.result};
  while (!pending.empty()) {
    const NodeId node = pending.back();
    pending.pop_back();
    if (node == cut || !seen.insert(node).second)
      continue;
    const ScalarNode &n = expr[node];
    pending.insert(pending.end(), n.args.begin(), n.args.begin() + n.count);
  }
  std::vector<NodeId> found;
  std::ranges::copy_if(seen, std::back_inserter(found),
                       [&](NodeId node) { return rounds(expr[node]); });
  return found;
}

} // namespace

bool LazyMap::roundsToIntegers() const { return !roundingsOf(expr).empty(); }

/// The node of the model that each rounding belongs to; nothing if it does not quantise.
std::vector<std::optional<NodeRef>> LazyMap::quantisersOf(const Lowering &lowering) const {
  const std::vector<NodeId> roundings = roundingsOf(expr);
  std::vector<std::optional<NodeRef>> quantisers(roundings.size());
  if (!lowering.differences)
    return quantisers;
  std::map<int64_t, NodeRef> nodes;
  for (Operation *op : ops)
    for (NodeRef &node : ir::nodesOf(op->getLoc()))
      if (isQuantising(node.op))
        nodes.try_emplace(node.index, std::move(node));
  if (nodes.empty())
    return quantisers;
  auto next = nodes.begin();
  for (auto &quantiser : quantisers) {
    quantiser = nodes.size() == roundings.size() ? next->second : nodes.rbegin()->second;
    ++next;
  }
  return quantisers;
}

std::vector<Number> LazyMap::operandNumbers(const Lowering &lowering) const {
  std::vector<Number> numbers;
  for (const Operand &operand : operands) {
    Number number = operand.value ? lowering.numberOf(operand.value) : operand.number;
    if (operand.isConstant()) {
      const auto [low, high] = std::ranges::minmax(operand.constant);
      number = Number::exact(low, high, std::ranges::all_of(operand.constant, [](double value) {
                               return value == std::trunc(value);
                             }));
    }
    numbers.push_back(number);
  }
  return numbers;
}

/// Gives rows to integers that are added to others and rounded once more: a row has them exactly.
void LazyMap::emitIntegers(Lowering &lowering) {
  const auto isProduct = [&](uint32_t input) {
    const Value value = operands[input].value;
    Lazy *pending = value && ownsAllUses(value) ? lowering.lazy(value) : nullptr;
    return pending && pending->asLinear();
  };
  const auto isOfSum = [&](NodeId node) {
    std::set<uint32_t> inputs;
    for (const NodeId part : expr.reachable(node))
      if (expr[part].op == ScalarOp::Input && !operands[expr[part].input].isConstant())
        inputs.insert(expr[part].input);
    return inputs.size() > 1 || std::ranges::any_of(inputs, isProduct);
  };
  while (const auto at = nextIntegers(expr, isOfSum)) {
    LazyMap part(result);
    part.ops = ops;
    part.operands = operands;
    part.expr = expr;
    part.expr.result = *at;
    part.real = part.expr;
    const std::vector<NodeId> all = roundingsOf(expr), inside = roundingsOf(part.expr),
                              outside = roundingsOf(expr, at);
    std::vector<std::optional<NodeRef>> left;
    for (size_t i = 0; i < all.size(); ++i) {
      if (llvm::is_contained(inside, all[i]))
        part.quantisers.push_back(quantisers[i]);
      if (llvm::is_contained(outside, all[i]))
        left.push_back(quantisers[i]);
    }
    quantisers = std::move(left);
    Operand integers;
    integers.number = numbersOf(expr, operandNumbers(lowering))[*at];
    part.absorbIntoProducts(lowering);
    integers.rows = part.emitSteps(lowering);
    operands.push_back(std::move(integers));
    const auto index = static_cast<uint32_t>(operands.size() - 1);
    replace(*at, [&](Expr &rest) { return rest.input(index); });
  }
}

/// What stands at `at` is `after` of a product of integers, behind which it is rounded to integers.
/// The product stays one of integers, which is exact. So that it is rounded once, it is moved to
/// where the integers are all that bf16 has.
void LazyMap::roundBehind(Lowering &lowering, NodeId at, LazyLinear &product,
                          const OutputAffine &after, double most, bool isExact) {
  const std::vector<double> &scale = after.scale;
  const bool isUniform = llvm::all_equal(scale);
  if (!isUniform)
    operands.push_back({{}, scale, {}, /*wide=*/true, {}});
  const auto scaleInput = static_cast<uint32_t>(operands.size() - 1);
  const auto windows = integerWindows(expr, at);
  // A fraction that sums of this size have too, so that they stay exact. If all weights are zero,
  // the sums are zero. Sums beyond the windows need not be exact.
  const auto stepOf = [&](double by) {
    const double size = windows ? std::min(most, kMostInWindows / std::fabs(by)) : most;
    return std::exp2(std::ceil(std::log2(std::max(size, 1.0))) - 24);
  };
  const auto moved = [&](Expr &to, double shift) {
    OutputAffine offset;
    for (size_t i = 0; i < scale.size(); ++i) {
      const double step = stepOf(scale[i]);
      offset.offset.push_back(std::round((after.offset[i] + shift) / scale[i] / step) * step);
    }
    operands.push_back({{}, {}, product.emitWith(lowering, offset), false, {}});
    const NodeId sum = to.input(static_cast<uint32_t>(operands.size() - 1));
    return to.binary(ScalarOp::Mul, sum,
                     isUniform ? to.constant(scale.front()) : to.input(scaleInput));
  };
  if (!windows) {
    replace(at, [&](Expr &rest) { return moved(rest, 0); });
    return;
  }
  double largest = 0;
  for (const double by : scale)
    largest = std::max(largest, std::fabs(by));
  if (isExact && expr.size() == real.size() && largest * most * 0x1p-25 < kHidden)
    exactEnd = windows->end;
  const Expr whole = expr;
  replace(windows->end, [&](Expr &rest) {
    return addWindows(rest, whole, at, *windows, [&](double shift) { return moved(rest, shift); });
  });
}

/// Says by how much the integers of the steps may differ from those of real numbers.
void LazyMap::addDifference(Lowering &lowering, const MapPlan &plan,
                            const std::vector<MapOperand> &facts) const {
  if (llvm::none_of(quantisers, [](const auto &node) { return node.has_value(); }))
    return;
  const std::vector<Number> inputs = operandNumbers(lowering);
  const std::vector<Number> numbers = numbersOf(real, inputs);
  if (!exactEnd) {
    bool isOfIntegers = true;
    std::vector<OperandValues> values(operands.size());
    for (const NodeId node : real.reachable(real.result)) {
      if (real[node].op != ScalarOp::Input)
        continue;
      const uint32_t input = real[node].input;
      values[input].constants = operands[input].constant;
      if (operands[input].isConstant())
        continue;
      isOfIntegers &= inputs[input].isExactInteger();
      if (isOfIntegers) {
        values[input].first = static_cast<int64_t>(inputs[input].low);
        values[input].last = static_cast<int64_t>(inputs[input].high);
      }
    }
    const auto difference =
        isOfIntegers ? largestDifference(plan, real, values) : std::optional<double>();
    if (difference == 0) {
      for (const auto &node : quantisers)
        if (node)
          lowering.differences->addExact(*node);
      return;
    }
    if (difference && numbers[real.result].isInteger && quantisers.back()) {
      lowering.differences->add(*quantisers.back(), static_cast<int64_t>(std::ceil(*difference)));
      return;
    }
  }
  const Source &first = plan.steps.empty() ? plan.result : plan.steps.front().a;
  const bool isOneTable =
      plan.steps.size() == 1 && first.kind == Source::Kind::Operand && facts[first.index].fusable;
  const std::vector<NodeId> roundings = roundingsOf(real);
  for (size_t i = 0; i < roundings.size(); ++i) {
    if (!quantisers[i])
      continue;
    std::optional<int64_t> steps = 0;
    if (!exactEnd || roundings[i] > *exactEnd)
      steps = differenceOf(real, roundings[i], spanOf(real, roundings[i]).value_or(kSpanOfBytes),
                           {inputs, numbers, isOneTable});
    if (steps == 0)
      lowering.differences->addExact(*quantisers[i]);
    else
      lowering.differences->add(*quantisers[i], steps);
  }
}

} // namespace sluice::rows
