// Programs whose bodies read families where windows say, drawn by a seed.
#pragma once

#include "compiler/conversion/rows/program.h"

namespace sluice::loops::test {

/// One to four layers of windows over at most `mostPositions` positions: sizes, strides, distances
/// of elements and borders at random, with rows of the layer before the last added where there are
/// as many positions. Every border is a body of its own.
rows::Program windowNetwork(const std::string &target, uint64_t seed, uint32_t mostPositions = 41);

} // namespace sluice::loops::test
