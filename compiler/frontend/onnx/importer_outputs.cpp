// What a model gives, and what it keeps from one inference to the next.
#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/tensors.h"
#include "compiler/frontend/onnx/importer.h"
#include "compiler/support/suggestion.h"

namespace sluice::frontend {

void Importer::checkStates(const onnx::GraphProto &graph) {
  std::set<std::string> seen, outputs;
  std::vector<std::string> inputNames, outputNames;
  for (const onnx::ValueInfoProto &input : graph.input())
    inputNames.push_back(input.name());
  for (const onnx::ValueInfoProto &output : graph.output())
    outputNames.push_back(output.name());
  const auto check = [&](const std::string &name, const char *what,
                         const std::vector<std::string> &known, std::set<std::string> &before) {
    if (std::ranges::find(known, name) == known.end())
      report.add(kWrongState, fmt::format("the model has no {} {}", what, inQuotes(name))).fixes =
          suggestion(name, known);
    else if (!before.insert(name).second)
      report.add(kWrongState, fmt::format("{} {} belongs to two states", what, inQuotes(name)));
  };
  for (const auto &[input, output] : options.states) {
    check(input, "input", inputNames, seen);
    check(output, "output", outputNames, outputs);
  }
  if (!options.states.empty() && outputs.size() == outputNames.size())
    report.add(kWrongState,
               "every output of the model is a state; at least one must go to the host");
}

bool Importer::leavesOut(const onnx::GraphProto &graph, const std::string &output,
                         const Tensor &tensor) {
  const auto isEmpty = [](const Tensor &one) {
    return one.isTensor() && elementCount(one.shape, kMaxElements) == 0;
  };
  const auto hasElements = [&](const onnx::ValueInfoProto &other) {
    const auto found = tensors.find(other.name());
    return found != tensors.end() && !isEmpty(found->second);
  };
  if (!isEmpty(tensor))
    return false;
  if (keep(output, tensor))
    return true;
  if (std::ranges::none_of(graph.output(), hasElements))
    return false;
  info.notes.push_back(fmt::format("output {} has shape {}, which has no elements; it is left out",
                                   inQuotes(output), shapeText(tensor.shape)));
  return true;
}

bool Importer::keep(const std::string &output, const Tensor &tensor) {
  const auto pair =
      std::ranges::find(options.states, output, &std::pair<std::string, std::string>::second);
  if (pair == options.states.end())
    return false;
  const auto input = tensors.find(pair->first);
  if (input == tensors.end())
    return true; // reported where the input was lost
  const Shape &shape = input->second.shape;
  if (shape != tensor.shape) {
    report.add(kWrongState,
               fmt::format("state output {} has shape {}, but state input {} has shape {}",
                           inQuotes(output), shapeText(tensor.shape), inQuotes(pair->first),
                           shapeText(shape)));
    return true;
  }
  const auto state = states.find(pair->first);
  if (state == states.end())
    return true; // a state without elements, or one that is bound
  emitter.setLocation(mlir::NameLoc::get(builder.getStringAttr(output)));
  try {
    const mlir::Value value = emitter.value(asFloats(tensor));
    builder.create<ir::KeepOp>(emitter.where(), value.getType(), value, state->second);
  } catch (const NodeError &error) {
    report.add(error.code, fmt::format("state output {}: {}", inQuotes(output), error.message));
  }
  return true;
}

void Importer::addOutputs(const onnx::GraphProto &graph, const std::vector<Replaced> &replaced,
                          mlir::func::FuncOp function) {
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<mlir::Attribute> names;
  const bool complete = report.count() == 0; // so that every output is defined
  checkStates(graph);
  for (const onnx::ValueInfoProto &output : graph.output()) {
    auto found = tensors.find(output.name());
    if (found == tensors.end()) {
      if (complete)
        throw std::logic_error(fmt::format("nothing defines output {}", inQuotes(output.name())));
      continue; // reported where it was lost
    }
    const Tensor &tensor = found->second;
    if (leavesOut(graph, output.name(), tensor))
      continue;
    size_t before = report.count();
    checkOutput(graph, output, tensor, replaced, report, info.notes);
    if (report.count() != before)
      continue;
    if (keep(output.name(), tensor))
      continue;
    info.outputs.push_back({output.name(), tensor.shape, hostType(tensor.type).value()});
    info.outputs.back().codes = tensor.codes;
    const auto restored = emitter.restored(tensor);
    if (restored)
      info.outputs.back().quantised = restored->how;
    emitter.setLocation(mlir::NameLoc::get(builder.getStringAttr(output.name())));
    values.push_back(restored       ? restored->integers
                     : tensor.codes ? tensor.value
                                    : emitter.value(asFloats(tensor)));
    names.push_back(builder.getDictionaryAttr(nameAttribute(output.name())));
  }
  builder.create<mlir::func::ReturnOp>(builder.getUnknownLoc(), values);
  function.setType(
      builder.getFunctionType(function.getArgumentTypes(), mlir::ValueRange(values).getTypes()));
  function.setResAttrsAttr(builder.getArrayAttr(names));
}

} // namespace sluice::frontend
