#include "compiler/pipeline/explain_spaces.h"

#include "compiler/costs/cost.h"
#include "compiler/costs/through.h"
#include "compiler/costs/zero_blocks.h"
#include "compiler/dialect/sluice/attributes.h"
#include "compiler/dialect/sluice/interfaces.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/tensors.h"
#include "llvm/Support/raw_ostream.h"

namespace sluice::pipeline {
namespace {

using mlir::Value;
using space::IndexSpace;
using space::Projection;

std::vector<int64_t> plain(llvm::ArrayRef<int64_t> values) {
  return {values.begin(), values.end()};
}

std::optional<unsigned> dimOf(Value value) {
  const auto dim = ir::dataDim(value);
  return dim ? std::optional(static_cast<unsigned>(*dim)) : std::nullopt;
}

SpaceTensor tensorOf(Value value, const Projection &projection, const space::Region &block) {
  SpaceTensor tensor;
  tensor.name = ir::tensorName(value.getLoc());
  tensor.shape = plain(projection.tensor);
  tensor.dataDim = ir::dataDim(value);
  llvm::raw_string_ostream(tensor.map) << projection.map;
  for (unsigned axis = 0; axis < projection.rank(); ++axis) {
    tensor.offset.push_back(projection.offset(axis));
    std::vector<int64_t> &steps = tensor.steps.emplace_back();
    for (unsigned loop = 0; loop < projection.loops(); ++loop)
      steps.push_back(projection.step(axis, loop));
  }
  tensor.region = plain(projection.region);
  tensor.outside = projection.outside;
  const space::Region region = regionOf(projection, block);
  tensor.blockStart = plain(region.start);
  tensor.blockShape = plain(region.extents);
  return tensor;
}

SpaceLoop loopOf(const IndexSpace &space, unsigned index, const space::RowLayouts &layouts,
                 const std::optional<space::ConstantProduct> &sparse) {
  const space::Loop &loop = space.loops[index];
  SpaceLoop result;
  result.extent = loop.extent;
  result.kind = nameOf(loop.kind);
  if (loop.kind == space::LoopKind::Reduced)
    result.monoid = ir::stringifyMonoid(static_cast<ir::Monoid>(loop.monoid));
  result.batch = loop.batch;
  result.step = stepOf(space, index, layouts);
  if (const auto block = stepBlock(space, index, layouts)) {
    for (const Projection &one : space.operands)
      result.shared.push_back({sharedElements(one, *block, index), elementsOf(one, *block)});
    if (sparse) {
      const auto [both, all] = sparse->shared(*block, index);
      result.shared[sparse->operand()] = {both, all};
    }
    for (const Projection &one : space.results)
      result.shared.push_back({sharedElements(one, *block, index), elementsOf(one, *block)});
  }
  result.next = sparse ? sparse->marginalCost(index) : marginalCost(space, index, layouts);
  return result;
}

/// An operation whose operands are what lies in memory: views of it are part of their maps.
struct Seen {
  IndexSpace space;
  space::RowLayouts layouts;
  llvm::SmallVector<Value, 2> operands;
  llvm::SmallVector<std::vector<std::string>, 2> through; ///< by operand
};

/// Takes an operand for what it is a view of. False if it is none, or if points of the operation
/// have other parts of that in their rows.
bool lookThrough(Seen &seen, size_t operand) {
  auto view = seen.operands[operand].getDefiningOp<ir::ViewInterface>();
  if (!view || view->getNumOperands() != 1 || !dimOf(view->getOperand(0)))
    return false;
  const IndexSpace selection = llvm::cast<ir::IndexSpaceInterface>(*view).indexSpace();
  if (!selection.results.front().map.isIdentity())
    return false;
  const auto composed = through(seen.space.operands[operand], selection.operands.front());
  if (!composed)
    return false;
  Seen next = seen;
  next.space.operands[operand] = *composed;
  next.layouts.operands[operand] = dimOf(view->getOperand(0));
  std::string why;
  if (!verify(next.space, why))
    return false;
  for (unsigned loop = 0; loop < next.space.loops.size(); ++loop)
    if (stepOf(next.space, loop, next.layouts) != stepOf(seen.space, loop, seen.layouts))
      return false;
  next.operands[operand] = view->getOperand(0);
  std::vector<std::string> &names = next.through[operand];
  names.insert(names.begin(), view->getName().stripDialect().str());
  seen = std::move(next);
  return true;
}

Seen seenBy(ir::IndexSpaceInterface op, int64_t lanes) {
  Seen seen{op.indexSpace(), {}, llvm::SmallVector<Value, 2>(op->getOperands()), {}};
  seen.layouts.lanes = lanes;
  for (Value operand : op->getOperands())
    seen.layouts.operands.push_back(dimOf(operand));
  for (Value result : op->getResults())
    seen.layouts.results.push_back(dimOf(result));
  seen.through.resize(seen.operands.size());
  if (seen.space.work != space::Work::Address)
    for (size_t operand = 0; operand < seen.operands.size(); ++operand)
      while (lookThrough(seen, operand)) {
      }
  return seen;
}

/// The elements of the constant factor of a product; none if both factors are computed.
std::vector<double> weightsOf(const Seen &seen) {
  for (const Value operand : seen.operands)
    if (auto constant = operand.getDefiningOp<ir::ConstantOp>();
        constant && seen.space.work == space::Work::Product)
      return std::move(ir::toTensor(constant.getValue()).values);
  return {};
}

OperationSpace spaceOf(ir::IndexSpaceInterface op, int64_t lanes) {
  const Seen seen = seenBy(op, lanes);
  const auto &[space, layouts, operands, views] = seen;
  const std::vector<double> weights = weightsOf(seen);
  const auto sparse = space::ConstantProduct::of(space, layouts, weights);

  OperationSpace explained;
  const auto nodes = ir::nodesOf(op->getLoc());
  explained.nodes.assign(nodes.begin(), nodes.end());
  explained.operation = op->getName().stripDialect();
  explained.unit = space.work == space::Work::Product ? "products"
                   : space.work == space::Work::Pass  ? "passes"
                                                      : "";
  for (unsigned loop = 0; loop < space.loops.size(); ++loop)
    explained.loops.push_back(loopOf(space, loop, layouts, sparse));
  const space::Region block = rowBlock(space, layouts);
  for (const auto &[value, projection, names] : llvm::zip_equal(operands, space.operands, views)) {
    explained.operands.push_back(tensorOf(value, projection, block));
    explained.operands.back().through = names;
  }
  for (auto [value, projection] : llvm::zip_equal(op->getResults(), space.results))
    explained.results.push_back(tensorOf(value, projection, block));
  explained.blockStart = plain(block.start);
  explained.blockShape = plain(block.extents);
  const space::Region all = space.whole();
  explained.block = sparse ? sparse->costOf(block) : costOf(space, block, layouts);
  explained.whole = sparse ? sparse->costOf(all) : costOf(space, all, layouts);
  return explained;
}

} // namespace

std::vector<OperationSpace> explainSpaces(mlir::FunctionOpInterface function, int64_t lanes) {
  std::vector<OperationSpace> spaces;
  function.walk([&](ir::IndexSpaceInterface op) {
    if (llvm::any_of(op->getOperands(), [](Value operand) { return dimOf(operand).has_value(); }))
      spaces.push_back(spaceOf(op, lanes));
  });
  return spaces;
}

} // namespace sluice::pipeline
