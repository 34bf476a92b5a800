#include "compiler/conversion/rows/lower.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "compiler/conversion/rows/block_sums.h"
#include "compiler/conversion/rows/finish.h"
#include "compiler/conversion/rows/lowering.h"
#include "compiler/conversion/rows/models.h"
#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/tensors.h"
#include "compiler/reference/scalar.h"
#include "compiler/support/problem.h"

using namespace mlir;

namespace sluice::rows {

/// The tables of all lowerings in a context. A compilation lowers the same maps many times, and a
/// table takes milliseconds.
class SharedTables : public DialectInterface::Base<SharedTables> {
public:
  explicit SharedTables(Dialect *dialect) : Base(dialect) {}
  TableCache tables;
};

void registerRowLowering(MLIRContext &context) {
  context.getOrLoadDialect<ir::SluiceDialect>()->addInterfaces<SharedTables>();
  attachMapModel(context);
  attachContractionModels(context);
  attachReductionModel(context);
  attachViewModels(context);
  attachStateModels(context);
}

namespace {

Port inputPort(Lowering &lowering, BlockArgument argument, const format::HostTensor &tensor,
               const TensorLanes &lanes) {
  const RowLayout layout = lowering.layoutOf(argument);
  Port port{tensor, {}};
  setPacking(port.tensor, argument);
  RowTensor rows{layout, {}};
  for (int64_t row = 0; row < layout.rows(); ++row) {
    port.rows.push_back(lowering.graph.input(argument.getArgNumber(), static_cast<uint32_t>(row),
                                             static_cast<uint32_t>(layout.used(row)),
                                             lanes.elements, lanes.padding));
    rows.rows.push_back({port.rows.back(), false, {}});
  }
  lowering.define(argument, std::move(rows));
  return port;
}

/// Rows that are computed, each for this output alone: inputs, constants and
/// rows of other outputs are copied.
/// Returns the axis of an output that lies along the lanes. A constant has no data dimension: its
/// rows are the fewest.
int64_t outputDim(const Lowering &lowering, Value value) {
  if (const auto dim = ir::dataDim(value))
    return *dim;
  const auto shape = ir::carriedShape(value);
  const auto rows = [&](int64_t dim) {
    return RowLayout({shape.begin(), shape.end()}, dim, lowering.graph.lanes()).rows();
  };
  int64_t least = 0;
  for (int64_t dim = 1; dim < static_cast<int64_t>(shape.size()); ++dim)
    least = rows(dim) < rows(least) ? dim : least;
  return least;
}

RowLayout outputLayout(const Lowering &lowering, Value value) {
  const auto shape = ir::carriedShape(value);
  return {{shape.begin(), shape.end()}, outputDim(lowering, value), lowering.graph.lanes()};
}

Port outputPort(Lowering &lowering, Value value, const format::HostTensor &tensor,
                std::set<RowId> &taken) {
  Port port{tensor, {}};
  setPacking(port.tensor, value);
  port.tensor.dataDim = static_cast<uint32_t>(outputDim(lowering, value));
  const RowTensor rows = lowering.heldRows(value, outputLayout(lowering, value));
  if (Operation *op = value.getDefiningOp())
    lowering.beginGroup(op);
  for (int64_t row = 0; row < rows.layout.rows(); ++row) {
    RowId id = rows.rows[row].row;
    if (!lowering.graph.isComputed(id) || taken.contains(id)) {
      id = lowering.graph.vector(VectorStep{}, {id}, kNoRow, kNoRow,
                                 static_cast<uint32_t>(rows.layout.used(row)));
      if (rows.elements)
        lowering.graph.setElements(id, rows.elements->of(static_cast<uint32_t>(row)));
    }
    taken.insert(id);
    port.rows.push_back(id);
  }
  return port;
}

/// Sets the nominal value of an input to its zero point, the constant that a map subtracts from it.
/// This is the zero point of quantised integers, and the mean of numbers that a model normalises.
/// Without such a map, the nominal value stays zero. The map may read `value`, the input or views
/// of it.
void setZeroPoint(Lowering &lowering, BlockArgument input, Value value) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (llvm::isa<ir::ViewInterface>(user) && user->getNumOperands() == 1)
      setZeroPoint(lowering, input, user->getResult(0));
    auto map = llvm::dyn_cast<ir::MapOp>(user);
    if (!map)
      continue;
    for (Operation *op : map.getBody().getArgument(use.getOperandNumber()).getUsers()) {
      auto subtraction = llvm::dyn_cast<arith::SubFOp>(op);
      if (!subtraction || subtraction.getRhs() == subtraction.getLhs())
        continue;
      const Value zero = subtraction.getRhs();
      if (auto scalar = zero.getDefiningOp<arith::ConstantOp>())
        return lowering.setNominal(input, reference::constantOf(scalar));
      const auto argument = llvm::dyn_cast<BlockArgument>(zero);
      if (argument && value == input && ir::isConstant(map.getOperand(argument.getArgNumber())))
        return lowering.setNominal(input,
                                   lowering.constant(map.getOperand(argument.getArgNumber())));
    }
  }
}

TensorLanes lanesOf(const Lowering &lowering, Value value, const Port &port) {
  const RowLayout layout = outputLayout(lowering, value);
  std::optional<LaneValues> elements, padding;
  const auto take = [](std::optional<LaneValues> &all, const LaneValues &one) {
    all = all ? either(*all, one) : one;
  };
  for (int64_t row = 0; row < layout.rows(); ++row) {
    const auto used = static_cast<uint32_t>(layout.used(row));
    const RowFacts facts = lowering.graph.facts(port.rows[row], used);
    take(elements, facts.elements);
    if (used != lowering.graph.lanes())
      take(padding, facts.padding);
  }
  return {*elements, padding.value_or(LaneValues::known(0))};
}

/// Rows that an address can name: no target has room for more. It bounds the time spent on finding
/// that out.
constexpr int64_t kMostRows = int64_t{isa::kMostDst} + 1;

/// What cannot fit, found before every row is made: inputs are all in the inboxes
/// at once.
Problems sizeProblems(Block &block, const Lowering &lowering, const format::Geometry &geometry,
                      const ModelInfo &info) {
  Problems problems;
  Problem large;
  int64_t inputRows = 0;
  for (BlockArgument argument : block.getArguments()) {
    const int64_t rows = lowering.layoutOf(argument).rows();
    inputRows += rows;
    large.notes.push_back(fmt::format("input '{}' needs {} row{}",
                                      info.inputs[argument.getArgNumber()].name, rows,
                                      rows == 1 ? "" : "s"));
  }
  if (inputRows > geometry.inboxRows) {
    large.code = "E0402";
    large.reason =
        LacksMemory{"inbox rows", static_cast<uint64_t>(inputRows), geometry.inboxRows, true};
    large.message =
        fmt::format("the model does not fit {}: its inputs need {} inbox rows, {} more than its {}",
                    geometry.name, inputRows, inputRows - geometry.inboxRows, geometry.inboxRows);
    large.fixes.push_back(
        {"use a target with more inbox rows or more lanes", std::nullopt, false, std::nullopt});
    problems.push_back(std::move(large));
  }
  for (Operation &op : block.without_terminator())
    for (const Value value : op.getResults())
      if (const int64_t rows = lowering.layoutOf(value).rows();
          rows > kMostRows && !ir::isConstant(value)) {
        Problem &problem = problems.emplace_back();
        problem.code = "E0402";
        problem.reason = LacksMemory{"inbox rows", static_cast<uint64_t>(rows), kMostRows};
        problem.message =
            fmt::format("the model does not fit {}: a tensor has {} rows of {} lanes, allowed: {}",
                        geometry.name, rows, geometry.lanes, kMostRows);
        problem.node = ir::nodeOf(op.getLoc());
        return problems;
      }
  return problems;
}

} // namespace

void nameTensors(func::FuncOp function, ModelInfo &info) {
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (op.getNumResults() != 1 || ir::isConstant(op.getResult(0)))
      continue;
    const Value value = op.getResult(0);
    const std::string name = ir::modelTensor(value);
    if (name.empty())
      continue;
    info.values[value] = {static_cast<uint32_t>(info.tensors.size()), {}, 0};
    format::ModelTensor &tensor = info.tensors.emplace_back();
    tensor.name = name;
    tensor.shape = ir::modelShape(value);
    setPacking(tensor, value);
  }
}

bool takesLanes(func::FuncOp function) {
  const auto takes = [](ir::SliceOp slice) {
    const auto dim = ir::dataDim(slice.getInput());
    if (!dim)
      return false;
    if (slice.getSizes()[*dim] < ir::shapeOf(slice.getInput())[*dim])
      return true;
    // Lines of a tensor whose rows other views have rearranged lie in parts of rows.
    Operation *view = slice.getInput().getDefiningOp();
    while (llvm::isa_and_nonnull<ir::TransposeOp, ir::SliceOp, ir::UnsqueezeOp, ir::SqueezeOp,
                                 ir::BroadcastOp>(view))
      view = view->getOperand(0).getDefiningOp();
    return llvm::isa_and_nonnull<ir::ReshapeOp, ir::RelayoutOp>(view);
  };
  return llvm::any_of(function.getOps<ir::SliceOp>(), takes);
}

TensorLanes hostLanes(bool anything) {
  return {anything ? LaneValues::anything() : LaneValues::finite(), LaneValues::known(0)};
}

namespace {

Outcome<Graph> lower(func::FuncOp function, const format::Geometry &geometry, const ModelInfo &info,
                     const LoweringOptions &options, bool fewTables) {
  Problems problems;
  TableCache &tables = function.getContext()
                           ->getLoadedDialect<ir::SluiceDialect>()
                           ->getRegisteredInterface<SharedTables>()
                           ->tables;
  Lowering lowering(geometry, options.nominalProducts, options.trees, tables, problems);
  lowering.fewTables = fewTables;
  lowering.elements = &info.values;
  lowering.numbers = &info.numbers;
  lowering.differences = options.differences;
  lowering.graph.clearsUnread = options.clearsUnread.value_or(takesLanes(function));
  for (size_t i = 0; i < info.nodes.size(); ++i)
    lowering.nodeNumbers[info.nodes[i].index] = static_cast<uint32_t>(i);
  std::vector<Port> inputs, outputs;
  Block &block = function.getBody().front();
  if (Problems found = sizeProblems(block, lowering, geometry, info); !found.empty())
    return found;
  lowering.findAffineUsers(block);
  for (const BlockArgument argument : block.getArguments())
    setZeroPoint(lowering, argument, argument);
  for (BlockArgument argument : block.getArguments())
    inputs.push_back(inputPort(lowering, argument, info.inputs[argument.getArgNumber()],
                               argument.getArgNumber() < info.lanes.size()
                                   ? info.lanes[argument.getArgNumber()]
                                   : hostLanes(lowering.graph.clearsUnread)));
  for (Operation &op : block.without_terminator())
    if (!ir::isConstant(op.getResult(0)))
      llvm::cast<RowsInterface>(op).lowerToRows(lowering);
  std::set<RowId> taken;
  for (auto [value, tensor] : llvm::zip_equal(block.getTerminator()->getOperands(), info.outputs))
    outputs.push_back(outputPort(lowering, value, tensor, taken));
  if (!problems.empty())
    return problems;
  if (options.notes)
    options.notes->insert(options.notes->end(), lowering.notes.begin(), lowering.notes.end());
  if (options.lanes)
    for (const auto &[value, port] : llvm::zip_equal(block.getTerminator()->getOperands(), outputs))
      options.lanes->push_back(lanesOf(lowering, value, port));
  if (options.treesSeen)
    options.treesSeen->add(lowering.treesSeen);
  Graph graph = lowering.graph.take();
  graph.modelName = info.name;
  graph.inputs = std::move(inputs);
  graph.outputs = std::move(outputs);
  graph.nodes = info.nodes;
  graph.tensors = info.tensors;
  graph.macs = lowering.macs;
  graph.parameters = info.parameters;
  sumOverBlocks(graph);
  fuseSteps(graph, lowering.merges);
  if (mergeSums(graph))
    fuseSteps(graph, lowering.merges);
  nameParts(graph);
  compact(graph);
  return graph;
}

} // namespace

Outcome<Graph> lowerToRows(func::FuncOp function, const format::Geometry &geometry,
                           const ModelInfo &info, const LoweringOptions &options) {
  registerRowLowering(*function.getContext());
  Outcome<Graph> graph = lower(function, geometry, info, options, /*fewTables=*/false);
  const size_t tables = size_t{geometry.cores} * geometry.tables;
  if (!graph || graph->tables.size() <= tables)
    return graph;
  // Cycles do not matter where the tables have no room.
  std::vector<TensorLanes> lanes;
  LoweringOptions again = options;
  again.notes = nullptr; // they would be the same
  again.lanes = &lanes;
  Outcome<Graph> other = lower(function, geometry, info, again, /*fewTables=*/true);
  if (!other || other->tables.size() > tables)
    return graph;
  if (options.lanes)
    std::ranges::copy(lanes, options.lanes->end() - static_cast<ptrdiff_t>(lanes.size()));
  return other;
}

} // namespace sluice::rows
