#include "compiler/conversion/scalar/reassociate.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace sluice::rows {
namespace {

/// A value with a constant: value + constant, constant - value, value * constant and the like.
struct Link {
  NodeId value = 0, constant = 0;
  bool isProduct = false;
  bool subtracted = false;      ///< the value
  bool constantIsMinus = false; ///< the constant is subtracted
};

/// Rebuilds an expression; nodes of the new one that depend on constants alone are marked.
class Reassociation {
public:
  Reassociation(const Expr &expr, const std::function<bool(uint32_t)> &isConstantInput,
                const MayAdd &mayAdd)
      : expr(expr), isConstantInput(isConstantInput), mayAdd(mayAdd), uses(expr.size()) {
    for (const NodeId node : expr.reachable(expr.result))
      for (unsigned i = 0; i < expr[node].count; ++i)
        ++uses[expr[node].args[i]];
  }

  Expr run() {
    made.result = made.splice(expr, [&](NodeId node, const auto &copy) -> std::optional<NodeId> {
      if (expr[node].op == ScalarOp::Input)
        return made.input(expr[node].input);
      const auto outer = linkOf(expr, node);
      if (!outer || uses[outer->value] != 1)
        return std::nullopt;
      const auto inner = linkOf(made, copy[outer->value]);
      if (!inner || inner->isProduct != outer->isProduct)
        return std::nullopt;
      const NodeId constant = copy[outer->constant];
      if (outer->isProduct)
        return made.binary(ScalarOp::Mul, inner->value,
                           made.binary(ScalarOp::Mul, inner->constant, constant));
      return sum(*inner, *outer, constant);
    });
    return std::move(made);
  }

private:
  const Expr &expr;
  const std::function<bool(uint32_t)> &isConstantInput;
  const MayAdd &mayAdd;       ///< may be empty
  std::vector<unsigned> uses; ///< by node of the old expression
  Expr made;

  [[nodiscard]] bool isConstant(const Expr &of, NodeId node) const {
    return std::ranges::all_of(of.reachable(node), [&](NodeId part) {
      return of[part].op != ScalarOp::Input || isConstantInput(of[part].input);
    });
  }

  /// Nothing if the node is none, or constant itself.
  [[nodiscard]] std::optional<Link> linkOf(const Expr &of, NodeId node) const {
    const ScalarNode &n = of[node];
    if (n.op != ScalarOp::Add && n.op != ScalarOp::Sub && n.op != ScalarOp::Mul &&
        n.op != ScalarOp::Div)
      return std::nullopt;
    const bool left = isConstant(of, n.args[0]), right = isConstant(of, n.args[1]);
    if (left == right)
      return std::nullopt;
    if (n.op == ScalarOp::Div) // the third argument is the reciprocal of the second
      return left || n.count != 3 ? std::nullopt
                                  : std::optional(Link{n.args[0], n.args[2], true, false, false});
    Link link{n.args[left ? 1 : 0], n.args[left ? 0 : 1], n.op == ScalarOp::Mul, false, false};
    link.subtracted = n.op == ScalarOp::Sub && left;
    link.constantIsMinus = n.op == ScalarOp::Sub && right;
    return link;
  }

  /// (inner's value with its constant) with another constant; nothing if they stay apart.
  std::optional<NodeId> sum(const Link &inner, const Link &outer, NodeId constant) {
    // The inner constant's sign where the outer link has added or subtracted the inner sum.
    const bool innerIsMinus = inner.constantIsMinus != outer.subtracted;
    const bool valueIsMinus = inner.subtracted != outer.subtracted;
    const NodeId zero = made.constant(0);
    NodeId total = made.binary(innerIsMinus ? ScalarOp::Sub : ScalarOp::Add, zero, inner.constant);
    total = made.binary(outer.constantIsMinus ? ScalarOp::Sub : ScalarOp::Add, total, constant);
    if (mayAdd && !mayAdd(made, inner.constant, constant, total))
      return std::nullopt;
    return valueIsMinus ? made.binary(ScalarOp::Sub, total, inner.value)
                        : made.binary(ScalarOp::Add, inner.value, total);
  }
};

} // namespace

Expr reassociated(const Expr &expr, const std::function<bool(uint32_t)> &isConstant,
                  const MayAdd &mayAdd) {
  return Reassociation(expr, isConstant, mayAdd).run();
}

} // namespace sluice::rows
