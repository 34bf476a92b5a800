#include "compiler/pipeline/input_parts.h"

#include <utility>

#include <fmt/format.h>

#include "compiler/dialect/sluice/input_part.h"
#include "compiler/layout/lay_out.h"
#include "runtime/addressing/addressing.h"

namespace sluice::pipeline {
namespace {

/// Makes an input the part of it that an argument is.
void select(frontend::ImportedTensor &input, const space::Selection &part) {
  const addressing::Indices strides = addressing::rowMajorStrides(input.shape);
  format::Selection &selection = input.selection.emplace();
  for (auto [start, step, stride] : llvm::zip_equal(part.starts, part.steps, strides)) {
    selection.first += start * stride;
    selection.strides.push_back(step * stride);
  }
  input.shape.assign(part.sizes.begin(), part.sizes.end());
}

} // namespace

bool areOwn(const frontend::ImportedModel &model) {
  if (!model.arrays.empty() && model.arrays.size() != model.inputs.size())
    return false;
  for (const size_t i : llvm::seq(model.inputs.size()))
    if (model.inputs[i].lookup || (!model.arrays.empty() && model.inputs[i].array != i))
      return false;
  return true;
}

void numberInputs(mlir::func::FuncOp main, bool takesParts) {
  for (const unsigned i : llvm::seq(main.getNumArguments())) {
    ir::forgetInput(main, i);
    if (takesParts)
      ir::setInput(main, i, i);
  }
}

std::vector<std::string> takeParts(mlir::func::FuncOp main, frontend::ImportedModel &model) {
  std::vector<frontend::ImportedTensor> inputs;
  std::vector<bool> isRead(model.inputs.size());
  bool isChanged = main.getNumArguments() != model.inputs.size();
  for (const unsigned i : llvm::seq(main.getNumArguments())) {
    const auto number = static_cast<size_t>(*ir::inputOf(main, i));
    isRead[number] = true;
    frontend::ImportedTensor &input = inputs.emplace_back(model.inputs[number]);
    input.array = number;
    if (const auto part = ir::inputPartOf(main, i)) {
      isChanged = true;
      input.name = layout::tensorName(main.getArgument(i));
      select(input, *part);
    }
  }
  std::vector<std::string> notes;
  for (const size_t i : llvm::seq(isRead.size()))
    if (!isRead[i] && !model.inputs[i].random)
      notes.push_back(
          fmt::format("nothing reads input '{}'; it is not sent", model.inputs[i].name));
  if (!isChanged)
    return notes;
  if (model.arrays.empty())
    model.arrays = model.inputs;
  model.inputs = std::move(inputs);
  return notes;
}

} // namespace sluice::pipeline
