// The list of one core: its groups of positions of every body in hardware loops, one body after the
// other.
//
// Why it is sound: units work in order. The vector unit takes every result of the
// matrix unit, so when it begins the next group the matrix unit has read all rows of
// this one, and rows of the frame may be written again without a word. Rows that have
// to arrive are waited for position by position; what other cores or earlier bodies
// make, before the body begins. Runs of lines that are alike are rolled into a loop.
#pragma once

#include "compiler/conversion/loops/links.h"
#include "compiler/conversion/loops/list.h"

namespace sluice::loops {

/// `statements` are by body and core.
List coreList(const rows::Program &program, const Map &map, const Choice &choice,
              const Links &links, const std::vector<std::vector<Statements>> &statements,
              uint32_t core);

} // namespace sluice::loops
