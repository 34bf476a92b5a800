// A node: its entry, what that requires, and what it writes.
#include <fmt/format.h>

#include "compiler/dialect/sluice/node.h"
#include "compiler/frontend/onnx/importer.h"
#include "compiler/frontend/onnx/importer_bodies.h"
#include "compiler/frontend/onnx/unsupported.h"
#include "llvm/ADT/SetVector.h"

namespace sluice::frontend {
namespace {

/// Most elements of a constant that ImportedModel::tensors keep.
constexpr int64_t kMostKept = 4096;

} // namespace

void Importer::importNode(const GraphNode &node) {
  const Operator *entry = findOperator(node);
  if (!entry)
    return;
  size_t before = report.count();
  std::map<std::string, AttributeValue> attributes = readAttributes(node, *entry, external, report);
  checkArity(node, *entry, report);
  std::vector<const Tensor *> inputs;
  for (const std::string &name : node.proto->input()) {
    auto found = name.empty() ? tensors.end() : tensors.find(name);
    if (!name.empty() && found == tensors.end())
      return;
    inputs.push_back(found == tensors.end() ? nullptr : &found->second);
  }
  if (report.count() != before)
    return;
  while (!inputs.empty() && !inputs.back())
    inputs.pop_back(); // named by an empty string is left out
  NodeView view(node, std::move(inputs), std::move(attributes));
  for (const Requirement &requirement : requirementsOf(*entry)) {
    std::string found = requirement.violation(view);
    if (found.empty())
      continue;
    Problem &problem =
        report.add(requirement.code, node.ref,
                   fmt::format("{}: {}; found {}", node.ref.op, requirement.sentence, found));
    if (requirement.help)
      problem.fixes.push_back(fix(requirement.help));
    offerValues(view, problem);
    return;
  }
  try {
    build(node, *entry, std::move(view));
  } catch (const NodeError &error) {
    if (!error.code.text.empty())
      report.add(error.code, node.ref, fmt::format("{}: {}", node.ref.op, error.message)).fixes =
          error.fixes;
  }
}

/// Offers to give the values of the inputs that the integers of a node are computed from.
void Importer::offerValues(const NodeView &node, Problem &problem) const {
  constexpr size_t kMostOperations = 10'000;
  llvm::SetVector<mlir::Value> values;
  for (size_t i = 0; i < node.inputCount(); ++i)
    if (node.has(i) && node.in(i).value && isIntegerType(node.in(i).type))
      values.insert(node.in(i).value);
  std::vector<std::string> names;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values.size() > kMostOperations)
      return;
    if (mlir::Operation *operation = values[i].getDefiningOp()) {
      values.insert(operation->operand_begin(), operation->operand_end());
      continue;
    }
    const auto argument = llvm::cast<mlir::BlockArgument>(values[i]);
    const auto function = llvm::dyn_cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
    if (!function || !info.inputs[argument.getArgNumber()].limits)
      return; // computed from data
    names.push_back(info.inputs[argument.getArgNumber()].name);
  }
  for (const std::string &name : names)
    problem.fixes.push_back(
        fix(fmt::format("give the value of {}, if it is always the same", inQuotes(name)),
            fmt::format("--bind {}=...", name)));
}

void Importer::build(const GraphNode &node, const Operator &entry, NodeView view) {
  Bodies bodies(*this, node);
  const Unseeded unseeded = depth > 0             ? Unseeded::RefusedInLoop
                            : options.fixedRandom ? Unseeded::Fixed
                            : options.isStreamed  ? Unseeded::RefusedStreamed
                                                  : Unseeded::Drawn;
  NodeBuilder target(std::move(view), emitter, bodies, unseeded);
  std::string name = node.proto->output_size() ? node.proto->output(0) : "";
  emitter.setLocation(
      ir::nodeLoc(&context, node.ref, mlir::NameLoc::get(builder.getStringAttr(name))));
  if (entry.evaluate && target.allKnown())
    entry.evaluate(target);
  else
    entry.build(target);
  if (entry.integers && !target.results.empty())
    if (auto &result = target.results.front();
        result && !result->known && !result->lookup && isIntegerType(result->type))
      result->range = entry.integers->range(target);
  if (!target.caution.empty())
    noteCaution(target.caution, nodeText(node.ref));
  for (int i = 0; i < node.proto->output_size(); ++i)
    if (target.wants(i) && target.results[i]) {
      if (node.shared[i])
        emitter.setShared(*target.results[i]);
      define(node.proto->output(i), std::move(*target.results[i]));
    }
}

void Importer::define(const std::string &output, Tensor tensor) {
  if (tensor.known) {
    tensor.name = output;
    if (counted.insert(tensor.known.get()).second)
      computedElements += tensor.known->size();
    if (computedElements > kMostComputedElements)
      throw NodeError{kNotSupported,
                      fmt::format("the constants that the model computes have more than {} "
                                  "elements in total",
                                  kMostComputedElements)};
  }
  if (depth == 0 && tensor.isTensor()) // those of a body are as many as there are trips
    info.tensors.push_back(
        {output, tensor.shape, tensor.value, tensor.type,
         tensor.known && tensor.known->size() <= kMostKept ? tensor.known : nullptr});
  tensors.emplace(output, std::move(tensor));
}

const Operator *Importer::findOperator(const GraphNode &node) {
  std::string domain = normalDomain(node.proto->domain());
  const OperatorTable &table = operatorTable();
  const bool isKnown = node.opset > 0 && node.opset <= newestOpset(domain);
  const Operator *entry = isKnown ? table.find(domain, node.ref.op, node.opset) : nullptr;
  if (!entry)
    reportUnsupported(node, report);
  return entry;
}

const std::vector<Requirement> &Importer::requirementsOf(const Operator &entry) {
  auto [found, isNew] = requirements.try_emplace(&entry);
  if (isNew)
    found->second = allRequirements(entry);
  return found->second;
}

} // namespace sluice::frontend
