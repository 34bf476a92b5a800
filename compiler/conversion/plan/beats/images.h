// The memory contents of a plan.
#pragma once

#include "compiler/conversion/plan/beats/build.h"
#include "compiler/support/problem_fwd.h"
#include "runtime/format/images.h"

namespace sluice::format {
struct Geometry;
struct Model;
struct Program;
struct SourceNode;
} // namespace sluice::format

namespace sluice::plan {

/// Models, source nodes and memory images; no instructions.
format::Program makeImages(const rows::Graph &graph, const Work &work, const Placement &placement,
                           const MachineBeats &beats);

/// Only what timing looks at: geometry and the row counts of the model.
format::Program makeShell(const rows::Graph &graph);
format::Program makeShell(const format::Geometry &geometry,
                          const std::vector<format::SourceNode> &nodes, format::Model model);

/// A preload row that holds a bias, B fp32.
format::PreloadImage preloadImage(uint32_t row, const rows::Bias &bias);

/// E0408: biases that are not finite. `nodes` are those that rows name.
Problems biasProblems(const rows::Graph &graph, const Work &work,
                      const std::vector<format::SourceNode> &nodes);

} // namespace sluice::plan
