#include "tests/support/rows/graphs.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/format/targets.h"

namespace sluice::plan::test {

using rows::kNoRow;
using rows::Row;
using rows::RowId;
using rows::RowKind;

uint16_t toBf16(double value) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

double fromBf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

GraphBuilder::GraphBuilder(const std::string &target, uint64_t seed) : random(seed) {
  graph.geometry = *format::findPreset(target);
  graph.modelName = "test";
}

uint32_t GraphBuilder::addNode(const std::string &op) {
  const auto index = static_cast<uint32_t>(graph.nodes.size());
  graph.nodes.push_back({index, op + "_" + std::to_string(index), op});
  return index;
}

std::vector<RowId> GraphBuilder::input(uint32_t count) {
  rows::Port port;
  port.tensor.name = "x" + std::to_string(graph.inputs.size());
  port.tensor.shape = {static_cast<int64_t>(count) * graph.geometry.lanes};
  port.tensor.type = format::HostType::BFloat16;
  for (uint32_t i = 0; i < count; ++i) {
    Row row;
    row.kind = RowKind::Input;
    row.input = static_cast<uint32_t>(graph.inputs.size());
    row.inputRow = i;
    port.rows.push_back(static_cast<RowId>(graph.rows.size()));
    graph.rows.push_back(row);
  }
  graph.inputs.push_back(port);
  return port.rows;
}

RowId GraphBuilder::state() {
  Row row;
  row.kind = RowKind::State;
  row.state = static_cast<uint32_t>(graph.states.size());
  graph.rows.push_back(std::move(row));
  rows::State &state = graph.states.emplace_back();
  state.name = "s" + std::to_string(graph.states.size() - 1);
  state.row = static_cast<RowId>(graph.rows.size() - 1);
  state.initial.resize(graph.geometry.lanes);
  return state.row;
}

void GraphBuilder::keep(RowId state, RowId next) {
  graph.states[graph.rows[state].state].next = next;
}

RowId GraphBuilder::constant() {
  Row row;
  row.kind = RowKind::Constant;
  std::uniform_real_distribution<double> value(-1, 1);
  for (uint32_t i = 0; i < graph.geometry.lanes; ++i)
    row.lanes.push_back(toBf16(value(random)));
  graph.rows.push_back(row);
  return static_cast<RowId>(graph.rows.size() - 1);
}

std::vector<RowId> GraphBuilder::dense(const std::vector<RowId> &x, uint32_t count,
                                       const rows::VectorStep &step, bool bias, double zeros) {
  const uint32_t lanes = graph.geometry.lanes, node = addNode("Gemm");
  const double scale = 1.5 / std::sqrt(static_cast<double>(x.size()) * lanes);
  std::normal_distribution<double> weight(0, scale);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<RowId> result;
  for (uint32_t r = 0; r < count; ++r) {
    Row row;
    row.kind = RowKind::Linear;
    row.step = step;
    row.group = groups;
    row.nodes = {node};
    for (RowId operand : x) {
      std::vector<uint16_t> block(size_t{lanes} * lanes, 0);
      if (unit(random) >= zeros)
        for (uint16_t &element : block)
          element = toBf16(weight(random));
      row.terms.push_back({operand, static_cast<uint32_t>(graph.blocks.size())});
      graph.blocks.push_back(std::move(block));
    }
    std::vector<float> begin;
    for (uint32_t i = 0; bias && i < lanes; ++i)
      begin.push_back(static_cast<float>(weight(random)));
    row.bias = std::move(begin);
    result.push_back(static_cast<RowId>(graph.rows.size()));
    graph.rows.push_back(std::move(row));
  }
  ++groups;
  return result;
}

void GraphBuilder::setWeights(uint32_t block, uint16_t weight) {
  const size_t lanes = graph.geometry.lanes;
  graph.blocks[block] = std::vector<uint16_t>(lanes * lanes, weight);
}

std::vector<RowId> GraphBuilder::sum(const std::vector<RowId> &x, uint32_t count) {
  const uint32_t lanes = graph.geometry.lanes, node = addNode("ReduceSum");
  std::vector<uint16_t> ones(size_t{lanes} * lanes, 0);
  for (uint32_t i = 0; i < lanes; ++i)
    ones[i * (lanes + 1)] = toBf16(1);
  const auto block = static_cast<uint32_t>(graph.blocks.size());
  graph.blocks.push_back(std::move(ones));
  std::vector<RowId> result;
  for (uint32_t r = 0; r < count; ++r) {
    Row row;
    row.kind = RowKind::Linear;
    row.group = groups;
    row.nodes = {node};
    for (size_t i = r; i < x.size(); i += count)
      row.terms.push_back({x[i], block});
    result.push_back(static_cast<RowId>(graph.rows.size()));
    graph.rows.push_back(std::move(row));
  }
  ++groups;
  return result;
}

std::vector<RowId> GraphBuilder::product(const std::vector<RowId> &x, const std::vector<RowId> &w,
                                         bool columns, const rows::VectorStep &step) {
  const uint32_t lanes = graph.geometry.lanes, node = addNode("MatMul");
  const auto block = static_cast<uint32_t>(graph.blocks.size());
  graph.blocks.emplace_back(std::vector<uint16_t>(size_t{lanes} * lanes));
  rows::DynamicBlock &dynamic = graph.dynamic[block];
  dynamic.columns = columns;
  dynamic.nodes = {node};
  for (uint32_t i = 0; i < w.size(); ++i)
    dynamic.writes.push_back({w[i], i});
  std::vector<RowId> result;
  for (RowId operand : x) {
    Row row;
    row.kind = RowKind::Linear;
    row.step = step;
    row.group = groups;
    row.nodes = {node};
    row.terms = {{operand, block}};
    result.push_back(static_cast<RowId>(graph.rows.size()));
    graph.rows.push_back(std::move(row));
  }
  ++groups;
  return result;
}

RowId GraphBuilder::vector(const std::vector<RowId> &a, RowId b, RowId c,
                           const rows::VectorStep &step) {
  Row row;
  row.kind = RowKind::Vector;
  row.a = a;
  row.b = b;
  row.c = c;
  row.step = step;
  row.group = groups++;
  row.nodes = {addNode("Map")};
  graph.rows.push_back(row);
  return static_cast<RowId>(graph.rows.size() - 1);
}

void GraphBuilder::output(const std::vector<RowId> &rows) {
  rows::Port port;
  port.tensor.name = "y" + std::to_string(graph.outputs.size());
  port.tensor.shape = {static_cast<int64_t>(rows.size()) * graph.geometry.lanes};
  port.tensor.type = format::HostType::BFloat16;
  port.rows = rows;
  graph.outputs.push_back(port);
}

rows::VectorStep relu() {
  rows::VectorStep step;
  step.post = isa::Post::Relu;
  return step;
}

rows::Graph perceptron(const std::string &target, const std::vector<uint32_t> &widths,
                       uint64_t seed, double zeros) {
  GraphBuilder builder(target, seed);
  std::vector<RowId> x = builder.input(widths[0]);
  for (size_t layer = 1; layer < widths.size(); ++layer)
    x = builder.dense(x, widths[layer], layer + 1 < widths.size() ? relu() : rows::VectorStep{},
                      layer % 3 != 0, zeros);
  builder.output(x);
  return builder.graph;
}

namespace {

double apply(isa::Alu op, double left, double right) {
  switch (op) {
  case isa::Alu::Pass:
    return left;
  case isa::Alu::Add:
    return left + right;
  case isa::Alu::Sub:
    return left - right;
  case isa::Alu::Rsub:
    return right - left;
  case isa::Alu::Mul:
    return left * right;
  case isa::Alu::Max:
    return std::max(left, right);
  case isa::Alu::Min:
    return std::min(left, right);
  default:
    return std::nan("");
  }
}

} // namespace

std::vector<std::vector<uint16_t>> evaluate(const rows::Graph &graph,
                                            const std::vector<std::vector<uint16_t>> &inputs) {
  const uint32_t lanes = graph.geometry.lanes;
  std::vector<std::vector<double>> value(graph.rows.size());
  size_t offered = 0;
  const auto lane = [&](RowId row, uint32_t i, bool broadcast) {
    return row == kNoRow ? 0 : value[row][broadcast ? 0 : i];
  };
  for (RowId id = 0; id < graph.rows.size(); ++id) {
    const Row &row = graph.rows[id];
    std::vector<double> &out = value[id];
    out.assign(lanes, 0);
    if (row.kind == RowKind::Input || row.kind == RowKind::Constant) {
      const std::vector<uint16_t> &bits =
          row.kind == RowKind::Input ? inputs[offered++] : row.lanes;
      std::transform(bits.begin(), bits.end(), out.begin(), fromBf16);
      continue;
    }
    if (row.kind == RowKind::State) {
      std::ranges::transform(graph.states[row.state].initial, out.begin(), fromBf16);
      continue;
    }
    const rows::VectorStep &step = row.step;
    std::vector<std::vector<double>> beats;
    if (row.kind == RowKind::Linear) {
      std::vector<double> sum(row.bias.begin(), row.bias.end());
      sum.resize(lanes, 0);
      for (const rows::Term &term : row.terms) {
        std::vector<double> weights(size_t{lanes} * lanes);
        std::transform(graph.blocks[term.block].begin(), graph.blocks[term.block].end(),
                       weights.begin(), fromBf16);
        if (const auto dynamic = graph.dynamic.find(term.block); dynamic != graph.dynamic.end())
          for (const rows::BlockWrite &write : dynamic->second.writes)
            for (uint32_t i = 0; i < lanes; ++i)
              weights[dynamic->second.columns ? i * lanes + write.index : write.index * lanes + i] =
                  value[write.row][i];
        for (uint32_t o = 0; o < lanes; ++o)
          for (uint32_t i = 0; i < lanes; ++i)
            sum[o] += weights[size_t{o} * lanes + i] * value[term.x][i];
      }
      beats.push_back(sum);
    } else {
      for (RowId a : row.a)
        beats.push_back(value[a]);
    }
    double maximum = -INFINITY;
    for (std::vector<double> &beat : beats)
      for (uint32_t i = 0; i < lanes; ++i) {
        const double b = lane(row.b, i, step.bBroadcast);
        const double right = step.rhs1 == isa::Rhs1::B     ? b
                             : step.rhs1 == isa::Rhs1::Imm ? step.imm1
                                                           : beat[i];
        maximum = std::max(maximum, out[i] = apply(step.alu1, beat[i], right));
      }
    for (uint32_t i = 0; i < lanes; ++i) {
      if (step.reduce == isa::Reduce::Max)
        out[i] = maximum;
      const double c = lane(row.c, i, step.cBroadcast);
      const double right = step.rhs2 == isa::Rhs2::C ? c : step.imm2;
      out[i] = apply(step.alu2, out[i], right);
      if (step.post == isa::Post::Relu)
        out[i] = std::max(out[i], 0.0);
      out[i] = fromBf16(toBf16(out[i]));
    }
  }
  std::vector<std::vector<uint16_t>> result;
  for (const rows::Port &port : graph.outputs)
    for (RowId row : port.rows) {
      result.emplace_back(lanes);
      std::transform(value[row].begin(), value[row].end(), result.back().begin(), toBf16);
    }
  return result;
}

} // namespace sluice::plan::test
