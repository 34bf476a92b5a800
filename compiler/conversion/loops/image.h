// The memory images of a plan with loops.
#pragma once

#include "compiler/conversion/loops/emit.h"
#include "runtime/format/program.h"

namespace sluice::loops {

/// What timing depends on: host tensors and instructions. Nothing if an address does
/// not fit its field.
std::optional<format::Program> timedPart(const rows::Program &program,
                                         const std::vector<List> &lists);

/// Everything but the instructions.
format::Program makeImages(const rows::Program &program, const Map &map, const Choice &choice);

} // namespace sluice::loops
