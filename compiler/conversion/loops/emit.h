// Bodies as instruction lists: on every core its groups of positions in hardware
// loops, one body after the other; at the host port the loop that offers them.
//
// Why a list is sound: units work in order. The vector unit takes every result of the
// matrix unit, so when it begins the next group the matrix unit has read all rows of
// this one, and rows of the frame may be written again without a word. Rows that have
// to arrive are waited for position by position; what other cores or earlier bodies
// make, before the body begins. Runs of lines that are alike are rolled into a loop.
#pragma once

#include <optional>
#include <vector>

#include "compiler/conversion/loops/statement.h"

namespace sluice::loops {

/// An instruction of a list and what its beats are for.
struct Emitted {
  isa::Instruction instruction;
  isa::Unit unit = isa::Unit::Seq;
  uint32_t body = kNone;                 ///< whose rows `origins` names
  uint32_t bodyStep = 0;                 ///< bodies from one pass of the loop to the next
  std::vector<plan::BeatOrigin> origins; ///< of one position; input: none, see `input`
  uint32_t position = kNone; ///< first trip, of the loop's first pass; kNone: no position
  uint32_t step = 0;         ///< trips from one pass of the loop to the next
  uint32_t positions = 1;
  uint32_t input = kNone; ///< rows of this input, from `inputRow` on, `inputStep` more each pass
  uint32_t inputRow = 0, inputStep = 0;
  std::vector<uint32_t> nodes;
};

using List = std::vector<Emitted>;

/// By core, the host port's last. Nothing if a body has no statements for this machine:
/// see makeStatements.
std::optional<std::vector<List>> emitLists(const rows::Program &program, const Map &map,
                                           const Choice &choice);

} // namespace sluice::loops
