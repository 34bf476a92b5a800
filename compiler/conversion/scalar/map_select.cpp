#include "compiler/conversion/scalar/map_select.h"

#include <set>

#include "compiler/conversion/scalar/split_functions.h"
#include "compiler/conversion/scalar/table_builder.h"

namespace sluice::rows {

const TableCache::Entry &TableCache::of(const Expr &expr, NodeId node, NodeId cut) {
  const auto [it, inserted] = entries.try_emplace(expr.key(node, cut));
  if (!inserted)
    return it->second;
  const auto function = expr.functionOf(node, cut);
  auto image = buildTable(function);
  it->second.exact = image.has_value();
  if (!image)
    image = buildTable(function, 1);
  if (image)
    it->second.image = std::make_shared<const format::TableImage>(std::move(*image));
  return it->second;
}

namespace {

// Costs in cycles of latency with the default stages, and what a further pass over the rows costs.
// A table is a scarce resource, so it counts more than its three cycles; as much as many steps,
// where a map would take more tables than a core has.
constexpr unsigned kStepCost = 10, kAluCost = isa::Stages().vecAlu,
                   kTableCost = isa::Stages().vecTable + 4, kScarceTableCost = 100,
                   kInexactCost = 2;

/// What every target has at least.
constexpr size_t kTables = 4;

std::optional<isa::Alu> aluOf(ScalarOp op) {
  switch (op) {
  case ScalarOp::Add:
    return isa::Alu::Add;
  case ScalarOp::Sub:
    return isa::Alu::Sub;
  case ScalarOp::Mul:
    return isa::Alu::Mul;
  case ScalarOp::Max:
    return isa::Alu::Max;
  case ScalarOp::Min:
    return isa::Alu::Min;
  case ScalarOp::Lt:
    return isa::Alu::Lt;
  case ScalarOp::Le:
    return isa::Alu::Le;
  case ScalarOp::Eq:
    return isa::Alu::Eq;
  case ScalarOp::Ne:
    return isa::Alu::Ne;
  case ScalarOp::Ge:
    return isa::Alu::Ge;
  case ScalarOp::Gt:
    return isa::Alu::Gt;
  default:
    return std::nullopt;
  }
}

/// The same operation with left and right exchanged.
isa::Alu mirrored(isa::Alu op) {
  switch (op) {
  case isa::Alu::Sub:
    return isa::Alu::Rsub;
  case isa::Alu::Lt:
    return isa::Alu::Gt;
  case isa::Alu::Le:
    return isa::Alu::Ge;
  case isa::Alu::Ge:
    return isa::Alu::Le;
  case isa::Alu::Gt:
    return isa::Alu::Lt;
  default:
    return op;
  }
}

/// One way to compute a node in a step: alu(left, right).
struct Operation {
  isa::Alu alu = isa::Alu::Pass;
  NodeId left = 0, right = 0;
  NodeId otherwise = 0; ///< Select: what c holds
};

/// A step before its operands are numbered: they are nodes.
struct Match {
  VectorStep step;
  std::optional<NodeId> a, b, c;
  std::shared_ptr<const format::TableImage> table;
  unsigned cost = 0;
};

struct Solution {
  bool possible = false;
  Match match;
  std::set<NodeId> needs; ///< nodes that become rows, this one included
};

/// Tables that a search does without.
using Avoided = std::set<const format::TableImage *>;

/// The costs of function tables.
struct TablePrices {
  unsigned ofNew = kTableCost;
  const HasTable &hasTable; ///< those cost kTableCost; may be empty

  [[nodiscard]] unsigned of(const format::TableImage &image) const {
    return hasTable && hasTable(image) ? kTableCost : ofNew;
  }
};

class Selector {
public:
  Selector(const Expr &expr, const std::vector<MapOperand> &operands, TableCache &tables,
           const TablePrices &prices, const Avoided &avoided)
      : expr(expr), operands(operands), tables(tables), prices(prices), avoided(avoided) {}

  std::optional<MapPlan> run(std::string &why) {
    if (isLeaf(expr.result) && !isBroadcast(expr.result))
      return MapPlan{{}, {}, source(expr.result, {})};
    if (!solve(expr.result).possible) {
      why = culprit(expr.result);
      return std::nullopt;
    }
    return plan();
  }

private:
  [[nodiscard]] bool isLeaf(NodeId node) const {
    return expr[node].op == ScalarOp::Input || expr.isConstant(node);
  }
  [[nodiscard]] const MapOperand *operand(NodeId node) const {
    return expr[node].op == ScalarOp::Input ? &operands[expr[node].input] : nullptr;
  }
  [[nodiscard]] bool isBroadcast(NodeId node) const {
    return operand(node) && operand(node)->broadcast;
  }
  /// Whether the node is kept as fp32, in two rows.
  [[nodiscard]] bool staysFp32(NodeId node) const {
    return expr[node].op == ScalarOp::Call && expr[node].function == reference::Function::ToFp32;
  }
  [[nodiscard]] bool isWide(std::optional<NodeId> node) const {
    return node && (staysFp32(*node) || (operand(*node) && operand(*node)->wide));
  }
  /// What is rounded to bf16 to be this node, or the node.
  [[nodiscard]] NodeId unrounded(NodeId node) const {
    const ScalarNode &n = expr[node];
    return n.op == ScalarOp::Call && (n.function == reference::Function::ToBf16 ||
                                      n.function == reference::Function::ToFp32)
               ? n.args[0]
               : node;
  }

  /// Ways to read a node as one operation on something else.
  [[nodiscard]] std::vector<Operation> operations(NodeId node) const {
    const ScalarNode &n = expr[node];
    if (n.op == ScalarOp::Select)
      return {{isa::Alu::Select, n.args[0], n.args[1], n.args[2]}};
    if (n.op == ScalarOp::Div && n.count == 3)
      return {{isa::Alu::Mul, n.args[2], n.args[0]}, {isa::Alu::Mul, n.args[0], n.args[2]}};
    const auto alu = aluOf(n.op);
    if (!alu)
      return {};
    if (n.args[0] == n.args[1])
      return {{*alu, n.args[0], n.args[1]}};
    return {{*alu, n.args[0], n.args[1]}, {mirrored(*alu), n.args[1], n.args[0]}};
  }

  const Solution &solve(NodeId node);
  void enumerate(NodeId node, Solution &best);
  void behindTable(NodeId node, NodeId middle, const Match &match, Solution &best);
  void inFront(NodeId node, NodeId front, const Match &match, Solution &best);
  void consider(NodeId node, const Match &match, Solution &best);
  [[nodiscard]] unsigned total(NodeId node, const Match &match, const std::set<NodeId> &needs);
  [[nodiscard]] std::string culprit(NodeId node) const;
  Source source(NodeId node, const std::map<NodeId, uint32_t> &steps) const;
  MapPlan plan();

  const Expr &expr;
  const std::vector<MapOperand> &operands;
  TableCache &tables;
  const TablePrices prices;
  const Avoided &avoided;
  std::map<NodeId, Solution> solutions;
  std::map<NodeId, unsigned> bestCost;
};

const Solution &Selector::solve(NodeId node) {
  const auto [it, inserted] = solutions.try_emplace(node);
  if (inserted)
    enumerate(node, it->second);
  return it->second;
}

void Selector::enumerate(NodeId node, Solution &best) {
  const NodeId value = unrounded(node); // every row is rounded to bf16
  const ScalarNode &n = expr[value];
  if (n.op == ScalarOp::Max && expr.isConstant(n.args[1]) && expr[n.args[1]].value == 0) {
    Match relu;
    relu.step.post = isa::Post::Relu;
    behindTable(node, n.args[0], relu, best);
    for (const Operation &second : operations(n.args[0])) {
      if (second.alu == isa::Alu::Select)
        continue;
      Match match = relu;
      match.step.alu2 = second.alu;
      match.c = second.right;
      behindTable(node, second.left, match, best);
    }
  }
  behindTable(node, value, Match{}, best);
  for (const Operation &second : operations(value)) {
    Match match;
    match.step.alu2 = second.alu;
    match.c = second.right;
    if (second.alu == isa::Alu::Select) {
      match.b = second.right;
      match.c = second.otherwise;
    }
    behindTable(node, second.left, match, best);
  }
}

/// `middle` is what the second arithmetic unit takes: with or without a table.
void Selector::behindTable(NodeId node, NodeId middle, const Match &match, Solution &best) {
  inFront(node, middle, match, best);
  if (staysFp32(node))
    return; // tables have bf16 numbers
  for (const NodeId cut : expr.cuts(middle)) {
    if (expr.roundsBetween(middle, cut))
      continue;
    const bool wholeChain = expr[cut].op == ScalarOp::Input;
    // What one step without arithmetic does cannot be beaten by more steps.
    if (best.possible && bestCost[node] <= kStepCost + kTableCost)
      return;
    const TableCache::Entry &entry = tables.of(expr, middle, cut);
    if (!entry.image || avoided.contains(entry.image.get()))
      continue;
    Match withTable = match;
    withTable.table = entry.image;
    const unsigned price = prices.of(*entry.image);
    withTable.cost += price + (entry.exact ? 0 : kInexactCost);
    inFront(node, unrounded(cut), withTable, best); // a table rounds what it takes
    if (wholeChain && entry.exact && !isBroadcast(cut) && (price == kTableCost || !prices.hasTable))
      return;
  }
}

/// `front` is what enters the table or the second unit: an operand or the first
/// unit's result.
void Selector::inFront(NodeId node, NodeId front, const Match &match, Solution &best) {
  Match plain = match;
  plain.a = front;
  consider(node, plain, best);
  for (const Operation &first : operations(front)) {
    if (first.alu == isa::Alu::Select)
      continue;
    Match used = match;
    used.step.alu1 = first.alu;
    used.a = first.left;
    if (first.left == first.right) {
      used.step.rhs1 = isa::Rhs1::A;
    } else if (expr.isConstant(first.right)) {
      used.step.rhs1 = isa::Rhs1::Imm;
      used.step.imm1 = static_cast<float>(expr[first.right].value);
    } else {
      if (used.b && *used.b != first.right)
        continue;
      used.step.rhs1 = isa::Rhs1::B;
      used.b = first.right;
    }
    consider(node, used, best);
  }
}

void Selector::consider(NodeId node, const Match &candidate, Solution &best) {
  Match match = candidate;
  const NodeId a = *match.a;
  // The node itself is not an operand, and a cannot be broadcast or constant.
  if (a == node || expr.isConstant(a) || isBroadcast(a) || isWide(a))
    return;
  if (match.step.alu2 != isa::Alu::Pass && match.step.alu2 != isa::Alu::Select) {
    const NodeId right = *match.c;
    match.c.reset();
    if (expr.isConstant(right)) {
      match.step.rhs2 = isa::Rhs2::Imm;
      match.step.imm2 = static_cast<float>(expr[right].value);
    } else if (right == a) {
      match.step.rhs2 = isa::Rhs2::A;
    } else if (match.b == right || (isWide(right) && !match.b)) {
      match.step.rhs2 = isa::Rhs2::B;
      match.b = right;
    } else {
      match.step.rhs2 = isa::Rhs2::C;
      match.c = right;
    }
  }
  // A wide operand b takes the place of c as well.
  match.step.bWide = isWide(match.b);
  if (isWide(match.c) || (match.step.bWide && match.c))
    return;
  match.cost += (staysFp32(node) ? 2 : 1) * kStepCost +
                (match.step.alu1 != isa::Alu::Pass ? kAluCost : 0) +
                (match.step.alu2 != isa::Alu::Pass ? kAluCost : 0);
  const auto isOneStep = [&](const std::optional<NodeId> &x) { return !x || isLeaf(*x); };
  const bool oneStep = isOneStep(match.a) && isOneStep(match.b) && isOneStep(match.c);
  if (!oneStep && best.possible && bestCost[node] < 2 * kStepCost)
    return;
  std::set<NodeId> needs = {node};
  for (const auto &operand : {match.a, match.b, match.c}) {
    if (!operand || isLeaf(*operand))
      continue;
    const Solution &part = solve(*operand);
    if (!part.possible)
      return;
    needs.insert(part.needs.begin(), part.needs.end());
  }
  const unsigned cost = total(node, match, needs);
  if (best.possible && bestCost[node] <= cost)
    return;
  best = {true, std::move(match), std::move(needs)};
  bestCost[node] = cost;
}

unsigned Selector::total(NodeId node, const Match &match, const std::set<NodeId> &needs) {
  unsigned cost = 0;
  std::map<NodeId, std::pair<unsigned, unsigned>> uses; // fusable operands: as a, otherwise
  for (const NodeId part : needs) {
    const Match &step = part == node ? match : solutions.at(part).match;
    cost += step.cost;
    if (step.a && operand(*step.a) && operand(*step.a)->fusable)
      ++uses[*step.a].first;
    for (const auto &other : {step.b, step.c})
      if (other && operand(*other) && operand(*other)->fusable)
        ++uses[*other].second;
  }
  for (const auto &[operand, count] : uses)
    cost += count.first == 1 && count.second == 0 ? 0 : kStepCost;
  return cost;
}

std::string Selector::culprit(NodeId node) const {
  std::string name;
  for (const NodeId part : expr.reachable(node)) {
    const auto found = solutions.find(part);
    const bool failed = found == solutions.end() || !found->second.possible;
    if (expr[part].op == ScalarOp::Call && failed && name.empty())
      name = reference::nameOf(expr[part].function);
  }
  return name.empty() ? "an operand with the same element in every lane" : name;
}

Source Selector::source(NodeId node, const std::map<NodeId, uint32_t> &steps) const {
  if (expr.isConstant(node))
    return {Source::Kind::Splat, 0, expr[node].value};
  if (expr[node].op == ScalarOp::Input)
    return {Source::Kind::Operand, expr[node].input, 0};
  return {Source::Kind::Step, steps.at(node), 0};
}

MapPlan Selector::plan() {
  MapPlan plan;
  std::map<NodeId, uint32_t> steps;
  std::map<const format::TableImage *, uint32_t> numbers;
  // Ascending nodes are in topological order.
  for (const NodeId node : solutions.at(expr.result).needs) {
    const Match &match = solutions.at(node).match;
    MapStep step{match.step, {}, {}, {}, staysFp32(node)};
    step.a = source(*match.a, steps);
    if (match.b) {
      step.b = source(*match.b, steps);
      step.step.bBroadcast = isBroadcast(*match.b);
    }
    if (match.c) {
      step.c = source(*match.c, steps);
      step.step.cBroadcast = isBroadcast(*match.c);
    }
    if (match.table) {
      const auto [it, inserted] =
          numbers.try_emplace(match.table.get(), static_cast<uint32_t>(plan.tables.size()));
      if (inserted)
        plan.tables.push_back(match.table);
      step.step.table = it->second;
    }
    steps[node] = static_cast<uint32_t>(plan.steps.size());
    plan.steps.push_back(step);
  }
  plan.result = source(expr.result, steps);
  return plan;
}

/// What has fewer tables without one of those that `plan` has; nothing if none has.
std::optional<MapPlan> withFewerTables(const Expr &expr, const std::vector<MapOperand> &operands,
                                       TableCache &tables, const HasTable &hasTable,
                                       const MapPlan &plan, Avoided &avoided) {
  for (const auto &table : plan.tables) {
    Avoided more = avoided;
    more.insert(table.get());
    std::string ignored;
    auto next = Selector(expr, operands, tables, {kScarceTableCost, hasTable}, more).run(ignored);
    if (!next || next->tables.size() >= plan.tables.size())
      continue;
    avoided = std::move(more);
    return next;
  }
  return std::nullopt;
}

/// The search takes the best way for each value alone, so a table of one may be spared by another's
/// that is there anyway: |tanh x| as its own function, or from tanh x. Where a core has not enough,
/// that is tried out.
std::optional<MapPlan> covered(const Expr &expr, const std::vector<MapOperand> &operands,
                               TableCache &tables, std::string &why, const HasTable &hasTable) {
  Avoided avoided;
  const unsigned ofNew = hasTable ? kScarceTableCost : kTableCost;
  auto plan = Selector(expr, operands, tables, {ofNew, hasTable}, avoided).run(why);
  if (!plan || plan->tables.size() <= kTables)
    return plan;
  auto frugal = Selector(expr, operands, tables, {kScarceTableCost, hasTable}, avoided).run(why);
  if (frugal && frugal->tables.size() < plan->tables.size())
    plan = std::move(frugal);
  while (plan->tables.size() > kTables) {
    auto fewer = withFewerTables(expr, operands, tables, hasTable, *plan, avoided);
    if (!fewer)
      break;
    plan = std::move(fewer);
  }
  return plan;
}

/// Text that is equal for equal arguments of selectMap().
std::string keyOf(const Expr &expr, const std::vector<MapOperand> &operands) {
  std::string key = expr.key(expr.result);
  for (const MapOperand &operand : operands)
    for (const bool flag : {operand.broadcast, operand.fusable, operand.wide})
      key += flag ? '1' : '0';
  return key;
}

std::optional<MapPlan> select(const Expr &expr, const std::vector<MapOperand> &operands,
                              TableCache &tables, std::string &why, const HasTable &hasTable) {
  if (auto plan = covered(expr, operands, tables, why, hasTable))
    return plan;
  std::string ignored;
  return covered(splitCalls(expr, tables), operands, tables, ignored, hasTable);
}

} // namespace

std::optional<MapPlan> selectMap(const Expr &expr, const std::vector<MapOperand> &operands,
                                 TableCache &tables, std::string &why, const HasTable &hasTable) {
  if (hasTable) // the plan depends on the tables that the program has
    return select(expr, operands, tables, why, hasTable);
  std::string key = keyOf(expr, operands);
  if (const auto known = tables.plans.find(key); known != tables.plans.end())
    return known->second;
  auto plan = select(expr, operands, tables, why, hasTable);
  if (plan)
    tables.plans.emplace(std::move(key), *plan);
  return plan;
}

} // namespace sluice::rows
