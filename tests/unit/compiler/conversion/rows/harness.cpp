#include "harness.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"

#include "compiler/conversion/rows/row_tensor.h"
#include "compiler/conversion/scalar/table_builder.h"
#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/support/problem.h"
#include "hw/numerics/numerics.h"
#include "runtime/format/packed_rows.h"

namespace sluice::rows::test {

using numerics::toBits;
using numerics::toFloat;

namespace {

using Lanes = std::vector<float>;

Lanes applyStep(const Graph &graph, const Row &row, const std::vector<Lanes> &as,
                const std::vector<Lanes> &values) {
  const size_t lanes = graph.geometry.lanes;
  const VectorStep &step = row.step;
  const auto operand = [&](RowId id, bool broadcast, size_t lane) {
    return id == kNoRow ? 0 : toBits(values[id][broadcast ? 0 : lane]);
  };
  std::vector<uint32_t> result(lanes);
  std::optional<uint32_t> most;
  size_t beat = 0, first = 0;
  std::vector<uint32_t> middle(lanes);
  for (const Lanes &a : as) {
    for (size_t lane = 0; lane < lanes; ++lane) {
      const uint32_t x = toBits(a[lane]), b = operand(row.b, step.bBroadcast, lane),
                     c = operand(row.c, step.cBroadcast, lane);
      const uint32_t r1 = step.rhs1 == isa::Rhs1::B     ? b
                          : step.rhs1 == isa::Rhs1::Imm ? toBits(step.imm1)
                                                        : x;
      middle[lane] = numerics::alu(step.alu1, x, r1, b, c);
      if (step.table)
        middle[lane] = numerics::Table(graph.tables[*step.table])(middle[lane]);
    }
    if (step.reduce == isa::Reduce::Max) {
      most = numerics::reduceMax(middle, most);
      std::fill(middle.begin(), middle.end(), *most);
    } else if (step.reduce == isa::Reduce::Argmax) {
      for (size_t lane = 0; lane < lanes; ++lane)
        if (!most || toFloat(middle[lane]) > toFloat(*most)) {
          most = middle[lane];
          first = beat * lanes + lane;
        }
      std::fill(middle.begin(), middle.end(), toBits(static_cast<float>(first)));
    }
    ++beat;
  }
  for (size_t lane = 0; lane < lanes; ++lane) {
    const uint32_t x = toBits(as.back()[lane]), b = operand(row.b, step.bBroadcast, lane),
                   c = operand(row.c, step.cBroadcast, lane);
    const uint32_t r2 = step.rhs2 == isa::Rhs2::C     ? c
                        : step.rhs2 == isa::Rhs2::Imm ? toBits(step.imm2)
                        : step.rhs2 == isa::Rhs2::A   ? x
                                                      : b;
    result[lane] = numerics::alu(step.alu2, middle[lane], r2, b, c);
  }
  Lanes rounded(lanes);
  for (size_t lane = 0; lane < lanes; ++lane)
    rounded[lane] = toFloat(static_cast<uint32_t>(numerics::finish(step.post, result[lane])) << 16);
  return rounded;
}

/// The weights of a block when it is complete.
std::vector<double> blockOf(const Graph &graph, uint32_t block, const std::vector<Lanes> &values) {
  const size_t lanes = graph.geometry.lanes;
  std::vector<double> weights(lanes * lanes);
  std::transform(graph.blocks[block].begin(), graph.blocks[block].end(), weights.begin(),
                 bf16ToDouble);
  const auto dynamic = graph.dynamic.find(block);
  if (dynamic == graph.dynamic.end())
    return weights;
  for (const BlockWrite &write : dynamic->second.writes)
    for (size_t i = 0; i < lanes; ++i)
      weights[dynamic->second.columns ? i * lanes + write.index : write.index * lanes + i] =
          values.at(write.row)[i];
  return weights;
}

Lanes product(const Graph &graph, const Row &row, const std::vector<Lanes> &values) {
  const size_t lanes = graph.geometry.lanes;
  std::vector<double> sums(row.bias.begin(), row.bias.end());
  sums.resize(lanes);
  bool poison = false;
  for (const Term &term : row.terms) {
    const std::vector<double> weights = blockOf(graph, term.block, values);
    for (size_t i = 0; i < lanes; ++i) {
      const float x = values[term.x][i];
      poison |= !std::isfinite(x);
      for (size_t j = 0; j < lanes; ++j)
        sums[j] += x == 0 ? 0 : weights[j * lanes + i] * x;
    }
  }
  Lanes result(lanes);
  for (size_t j = 0; j < lanes; ++j)
    result[j] = poison ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(sums[j]);
  return result;
}

} // namespace

std::vector<std::vector<float>> interpret(const Graph &graph,
                                          const std::vector<std::vector<uint16_t>> &inputRows) {
  const size_t lanes = graph.geometry.lanes;
  std::vector<size_t> firstRow;
  size_t total = 0;
  for (const Port &port : graph.inputs) {
    firstRow.push_back(total);
    total += port.rows.size();
  }
  std::vector<Lanes> values;
  uint32_t group = 0;
  for (const Row &row : graph.rows) {
    const auto earlier = [&](RowId id) { return id == kNoRow || id < values.size(); };
    EXPECT_TRUE(earlier(row.b) && earlier(row.c));
    EXPECT_GE(row.group, group);
    group = row.group;
    Lanes value(lanes);
    switch (row.kind) {
    case RowKind::Input:
      for (size_t lane = 0; lane < lanes; ++lane)
        value[lane] =
            static_cast<float>(bf16ToDouble(inputRows[firstRow[row.input] + row.inputRow][lane]));
      break;
    case RowKind::State:
      for (size_t lane = 0; lane < lanes; ++lane)
        value[lane] = static_cast<float>(bf16ToDouble(graph.states[row.state].initial[lane]));
      break;
    case RowKind::Constant:
      EXPECT_EQ(row.lanes.size(), lanes);
      for (size_t lane = 0; lane < lanes; ++lane)
        value[lane] = static_cast<float>(bf16ToDouble(row.lanes[lane]));
      break;
    case RowKind::Linear:
      EXPECT_FALSE(row.terms.empty());
      for (const Term &term : row.terms)
        EXPECT_TRUE(earlier(term.x));
      value = applyStep(graph, row, {product(graph, row, values)}, values);
      break;
    case RowKind::Vector: {
      std::vector<Lanes> as;
      for (const RowId a : row.a) {
        EXPECT_TRUE(earlier(a));
        as.push_back(values[a]);
      }
      EXPECT_TRUE(as.size() == 1 || row.step.reduce != isa::Reduce::None);
      value = applyStep(graph, row, as, values);
      break;
    }
    }
    values.push_back(std::move(value));
  }
  return values;
}

Model::Model(const std::string &text, uint32_t lanes, LoweringOptions options,
             const TensorLanes &inputs)
    : lanes(lanes), context(std::make_unique<mlir::MLIRContext>()) {
  context->loadDialect<ir::SluiceDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect,
                       mlir::math::MathDialect>();
  module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  EXPECT_TRUE(module);
  auto function = module->lookupSymbol<mlir::func::FuncOp>("main");
  format::Geometry geometry;
  geometry.cores = 2;
  geometry.lanes = lanes;
  geometry.inboxRows = 1024;
  ModelInfo info;
  info.name = "test";
  const auto describe = [](mlir::Type type) {
    format::HostTensor tensor;
    const auto shape = llvm::cast<mlir::RankedTensorType>(type).getShape();
    tensor.shape.assign(shape.begin(), shape.end());
    return tensor;
  };
  for (mlir::Type type : function.getArgumentTypes())
    info.inputs.push_back(describe(type));
  info.lanes.assign(info.inputs.size(), inputs);
  for (mlir::Type type : function.getResultTypes())
    info.outputs.push_back(describe(type));
  options.notes = &notes;
  Outcome<Graph> lowered = lowerToRows(function, geometry, info, options);
  graph = std::move(lowered.value);
  problems.insert(problems.end(), lowered.problems.begin(), lowered.problems.end());
}

mlir::func::FuncOp Model::main() const {
  return mlir::ModuleOp(*module).lookupSymbol<mlir::func::FuncOp>("main");
}

Model::~Model() = default;

size_t Model::computed() const { return count(RowKind::Linear) + count(RowKind::Vector); }

size_t Model::count(RowKind kind) const {
  return std::count_if(graph->rows.begin(), graph->rows.end(),
                       [&](const Row &row) { return row.kind == kind; });
}

std::vector<reference::Tensor> Model::randomInputs(double low, double high, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> values(low, high);
  std::vector<reference::Tensor> inputs;
  for (const Port &port : graph->inputs) {
    reference::Tensor tensor(port.tensor.shape);
    for (double &value : tensor.values)
      value = bf16ToDouble(roundToBf16(values(random)));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

std::vector<reference::Tensor> Model::golden(const std::vector<reference::Tensor> &inputs) {
  auto function = module->lookupSymbol<mlir::func::FuncOp>("main");
  mlir::Block &block = function.getBody().front();
  std::map<void *, reference::Tensor> values;
  for (auto argument : block.getArguments())
    values[argument.getAsOpaquePointer()] = inputs[argument.getArgNumber()];
  for (mlir::Operation &op : block.without_terminator()) {
    auto &value = values[op.getResult(0).getAsOpaquePointer()];
    if (auto constant = llvm::dyn_cast<ir::ConstantOp>(op)) {
      value = ir::toTensor(constant.getValue());
      continue;
    }
    std::vector<const reference::Tensor *> operands;
    for (mlir::Value operand : op.getOperands())
      operands.push_back(&values[operand.getAsOpaquePointer()]);
    value = llvm::cast<ir::ReferenceInterface>(op).evaluate(operands).front();
  }
  std::vector<reference::Tensor> outputs;
  for (mlir::Value result : block.getTerminator()->getOperands())
    outputs.push_back(values[result.getAsOpaquePointer()]);
  return outputs;
}

std::vector<reference::Tensor> Model::run(const std::vector<reference::Tensor> &inputs) {
  const auto layoutOf = [&](const Port &port) {
    return RowLayout(format::PackedRows(port.tensor, 1).packed, port.tensor.dataDim, lanes);
  };
  std::vector<std::vector<uint16_t>> inputRows;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const RowLayout layout = layoutOf(graph->inputs[i]);
    for (int64_t row = 0; row < layout.rows(); ++row) {
      std::vector<uint16_t> bits(lanes);
      for (int64_t lane = 0; lane < layout.used(row); ++lane)
        bits[lane] = roundToBf16(inputs[i].values[layout.flat(row, lane)]);
      inputRows.push_back(std::move(bits));
    }
  }
  const auto values = interpret(*graph, inputRows);
  std::vector<reference::Tensor> outputs;
  for (const Port &port : graph->outputs) {
    const RowLayout layout = layoutOf(port);
    reference::Tensor tensor(port.tensor.shape);
    for (int64_t row = 0; row < layout.rows(); ++row)
      for (int64_t lane = 0; lane < layout.used(row); ++lane)
        tensor.values[layout.flat(row, lane)] = values[port.rows[row]][lane];
    outputs.push_back(std::move(tensor));
  }
  return outputs;
}

double Model::error(double low, double high, unsigned seed) {
  const auto inputs = randomInputs(low, high, seed);
  const auto found = run(inputs), wanted = golden(inputs);
  double worst = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    double range = 0, difference = 0;
    for (size_t k = 0; k < wanted[i].values.size(); ++k) {
      const double want = wanted[i].values[k], got = found[i].values[k];
      if (!std::isfinite(want) && (got == want || (std::isnan(got) && std::isnan(want))))
        continue;
      if (std::isnan(got))
        return std::numeric_limits<double>::infinity();
      range = std::max(range, std::fabs(want));
      difference = std::max(difference, std::fabs(want - got));
    }
    worst = std::max(worst, range == 0 ? difference : difference / range);
  }
  return worst;
}

} // namespace sluice::rows::test
