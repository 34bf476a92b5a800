#include "compiler/conversion/rows/graph_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/conversion/rows/steps.h"
#include "compiler/conversion/scalar/constants.h"
#include "compiler/conversion/scalar/table_builder.h"
#include "hw/numerics/numerics.h"

namespace sluice::rows {

using numerics::isFinite;

namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// Of all inputs of a table.
TableFacts factsOf(const format::TableImage &image) {
  const numerics::Table table(image);
  TableFacts facts{LaneValues::finite(),
                   LaneValues::finite(),
                   LaneValues::finite(),
                   LaneValues::finite(),
                   true,
                   true};
  const auto take = [](LaneValues &of, uint32_t value) {
    if (!isFinite(value))
      of = either(of, LaneValues::known(numerics::toFloat(value)));
  };
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const uint32_t input = bits << 16, value = table(input);
    facts.notNegative &= numerics::isNaN(value) || value >> 31 == 0;
    take(facts.ofAll, value);
    if (!numerics::isNaN(input))
      take(facts.ofNumbers, value);
    if (isFinite(input))
      take(facts.ofFinite, value);
    if (numerics::toFloat(input) <= 0)
      take(facts.ofNotPositive, value);
  }
  for (int exponent = -126; exponent <= 126; ++exponent)
    facts.isReciprocal &= table(numerics::toBits(std::ldexp(1.0F, exponent))) ==
                          numerics::toBits(std::ldexp(1.0F, -exponent));
  return facts;
}

constexpr unsigned kMostSignificand = 255;
/// An accumulator overflows with no sum of products whose weights have significands of this sum, as
/// products are aligned in it by up to 7 bits (docs/machine.md, Numbers). An eighth is for the
/// bias.
constexpr uint64_t kMostWeight =
    (uint64_t{1} << (isa::kAccBits - 1 - 7 - isa::kFieldFraction)) / kMostSignificand / 8 * 7;

/// What the lanes from `first` on hold of a constant row.
LaneValues valuesOf(const std::vector<uint16_t> &lanes, uint32_t first, uint32_t last) {
  LaneValues values = LaneValues::known(0);
  for (uint32_t lane = first; lane < last; ++lane) {
    const LaneValues one = LaneValues::known(numerics::toFloat(numerics::widen(lanes[lane])));
    values = lane == first ? one : either(values, one);
  }
  return values;
}

} // namespace

bool RowFacts::zeroBeyond(uint32_t lanes) const { return used == lanes || padding.isZero(); }

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
  if (graph.rows[row].kind == RowKind::Constant) {
    facts.elements = valuesOf(graph.rows[row].lanes, 0, used);
    facts.padding = valuesOf(graph.rows[row].lanes, used, lanes());
  } else if (facts.used > used) {
    facts.padding = facts.used == lanes() ? facts.elements : either(facts.elements, facts.padding);
  } else if (facts.used < used) {
    facts.elements = either(facts.elements, facts.padding);
  }
  facts.used = used;
  return facts;
}

RowId GraphBuilder::input(uint32_t port, uint32_t index, uint32_t used, const LaneValues &elements,
                          const LaneValues &beyond) {
  Row row;
  row.kind = RowKind::Input;
  row.input = port;
  row.inputRow = index;
  return push(std::move(row), {used, false, elements, beyond});
}

RowId GraphBuilder::state(std::string name, std::vector<double> initial) {
  Row row;
  row.kind = RowKind::State;
  row.state = static_cast<uint32_t>(graph.states.size());
  const auto used = static_cast<uint32_t>(initial.size());
  const RowId id = push(std::move(row), {used, false, LaneValues::finite(), LaneValues::known(0)});
  initial.resize(lanes());
  State &state = graph.states.emplace_back();
  state.name = std::move(name);
  state.row = id;
  std::ranges::transform(initial, std::back_inserter(state.initial),
                         [](double value) { return roundToBf16(withinBf16(value)); });
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
  const RowId id = push(std::move(row), {used, uniform, valuesOf(lanes, 0, used),
                                         valuesOf(lanes, used, this->lanes())});
  constants.emplace(std::move(lanes), id);
  return id;
}

RowId GraphBuilder::constant(const std::vector<double> &values) {
  std::vector<uint16_t> bits(lanes());
  std::transform(values.begin(), values.end(), bits.begin(),
                 [](double value) { return roundToBf16(withinBf16(value)); });
  return constantRow(std::move(bits), static_cast<uint32_t>(values.size()));
}

std::pair<RowId, RowId> GraphBuilder::wideConstant(const std::vector<double> &values) {
  std::vector<uint16_t> upper(lanes()), lower(lanes());
  for (size_t lane = 0; lane < values.size(); ++lane) {
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(withinBf16(values[lane])));
    upper[lane] = static_cast<uint16_t>(bits >> 16);
    lower[lane] = static_cast<uint16_t>(bits & 0xFFFF);
  }
  const auto used = static_cast<uint32_t>(values.size());
  const RowId first = constantRow(std::move(upper), used);
  return {first, constantRow(std::move(lower), used)};
}

RowId GraphBuilder::splat(double value) {
  return constantRow(std::vector<uint16_t>(lanes(), roundToBf16(withinBf16(value))), lanes());
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

uint64_t GraphBuilder::weightOf(const Term &term) const {
  return graph.dynamic.contains(term.block) ? uint64_t{kMostSignificand} * lanes()
                                            : graph.blocks[term.block].weight();
}

uint32_t GraphBuilder::identity(uint32_t used) {
  std::vector<uint16_t> weights(size_t{lanes()} * lanes());
  for (uint32_t lane = 0; lane < used; ++lane)
    weights[lane * lanes() + lane] = roundToBf16(1.0);
  return block(weights);
}

RowId GraphBuilder::sumOfParts(const std::vector<Term> &terms, std::vector<float> bias,
                               uint32_t used, bool uniform,
                               const std::optional<LaneValues> &beyond) {
  const uint32_t summed = uniform ? lanes() : used;
  const uint32_t ones = identity(summed);
  std::vector<Term> parts;
  for (size_t first = 0, end = 0; first < terms.size(); first = end) {
    for (uint64_t weight = 0;
         end < terms.size() && (end == first || weight + weightOf(terms[end]) <= kMostWeight);)
      weight += weightOf(terms[end++]);
    const RowId part = linear({terms.begin() + static_cast<ptrdiff_t>(first),
                               terms.begin() + static_cast<ptrdiff_t>(end)},
                              {}, used, uniform, beyond);
    parts.push_back({forProduct(part, std::vector<bool>(summed, true)), ones});
  }
  return linear(std::move(parts), std::move(bias), used, uniform);
}

RowId GraphBuilder::linear(std::vector<Term> terms, std::vector<float> bias, uint32_t used,
                           bool uniform, std::optional<LaneValues> beyond) {
  uint64_t weight = 0;
  for (const Term &term : terms)
    weight += weightOf(term);
  if (weight > kMostWeight && terms.size() > 1)
    return sumOfParts(terms, std::move(bias), used, uniform, beyond);
  // Products with what is written in this inference cannot be done in the one before.
  for (Term &term : terms) {
    if (graph.dynamic.contains(term.block))
      term.x = recalled(term.x);
    isRead[term.x] = true;
  }
  if (uniform)
    beyond = LaneValues::finite();
  else if (!beyond)
    beyond = LaneValues::known(bias.size() > used ? bias[used] : 0);
  Row row;
  row.kind = RowKind::Linear;
  row.terms = std::move(terms);
  row.bias = std::move(bias);
  return push(std::move(row), {used, uniform, LaneValues::finite(), *beyond});
}

RowId GraphBuilder::vector(const VectorStep &step, std::vector<RowId> a, RowId b, RowId c,
                           uint32_t used) {
  const auto same = [&](RowId id, bool broadcast) {
    return id == kNoRow || broadcast || rowFacts[id].uniform;
  };
  const bool reduces = step.reduce != isa::Reduce::None;
  const bool secondReadsB =
      usesB(step) && (step.alu2 == isa::Alu::Select || step.rhs2 == isa::Rhs2::B);
  RowFacts facts;
  facts.used = used;
  facts.uniform = (reduces ? !readsA(step) : same(a[0], false)) &&
                  (!reduces || secondReadsB ? same(b, step.bBroadcast) : true) &&
                  same(c, step.cBroadcast);
  const auto of = [&](RowId id, bool broadcast, LaneValues RowFacts::*lanesOf) {
    if (id == kNoRow)
      return LaneValues::known(0);
    const RowFacts known = this->facts(id, used);
    if (!broadcast && !known.uniform)
      return known.*lanesOf;
    return facts.uniform ? known.elements : known.elements.spread();
  };
  const auto result = [&](LaneValues RowFacts::*lanesOf) {
    return after(step, of(a[0], false, lanesOf), of(b, step.bBroadcast, lanesOf),
                 of(c, step.cBroadcast, lanesOf));
  };
  facts.elements = result(&RowFacts::elements);
  facts.padding = facts.uniform ? facts.elements : result(&RowFacts::padding);
  if (isBelowMaximum(step, a, b))
    facts.elements = facts.padding = tableFacts[*step.table].ofNotPositive;
  else if (isShare(step, a, c)) {
    facts.elements = LaneValues::anything().spread();
    // Products clear these lanes all the same: without, the planner finds slower plans of encoders.
    facts.padding = LaneValues::numbers();
  }
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

void GraphBuilder::setUniform(RowId row, uint32_t used, const LaneValues &elements) {
  rowFacts[row] = {used, true, elements, elements};
}

uint32_t GraphBuilder::table(const std::shared_ptr<const format::TableImage> &image) {
  const auto [known, isNew] = imageNumbers.try_emplace(image, 0);
  if (!isNew)
    return known->second;
  const auto [it, inserted] = tableNumbers.try_emplace({image->header, image->entries},
                                                       static_cast<uint32_t>(graph.tables.size()));
  known->second = it->second;
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

bool GraphBuilder::isScaledLinear(RowId id) const {
  const Row &row = graph.rows[id];
  if (row.kind != RowKind::Vector)
    return isPlainLinear(id);
  VectorStep scale;
  scale.alu1 = isa::Alu::Mul;
  scale.rhs1 = isa::Rhs1::Imm;
  scale.imm1 = row.step.imm1;
  return row.step == scale && isPlainLinear(row.a.front());
}

size_t GraphBuilder::termsOf(RowId id) const {
  const Row &row = graph.rows[id];
  return row.kind == RowKind::Vector ? graph.rows[row.a.front()].terms.size() : row.terms.size();
}

RowId GraphBuilder::repeated(RowId id) {
  Row row = graph.rows[id];
  if (row.kind == RowKind::Vector)
    row.a = {repeated(row.a.front())};
  return push(std::move(row), rowFacts[id]);
}

bool GraphBuilder::isComputed(RowId row) const {
  return graph.rows[row].kind == RowKind::Linear || graph.rows[row].kind == RowKind::Vector;
}

bool GraphBuilder::isBelowMaximum(const VectorStep &step, const std::vector<RowId> &a,
                                  RowId b) const {
  if (a.size() != 1 || step.alu1 != isa::Alu::Sub || step.rhs1 != isa::Rhs1::B || !step.table ||
      step.reduce != isa::Reduce::None || step.alu2 != isa::Alu::Pass ||
      step.post != isa::Post::None)
    return false;
  const RowFacts &values = rowFacts[a[0]];
  if (!values.elements.isFinite() || !values.padding.isFinite())
    return false;
  VectorStep maximum;
  maximum.reduce = isa::Reduce::Max;
  const Row &most = graph.rows[b];
  return most.kind == RowKind::Vector && most.step == maximum &&
         std::ranges::find(most.a, a[0]) != most.a.end();
}

bool GraphBuilder::isNotNegative(RowId id) const {
  const Row &row = graph.rows[id];
  const VectorStep &step = row.step;
  if (row.kind != RowKind::Vector || !step.table || !tableFacts[*step.table].notNegative ||
      step.reduce != isa::Reduce::None || step.post != isa::Post::None)
    return false;
  const auto isBound = [](uint16_t lane) { return lane >> 15 == 0; };
  return step.alu2 == isa::Alu::Pass ||
         (step.alu2 == isa::Alu::Min && step.rhs2 == isa::Rhs2::C && !step.cBroadcast &&
          graph.rows[row.c].kind == RowKind::Constant &&
          std::ranges::all_of(graph.rows[row.c].lanes, isBound));
}

bool GraphBuilder::sumsUp(const Term &term) const {
  const uint32_t used = rowFacts[term.x].used;
  const auto [known, added] = sums.try_emplace({term.block, used}, true);
  if (!added)
    return known->second;
  const WeightBlock &block = graph.blocks[term.block];
  const uint16_t one = roundToBf16(1.0);
  for (uint32_t i = 0; i < lanes() * lanes() && known->second; ++i)
    known->second = block[i] >> 15 == 0 && (i % lanes() >= used || block[i] == one);
  return known->second;
}

bool GraphBuilder::isShare(const VectorStep &step, const std::vector<RowId> &a, RowId c) const {
  if (a.size() != 1 || step.alu1 != isa::Alu::Pass || !step.table ||
      !tableFacts[*step.table].isReciprocal || step.reduce != isa::Reduce::None ||
      step.alu2 != isa::Alu::Mul || step.rhs2 != isa::Rhs2::C || step.cBroadcast ||
      step.post != isa::Post::None || !rowFacts[a[0]].uniform)
    return false;
  const Row &sum = graph.rows[a[0]], &part = graph.rows[c];
  const auto isOneOfThem = [&](const Term &term) { return term.x == c; };
  const bool isAtMostOne = part.kind == RowKind::Vector && part.step.alu2 == isa::Alu::Pass &&
                           isBelowMaximum(part.step, part.a, part.b);
  return sum.kind == RowKind::Linear && sum.bias.isZero() &&
         std::ranges::any_of(sum.terms, isOneOfThem) &&
         (isAtMostOne || rowFacts[c].zeroBeyond(lanes())) &&
         std::ranges::all_of(sum.terms, [&](const Term &term) {
           return !graph.dynamic.contains(term.block) && isNotNegative(term.x) && sumsUp(term);
         });
}

LaneValues GraphBuilder::after(const VectorStep &step, const LaneValues &a, const LaneValues &b,
                               const LaneValues &c) const {
  const auto right1 = step.rhs1 == isa::Rhs1::B     ? b
                      : step.rhs1 == isa::Rhs1::Imm ? LaneValues::known(step.imm1)
                                                    : a;
  LaneValues value = alu(step.alu1, a, right1, b, c);
  if (step.table) {
    const TableFacts &table = tableFacts[*step.table];
    if (const auto bits = value.value())
      value =
          LaneValues::known(numerics::toFloat(numerics::Table(graph.tables[*step.table])(*bits)));
    else
      value = value.isFinite()     ? table.ofFinite
              : value.keepMaxima() ? table.ofNumbers
                                   : table.ofAll;
  }
  if (step.reduce == isa::Reduce::Argmax)
    value = LaneValues::finite();
  else if (step.reduce != isa::Reduce::None)
    value = LaneValues::anything(); // depends on what is beyond the elements, too
  const auto right2 = step.rhs2 == isa::Rhs2::C     ? c
                      : step.rhs2 == isa::Rhs2::Imm ? LaneValues::known(step.imm2)
                      : step.rhs2 == isa::Rhs2::A   ? a
                                                    : b;
  return post(step.post, alu(step.alu2, value, right2, b, c));
}

RowId GraphBuilder::forProduct(RowId id, const std::vector<bool> &read) {
  if (read.empty())
    return id;
  const RowFacts facts = rowFacts[id];
  const auto reads = [&](uint32_t lane) { return lane < read.size() && read[lane]; };
  bool readsElements = true, readsAll = true;
  for (uint32_t lane = 0; lane < lanes(); ++lane) {
    readsElements &= lane >= facts.used || reads(lane);
    readsAll &= reads(lane);
  }
  if (readsAll || facts.uniform)
    return id;
  if (graph.rows[id].kind == RowKind::Constant) {
    std::vector<uint16_t> kept = graph.rows[id].lanes;
    for (uint32_t lane = 0; lane < lanes(); ++lane)
      kept[lane] = reads(lane) || isFinite(kept[lane]) ? kept[lane] : 0;
    return constantRow(std::move(kept), facts.used);
  }
  if (readsElements || !clearsUnread || facts.elements.keepProducts())
    return facts.used == lanes() || facts.padding.keepProducts() ? id
                                                                 : withZeroPadding(id, facts.used);
  std::vector<double> chosen;
  for (uint32_t lane = 0; lane < lanes(); ++lane)
    chosen.push_back(reads(lane) ? 1 : 0);
  VectorStep choose;
  choose.alu2 = isa::Alu::Select;
  return vectorOnce(choose, {constant(chosen)}, id, splat(0), facts.used);
}

RowId GraphBuilder::withZeroPadding(RowId id, uint32_t used) {
  const RowFacts facts = this->facts(id, used);
  if (facts.zeroBeyond(lanes()))
    return id;
  const VectorStep &step = graph.rows[id].step;
  const std::optional<uint32_t> value = facts.padding.value();
  // Changed in place only if nothing that is known of other rows rests on it, and
  // what lies beyond is nobody's element.
  const bool ours = rowFacts[id].used <= used && !facts.uniform && !(value && isRead[id]);
  if (ours && isComputed(id) && step.alu2 == isa::Alu::Pass && step.reduce == isa::Reduce::None) {
    // A free second unit clears lanes whose sign is known, unless they are NaN:
    // min(x, 0) where x >= 0, and min(x, inf) elsewhere.
    const bool number = facts.padding.keepMaxima(), knownSign = value && number;
    const bool negative = knownSign && *value >> 31;
    if (knownSign || (number && step.table && tableFacts[*step.table].notNegative)) {
      const RowId bound = mask(used, negative ? -kUnbounded : kUnbounded, 0);
      isRead[bound] = true;
      Row &row = graph.rows[id];
      row.step.alu2 = negative ? isa::Alu::Max : isa::Alu::Min;
      row.step.rhs2 = isa::Rhs2::C;
      row.c = bound;
      rowFacts[id].padding = LaneValues::known(0);
      return id;
    }
  }
  VectorStep choose;
  choose.alu2 = isa::Alu::Select;
  return copyOf(id, vector(choose, {mask(used, 1, 0)}, id, splat(0), used));
}

} // namespace sluice::rows
