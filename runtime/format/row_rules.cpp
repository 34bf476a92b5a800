#include "runtime/format/row_rules.h"

namespace sluice::format {

using addressing::Addressing;
using addressing::Indices;

uint64_t rowsWritten(const isa::Instruction &instruction) {
  const auto *vec = std::get_if<isa::Vec>(&instruction);
  if (!vec || (vec->dstKind != isa::Dst::Net && vec->dstKind != isa::Dst::Local))
    return 0;
  uint64_t rows = 1;
  for (uint32_t level = 0; level < isa::kLoopDepth; ++level)
    if (vec->reduce == isa::Reduce::None || level < vec->reduceLevel)
      rows *= vec->n[level];
  return rows;
}

Addressing rowsOf(const RowRule &rule) {
  Indices counts, steps;
  for (const RowTerm &term : rule.terms) {
    counts.push_back(term.count);
    steps.push_back(term.step);
  }
  return Addressing::strided(std::move(counts), steps, rule.row);
}

} // namespace sluice::format
