// What the rows are that an instruction writes, as rules that do not grow with their number.
#pragma once

#include <vector>

#include "compiler/conversion/row_graph.h"
#include "hw/isa/isa.h"
#include "runtime/format/computed_rows.h"

namespace sluice::plan {

/// A row that an instruction writes, and how far every further pass of the loop around the
/// instruction moves it.
struct WrittenRow {
  rows::Elements elements; ///< in the first pass; their step says nothing
  int32_t perPass = 0;
};

/// Of the beats of an instruction those that write a row of a memory, ascending: of a reduction the
/// last ones.
std::vector<uint32_t> writingBeats(const isa::Instruction &instruction);

/// Of the rows that one execution writes, in their order, the rules of those that are known.
std::vector<format::RowRule> rulesOf(const std::vector<WrittenRow> &written);

} // namespace sluice::plan
