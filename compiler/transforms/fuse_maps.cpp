#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/transforms/erase_unread.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_FUSEMAPS
#include "compiler/transforms/passes.h.inc"

namespace {

/// Operations of a body, at most. Every prefix of a body may be tried as a
/// function table, so a body without bound is work without bound.
constexpr size_t kLargestBody = 64;

size_t bodySize(MapOp map) { return map.getBody().front().getOperations().size(); }

/// What a view selects the elements of; null if the operation is none, or reads several tensors.
Operation *viewed(Operation *op) {
  return llvm::isa_and_present<ViewInterface>(op) && op->getNumOperands() == 1
             ? op->getOperand(0).getDefiningOp()
             : nullptr;
}

/// Whether a view with one operand has elements of its own.
bool hasOwnElements(Operation *view) {
  return llvm::cast<IndexSpaceInterface>(view).indexSpace().operands.front().outside.has_value();
}

/// The value of an operand that is the same constant everywhere: a splat, or a view of one.
std::optional<float> splat(Value value) {
  Operation *op = value.getDefiningOp();
  while (Operation *source = viewed(op))
    op = source;
  auto constant = llvm::dyn_cast_or_null<ConstantOp>(op);
  if (!constant || !constant.getType().getElementType().isF32())
    return std::nullopt;
  auto elements = llvm::dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!elements || !elements.isSplat())
    return std::nullopt;
  for (Operation *view = value.getDefiningOp(); view != op; view = viewed(view))
    if (hasOwnElements(view))
      return std::nullopt;
  return elements.getSplatValue<float>();
}

/// What a map becomes: its operands after fusion, and where each body argument
/// comes from.
class Fusion {
public:
  explicit Fusion(MapOp map) : map(map) {}

  /// Builds the fused map before `map`; nothing if there is nothing to fuse.
  MapOp build() {
    if (!plan())
      return {};
    llvm::SmallVector<Location> locations;
    for (Operation *inner : inlined)
      locations.push_back(inner->getLoc());
    locations.push_back(map.getLoc());
    OpBuilder builder(map);
    auto body = [&](OpBuilder &b, Location, ValueRange arguments) {
      return inlineBody(b, map, arguments);
    };
    auto fused = builder.create<MapOp>(builder.getFusedLoc(locations), inputs.getArrayRef(), body);
    fused.getResult().setType(map.getType());
    return fused;
  }

private:
  /// Collects operands; true if the result differs from the map.
  bool plan() {
    bool changed = false;
    size_t size = bodySize(map);
    for (const Value operand : map.getInputs()) {
      auto inner = operand.getDefiningOp<MapOp>();
      const bool known = inner && inlined.contains(inner);
      const bool fits = inner && (known || size + bodySize(inner) <= kLargestBody);
      const bool onlyHere = fits && llvm::all_of(operand.getUsers(), [&](Operation *user) {
                              return user == map.getOperation();
                            });
      if (onlyHere) {
        changed |= inlined.insert(inner);
        size += known ? 0 : bodySize(inner);
        for (Value value : inner.getInputs())
          add(value, changed);
      } else {
        add(operand, changed);
      }
    }
    if (inputs.empty() && scalars.size() > 0) {
      // A map has at least one operand; all-constant maps are folded elsewhere.
      inputs.insert(scalars.begin()->first);
      scalars.erase(scalars.begin());
      changed = !inlined.empty() || scalars.size() > 0;
    }
    changed |= inputs.size() < map.getInputs().size() && inlined.empty();
    return changed;
  }

  void add(Value value, bool &changed) {
    if (auto scalar = splat(value)) {
      scalars.insert({value, *scalar});
      changed = true;
    } else {
      inputs.insert(value);
    }
  }

  /// Clones a body; returns what it yields. Arguments come from the fused
  /// map's, from inlined maps or from scalar constants.
  Value inlineBody(OpBuilder &builder, MapOp source, ValueRange arguments) {
    IRMapping mapping;
    for (auto [argument, operand] : llvm::zip(source.getBody().getArguments(), source.getInputs()))
      mapping.map(argument, scalarOf(builder, operand, arguments));
    Block &block = source.getBody().front();
    for (Operation &op : block.without_terminator())
      builder.clone(op, mapping);
    return mapping.lookupOrDefault(block.getTerminator()->getOperand(0));
  }

  Value scalarOf(OpBuilder &builder, Value operand, ValueRange arguments) {
    if (auto inner = operand.getDefiningOp<MapOp>(); inner && inlined.contains(inner)) {
      Value &result = bodies[inner];
      if (!result)
        result = inlineBody(builder, inner, arguments);
      return result;
    }
    if (auto scalar = scalars.find(operand); scalar != scalars.end())
      return builder.create<arith::ConstantOp>(operand.getLoc(),
                                               builder.getF32FloatAttr(scalar->second));
    return arguments[std::distance(inputs.begin(), llvm::find(inputs, operand))];
  }

  MapOp map;
  llvm::SmallSetVector<Operation *, 4> inlined;
  llvm::SetVector<Value> inputs;
  llvm::MapVector<Value, float> scalars;
  llvm::DenseMap<Operation *, Value> bodies;
};

struct FuseMaps : impl::FuseMapsBase<FuseMaps> {
  void runOnOperation() override {
    // In program order a map's operands are fused before it is.
    for (MapOp map : llvm::make_early_inc_range(getOperation().getOps<MapOp>())) {
      MapOp fused = Fusion(map).build();
      if (!fused)
        continue;
      llvm::SmallVector<Operation *> sources;
      for (const Value operand : map.getInputs())
        if (Operation *source = operand.getDefiningOp())
          sources.push_back(source);
      replaceOp(map, fused.getResult());
      eraseUnread(sources);
    }
    if (failed(canonicalize()))
      signalPassFailure();
  }

  /// Operands that have become scalars may decide what a map selects, and so what it reads.
  LogicalResult canonicalize() {
    RewritePatternSet patterns(&getContext());
    MapOp::getCanonicalizationPatterns(patterns, &getContext());
    llvm::SmallVector<Operation *> maps;
    for (MapOp map : getOperation().getOps<MapOp>())
      maps.push_back(map);
    KeepModelTensors names;
    GreedyRewriteConfig config;
    config.listener = &names;
    config.strictMode = GreedyRewriteStrictness::ExistingOps;
    return applyOpPatternsAndFold(maps, std::move(patterns), config);
  }
};

} // namespace
} // namespace sluice::ir
