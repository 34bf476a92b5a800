#include "compiler/analysis/layout_system.h"

#include <bit>

#include "compiler/dialect/sluice/node.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sluice::analysis {

ConstantValues::ConstantValues(FunctionOpInterface function) {
  for (Operation &op : function.getFunctionBody().front()) {
    const bool known = op.hasTrait<OpTrait::ConstantLike>() ||
                       (llvm::isa<ir::LayoutInterface>(op) &&
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
  if (NodeRef node = ir::nodeOf(location); node.index >= 0)
    problem.node = node;
  report(result, std::move(problem), location);
}

LayoutSystem::LayoutSystem(FunctionOpInterface function, const DataDimensionOptions &options,
                           DataDimensions &result) {
  const ConstantValues constants(function);
  Block &block = function.getFunctionBody().front();

  // Options by name; the first tensor of that name is meant.
  llvm::StringMap<int64_t> pins;
  for (const auto &[name, axis] : options.pins)
    if (auto [entry, isNew] = pins.try_emplace(name, axis); !isNew && entry->second != axis)
      report(result, "E0308",
             llvm::formatv("tensor '{0}' is pinned to axis {1} and to axis {2}", name,
                           entry->second, axis),
             function.getLoc());

  auto addValue = [&](Value value) {
    if (!ir::isSluiceTensor(value.getType()) || constants.contains(value))
      return;
    variables[value] = system.addVariable(static_cast<unsigned>(ir::carriedShape(value).size()));
    values.push_back(value);
  };
  auto addPins = [&](Value value) {
    const std::string name = pins.empty() ? "" : tensorName(value);
    auto pin = name.empty() ? pins.end() : pins.find(name);
    const bool runtime = variables.contains(value);
    if (auto axis = ir::dataDim(value); axis && runtime)
      addPin(value, *axis, "");
    if (pin == pins.end())
      return;
    const auto rank = runtime ? static_cast<int64_t>(ir::carriedShape(value).size()) : 0;
    std::string message;
    if (!runtime)
      message = llvm::formatv("tensor '{0}' is a constant and has no data dimension", name);
    else if (pin->second < 0 || pin->second >= rank)
      message = llvm::formatv("tensor '{0}' has no axis {1}, its shape is {2}", name, pin->second,
                              ir::notation(ir::shapeOf(value), std::nullopt));
    else
      addPin(value, pin->second, llvm::formatv("--data-dim {0}={1}", name, pin->second));
    if (!message.empty())
      report(result, "E0308", std::move(message), value.getLoc());
    pins.erase(pin);
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
  for (const auto &[name, axis] : options.pins)
    if (pins.erase(name))
      report(result, "E0308",
             llvm::formatv("no tensor is called '{0}' (--data-dim {0}={1})", name, axis),
             function.getLoc());
}

void LayoutSystem::addPin(Value value, int64_t axis, std::string option) {
  system.addRelation(variables.at(value), Choice{{static_cast<int8_t>(axis)}, 0});
  steps.push_back(
      {.kind = Step::Kind::Pin, .value = value, .axis = axis, .option = std::move(option)});
}

void LayoutSystem::addOperation(Operation *op, const DataDimensionOptions &options,
                                const ConstantValues &constants, DataDimensions &result) {
  auto rules = llvm::dyn_cast<ir::LayoutInterface>(op);
  if (op->getNumResults() == 0 || !variables.contains(op->getResult(0)))
    return;
  if (!rules) {
    report(result, "E0309",
           llvm::formatv("operation '{0}' has no rule for the data dimension",
                         op->getName().getStringRef()),
           op->getLoc());
    return;
  }
  Step step{.op = op, .value = op->getResult(0)};
  step.query = ir::layoutQuery(op, [&](Value value) { return constants.contains(value); });
  step.query.lanes = options.lanes;
  step.query.allowDynamicWeights = options.allowDynamicWeights;
  rules.layouts(step.query, step.relation);
  llvm::SmallVector<VariableId> scope;
  for (Value operand : op->getOperands())
    if (!constants.contains(operand))
      scope.push_back(variables.at(operand));
  scope.push_back(variables.at(op->getResult(0)));
  system.addRelation(scope, choices(step.relation));
  steps.push_back(std::move(step));
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

} // namespace sluice::analysis
