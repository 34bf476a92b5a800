#include "compiler/conversion/scalar/expr.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace sluice::rows {

using reference::Function;

namespace {

double larger(double l, double r) {
  if (std::isnan(l) || std::isnan(r))
    return std::numeric_limits<double>::quiet_NaN();
  if (l == r)
    return std::signbit(l) ? r : l;
  return l > r ? l : r;
}

double smaller(double l, double r) { return -larger(-l, -r); }

/// The operation with its arguments exchanged, where there is one.
std::optional<ScalarOp> mirrored(ScalarOp op) {
  switch (op) {
  case ScalarOp::Add:
  case ScalarOp::Mul:
  case ScalarOp::Max:
  case ScalarOp::Min:
  case ScalarOp::Eq:
  case ScalarOp::Ne:
    return op;
  case ScalarOp::Lt:
    return ScalarOp::Gt;
  case ScalarOp::Le:
    return ScalarOp::Ge;
  case ScalarOp::Ge:
    return ScalarOp::Le;
  case ScalarOp::Gt:
    return ScalarOp::Lt;
  default:
    return std::nullopt;
  }
}

/// A periodic function as the machine has it. A table window of 16 exponents from
/// where sin(x) is no longer x ends at 4096; from 1024 on neighbours in bf16 are
/// more than a period apart. Larger arguments give NaN, so they are noticed.
template <double (*F)(double)> double periodic(const double *x) {
  return std::fabs(x[0]) < 4096 ? F(x[0]) : std::numeric_limits<double>::quiet_NaN();
}

reference::ScalarStep machineStep(Function function) {
  switch (function) {
  case Function::Sin:
    return periodic<std::sin>;
  case Function::Cos:
    return periodic<std::cos>;
  case Function::Tan:
    return periodic<std::tan>;
  default:
    return reference::stepOf(function);
  }
}

} // namespace

double evaluateScalar(const ScalarNode &node, const double *args) {
  const double l = args[0], r = args[1];
  switch (node.op) {
  case ScalarOp::Input:
    return std::numeric_limits<double>::quiet_NaN();
  case ScalarOp::Constant:
    return node.value;
  case ScalarOp::Add:
    return l + r;
  case ScalarOp::Sub:
    return l - r;
  case ScalarOp::Mul:
    return l * r;
  case ScalarOp::Div:
    return l / r;
  case ScalarOp::Max:
    return larger(l, r);
  case ScalarOp::Min:
    return smaller(l, r);
  case ScalarOp::Lt:
    return l < r;
  case ScalarOp::Le:
    return l <= r;
  case ScalarOp::Eq:
    return l == r;
  case ScalarOp::Ne:
    return l != r;
  case ScalarOp::Ge:
    return l >= r;
  case ScalarOp::Gt:
    return l > r;
  case ScalarOp::Select:
    return l != 0 ? r : args[2];
  case ScalarOp::Call:
    return machineStep(node.function)(args);
  }
  return 0;
}

bool Expr::computesBoolean(const ScalarNode &node) const {
  switch (node.op) {
  case ScalarOp::Constant:
    return node.value == 0 || node.value == 1;
  case ScalarOp::Lt:
  case ScalarOp::Le:
  case ScalarOp::Eq:
  case ScalarOp::Ne:
  case ScalarOp::Ge:
  case ScalarOp::Gt:
    return true;
  case ScalarOp::Mul: // and
  case ScalarOp::Max: // or
  case ScalarOp::Min:
    return nodes[node.args[0]].isBoolean && nodes[node.args[1]].isBoolean;
  default:
    return false;
  }
}

NodeId Expr::add(ScalarNode node) {
  const auto same = [&](const ScalarNode &other) {
    return other.op == node.op && other.count == node.count && other.args == node.args &&
           std::bit_cast<uint64_t>(other.value) == std::bit_cast<uint64_t>(node.value) &&
           other.input == node.input && other.function == node.function;
  };
  const auto found = std::find_if(nodes.begin(), nodes.end(), same);
  if (found != nodes.end())
    return static_cast<NodeId>(found - nodes.begin());
  node.isBoolean = computesBoolean(node);
  nodes.push_back(std::move(node));
  return static_cast<NodeId>(nodes.size() - 1);
}

NodeId Expr::input(uint32_t index) {
  ScalarNode node;
  node.op = ScalarOp::Input;
  node.input = index;
  return add(node);
}

NodeId Expr::constant(double value) {
  ScalarNode node;
  node.value = value;
  return add(node);
}

bool Expr::is(NodeId node, double value) const {
  return nodes[node].op == ScalarOp::Constant && nodes[node].value == value;
}

bool Expr::isCall(NodeId node, Function function) const {
  return nodes[node].op == ScalarOp::Call && nodes[node].function == function;
}

std::optional<NodeId> Expr::simplifyBinary(ScalarOp op, NodeId left, NodeId right) {
  const bool constantRight = isConstant(right);
  const double r = nodes[right].value;
  // x + c1 + c2 and x * c1 * c2.
  const auto collected = [&]() -> std::optional<NodeId> {
    const ScalarNode inner = nodes[left];
    if (!constantRight || inner.op != op || !isConstant(inner.args[1]))
      return std::nullopt;
    const double c = nodes[inner.args[1]].value;
    return binary(op, inner.args[0], constant(op == ScalarOp::Add ? c + r : c * r));
  };
  const auto negated = [&](NodeId node) {
    return nodes[node].op == ScalarOp::Mul && is(nodes[node].args[1], -1);
  };
  switch (op) {
  case ScalarOp::Add:
    if (constantRight && r == 0)
      return left;
    if (negated(right))
      return binary(ScalarOp::Sub, left, nodes[right].args[0]);
    if (negated(left) && !constantRight)
      return binary(ScalarOp::Sub, right, nodes[left].args[0]);
    // exp(x) - 1 would cancel near zero.
    if (is(right, -1) && isCall(left, Function::Exp))
      return call(Function::Expm1, {nodes[left].args[0]});
    // 1 + erf(x) and 1 + tanh(x) would cancel where x is far below zero.
    if (is(right, 1) && isCall(left, Function::Erf))
      return call(Function::Erfc, {binary(ScalarOp::Mul, nodes[left].args[0], constant(-1))});
    if (is(right, 1) && isCall(left, Function::Tanh))
      return call(Function::OnePlusTanh, {nodes[left].args[0]});
    return collected();
  case ScalarOp::Sub:
    if (constantRight)
      return binary(ScalarOp::Add, left, constant(-r));
    if (is(left, 0))
      return binary(ScalarOp::Mul, right, constant(-1));
    if (negated(right))
      return binary(ScalarOp::Add, left, nodes[right].args[0]);
    return std::nullopt;
  case ScalarOp::Mul:
    if (constantRight && r == 1)
      return left;
    return collected();
  case ScalarOp::Div:
    if (constantRight && std::isfinite(1 / r))
      return binary(ScalarOp::Mul, left, constant(1 / r));
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

NodeId Expr::binary(ScalarOp op, NodeId left, NodeId right) {
  if (isConstant(left) && isConstant(right)) {
    ScalarNode node;
    node.op = op;
    const double args[3] = {nodes[left].value, nodes[right].value, 0};
    return constant(evaluateScalar(node, args));
  }
  if (isConstant(left))
    if (const auto other = mirrored(op)) {
      op = *other;
      std::swap(left, right);
    }
  if (const auto simpler = simplifyBinary(op, left, right))
    return *simpler;
  ScalarNode node;
  node.op = op;
  node.count = 2;
  node.args = {left, right, 0};
  if (op == ScalarOp::Div && !is(left, 1)) {
    const NodeId reciprocal = binary(ScalarOp::Div, constant(1), right);
    node.count = 3;
    node.args[2] = reciprocal;
  }
  return add(node);
}

NodeId Expr::select(NodeId condition, NodeId then, NodeId otherwise) {
  if (isConstant(condition))
    return nodes[condition].value != 0 ? then : otherwise;
  if (then == otherwise)
    return then;
  const ScalarNode test = nodes[condition];
  if (nodes[condition].isBoolean && is(then, 1) && is(otherwise, 0))
    return condition;
  const bool greater = test.op == ScalarOp::Gt || test.op == ScalarOp::Ge;
  const bool less = test.op == ScalarOp::Lt || test.op == ScalarOp::Le;
  if (greater || less) {
    // a > b ? a : b, either way round.
    if (then == test.args[0] && otherwise == test.args[1])
      return binary(greater ? ScalarOp::Max : ScalarOp::Min, then, otherwise);
    if (then == test.args[1] && otherwise == test.args[0])
      return binary(greater ? ScalarOp::Min : ScalarOp::Max, then, otherwise);
    // x > 0 ? x : s * x is the larger of both if s <= 1.
    const NodeId x = test.args[0];
    const NodeId above = greater ? then : otherwise, below = greater ? otherwise : then;
    const ScalarNode &scaled = nodes[below];
    if (is(test.args[1], 0) && above == x && scaled.op == ScalarOp::Mul && scaled.args[0] == x &&
        isConstant(scaled.args[1]))
      return binary(nodes[scaled.args[1]].value <= 1 ? ScalarOp::Max : ScalarOp::Min, below, above);
  }
  ScalarNode node;
  node.op = ScalarOp::Select;
  node.count = 3;
  node.args = {condition, then, otherwise};
  return add(node);
}

NodeId Expr::call(Function function, const std::vector<NodeId> &args) {
  ScalarNode node;
  node.op = ScalarOp::Call;
  node.count = static_cast<uint8_t>(args.size());
  std::copy(args.begin(), args.end(), node.args.begin());
  node.function = function;
  if (std::all_of(args.begin(), args.end(), [&](NodeId arg) { return isConstant(arg); })) {
    double values[3] = {};
    for (size_t i = 0; i < args.size(); ++i)
      values[i] = nodes[args[i]].value;
    return constant(evaluateScalar(node, values));
  }
  const NodeId x = args[0];
  if (function == Function::Log && nodes[x].op == ScalarOp::Add && is(nodes[x].args[1], 1))
    return call(Function::Log1p, {nodes[x].args[0]});
  // log(1 + exp(x)) would overflow where it is x.
  if (function == Function::Log1p && isCall(x, Function::Exp))
    return call(Function::Softplus, {nodes[x].args[0]});
  if (function == Function::Pow && isConstant(args[1])) {
    const double power = nodes[args[1]].value;
    if (power == 1)
      return x;
    if (power == 2)
      return binary(ScalarOp::Mul, x, x);
    if (power == 3)
      return binary(ScalarOp::Mul, binary(ScalarOp::Mul, x, x), x);
    if (power == -1)
      return binary(ScalarOp::Div, constant(1), x);
  }
  return add(node);
}

NodeId Expr::splice(const Expr &other, const Replacement &replacement) {
  std::vector<NodeId> copy(other.nodes.size());
  for (const NodeId id : other.reachable(other.result)) {
    const ScalarNode &node = other.nodes[id];
    if (const auto replaced = replacement(id, copy)) {
      copy[id] = *replaced;
      continue;
    }
    switch (node.op) {
    case ScalarOp::Constant:
      copy[id] = constant(node.value);
      break;
    case ScalarOp::Select:
      copy[id] = select(copy[node.args[0]], copy[node.args[1]], copy[node.args[2]]);
      break;
    case ScalarOp::Call: {
      std::vector<NodeId> args;
      for (unsigned i = 0; i < node.count; ++i)
        args.push_back(copy[node.args[i]]);
      copy[id] = call(node.function, args);
      break;
    }
    default:
      copy[id] = binary(node.op, copy[node.args[0]], copy[node.args[1]]);
    }
  }
  return copy[other.result];
}

double Expr::evaluate(NodeId node, const std::vector<double> &inputs) const {
  std::vector<double> values(node + 1);
  for (NodeId i = 0; i <= node; ++i) {
    if (nodes[i].op == ScalarOp::Input) {
      values[i] = inputs[nodes[i].input];
      continue;
    }
    const double args[3] = {values[nodes[i].args[0]], values[nodes[i].args[1]],
                            values[nodes[i].args[2]]};
    values[i] = evaluateScalar(nodes[i], args);
  }
  return values[node];
}

std::vector<NodeId> Expr::reachable(NodeId node) const {
  std::vector<bool> marked(node + 1);
  marked[node] = true;
  std::vector<NodeId> found;
  for (NodeId i = node + 1; i-- > 0;) {
    if (!marked[i])
      continue;
    found.push_back(i);
    for (unsigned j = 0; j < nodes[i].count; ++j)
      marked[nodes[i].args[j]] = true;
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::function<double(double)> Expr::functionOf(NodeId node, NodeId cut) const {
  // Constants are evaluated once, then only what lies between cut and node.
  std::vector<double> values(node + 1);
  std::vector<ScalarNode> steps;
  std::vector<NodeId> order;
  for (const NodeId i : reachable(node)) {
    if (i == cut)
      continue;
    if (isConstant(i)) {
      values[i] = nodes[i].value;
    } else if (i > cut) {
      order.push_back(i);
      steps.push_back(nodes[i]);
    }
  }
  return [=](double x) mutable {
    values[cut] = x;
    for (size_t s = 0; s < order.size(); ++s) {
      const ScalarNode &step = steps[s];
      const double args[3] = {values[step.args[0]], values[step.args[1]], values[step.args[2]]};
      values[order[s]] = evaluateScalar(step, args);
    }
    return values[node];
  };
}

std::vector<NodeId> Expr::cuts(NodeId node) const {
  std::vector<NodeId> found;
  const std::vector<NodeId> below = reachable(node);
  for (const NodeId cut : below) {
    if (cut == node || isConstant(cut))
      continue;
    // Without `cut`, does a way to an input remain?
    std::vector<bool> open(node + 1);
    open[node] = true;
    bool escapes = false;
    for (auto it = below.rbegin(); it != below.rend(); ++it) {
      if (!open[*it] || *it == cut)
        continue;
      escapes |= nodes[*it].op == ScalarOp::Input;
      for (unsigned j = 0; j < nodes[*it].count; ++j)
        open[nodes[*it].args[j]] = true;
    }
    if (!escapes)
      found.push_back(cut);
  }
  return found;
}

bool Expr::roundsBetween(NodeId node, NodeId cut) const {
  return std::ranges::any_of(reachable(node), [&](NodeId i) {
    return i > cut && (isCall(i, Function::ToBf16) || isCall(i, Function::ToFp32));
  });
}

std::string Expr::key(NodeId node, std::optional<NodeId> cut) const {
  std::string text;
  std::vector<size_t> names(node + 1);
  for (const NodeId i : reachable(node)) {
    if (cut && i < *cut && !isConstant(i))
      continue;
    names[i] = text.size();
    const ScalarNode &step = nodes[i];
    if (i == cut) {
      text += "x;";
      continue;
    }
    text += std::to_string(static_cast<int>(step.op));
    if (step.op == ScalarOp::Call)
      text += '(' + std::to_string(static_cast<int>(step.function));
    if (step.op == ScalarOp::Input)
      text += '$' + std::to_string(step.input);
    if (step.isBoolean)
      text += '?';
    if (step.op == ScalarOp::Constant)
      text += '#' + std::to_string(std::bit_cast<uint64_t>(step.value));
    for (unsigned j = 0; j < step.count; ++j)
      text += ',' + std::to_string(names[step.args[j]]);
    text += ';';
  }
  return text;
}

} // namespace sluice::rows
