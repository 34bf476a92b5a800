#include "compiler/conversion/rows/lazy_map.h"

#include <algorithm>
#include <cmath>

#include "compiler/conversion/rows/repeat_sums.h"
#include "compiler/conversion/scalar/constants.h"
#include "compiler/conversion/scalar/integer_windows.h"
#include "compiler/conversion/scalar/reassociate.h"

using namespace mlir;

namespace sluice::rows {

namespace {

/// Larger bodies are not grown by inlining: selection is a search.
constexpr size_t kMaxNodes = 64;

/// scale * x + offset; constant if it does not depend on x.
struct AffineValue {
  double scale = 0, offset = 0;
  bool constant = true;
};

std::optional<AffineValue> affineStep(const ScalarNode &node, const AffineValue *args) {
  const AffineValue &l = args[0], &r = args[1];
  const bool constant = l.constant && r.constant;
  // x - x is no constant: it is NaN where x is not finite.
  const auto unlessCancelled = [&](double scale, double offset) {
    return scale == 0 && l.scale != 0 ? std::nullopt
                                      : std::optional(AffineValue{scale, offset, constant});
  };
  switch (node.op) {
  case ScalarOp::Constant:
    return AffineValue{0, node.value, true};
  case ScalarOp::Add:
    return unlessCancelled(l.scale + r.scale, l.offset + r.offset);
  case ScalarOp::Sub:
    return unlessCancelled(l.scale - r.scale, l.offset - r.offset);
  case ScalarOp::Mul: {
    if (!l.constant && !r.constant)
      return std::nullopt;
    const AffineValue &x = l.constant ? r : l;
    const double factor = l.constant ? l.offset : r.offset;
    return AffineValue{x.scale * factor, x.offset * factor, constant};
  }
  case ScalarOp::Div:
    if (!r.constant)
      return std::nullopt;
    return AffineValue{l.scale / r.offset, l.offset / r.offset, constant};
  default:
    return std::nullopt;
  }
}

bool allFinite(const std::vector<double> &values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

} // namespace

NodeId LazyMap::addOperand(Lowering &lowering, Value value) {
  Operation *op = result.getDefiningOp();
  if (ir::isConstant(value)) {
    std::vector<double> values = lowering.constant(value).values;
    std::ranges::transform(values, values.begin(), withinBf16);
    if (std::all_of(values.begin(), values.end(), [&](double v) { return v == values[0]; }))
      return expr.constant(values[0]);
    operands.push_back({{}, std::move(values), {}, false, {}});
    return expr.input(static_cast<uint32_t>(operands.size() - 1));
  }
  const auto inputOf = [&](Value operand) {
    const auto found = std::find_if(operands.begin(), operands.end(),
                                    [&](const Operand &other) { return other.value == operand; });
    const auto index = static_cast<uint32_t>(found - operands.begin());
    if (found == operands.end())
      operands.push_back({operand, {}, {}, false, {}});
    return expr.input(index);
  };
  Lazy *pending = lowering.lazy(value);
  LazyMap *map = pending ? pending->asMap() : nullptr;
  const bool onlyUser = llvm::all_of(value.getUsers(), [&](Operation *user) { return user == op; });
  if (!map || !onlyUser || expr.size() + map->expr.size() > kMaxNodes)
    return inputOf(value);
  ops.insert(map->ops.begin(), map->ops.end());
  return expr.splice(map->expr, [&](NodeId node, const auto &) -> std::optional<NodeId> {
    if (map->expr[node].op != ScalarOp::Input)
      return std::nullopt;
    const Operand &operand = map->operands[map->expr[node].input];
    if (!operand.isConstant())
      return inputOf(operand.value);
    operands.push_back(operand);
    return expr.input(static_cast<uint32_t>(operands.size() - 1));
  });
}

bool LazyMap::ownsAllUses(Value value) const {
  return llvm::all_of(value.getUsers(), [&](Operation *user) { return ops.contains(user); });
}

bool LazyMap::dependsOnConstantsOnly(NodeId node) const {
  for (const NodeId part : expr.reachable(node))
    if (expr[part].op == ScalarOp::Input && !operands[expr[part].input].isConstant())
      return false;
  return true;
}

std::vector<double> LazyMap::valuesOf(const Expr &of, NodeId node, int64_t elements) const {
  std::vector<double> values(elements), inputs(operands.size());
  for (int64_t i = 0; i < elements; ++i) {
    for (size_t k = 0; k < operands.size(); ++k)
      inputs[k] = operands[k].isConstant() ? operands[k].constant[i] : 0;
    values[i] = of.evaluate(node, inputs);
  }
  return values;
}

/// Whether the sum of two constants is rounded about as little as the two. A number that is the
/// same for all elements is not rounded, others are bf16.
bool LazyMap::mayAdd(const Expr &of, NodeId one, NodeId other, NodeId sum, int64_t elements) const {
  const auto rounding = [&](NodeId node) {
    const std::vector<double> values = valuesOf(of, node, elements);
    double most = 0;
    for (const double value : values)
      if (std::isfinite(value))
        most = std::max(most, std::fabs(value));
    return llvm::all_equal(values) || most == 0 ? 0 : std::ldexp(1.0, std::ilogb(most));
  };
  return rounding(sum) <= 2 * (rounding(one) + rounding(other));
}

/// Parts that depend on constants alone become one constant operand each, and a
/// division by one a product with its reciprocal.
void LazyMap::foldConstantParts(Lowering &lowering) {
  const int64_t elements = lowering.layoutOf(result).elements();
  expr = reassociated(
      expr, [&](uint32_t input) { return operands[input].isConstant(); },
      [&](const Expr &of, NodeId one, NodeId other, NodeId sum) {
        return mayAdd(of, one, other, sum, elements);
      });
  Expr folded;
  std::vector<Operand> kept;
  std::map<NodeId, NodeId> made;
  const auto operandFor = [&](NodeId node) {
    const auto [it, inserted] = made.try_emplace(node);
    if (inserted) {
      kept.push_back({{}, valuesOf(expr, node, elements), {}, false, {}});
      it->second = folded.input(static_cast<uint32_t>(kept.size() - 1));
    }
    return it->second;
  };
  const auto isPart = [&](NodeId node) {
    return !expr.isConstant(node) && dependsOnConstantsOnly(node);
  };
  folded.result = folded.splice(expr, [&](NodeId node, const auto &copy) -> std::optional<NodeId> {
    const ScalarNode &n = expr[node];
    if (isPart(node)) {
      // Only the largest such parts are wanted, or the result itself; the others stay unused.
      const auto wanted = [&](NodeId user) {
        const auto &args = expr[user].args;
        return user > node && !dependsOnConstantsOnly(user) &&
               std::find(args.begin(), args.begin() + expr[user].count, node) !=
                   args.begin() + expr[user].count;
      };
      const auto all = expr.reachable(expr.result);
      return node == expr.result || std::any_of(all.begin(), all.end(), wanted)
                 ? operandFor(node)
                 : folded.constant(0);
    }
    if (n.op == ScalarOp::Input) {
      kept.push_back(operands[n.input]);
      return folded.input(static_cast<uint32_t>(kept.size() - 1));
    }
    if (n.op == ScalarOp::Div && isPart(n.args[1]))
      return folded.binary(ScalarOp::Mul, copy[n.args[0]], operandFor(n.args[2]));
    return std::nullopt;
  });
  expr = std::move(folded);
  operands = std::move(kept);
}

/// An affine function of a product goes into its weights and bias.
void LazyMap::absorbBehind(Lowering &lowering, NodeId input, LazyLinear &product) {
  const int64_t elements = lowering.layoutOf(result).elements();
  OutputAffine after{std::vector<double>(elements, 1), std::vector<double>(elements, 0)};
  // Integers stay integers: their scale stays behind the product.
  const auto most = roundsToIntegers() ? product.mostOfIntegers(lowering) : std::nullopt;
  bool scaled = false;
  NodeId current = input;
  while (current != expr.result) {
    std::vector<NodeId> users;
    for (const NodeId node : expr.reachable(expr.result)) {
      const ScalarNode &n = expr[node];
      if (std::find(n.args.begin(), n.args.begin() + n.count, current) != n.args.begin() + n.count)
        users.push_back(node);
    }
    if (users.size() != 1)
      break;
    const ScalarNode &user = expr[users[0]];
    const bool onLeft = user.args[0] == current;
    const NodeId other = user.args[onLeft ? 1 : 0];
    if (user.count != 2 || other == current || !dependsOnConstantsOnly(other))
      break;
    const std::vector<double> values = valuesOf(expr, other, elements);
    OutputAffine next = after;
    for (int64_t i = 0; i < elements; ++i) {
      double &scale = next.scale[i], &offset = next.offset[i];
      if (user.op == ScalarOp::Add) {
        offset += values[i];
      } else if (user.op == ScalarOp::Sub) {
        scale = onLeft ? scale : -scale;
        offset = onLeft ? offset - values[i] : values[i] - offset;
      } else if (user.op == ScalarOp::Mul) {
        scale *= values[i];
        offset *= values[i];
      }
    }
    const bool affine =
        user.op == ScalarOp::Add || user.op == ScalarOp::Sub || user.op == ScalarOp::Mul;
    const bool changesScale = next.scale != after.scale;
    if (!affine || !allFinite(next.scale) || !allFinite(next.offset) ||
        (changesScale && !most && !product.takesScale(lowering, next.scale)) ||
        (most && llvm::is_contained(next.scale, 0)))
      break;
    scaled |= changesScale;
    after = std::move(next);
    current = users[0];
  }
  product.ops.insert(ops.begin(), ops.end());
  if (most) {
    const Number sums = lowering.numberOf(operands[expr[input].input].value);
    roundBehind(lowering, current, product, after, *most, sums.isInteger && sums.isExact());
    return;
  }
  if (current == input)
    return;
  if (!scaled)
    after.scale.clear();
  operands.push_back({{}, {}, product.emitWith(lowering, after), false, {}});
  const auto index = static_cast<uint32_t>(operands.size() - 1);
  replace(current, [&](Expr &rest) { return rest.input(index); });
}

/// `by` says what stands for a node, and nothing for what only that was computed from.
void LazyMap::replace(NodeId at, const std::function<NodeId(Expr &)> &by) {
  Expr rest;
  rest.result = rest.splice(expr, [&](NodeId node, const auto &) -> std::optional<NodeId> {
    if (node == at)
      return by(rest);
    if (expr[node].op == ScalarOp::Input)
      return rest.input(expr[node].input);
    return std::nullopt;
  });
  expr = std::move(rest);
}

void LazyMap::absorbIntoProducts(Lowering &lowering) {
  const size_t count = operands.size();
  for (uint32_t index = 0; index < count; ++index) {
    const Value value = operands[index].value;
    Lazy *pending = value && ownsAllUses(value) ? lowering.lazy(value) : nullptr;
    LazyLinear *product = pending ? pending->asLinear() : nullptr;
    if (!product)
      continue;
    for (const NodeId node : expr.reachable(expr.result))
      if (expr[node].op == ScalarOp::Input && expr[node].input == index) {
        absorbBehind(lowering, node, *product);
        break;
      }
  }
}

void LazyMap::addReads(Lowering &lowering, llvm::SmallVectorImpl<Value> &reads) {
  std::vector<bool> wanted(operands.size());
  for (const NodeId node : expr.reachable(expr.result))
    if (expr[node].op == ScalarOp::Input)
      wanted[expr[node].input] = true;
  for (size_t k = 0; k < operands.size(); ++k) {
    const Value value = operands[k].value;
    if (!wanted[k] || !value)
      continue;
    Lazy *pending = ownsAllUses(value) ? lowering.lazy(value) : nullptr;
    if (LazyLinear *product = pending ? pending->asLinear() : nullptr)
      product->addReads(lowering, reads);
    else
      reads.push_back(value);
  }
}

std::optional<LazyMap::Affine> LazyMap::affine(Lowering &lowering) {
  foldConstantParts(lowering);
  std::optional<uint32_t> input;
  for (const NodeId node : expr.reachable(expr.result)) {
    if (expr[node].op != ScalarOp::Input || operands[expr[node].input].isConstant())
      continue;
    if (input)
      return std::nullopt;
    input = expr[node].input;
  }
  if (!input)
    return std::nullopt;
  // A product before the map takes it at no cost.
  const Value value = operands[*input].value;
  if (Lazy *pending = lowering.lazy(value); pending && pending->asLinear() && ownsAllUses(value))
    return std::nullopt;
  const RowLayout layout = lowering.layoutOf(result);
  const auto reachable = expr.reachable(expr.result);
  std::vector<AffineValue> parts(layout.elements()), nodes(expr.result + 1);
  for (int64_t i = 0; i < layout.elements(); ++i) {
    for (const NodeId id : reachable) {
      const ScalarNode &node = expr[id];
      if (node.op == ScalarOp::Input) {
        const Operand &operand = operands[node.input];
        nodes[id] = operand.isConstant() ? AffineValue{0, operand.constant[i], true}
                                         : AffineValue{1, 0, false};
        continue;
      }
      const AffineValue args[2] = {nodes[node.args[0]], nodes[node.args[1]]};
      const auto value = affineStep(node, args);
      if (!value || !std::isfinite(value->scale) || !std::isfinite(value->offset))
        return std::nullopt;
      nodes[id] = *value;
    }
    parts[i] = nodes[expr.result];
    // Rows that share weights must share their scale.
    const RowLayout::Place place = layout.place(i);
    const int64_t shared = layout.flat(place.row % layout.rowsAlong(), place.lane);
    if (shared <= i && parts[shared].scale != parts[i].scale)
      return std::nullopt;
  }
  Affine result{value, {}, {}};
  for (const AffineValue &part : parts) {
    result.scale.push_back(part.scale);
    result.offset.push_back(part.offset);
  }
  return result;
}

std::optional<RowTensor> LazyMap::affineRows(Lowering &lowering) {
  const std::optional<Affine> affine = this->affine(lowering);
  if (!affine)
    return std::nullopt;
  const RowLayout layout = lowering.layoutOf(result);
  const RowTensor &base = lowering.rows(affine->base);
  RowTensor scaled{layout, {}};
  for (int64_t row = 0; row < layout.rows(); ++row) {
    std::vector<Element> elements;
    for (int64_t lane = 0; lane < layout.used(row); ++lane) {
      const int64_t at = layout.flat(row, lane);
      const double scale = affine->scale[at], offset = affine->offset[at];
      Element element = base.rows[row].element(static_cast<uint32_t>(lane));
      element.offset = scale * element.offset + offset;
      element.scale *= scale;
      elements.push_back(element);
    }
    scaled.rows.push_back(makeRef(lowering.graph, std::move(elements)));
  }
  return scaled;
}

RowTensor LazyMap::emit(Lowering &lowering) {
  foldConstantParts(lowering);
  if (roundsToIntegers()) {
    expr = limitsLast(expr);
    quantisers = quantisersOf(lowering);
    emitIntegers(lowering);
    real = expr;
  }
  absorbIntoProducts(lowering);
  return emitSteps(lowering);
}

RowTensor LazyMap::emitSteps(Lowering &lowering) {
  const RowLayout layout = lowering.layoutOf(result);
  GraphBuilder &graph = lowering.graph;
  std::vector<bool> wanted(operands.size());
  for (const NodeId node : expr.reachable(expr.result))
    if (expr[node].op == ScalarOp::Input)
      wanted[expr[node].input] = true;
  const auto isBroadcast = [](const RowRef &ref) { return ref.broadcast; };
  std::vector<RowTensor> rows(operands.size()), lowerHalves(operands.size());
  std::vector<MapOperand> facts(operands.size());
  for (size_t k = 0; k < operands.size(); ++k) {
    if (!wanted[k])
      continue;
    if (operands[k].wide) {
      facts[k].wide = true;
      for (int64_t row = 0; row < layout.rows(); ++row) {
        std::vector<double> values;
        for (int64_t lane = 0; lane < layout.used(row); ++lane)
          values.push_back(operands[k].constant[layout.flat(row, lane)]);
        const auto [upper, lower] = graph.wideConstant(values);
        rows[k].rows.push_back({upper, false, {}});
        lowerHalves[k].rows.push_back({lower, false, {}});
      }
      continue;
    }
    if (operands[k].isConstant()) {
      reference::Tensor tensor;
      tensor.values = operands[k].constant;
      rows[k] = lowering.materialise(lowering.constantRows(layout, tensor));
      continue;
    }
    const bool own = operands[k].rows || ownsAllUses(operands[k].value);
    rows[k] = lowering.materialise(operands[k].rows ? *operands[k].rows
                                                    : lowering.rows(operands[k].value),
                                   /*keepBroadcast=*/true);
    // One used lane is lane 0 in every lane as well.
    const auto &refs = rows[k].rows;
    facts[k].broadcast = std::any_of(refs.begin(), refs.end(), isBroadcast);
    for (size_t row = 0; row < refs.size(); ++row)
      facts[k].broadcast &= refs[row].broadcast || layout.used(static_cast<int64_t>(row)) == 1;
    if (!facts[k].broadcast)
      rows[k] = lowering.materialise(rows[k]);
    const auto isSum = [&](const RowRef &ref) {
      return !ref.broadcast && graph.isPlainLinear(ref.row);
    };
    facts[k].fusable = own && (std::ranges::all_of(refs, isSum) || canRepeatSums(graph, rows[k]));
  }
  if (roundsToIntegers())
    expr = sumsInWindows(expr, [&](uint32_t input) {
      return !operands[input].isConstant() && !facts[input].fusable && !facts[input].broadcast;
    });
  std::string why;
  HasTable hasTable;
  if (lowering.fewTables)
    hasTable = [&](const format::TableImage &image) { return graph.hasTable(image); };
  auto plan = selectMap(expr, facts, lowering.tables, why, hasTable);
  if (!plan) {
    // Operand a cannot be a lane broadcast: spread them all.
    for (size_t k = 0; k < operands.size(); ++k)
      if (facts[k].broadcast) {
        rows[k] = lowering.materialise(rows[k]);
        facts[k].broadcast = false;
      }
    plan = selectMap(expr, facts, lowering.tables, why, hasTable);
  }
  if (!plan)
    return lowering.fail(result.getDefiningOp(), "E0411",
                         "no vector instruction or function table computes '" + why + "'",
                         {"limit the argument with clip: outside 16 exponents a table holds only "
                          "constants, 2^k * x or log(x)"});
  addDifference(lowering, *plan, facts);
  return emitPlan(lowering, *plan, rows, lowerHalves);
}

/// Repeats the sums that an operand's rows share, if this map alone reads the operand and one step
/// of it does.
void LazyMap::repeatSums(Lowering &lowering, const MapPlan &plan, const MapStep &step,
                         std::vector<RowTensor> &operandRows) {
  if (step.a.kind != Source::Kind::Operand)
    return;
  const auto reads = [&](const MapStep &other) {
    return static_cast<size_t>(other.a == step.a) + static_cast<size_t>(other.b == step.a) +
           static_cast<size_t>(other.c == step.a);
  };
  size_t uses = 0;
  for (const MapStep &other : plan.steps)
    uses += reads(other);
  const Operand &operand = operands[step.a.index];
  if (uses != 1 || !operand.value || !ownsAllUses(operand.value))
    return;
  repeatSharedSums(lowering.graph, operand.value, operandRows[step.a.index]);
}

RowTensor LazyMap::emitPlan(Lowering &lowering, MapPlan &plan, std::vector<RowTensor> &operandRows,
                            const std::vector<RowTensor> &lowerHalves) {
  const RowLayout layout = lowering.layoutOf(result);
  GraphBuilder &graph = lowering.graph;
  std::vector<std::vector<RowId>> stepRows, stepLowerHalves;
  const auto rowOf = [&](const Source &source, int64_t row) {
    switch (source.kind) {
    case Source::Kind::None:
      return kNoRow;
    case Source::Kind::Operand:
      return operandRows[source.index].rows[row].row;
    case Source::Kind::Step:
      return stepRows[source.index][row];
    case Source::Kind::Splat:
      return graph.splat(source.value);
    }
    return kNoRow;
  };
  std::vector<uint32_t> tables;
  for (const auto &image : plan.tables)
    tables.push_back(graph.table(image));
  for (const MapStep &planned : plan.steps) {
    repeatSums(lowering, plan, planned, operandRows);
    lowering.beginGroup(ops);
    VectorStep step = planned.step;
    if (step.table)
      step.table = tables[*step.table];
    const auto rowsOf = [&](isa::Part part) {
      step.part = part;
      std::vector<RowId> made;
      for (int64_t row = 0; row < layout.rows(); ++row) {
        RowId c = rowOf(planned.c, row);
        if (step.bWide)
          c = planned.b.kind == Source::Kind::Step ? stepLowerHalves[planned.b.index][row]
                                                   : lowerHalves[planned.b.index].rows[row].row;
        made.push_back(graph.vector(step, {rowOf(planned.a, row)}, rowOf(planned.b, row), c,
                                    static_cast<uint32_t>(layout.used(row))));
      }
      return made;
    };
    stepRows.push_back(rowsOf(planned.wide ? isa::Part::High : isa::Part::Bf16));
    stepLowerHalves.push_back(planned.wide ? rowsOf(isa::Part::Low) : std::vector<RowId>());
  }
  RowTensor tensor{layout, {}};
  for (int64_t row = 0; row < layout.rows(); ++row)
    tensor.rows.push_back({rowOf(plan.result, row), false, {}});
  return tensor;
}

} // namespace sluice::rows
