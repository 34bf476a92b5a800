#include "compiler/pipeline/explain_spaces.h"

#include "compiler/dialect/sluice/attributes.h"
#include "compiler/dialect/sluice/interfaces.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/tensors.h"
#include "compiler/index_space/cost.h"
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

SpaceLoop loopOf(const IndexSpace &space, unsigned index, const space::RowLayouts &layouts) {
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
    for (const Projection &one : space.results)
      result.shared.push_back({sharedElements(one, *block, index), elementsOf(one, *block)});
  }
  result.next = marginalCost(space, index, layouts);
  return result;
}

OperationSpace spaceOf(ir::IndexSpaceInterface op, int64_t lanes) {
  const IndexSpace space = op.indexSpace();
  space::RowLayouts layouts;
  layouts.lanes = lanes;
  for (Value operand : op->getOperands())
    layouts.operands.push_back(dimOf(operand));
  for (Value result : op->getResults())
    layouts.results.push_back(dimOf(result));

  OperationSpace explained;
  const auto nodes = ir::nodesOf(op->getLoc());
  explained.nodes.assign(nodes.begin(), nodes.end());
  explained.operation = op->getName().stripDialect();
  explained.unit = space.work == space::Work::Product ? "products"
                   : space.work == space::Work::Pass  ? "passes"
                                                      : "";
  for (unsigned loop = 0; loop < space.loops.size(); ++loop)
    explained.loops.push_back(loopOf(space, loop, layouts));
  const space::Region block = rowBlock(space, layouts);
  for (auto [value, projection] : llvm::zip_equal(op->getOperands(), space.operands))
    explained.operands.push_back(tensorOf(value, projection, block));
  for (auto [value, projection] : llvm::zip_equal(op->getResults(), space.results))
    explained.results.push_back(tensorOf(value, projection, block));
  explained.blockStart = plain(block.start);
  explained.blockShape = plain(block.extents);
  explained.block = costOf(space, block, layouts);
  explained.whole = costOf(space, space.whole(), layouts);
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
