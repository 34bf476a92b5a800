#include "compiler/conversion/rows/graph_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/conversion/scalar/table_builder.h"
#include "hw/numerics/numerics.h"

namespace sluice::rows {

using numerics::isFinite;

namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// Of all inputs of a table.
TableFacts factsOf(const format::TableImage &image) {
  const numerics::Table table(image);
  TableFacts facts{Padding::live(), true};
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const uint32_t value = table(bits << 16);
    const bool isNaN = numerics::isNaN(value);
    facts.notNegative &= isNaN || value >> 31 == 0;
    if (!isFinite(bits << 16))
      continue;
    if (isNaN)
      facts.padding = Padding::open();
    else if (!isFinite(value) && facts.padding.kind == Padding::Kind::Live)
      facts.padding = Padding::large();
  }
  return facts;
}

} // namespace

Padding Padding::known(float value) { return {Kind::Known, numerics::toBits(value)}; }

bool Padding::finite() const {
  return kind == Kind::Live || (kind == Kind::Known && isFinite(value));
}

Padding either(const Padding &left, const Padding &right) {
  if (left == right)
    return left;
  if (left.finite() && right.finite())
    return Padding::live();
  const auto isOpen = [](const Padding &one) {
    return one.kind == Padding::Kind::Open ||
           (one.kind == Padding::Kind::Known && numerics::isNaN(one.value));
  };
  return isOpen(left) || isOpen(right) ? Padding::open() : Padding::large();
}

bool RowFacts::zeroBeyond(uint32_t lanes) const {
  return used == lanes ||
         (padding.kind == Padding::Kind::Known && numerics::toFloat(padding.value) == 0);
}

namespace {

/// What lanes [used, B) of a constant row hold.
Padding paddingOf(const std::vector<uint16_t> &lanes, uint32_t used) {
  const auto isFiniteLane = [](uint16_t lane) { return isFinite(lane); };
  if (std::all_of(lanes.begin() + used, lanes.end(),
                  [&](uint16_t lane) { return lane == lanes.back(); }))
    return {Padding::Kind::Known, numerics::widen(lanes.back())};
  return std::all_of(lanes.begin(), lanes.end(), isFiniteLane) ? Padding::live() : Padding::open();
}

} // namespace

GraphBuilder::GraphBuilder(const format::Geometry &geometry) { graph.geometry = geometry; }

void GraphBuilder::beginGroup(std::vector<uint32_t> sources) {
  nodes = std::move(sources);
  ++group;
}

RowId GraphBuilder::push(Row row, RowFacts facts) {
  row.group = group;
  row.nodes = nodes;
  graph.rows.push_back(std::move(row));
  rowFacts.push_back(facts);
  isRead.push_back(false);
  return static_cast<RowId>(graph.rows.size() - 1);
}

RowFacts GraphBuilder::facts(RowId row, uint32_t used) const {
  RowFacts facts = rowFacts[row];
  if (graph.rows[row].kind == RowKind::Constant)
    facts.padding = paddingOf(graph.rows[row].lanes, used);
  else if (facts.used > used)
    facts.padding = Padding::live();
  facts.used = used;
  return facts;
}

RowId GraphBuilder::input(uint32_t port, uint32_t index, uint32_t used, Padding beyond) {
  Row row;
  row.kind = RowKind::Input;
  row.input = port;
  row.inputRow = index;
  return push(std::move(row), {used, false, beyond});
}

RowId GraphBuilder::state(std::string name, std::vector<double> initial) {
  Row row;
  row.kind = RowKind::State;
  row.state = static_cast<uint32_t>(graph.states.size());
  const auto used = static_cast<uint32_t>(initial.size());
  const RowId id = push(std::move(row), {used, false, Padding::known(0)});
  initial.resize(lanes());
  State &state = graph.states.emplace_back();
  state.name = std::move(name);
  state.row = id;
  std::ranges::transform(initial, std::back_inserter(state.initial),
                         [](double value) { return roundToBf16(value); });
  return id;
}

void GraphBuilder::keep(RowId state, RowId next) {
  const uint32_t used = rowFacts[state].used;
  graph.states[graph.rows[state].state].next = withZeroPadding(next, used);
}

RowId GraphBuilder::constantRow(std::vector<uint16_t> lanes, uint32_t used) {
  if (const auto found = constants.find(lanes); found != constants.end())
    return found->second;
  Row row;
  row.kind = RowKind::Constant;
  row.lanes = lanes;
  const bool uniform = std::equal(lanes.begin() + 1, lanes.end(), lanes.begin());
  const RowId id = push(std::move(row), {used, uniform, paddingOf(lanes, used)});
  constants.emplace(std::move(lanes), id);
  return id;
}

RowId GraphBuilder::constant(const std::vector<double> &values) {
  std::vector<uint16_t> bits(lanes());
  std::transform(values.begin(), values.end(), bits.begin(),
                 [](double value) { return roundToBf16(value); });
  return constantRow(std::move(bits), static_cast<uint32_t>(values.size()));
}

RowId GraphBuilder::splat(double value) {
  return constantRow(std::vector<uint16_t>(lanes(), roundToBf16(value)), lanes());
}

RowId GraphBuilder::mask(uint32_t used, double inside, double outside) {
  std::vector<uint16_t> bits(lanes(), roundToBf16(outside));
  std::fill_n(bits.begin(), used, roundToBf16(inside));
  return constantRow(std::move(bits), used);
}

RowId GraphBuilder::copyOf(RowId row, RowId copy) {
  graph.rows[copy].elements = graph.rows[row].elements;
  return copy;
}

RowId GraphBuilder::recalled(RowId row) {
  if (graph.rows[row].kind != RowKind::State)
    return row;
  const auto [entry, added] = copies.try_emplace(row, kNoRow);
  if (added)
    entry->second = copyOf(row, vector(VectorStep{}, {row}, kNoRow, kNoRow, rowFacts[row].used));
  return entry->second;
}

RowId GraphBuilder::linear(std::vector<Term> terms, std::vector<float> bias, uint32_t used,
                           bool uniform, Padding beyond) {
  // Products with what is written in this inference cannot be done in the one before.
  for (Term &term : terms) {
    if (graph.dynamic.contains(term.block))
      term.x = recalled(term.x);
    isRead[term.x] = true;
  }
  Row row;
  row.kind = RowKind::Linear;
  row.terms = std::move(terms);
  row.bias = std::move(bias);
  return push(std::move(row), {used, uniform, uniform ? Padding::live() : beyond});
}

RowId GraphBuilder::vector(const VectorStep &step, std::vector<RowId> a, RowId b, RowId c,
                           uint32_t used) {
  const auto same = [&](RowId id, bool broadcast) {
    return id == kNoRow || broadcast || rowFacts[id].uniform;
  };
  const bool reduces = step.reduce != isa::Reduce::None;
  RowFacts facts;
  facts.used = used;
  facts.uniform =
      (reduces || same(a[0], false)) && same(b, step.bBroadcast) && same(c, step.cBroadcast);
  facts.padding = facts.uniform ? Padding::live() : paddingAfter(step, a[0], b, c, used);
  for (const RowId operand : a)
    isRead[operand] = true;
  for (const RowId operand : {b, c})
    if (operand != kNoRow)
      isRead[operand] = true;
  Row row;
  row.kind = RowKind::Vector;
  row.a = std::move(a);
  row.b = b;
  row.c = c;
  row.step = step;
  return push(std::move(row), facts);
}

RowId GraphBuilder::vectorOnce(const VectorStep &step, std::vector<RowId> a, RowId b, RowId c,
                               uint32_t used) {
  auto &known = once[{a, b, c, used}];
  for (const auto &[same, row] : known)
    if (same == step) {
      serve(graph.rows[row].nodes);
      return row;
    }
  known.emplace_back(step, vector(step, std::move(a), b, c, used));
  return known.back().second;
}

void GraphBuilder::serve(std::vector<uint32_t> &all) const {
  std::vector<uint32_t> both;
  std::set_union(all.begin(), all.end(), nodes.begin(), nodes.end(), std::back_inserter(both));
  all = std::move(both);
}

void GraphBuilder::setElements(RowId id, const Elements &elements) {
  Row &row = graph.rows[id];
  if ((isComputed(id) || row.kind == RowKind::State) && !row.elements.known())
    row.elements = elements;
}

void GraphBuilder::setUniform(RowId row, uint32_t used) {
  rowFacts[row] = {used, true, Padding::live()};
}

uint32_t GraphBuilder::table(const std::shared_ptr<const format::TableImage> &image) {
  const auto [it, inserted] = tableNumbers.try_emplace({image->header, image->entries},
                                                       static_cast<uint32_t>(graph.tables.size()));
  if (inserted) {
    graph.tables.push_back(*image);
    graph.tables.back().table = it->second;
    tableFacts.push_back(factsOf(*image));
  }
  return it->second;
}

uint32_t GraphBuilder::block(const WeightBlock &weights) {
  const auto [known, added] =
      blockNumbers.try_emplace(weights, static_cast<uint32_t>(graph.blocks.size()));
  if (added)
    graph.blocks.push_back(weights);
  return known->second;
}

uint32_t GraphBuilder::dynamicBlock(bool columns, std::vector<BlockWrite> writes) {
  for (BlockWrite &write : writes)
    write.row = recalled(write.row);
  const auto [entry, added] = dynamicNumbers.try_emplace({columns, writes}, 0);
  if (!added) {
    if (const auto known = graph.dynamic.find(entry->second); known != graph.dynamic.end())
      serve(known->second.nodes);
    return entry->second;
  }
  const size_t b = lanes();
  std::vector<uint16_t> image(b * b);
  std::vector<BlockWrite> rest;
  for (const BlockWrite &write : writes) {
    const Row &row = graph.rows[write.row];
    if (row.kind != RowKind::Constant)
      rest.push_back(write);
    else
      for (size_t i = 0; i < b; ++i)
        image[columns ? i * b + write.index : write.index * b + i] = row.lanes[i];
  }
  if (rest.empty())
    return entry->second = block(std::move(image));
  graph.blocks.push_back(std::move(image));
  entry->second = static_cast<uint32_t>(graph.blocks.size() - 1);
  graph.dynamic[entry->second] = {columns, std::move(rest), nodes};
  return entry->second;
}

bool GraphBuilder::isPlainLinear(RowId row) const {
  return graph.rows[row].kind == RowKind::Linear && graph.rows[row].step == VectorStep{};
}

bool GraphBuilder::isComputed(RowId row) const {
  return graph.rows[row].kind == RowKind::Linear || graph.rows[row].kind == RowKind::Vector;
}

Padding GraphBuilder::paddingAfter(const VectorStep &step, RowId a, RowId b, RowId c,
                                   uint32_t used) const {
  using Kind = Padding::Kind;
  const auto of = [&](RowId id, bool broadcast) {
    if (id == kNoRow)
      return Padding::known(0);
    return broadcast || rowFacts[id].uniform ? Padding::live() : facts(id, used).padding;
  };
  const Padding pa = of(a, false), pb = of(b, step.bBroadcast), pc = of(c, step.cBroadcast);
  // One operation on what is known about its operands.
  const auto apply = [](isa::Alu op, Padding l, Padding r, Padding ifTrue, Padding ifFalse) {
    switch (op) {
    case isa::Alu::Pass:
      return l;
    case isa::Alu::Select:
      if (l.kind == Kind::Known)
        return numerics::toFloat(l.value) != 0 ? ifTrue : ifFalse;
      return ifTrue.finite() && ifFalse.finite() ? Padding::live() : Padding::open();
    default:
      break;
    }
    if (l.kind == Kind::Known && r.kind == Kind::Known)
      return Padding{Kind::Known, numerics::alu(op, l.value, r.value, 0, 0)};
    if (op == isa::Alu::Mul) {
      // A product of finite values may overflow where no element does.
      const auto shrinks = [](Padding p) {
        return p.kind == Kind::Known && std::fabs(numerics::toFloat(p.value)) <= 1;
      };
      if (!l.finite() || !r.finite())
        return Padding::open();
      return shrinks(l) || shrinks(r) ? Padding::live() : Padding::large();
    }
    return l.finite() && r.finite() ? Padding::live() : Padding::open();
  };
  const auto right1 = step.rhs1 == isa::Rhs1::B     ? pb
                      : step.rhs1 == isa::Rhs1::Imm ? Padding::known(step.imm1)
                                                    : pa;
  Padding value = apply(step.alu1, pa, right1, pb, pc);
  if (step.table) {
    if (value.kind == Kind::Known)
      value.value = numerics::Table(graph.tables[*step.table])(value.value);
    else
      value = value.finite() ? tableFacts[*step.table].padding : Padding::open();
  }
  const auto right2 = step.rhs2 == isa::Rhs2::C     ? pc
                      : step.rhs2 == isa::Rhs2::Imm ? Padding::known(step.imm2)
                      : step.rhs2 == isa::Rhs2::A   ? pa
                                                    : pb;
  value = apply(step.alu2, value, right2, pb, pc);
  if (value.kind == Kind::Known)
    value.value = static_cast<uint32_t>(numerics::finish(step.post, value.value)) << 16;
  return value;
}

RowId GraphBuilder::withFinitePadding(RowId id) {
  const RowFacts facts = rowFacts[id];
  return facts.used == lanes() || facts.padding.finite() ? id : withZeroPadding(id, facts.used);
}

RowId GraphBuilder::withZeroPadding(RowId id, uint32_t used) {
  const RowFacts facts = this->facts(id, used);
  if (facts.zeroBeyond(lanes()))
    return id;
  const VectorStep &step = graph.rows[id].step;
  const bool known = facts.padding.kind == Padding::Kind::Known;
  // Changed in place only if nothing that is known of other rows rests on it, and
  // what lies beyond is nobody's element.
  const bool ours = rowFacts[id].used <= used && !facts.uniform && !(known && isRead[id]);
  if (ours && isComputed(id) && step.alu2 == isa::Alu::Pass && step.reduce == isa::Reduce::None) {
    // A free second unit clears lanes whose sign is known, unless they are NaN:
    // min(x, 0) where x >= 0, and min(x, inf) elsewhere.
    const bool knownSign = known && !numerics::isNaN(facts.padding.value);
    const bool negative = knownSign && facts.padding.value >> 31;
    const bool number = facts.padding.finite() || facts.padding.kind == Padding::Kind::Large;
    if (knownSign || (number && step.table && tableFacts[*step.table].notNegative)) {
      const RowId bound = mask(used, negative ? -kUnbounded : kUnbounded, 0);
      isRead[bound] = true;
      Row &row = graph.rows[id];
      row.step.alu2 = negative ? isa::Alu::Max : isa::Alu::Min;
      row.step.rhs2 = isa::Rhs2::C;
      row.c = bound;
      rowFacts[id].padding = Padding::known(0);
      return id;
    }
  }
  VectorStep choose;
  choose.alu2 = isa::Alu::Select;
  return copyOf(id, vector(choose, {mask(used, 1, 0)}, id, splat(0), used));
}

} // namespace sluice::rows
