#include "compiler/conversion/scalar/plan_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "compiler/conversion/scalar/constants.h"
#include "hw/numerics/numerics.h"
#include "runtime/format/images.h"

namespace sluice::rows {
namespace {

/// Combinations of values that are tried; 2^17 takes some 50 ms.
constexpr uint64_t kMostCombinations = uint64_t{1} << 17;

/// Nearer to a tie than this, fp32 does not tell on which side a quotient lies.
constexpr double kTie = 0x1p-13;

uint32_t bitsOf(double value) { return std::bit_cast<uint32_t>(static_cast<float>(value)); }

/// The steps of a plan, computed as the vector unit does.
class Steps {
public:
  explicit Steps(const MapPlan &plan) : plan(plan), results(plan.steps.size()) {
    for (const auto &image : plan.tables)
      tables.emplace_back(*image);
  }

  double resultFor(const std::vector<double> &inputs) {
    for (size_t i = 0; i < plan.steps.size(); ++i)
      results[i] = compute(plan.steps[i], inputs);
    return numerics::toFloat(valueOf(plan.result, inputs, false));
  }

private:
  const MapPlan &plan;
  std::vector<numerics::Table> tables;
  std::vector<uint32_t> results;

  uint32_t valueOf(const Source &source, const std::vector<double> &inputs, bool wide) const {
    switch (source.kind) {
    case Source::Kind::Operand: {
      const uint32_t bits = bitsOf(withinBf16(inputs[source.index]));
      return wide ? bits : uint32_t{numerics::roundToBf16(bits)} << 16U;
    }
    case Source::Kind::Step:
      return results[source.index];
    case Source::Kind::Splat:
      return uint32_t{numerics::roundToBf16(bitsOf(withinBf16(source.value)))} << 16U;
    case Source::Kind::None:
      break;
    }
    return 0;
  }

  uint32_t compute(const MapStep &step, const std::vector<double> &inputs) const {
    const VectorStep &op = step.step;
    const uint32_t a = valueOf(step.a, inputs, false), b = valueOf(step.b, inputs, op.bWide),
                   c = valueOf(step.c, inputs, false);
    uint32_t value = a;
    if (op.alu1 != isa::Alu::Pass) {
      const uint32_t right = op.rhs1 == isa::Rhs1::A     ? a
                             : op.rhs1 == isa::Rhs1::Imm ? std::bit_cast<uint32_t>(op.imm1)
                                                         : b;
      value = numerics::alu(op.alu1, value, right, b, c);
    }
    if (op.table)
      value = tables[*op.table](value);
    if (op.alu2 != isa::Alu::Pass) {
      const uint32_t right = op.rhs2 == isa::Rhs2::A     ? a
                             : op.rhs2 == isa::Rhs2::B   ? b
                             : op.rhs2 == isa::Rhs2::Imm ? std::bit_cast<uint32_t>(op.imm2)
                                                         : c;
      value = numerics::alu(op.alu2, value, right, b, c);
    }
    if (!step.wide)
      return uint32_t{numerics::finish(op.post, value)} << 16U;
    return uint32_t{numerics::finish(op.post, value, isa::Part::High)} << 16U |
           numerics::finish(op.post, value, isa::Part::Low);
  }
};

/// What a row has of a number.
double inRow(double value) {
  return numerics::toFloat(uint32_t{numerics::roundToBf16(bitsOf(value))} << 16U);
}

/// The expression in double, with every number that it rounds to an integer moved by `nudge`.
double valueOf(const Expr &expr, const std::vector<NodeId> &nodes,
               const std::vector<double> &inputs, double nudge, std::vector<double> &values) {
  for (const NodeId id : nodes) {
    const ScalarNode &node = expr[id];
    if (node.op == ScalarOp::Input) {
      values[id] = inputs[node.input];
    } else if (node.op == ScalarOp::Constant) {
      values[id] = node.value;
    } else {
      double args[3] = {};
      for (unsigned i = 0; i < node.count; ++i)
        args[i] = values[node.args[i]];
      if (node.op == ScalarOp::Call && node.function == reference::Function::RoundEven)
        args[0] += nudge;
      values[id] = evaluateScalar(node, args);
    }
  }
  return values[expr.result];
}

/// The constants of the elements, each combination once.
std::set<std::vector<double>> constantsOf(const std::vector<OperandValues> &operands,
                                          const std::vector<uint32_t> &used) {
  std::set<std::vector<double>> all;
  size_t elements = 1;
  for (const uint32_t input : used)
    elements = std::max(elements, operands[input].constants.size());
  for (size_t i = 0; i < elements && all.size() <= kMostCombinations; ++i) {
    std::vector<double> values(operands.size());
    for (const uint32_t input : used)
      if (!operands[input].constants.empty())
        values[input] = operands[input].constants[i];
    all.insert(std::move(values));
  }
  return all;
}

} // namespace

std::optional<double> largestDifference(const MapPlan &plan, const Expr &expr,
                                        const std::vector<OperandValues> &operands) {
  const std::vector<NodeId> nodes = expr.reachable(expr.result);
  std::vector<uint32_t> used, rows;
  for (const NodeId node : nodes)
    if (expr[node].op == ScalarOp::Input) {
      used.push_back(expr[node].input);
      if (operands[used.back()].constants.empty())
        rows.push_back(used.back());
    }
  const auto constants = constantsOf(operands, used);
  uint64_t combinations = constants.size();
  for (const uint32_t row : rows) {
    combinations *= static_cast<uint64_t>(operands[row].last - operands[row].first + 1);
    if (combinations > kMostCombinations)
      return std::nullopt;
  }
  Steps steps(plan);
  std::vector<double> values(expr.size());
  double largest = 0;
  for (std::vector<double> inputs : constants) {
    for (const uint32_t row : rows)
      inputs[row] = static_cast<double>(operands[row].first);
    for (bool isDone = false; !isDone;) {
      const double found = steps.resultFor(inputs);
      double difference = std::numeric_limits<double>::infinity();
      for (const double nudge : {0.0, -kTie, kTie})
        if (difference > 0)
          difference = std::min(
              difference, std::fabs(found - inRow(valueOf(expr, nodes, inputs, nudge, values))));
      largest = std::max(largest, difference);
      isDone = true; // unless there is a next combination
      for (const uint32_t row : rows) {
        if (inputs[row] < static_cast<double>(operands[row].last)) {
          ++inputs[row];
          isDone = false;
          break;
        }
        inputs[row] = static_cast<double>(operands[row].first);
      }
    }
  }
  return largest;
}

} // namespace sluice::rows
