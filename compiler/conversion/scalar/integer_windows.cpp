#include "compiler/conversion/scalar/integer_windows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace sluice::rows {
namespace {

using reference::Function;

/// Beyond it bf16 does not have all integers.
constexpr int64_t kMostExact = 256;

/// Beyond it nothing of a function can be one of 8-bit integers.
constexpr int64_t kFar = 3 * kMostExact;

bool isLimit(const Expr &expr, NodeId node) {
  const ScalarNode &n = expr[node];
  return (n.op == ScalarOp::Max || n.op == ScalarOp::Min) && expr.isConstant(n.args[1]);
}

bool rounds(const Expr &expr, NodeId node) {
  return expr[node].op == ScalarOp::Call && expr[node].function == Function::RoundEven;
}

/// Whether `node` is the integer nearest to `v`, within limits.
bool isRounded(const Expr &expr, NodeId node, NodeId v) {
  if (!rounds(expr, node))
    return false;
  node = expr[node].args[0];
  while (isLimit(expr, node))
    node = expr[node].args[0];
  return node == v;
}

bool contains(const std::vector<NodeId> &nodes, NodeId node) {
  return std::ranges::find(nodes, node) != nodes.end();
}

size_t usersOf(const Expr &expr, NodeId of) {
  return static_cast<size_t>(std::ranges::count_if(expr.reachable(expr.result), [&](NodeId node) {
    const ScalarNode &n = expr[node];
    return std::find(n.args.begin(), n.args.begin() + n.count, of) != n.args.begin() + n.count;
  }));
}

/// Whether everything computed from `first` is computed from `end`, except what leads to `end`.
bool isOnlyWay(const Expr &expr, NodeId first, NodeId end) {
  std::vector<bool> before(expr.result + 1); // on the way
  const std::vector<NodeId> parts = expr.reachable(end);
  const auto reads = [&](NodeId node) {
    const ScalarNode &n = expr[node];
    return std::any_of(n.args.begin(), n.args.begin() + n.count,
                       [&](NodeId arg) { return before[arg]; });
  };
  for (const NodeId node : parts)
    before[node] = node != end && (node == first || reads(node));
  return std::ranges::none_of(expr.reachable(expr.result),
                              [&](NodeId node) { return !contains(parts, node) && reads(node); });
}

/// The window of a function of the nearest integer; nothing if it is not of few integers, or not
/// one with integers that bf16 has.
std::optional<IntegerWindows> windowsOf(const std::function<double(double)> &function) {
  int64_t first = kFar, last = -kFar; // where it changes
  double before = function(-std::numeric_limits<double>::infinity());
  for (int64_t i = -kFar; i <= kFar; ++i) {
    const double value = function(static_cast<double>(i));
    if (value != std::nearbyint(value) || std::fabs(value) > kMostExact)
      return std::nullopt;
    if (value != before) {
      first = std::min(first, i - 1);
      last = i;
    }
    before = value;
  }
  if (first > last || first < -kFar || last == kFar ||
      before != function(std::numeric_limits<double>::infinity()))
    return std::nullopt;
  const int64_t even = first - (first & 1);
  if (last - even > 2 * kIntegerWindow)
    return std::nullopt;
  return IntegerWindows{0, kIntegerWindow - even, last - even > kIntegerWindow};
}

/// A sum of inputs times numbers.
struct LinearForm {
  std::map<uint32_t, double> factors; ///< by input
  double offset = 0;
};

std::optional<LinearForm> linearForm(const Expr &expr, NodeId of) {
  std::map<NodeId, LinearForm> forms;
  for (const NodeId node : expr.reachable(of)) {
    const ScalarNode &n = expr[node];
    LinearForm form;
    const auto add = [&](NodeId arg, double factor) {
      for (const auto &[input, value] : forms[arg].factors)
        form.factors[input] += factor * value;
      form.offset += factor * forms[arg].offset;
    };
    if (n.op == ScalarOp::Input) {
      form.factors[n.input] = 1;
    } else if (n.op == ScalarOp::Constant) {
      form.offset = n.value;
    } else if (n.op == ScalarOp::Add || n.op == ScalarOp::Sub) {
      add(n.args[0], 1);
      add(n.args[1], n.op == ScalarOp::Add ? 1 : -1);
    } else if (n.op == ScalarOp::Mul && expr.isConstant(n.args[1])) {
      add(n.args[0], expr[n.args[1]].value);
    } else {
      return std::nullopt;
    }
    forms[node] = std::move(form);
  }
  return std::move(forms[of]);
}

/// A sum of two rows that is rounded to integers.
struct RoundedSum {
  NodeId sum = 0;
  IntegerWindows windows;
  LinearForm form;
};

std::optional<RoundedSum> roundedSum(const Expr &expr, const std::function<bool(uint32_t)> &isRow) {
  for (const NodeId node : expr.reachable(expr.result)) {
    if (!rounds(expr, node))
      continue;
    NodeId sum = expr[node].args[0];
    while (isLimit(expr, sum))
      sum = expr[sum].args[0];
    const auto form = linearForm(expr, sum);
    if (!form || form->factors.size() != 2 || !std::isfinite(form->offset) ||
        !std::ranges::all_of(form->factors, [&](const auto &one) {
          return isRow(one.first) && std::isfinite(one.second) && one.second != 0;
        }))
      continue;
    if (const auto windows = integerWindows(expr, sum))
      return RoundedSum{sum, *windows, *form};
  }
  return std::nullopt;
}

} // namespace

Expr sumsInWindows(const Expr &expr, const std::function<bool(uint32_t)> &isRow) {
  const auto found = roundedSum(expr, isRow);
  if (!found)
    return expr;
  Expr made;
  const auto term = [&](const auto &factor) {
    return made.binary(ScalarOp::Mul, made.input(factor.first), made.constant(factor.second));
  };
  const auto moved = [&](double shift) {
    const NodeId kept =
        made.call(Function::ToFp32, {made.binary(ScalarOp::Add, term(*found->form.factors.rbegin()),
                                                 made.constant(found->form.offset + shift))});
    return made.binary(ScalarOp::Add, term(*found->form.factors.begin()), kept);
  };
  made.result = made.splice(expr, [&](NodeId node, const auto &) -> std::optional<NodeId> {
    if (node == found->windows.end)
      return addWindows(made, expr, found->sum, found->windows, moved);
    return expr[node].op == ScalarOp::Input ? std::optional(made.input(expr[node].input))
                                            : std::nullopt;
  });
  return sumsInWindows(made, isRow);
}

std::optional<IntegerWindows> integerWindows(const Expr &expr, NodeId v) {
  if (usersOf(expr, v) != 1)
    return std::nullopt;
  std::optional<NodeId> rounded;
  std::optional<IntegerWindows> widest;
  for (const NodeId node : expr.reachable(expr.result)) {
    if (!rounded && isRounded(expr, node, v))
      rounded = node;
    const std::vector<NodeId> cuts = expr.cuts(node);
    if (!rounded || !contains(cuts, v) || (node != *rounded && !contains(cuts, *rounded)) ||
        !isOnlyWay(expr, *rounded, node))
      continue;
    if (auto windows = windowsOf(expr.functionOf(node, v))) {
      widest = *windows;
      widest->end = node;
    }
  }
  return widest;
}

std::optional<NodeId> nextIntegers(const Expr &expr,
                                   const std::function<bool(NodeId)> &isCandidate) {
  struct Integers {
    NodeId of, end; ///< the number that is rounded, and the integers behind it
  };
  std::vector<Integers> known;
  for (const NodeId node : expr.reachable(expr.result)) {
    if (!rounds(expr, node))
      continue;
    const std::vector<NodeId> parts = expr.reachable(node), cuts = expr.cuts(node);
    // A function of one integer is a table.
    const bool isFunction = std::ranges::any_of(known, [&](const Integers &one) {
      return contains(cuts, one.end) || (one.end >= node && contains(cuts, one.of));
    });
    for (const Integers &one : known)
      if (!isFunction && one.end < node && contains(parts, one.end) && isCandidate(one.end))
        return one.end;
    NodeId of = expr[node].args[0];
    while (isLimit(expr, of))
      of = expr[of].args[0];
    if (const auto windows = integerWindows(expr, of))
      known.push_back({of, windows->end});
  }
  return std::nullopt;
}

NodeId addWindows(Expr &to, const Expr &expr, NodeId v, const IntegerWindows &windows,
                  const std::function<NodeId(double)> &moved) {
  const auto shift = static_cast<double>(windows.shift), next = shift - kIntegerWindow;
  const NodeId first = moved(shift), second = windows.two ? moved(next) : first;
  const auto integer = [&](NodeId x) {
    return to.call(Function::RoundEven, {to.call(Function::ToBf16, {x})});
  };
  Expr part = expr;
  part.result = windows.end;
  const auto functionOf = [&](NodeId of) {
    return to.splice(part, [&](NodeId node, const auto &) -> std::optional<NodeId> {
      if (node == v)
        return of;
      // What v is computed from is not read.
      return expr[node].op == ScalarOp::Input ? std::optional(to.constant(0)) : std::nullopt;
    });
  };
  NodeId low = integer(first);
  if (windows.two)
    low = to.binary(ScalarOp::Min, low, to.constant(kMostExact));
  low = functionOf(to.binary(ScalarOp::Sub, low, to.constant(shift)));
  if (!windows.two)
    return low;
  // Above the first window, the second one says by how much more.
  const NodeId limited = to.binary(ScalarOp::Max, integer(second), to.constant(kIntegerWindow));
  const NodeId high = functionOf(to.binary(ScalarOp::Sub, limited, to.constant(next)));
  const double middle = expr.functionOf(windows.end, v)(static_cast<double>(kMostExact) - shift);
  return to.binary(ScalarOp::Add, low, to.binary(ScalarOp::Sub, high, to.constant(middle)));
}

Expr limitsLast(const Expr &expr) {
  Expr made;
  made.result = made.splice(expr, [&](NodeId node, const auto &copy) -> std::optional<NodeId> {
    const ScalarNode &n = expr[node];
    if (n.op == ScalarOp::Input)
      return made.input(n.input);
    const bool isSum = n.op == ScalarOp::Add || n.op == ScalarOp::Sub;
    if ((!isSum && n.op != ScalarOp::Mul) || !expr.isConstant(n.args[1]))
      return std::nullopt;
    const double by = expr[n.args[1]].value;
    if (!std::isfinite(by) || (!isSum && by <= 0))
      return std::nullopt;
    // Integers within limits stay integers that bf16 has.
    const std::vector<NodeId> parts = expr.reachable(n.args[0]);
    if (!isSum && std::ranges::any_of(parts, [&](NodeId part) { return rounds(expr, part); }))
      return std::nullopt;
    const auto changed = [&](NodeId x) { return made.binary(n.op, x, made.constant(by)); };
    const auto moved = [&](auto &self, NodeId x) -> NodeId {
      if (!isLimit(made, x))
        return changed(x);
      const ScalarNode limit = made[x];
      return made.binary(limit.op, self(self, limit.args[0]), changed(limit.args[1]));
    };
    return moved(moved, copy[n.args[0]]);
  });
  return made;
}

} // namespace sluice::rows
