#include "compiler/conversion/plan/beats/images.h"

#include <algorithm>
#include <cassert>

#include "compiler/conversion/row_graph.h"
#include "compiler/support/problem.h"
#include "hw/numerics/numerics.h"
#include "runtime/format/program.h"

namespace sluice::plan {
namespace {

/// Constants of one core, neighbouring rows in one image.
std::vector<format::RowImage> rowImages(const Graph &graph, const CoreMemory &memory) {
  std::vector<format::RowImage> images;
  for (RowId row : memory.constants) { // ascending address
    const uint32_t address = memory.localAddress[row];
    const std::vector<uint16_t> &lanes = graph.rows[row].lanes;
    const bool follows =
        !images.empty() &&
        images.back().address + images.back().lanes.size() / graph.geometry.lanes == address;
    if (!follows)
      images.push_back({address, {}});
    images.back().lanes.insert(images.back().lanes.end(), lanes.begin(), lanes.end());
  }
  return images;
}

/// What a memory holds before a program is loaded; -0 is not.
bool isCleared(const std::vector<uint16_t> &elements) {
  return std::all_of(elements.begin(), elements.end(),
                     [](uint16_t element) { return element == 0; });
}

/// Of rows on a core in ascending order, those that follow each other as one place.
void addPlaces(uint32_t core, format::StatePlace::Memory memory, const std::vector<uint32_t> &rows,
               std::vector<format::StatePlace> &places) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && rows[i] == rows[i - 1] + 1)
      ++places.back().rows;
    else
      places.push_back({core, memory, rows[i], 1});
  }
}

/// Rows of states, and preload rows that hold sums ahead.
std::vector<format::StatePlace> statePlaces(const Graph &graph, const Placement &placement) {
  std::vector<format::StatePlace> places;
  for (uint32_t core = 0; core < graph.geometry.cores; ++core) {
    std::vector<uint32_t> rows, sums;
    for (const rows::State &state : graph.states)
      if (placement.rows[state.next].core == core)
        rows.push_back(addressAt(placement, core, state.next));
    std::ranges::sort(rows);
    const std::vector<RowId> &preloads = placement.cores[core].preloads;
    for (uint32_t row = 0; row < preloads.size(); ++row)
      if (graph.rows[preloads[row]].start != rows::kNoRow)
        sums.push_back(row);
    addPlaces(core, format::StatePlace::Memory::Rows, rows, places);
    addPlaces(core, format::StatePlace::Memory::Preloads, sums, places);
  }
  return places;
}

} // namespace

format::PreloadImage preloadImage(uint32_t row, const rows::Bias &bias) {
  format::PreloadImage image{row, {}};
  for (float value : bias) {
    const auto lane = numerics::preloadLane(numerics::toBits(value));
    image.lanes.push_back(numerics::packLane(lane.value_or(numerics::AccLane{})));
  }
  return image;
}

format::Program makeShell(const Graph &graph) {
  return makeShell(graph.geometry, graph.nodes,
                   {graph.modelName, numberedTensors(graph.inputs), numberedTensors(graph.outputs),
                    graph.macs, graph.parameters});
}

format::Program makeShell(const format::Geometry &geometry,
                          const std::vector<format::SourceNode> &nodes, format::Model model) {
  format::Program program;
  program.geometry = geometry;
  program.nodes = nodes;
  program.models.push_back(std::move(model));
  program.cores.resize(geometry.cores);
  return program;
}

format::Program makeImages(const Graph &graph, const Work &work, const Placement &placement,
                           const MachineBeats &beats) {
  format::Program program = makeShell(graph);
  for (uint32_t core = 0; core < graph.geometry.cores; ++core) {
    format::CoreImage &image = program.cores[core];
    const CoreMemory &memory = placement.cores[core];
    const std::vector<uint32_t> &weights = beats.weights[core];
    for (uint32_t block = 0; block < weights.size(); ++block) {
      const rows::WeightBlock &held = graph.blocks[weights[block]];
      assert(held.isFinite() && "weights are checked where they are rounded");
      if (!held.isCleared())
        image.weights.push_back({block, held});
    }
    image.rows = rowImages(graph, memory);
    for (const rows::State &state : graph.states)
      if (placement.rows[state.next].core == core && !isCleared(state.initial))
        image.rows.push_back({addressAt(placement, core, state.next), state.initial});
    std::ranges::sort(image.rows, {}, &format::RowImage::address);
    for (uint32_t row = 0; row < memory.preloads.size(); ++row)
      image.preloads.push_back(preloadImage(row, graph.rows[memory.preloads[row]].bias));
    for (uint32_t slot = 0; slot < memory.tables.size(); ++slot) {
      image.tables.push_back(graph.tables[memory.tables[slot]]);
      image.tables.back().table = slot;
    }
  }
  program.state.places = statePlaces(graph, placement);
  return program;
}

Problems biasProblems(const Graph &graph, const Work &work,
                      const std::vector<format::SourceNode> &nodes) {
  Problems problems;
  const auto same = [](const Problem &one, const Problem &other) {
    return one.node.has_value() == other.node.has_value() &&
           (!one.node ||
            (one.node->index == other.node->index && one.node->name == other.node->name));
  };
  for (RowId id = 0; id < graph.rows.size(); ++id) {
    const Row &row = graph.rows[id];
    if (!work[id].live || row.bias.isFinite())
      continue;
    Problem problem;
    problem.code = "E0408";
    problem.message = "a bias is not finite; its magnitude must be below 3.4e38";
    if (!row.nodes.empty()) {
      const format::SourceNode &node = nodes[row.nodes.front()];
      problem.node = NodeRef{node.index, node.name, node.op};
    }
    if (std::ranges::none_of(problems, [&](const Problem &p) { return same(p, problem); }))
      problems.push_back(std::move(problem));
  }
  return problems;
}

} // namespace sluice::plan
