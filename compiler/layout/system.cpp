#include "compiler/layout/system.h"

#include <bit>

#include "compiler/dialect/sluice/interfaces.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/tensors.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sluice::layout {

ConstantValues::ConstantValues(FunctionOpInterface function) {
  for (Operation &op : function.getFunctionBody().front()) {
    const bool known = op.hasTrait<OpTrait::ConstantLike>() ||
                       (llvm::isa<ir::LayoutInterface>(op) && isMemoryEffectFree(&op) &&
                        llvm::all_of(op.getOperands(), [&](Value v) { return contains(v); }));
    if (known)
      constants.insert(op.result_begin(), op.result_end());
  }
}

std::string tensorName(Value value) {
  auto argument = llvm::dyn_cast<BlockArgument>(value);
  if (!argument)
    return ir::tensorName(value.getLoc());
  auto function = llvm::cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), ir::kNameAttr);
  return name ? name.str() : ir::tensorName(value.getLoc());
}

void report(DataDimensions &result, Problem problem, Location location) {
  result.problems.push_back(std::move(problem));
  result.locations.push_back(location);
}

void report(DataDimensions &result, std::string code, std::string message, Location location) {
  Problem problem;
  problem.code = std::move(code);
  problem.message = std::move(message);
  if (NodeRef node = ir::nodeOf(location); node.index >= 0 || !node.source.empty())
    problem.node = node;
  report(result, std::move(problem), location);
}

namespace {

/// The pins of --data-dim, by tensor: name and axis.
using PinsByValue = llvm::DenseMap<Value, std::vector<std::pair<std::string, int64_t>>>;

/// Tensors by name: those of the options, and the first of every other name.
llvm::StringMap<Value> tensorsByName(Block &block, const DataDimensionOptions &options) {
  llvm::StringMap<Value> tensors = options.names;
  for (Value argument : block.getArguments())
    tensors.try_emplace(tensorName(argument), argument);
  for (Operation &op : block)
    for (Value value : op.getResults())
      tensors.try_emplace(tensorName(value), value);
  return tensors;
}

/// The pins that can be; those that cannot become problems.
PinsByValue resolvePins(FunctionOpInterface function, const DataDimensionOptions &options,
                        const ConstantValues &constants, DataDimensions &result) {
  PinsByValue pins;
  if (options.pins.empty())
    return pins;
  const auto tensors = tensorsByName(function.getFunctionBody().front(), options);
  llvm::StringMap<int64_t> seen;
  for (const auto &[name, axis] : options.pins) {
    std::string message;
    Location where = function.getLoc();
    if (auto [entry, isNew] = seen.try_emplace(name, axis); !isNew) {
      if (entry->second == axis)
        continue;
      message = llvm::formatv("tensor '{0}' is pinned to both axis {1} and axis {2}", name,
                              entry->second, axis);
    } else if (auto found = tensors.find(name); name.empty() || found == tensors.end()) {
      message = llvm::formatv("the model has no tensor '{0}' (--data-dim {0}={1})", name, axis);
    } else if (const Value value = found->second; !value || constants.contains(value)) {
      message = llvm::formatv("tensor '{0}' is a constant and has no data dimension", name);
    } else if (axis < 0 || axis >= static_cast<int64_t>(ir::carriedShape(value).size())) {
      message = llvm::formatv("tensor '{0}' has no axis {1}; its shape is {2}", name, axis,
                              ir::notation(ir::shapeOf(value)));
      where = value.getLoc();
    } else {
      pins[value].emplace_back(name, axis);
    }
    if (message.empty())
      continue;
    report(result, "E0311", std::move(message), where);
    result.problems.back().reason = WrongOption();
  }
  return pins;
}

} // namespace

LayoutSystem::LayoutSystem(FunctionOpInterface function, const DataDimensionOptions &options,
                           DataDimensions &result) {
  const ConstantValues constants(function);
  Block &block = function.getFunctionBody().front();
  steps.reserve(block.getNumArguments() + block.getOperations().size());

  const PinsByValue pins = resolvePins(function, options, constants, result);

  auto addValue = [&](Value value) {
    if (!ir::isSluiceTensor(value.getType()) || constants.contains(value))
      return;
    variables[value] = system.addVariable(static_cast<unsigned>(ir::carriedShape(value).size()));
    values.push_back(value);
  };
  auto addPins = [&](Value value) {
    if (!variables.contains(value))
      return;
    if (auto axis = ir::dataDim(value))
      addPin(value, *axis, "");
    if (auto pinned = pins.find(value); pinned != pins.end())
      for (const auto &[name, axis] : pinned->second)
        addPin(value, axis, name);
  };

  for (BlockArgument argument : block.getArguments()) {
    addValue(argument);
    if (auto found = variables.find(argument); found != variables.end()) {
      Step step{.kind = Step::Kind::Input, .value = argument};
      ir::LayoutQuery query;
      query.lanes = options.lanes;
      const auto shape = ir::carriedShape(argument);
      std::vector<Choice> rows;
      for (size_t dim = 0; dim < shape.size(); ++dim)
        rows.push_back({{static_cast<int8_t>(dim)}, query.rows(shape, static_cast<int64_t>(dim))});
      system.addRelation(found->second, rows);
      steps.push_back(std::move(step));
    }
    addPins(argument);
  }
  for (Operation &op : block.without_terminator()) {
    for (Value value : op.getResults())
      addValue(value);
    addOperation(&op, options, constants, result);
    for (Value value : op.getResults())
      addPins(value);
  }
}

void LayoutSystem::addPin(Value value, int64_t axis, std::string name) {
  system.addRelation(variables.at(value), Choice{{static_cast<int8_t>(axis)}, 0});
  steps.push_back({.kind = Step::Kind::Pin, .value = value, .axis = axis, .name = std::move(name)});
}

std::string Step::option() const { return llvm::formatv("--data-dim {0}={1}", name, axis); }

void LayoutSystem::addOperation(Operation *op, const DataDimensionOptions &options,
                                const ConstantValues &constants, DataDimensions &result) {
  auto rules = llvm::dyn_cast<ir::LayoutInterface>(op);
  if (op->getNumResults() == 0 || !variables.contains(op->getResult(0)))
    return;
  if (!rules) {
    report(result, "E0309",
           llvm::formatv("operation '{0}' has no layout rule; use operations of the sluice dialect",
                         op->getName().getStringRef()),
           op->getLoc());
    return;
  }
  Step &step = steps.emplace_back();
  step.op = op;
  step.value = op->getResult(0);
  step.query =
      ir::layoutQuery(op, [&](Value value) { return constants.contains(value); }, options.lanes);
  step.query.cores = options.cores;
  step.query.allowDynamicWeights = options.allowDynamicWeights &&
                                   (!options.rewriteFirst || options.dynamicProducts.contains(op));
  rules.layouts(step.query, step.relation);
  llvm::SmallVector<VariableId> scope;
  for (Value operand : op->getOperands())
    if (!constants.contains(operand))
      scope.push_back(variables.at(operand));
  scope.push_back(variables.at(op->getResult(0)));
  system.addRelation(scope, choices(step.relation));
}

std::vector<Choice> LayoutSystem::choices(const ir::LayoutRelation &relation) {
  std::vector<Choice> result;
  for (const ir::LayoutTuple &tuple : relation) {
    Choice choice{{}, tuple.cost};
    llvm::copy_if(tuple.dims, std::back_inserter(choice.values),
                  [](int8_t dim) { return dim != ir::kNoDim; });
    result.push_back(std::move(choice));
  }
  return result;
}

std::optional<int64_t> LayoutSystem::dim(Value value, llvm::ArrayRef<Domain> domains) const {
  auto found = variables.find(value);
  if (found == variables.end() || !std::has_single_bit(domains[found->second]))
    return std::nullopt;
  return std::countr_zero(domains[found->second]);
}

std::string LayoutSystem::notation(Value value, llvm::ArrayRef<Domain> domains) const {
  return ir::notation(ir::carriedShape(value), dim(value, domains));
}

const ir::LayoutTuple *LayoutSystem::tuple(const Step &step, llvm::ArrayRef<Domain> domains) const {
  auto allows = [&](Value value, int8_t dim) {
    return dim == ir::kNoDim || ((domains[variables.at(value)] >> dim) & 1);
  };
  for (const ir::LayoutTuple &tuple : step.relation)
    if (allows(step.value, tuple.result()) &&
        llvm::all_of(llvm::zip_first(step.op->getOperands(), tuple.dims),
                     [&](auto pair) { return allows(std::get<0>(pair), std::get<1>(pair)); }))
      return &tuple;
  return nullptr;
}

} // namespace sluice::layout
