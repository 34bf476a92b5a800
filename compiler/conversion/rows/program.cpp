#include "compiler/conversion/rows/program.h"

#include <algorithm>

namespace sluice::rows {
namespace {

struct FoldFacts {
  Fold fold;
  const char *word;
  reference::Monoid monoid;
};

constexpr FoldFacts kFolds[] = {{Fold::Sum, "sum", reference::Monoid::Sum},
                                {Fold::Max, "max", reference::Monoid::Max},
                                {Fold::Min, "min", reference::Monoid::Min},
                                {Fold::Product, "product", reference::Monoid::Product}};

const FoldFacts &factsOf(Fold fold) { return *std::ranges::find(kFolds, fold, &FoldFacts::fold); }

} // namespace

const char *wordOf(Fold fold) { return factsOf(fold).word; }

reference::Monoid monoidOf(Fold fold) { return factsOf(fold).monoid; }

std::optional<Fold> foldOf(std::string_view word) {
  for (const FoldFacts &one : kFolds)
    if (word == one.word)
      return one.fold;
  return std::nullopt;
}

Program straightLine(Graph graph) {
  Program program;
  program.geometry = graph.geometry;
  program.modelName = graph.modelName;
  program.nodes = graph.nodes;
  program.tensors = graph.tensors;
  program.macs = graph.macs;
  program.parameters = graph.parameters;
  program.inputs = numberedTensors(graph.inputs);
  program.outputs = numberedTensors(graph.outputs);
  Body &body = program.bodies.emplace_back();
  for (uint32_t input = 0; input < program.inputs.size(); ++input) {
    body.reads.push_back({input, false, {}});
    program.families.push_back(
        {program.inputs[input].name, 1, program.inputs[input].rows, input, {}});
  }
  for (uint32_t output = 0; output < program.outputs.size(); ++output) {
    Write &write = body.writes.emplace_back();
    write.output = output;
    for (uint32_t row = 0; row < program.outputs[output].rows; ++row)
      write.first.push_back(program.outputs[output].firstRow + row);
  }
  body.trip = std::move(graph);
  return program;
}

} // namespace sluice::rows
