// Networks with windows a run of lines at a time: instead of one layer after the other, every
// body makes those of its lines that the next run of the last layer's lines needs, so that nobody
// has to keep all lines of a family.
#pragma once

#include "compiler/conversion/rows/program.h"

namespace sluice::loops {

/// The same values, made in so many runs. Each run is made of parts of the bodies, in their
/// order, and makes an equal share of the rows that outputs take, or bodies that read a whole
/// family at once, or, with `lines`, as many of their lines, and the last one what is left. A body
/// without a part in a run is not in it. The same program where it cannot be cut: one run, no
/// windows, or families that are read trip by trip.
rows::Program inRuns(const rows::Program &program, uint32_t runs, uint32_t lines = 0);

/// How many runs of so many lines there are.
uint32_t runsOf(const rows::Program &program, uint32_t lines);

} // namespace sluice::loops
