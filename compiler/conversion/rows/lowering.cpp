#include "compiler/conversion/rows/lowering.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "llvm/Support/SaveAndRestore.h"

#include "compiler/conversion/rows/contraction_loops.h"
#include "compiler/conversion/rows/lazy_map.h"
#include "compiler/conversion/scalar/constants.h"
#include "compiler/conversion/scalar/table_builder.h"
#include "compiler/dialect/sluice/folding.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/support/problem_text.h"

#include "compiler/conversion/rows/interface.cpp.inc"

using namespace mlir;

namespace sluice::rows {

reference::Tensor Lowering::constant(Value value) { return *ir::constantValue(value); }

const reference::Tensor &Lowering::nominal(Value value) {
  // A stack of its own: the depth of a model is not bounded.
  llvm::SmallVector<Value> pending{value};
  while (!pending.empty()) {
    const Value next = pending.back();
    State &known = state(next);
    if (known.nominal) {
      pending.pop_back();
      continue;
    }
    Operation *op = next.getDefiningOp();
    const size_t before = pending.size();
    if (op)
      for (Value operand : llvm::reverse(op->getOperands()))
        if (!ir::isConstant(operand) && !state(operand).nominal)
          pending.push_back(operand);
    if (pending.size() != before)
      continue;
    const auto shape = ir::shapeOf(next);
    known.nominal = op ? nominalOf(op) : reference::Tensor({shape.begin(), shape.end()});
    pending.pop_back();
  }
  return *state(value).nominal;
}

void Lowering::setNominal(BlockArgument input, double value) {
  const auto shape = ir::shapeOf(input);
  reference::Tensor nominal(reference::Shape(shape.begin(), shape.end()));
  std::ranges::fill(nominal.values, value);
  setNominal(input, std::move(nominal));
}

void Lowering::setNominal(BlockArgument input, reference::Tensor values) {
  state(input).nominal = std::move(values);
}

reference::Tensor Lowering::nominalOf(Operation *op) {
  std::vector<reference::Tensor> constants;
  constants.reserve(op->getNumOperands());
  std::vector<const reference::Tensor *> operands;
  for (Value operand : op->getOperands())
    operands.push_back(ir::isConstant(operand) ? &constants.emplace_back(constant(operand))
                                               : &*state(operand).nominal);
  auto space = llvm::dyn_cast<ir::IndexSpaceInterface>(op);
  if (operands.size() != 2 || !space || space.indexSpace().work != space::Work::Product)
    return llvm::cast<ir::ReferenceInterface>(op).evaluate(operands).front();
  const Loops loops = loopsOf(op);
  const int64_t products =
      std::accumulate(loops.extents.begin(), loops.extents.end(), int64_t{1}, std::multiplies<>());
  if (products <= nominalProducts) {
    nominalProducts -= products;
    return llvm::cast<ir::ReferenceInterface>(op).evaluate(operands).front();
  }
  const auto shape = ir::shapeOf(op->getResult(0));
  Sampled sampled = sampleContraction(loops, !ir::isConstant(op->getOperand(0)), *operands[0],
                                      *operands[1], {shape.begin(), shape.end()}, nominalProducts);
  nominalProducts -= std::min(nominalProducts, products / sampled.positions * sampled.sampled);
  if (sampled.sampled < sampled.positions) {
    const NodeRef node = ir::nodeOf(op->getLoc());
    notes.push_back(fmt::format(
        "the bias correction for rounded weights of {} samples {} of {} positions",
        node.index < 0 ? "a product" : nodeText(node), sampled.sampled, sampled.positions));
  }
  return std::move(sampled.result);
}

Lazy *Lowering::lazy(Value value) {
  const State &known = state(value);
  return known.rows ? nullptr : known.lazy.get();
}

/// Calls of rows() within each other, from which on operands are made before they are asked for. A
/// bound for the stack; the order of rows, on which plans depend, stays as it is in networks that
/// are not as deep.
constexpr uint32_t kDeep = 256;

const RowTensor &Lowering::rows(Value value) {
  if (Lazy *pending = lazy(value)) {
    const llvm::SaveAndRestore<uint32_t> deeper(nesting, nesting + 1);
    if (nesting > kDeep)
      emitOperands(value);
    define(value, pending->emit(*this));
  }
  return *state(value).rows;
}

void Lowering::emitOperands(Value value) {
  llvm::SmallVector<Value> pending{value};
  llvm::DenseSet<Value> entered; // whose operands are made, or above it on the stack
  while (!pending.empty()) {
    const Value next = pending.back();
    Lazy *const lazy = this->lazy(next);
    if (lazy && entered.insert(next).second) {
      llvm::SmallVector<Value> reads;
      lazy->addReads(*this, reads);
      for (Value read : llvm::reverse(reads))
        if (this->lazy(read))
          pending.push_back(read);
      continue;
    }
    pending.pop_back();
    if (lazy && next != value)
      define(next, lazy->emit(*this));
  }
}

const TensorRows *Lowering::elementsOf(Value value) const {
  const auto found = elements ? elements->find(value) : ValueElements::const_iterator();
  return elements && found != elements->end() ? &found->second : nullptr;
}

void Lowering::define(Value value, RowTensor rows) {
  rows.elements = elementsOf(value);
  for (uint32_t row = 0; rows.elements && row < rows.rows.size(); ++row)
    if (const RowRef &ref = rows.rows[row]; ref.row != kNoRow && !ref.broadcast)
      graph.setElements(ref.row, rows.elements->of(row));
  state(value).rows = std::move(rows);
}

const RowTensor &Lowering::affineRows(Value value, std::deque<RowTensor> &made) {
  if (Lazy *pending = lazy(value))
    if (LazyMap *map = pending->asMap(); map && usersTakeAffine(value))
      if (auto affine = map->affineRows(*this))
        return made.emplace_back(std::move(*affine));
  return rows(value);
}

void Lowering::addAffineReads(Value value, llvm::SmallVectorImpl<Value> &reads) {
  Lazy *const pending = lazy(value);
  LazyMap *const map = pending && usersTakeAffine(value) ? pending->asMap() : nullptr;
  const auto affine = map ? map->affine(*this) : std::nullopt;
  reads.push_back(affine ? affine->base : value);
}

void Lowering::findAffineUsers(Block &block) {
  const auto find = [&](Value value) {
    if (!ir::isConstant(value) && llvm::all_of(value.getUsers(), [&](Operation *user) {
          auto rows = llvm::dyn_cast<RowsInterface>(user);
          return rows && rows.takesAffine(*this);
        }))
      affineUsers.insert(value);
  };
  for (Operation &op : llvm::reverse(block))
    llvm::for_each(op.getResults(), find);
  llvm::for_each(block.getArguments(), find);
}

RowTensor Lowering::heldRows(Value value, const RowLayout &layout) {
  return materialise(ir::isConstant(value) ? constantRows(layout, constant(value)) : rows(value));
}

RowTensor Lowering::constantRows(const RowLayout &layout, const reference::Tensor &tensor) {
  RowTensor result{layout, {}};
  for (int64_t row = 0; row < layout.rows(); ++row) {
    RowRef ref;
    for (int64_t lane = 0; lane < layout.used(row); ++lane)
      ref.gather.push_back(
          {kNoRow, 0, 1, static_cast<float>(withinBf16(tensor.values[layout.flat(row, lane)]))});
    result.rows.push_back(std::move(ref));
  }
  return result;
}

namespace {

/// No element of a row is computed.
bool isConstantRow(const RowRef &ref) {
  return ref.row == kNoRow &&
         std::ranges::all_of(ref.gather, [](const Element &e) { return e.row == kNoRow; });
}

} // namespace

RowId Lowering::emitSelection(const LinearSum::Rounded &selection, uint32_t used) {
  // A sum has no infinities: a select writes these constants.
  LinearSum::Rounded sums = selection;
  std::vector<double> chosen(used), constants(used);
  for (uint32_t lane = 0; lane < std::min<size_t>(used, sums.bias.size()); ++lane)
    if (!std::isfinite(sums.bias[lane])) {
      chosen[lane] = 1;
      constants[lane] = std::exchange(sums.bias[lane], 0.0F);
    }
  const RowId row = emitLinear(graph, sums, used, false);
  if (std::ranges::find(chosen, 1.0) == chosen.end())
    return row;
  VectorStep choose;
  choose.alu2 = isa::Alu::Select;
  return graph.vectorOnce(choose, {graph.constant(chosen)}, graph.constant(constants), row, used);
}

RowId Lowering::materialise(const RowRef &ref, uint32_t used, bool keepBroadcast,
                            const LinearSum::Rounded &selection) {
  if (ref.row != kNoRow) {
    if (!ref.broadcast || keepBroadcast)
      return ref.row;
    // 0 + lane 0 in every lane.
    VectorStep spread;
    spread.alu1 = isa::Alu::Add;
    spread.bBroadcast = true;
    return graph.vector(spread, {graph.splat(-0.0)}, ref.row, kNoRow, used);
  }
  if (!isConstantRow(ref))
    return emitSelection(selection, used);
  std::vector<double> values;
  for (const Element &element : ref.gather)
    values.push_back(element.offset);
  return graph.constant(values);
}

RowTensor Lowering::materialise(RowTensor tensor, bool keepBroadcast) {
  std::vector<LinearSum::Rounded> selections(tensor.rows.size());
  for (size_t row = 0; row < tensor.rows.size(); ++row) {
    const RowRef &ref = tensor.rows[row];
    if (ref.row != kNoRow || isConstantRow(ref))
      continue;
    LinearSum selection(graph);
    for (uint32_t lane = 0; lane < tensor.layout.used(static_cast<int64_t>(row)); ++lane) {
      Element element = ref.gather[lane];
      // A step that follows in the same pass reads what a stored row holds.
      if (element.row == kNoRow)
        element.offset = bf16ToDouble(roundToBf16(withinBf16(element.offset)));
      selection.add(lane, element, 1);
    }
    selections[row] = selection.round();
  }
  uniteReads(selections);
  for (size_t row = 0; row < tensor.rows.size(); ++row) {
    RowRef &ref = tensor.rows[row];
    const auto used = static_cast<uint32_t>(tensor.layout.used(static_cast<int64_t>(row)));
    ref = {
        materialise(ref, used, keepBroadcast, selections[row]), keepBroadcast && ref.broadcast, {}};
    if (tensor.elements && !ref.broadcast)
      graph.setElements(ref.row, tensor.elements->of(static_cast<uint32_t>(row)));
  }
  return tensor;
}

void Lowering::beginGroup(const llvm::SetVector<Operation *> &ops) {
  std::vector<uint32_t> nodes;
  for (Operation *op : ops)
    for (const NodeRef &node : ir::nodesOf(op->getLoc()))
      if (const auto found = nodeNumbers.find(node.index); found != nodeNumbers.end())
        nodes.push_back(found->second);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  graph.beginGroup(std::move(nodes));
}

void Lowering::beginGroup(Operation *op) {
  llvm::SetVector<Operation *> ops;
  ops.insert(op);
  beginGroup(ops);
}

RowTensor Lowering::fail(Operation *op, const std::string &code, std::string message,
                         std::vector<std::string> notes) {
  Problem problem;
  problem.code = code;
  problem.message = std::move(message);
  problem.notes = std::move(notes);
  if (NodeRef node = ir::nodeOf(op->getLoc()); node.index >= 0)
    problem.node = std::move(node);
  problems.push_back(std::move(problem));
  const RowLayout layout = layoutOf(op->getResult(0));
  RowTensor zeros{layout, {}};
  for (int64_t row = 0; row < layout.rows(); ++row)
    zeros.rows.push_back({graph.splat(0), false, {}});
  return zeros;
}

RowRef makeRef(const GraphBuilder &graph, std::vector<Element> elements) {
  const Element &first = elements.front();
  const auto each = [&](auto &&predicate) {
    for (uint32_t lane = 0; lane < elements.size(); ++lane)
      if (!elements[lane].plain() || elements[lane].row != first.row || !predicate(lane))
        return false;
    return true;
  };
  const auto inOrder = [&](uint32_t lane) { return elements[lane].lane == lane; };
  if (each(inOrder))
    return {first.row, false, {}};
  if (first.row != kNoRow &&
      graph.facts(first.row, static_cast<uint32_t>(elements.size())).uniform &&
      each([](uint32_t) { return true; }))
    return {first.row, false, {}};
  if (each([&](uint32_t lane) { return elements[lane].lane == 0; }))
    return {first.row, true, {}};
  return {kNoRow, false, std::move(elements)};
}

} // namespace sluice::rows
