// Evaluation of the rules of computed rows.
#pragma once

#include "hw/isa/isa.h"
#include "runtime/addressing/addressing.h"
#include "runtime/format/computed_rows.h"

namespace sluice::format {

/// Returns the number of rows that one execution of an instruction writes to tensor memories.
uint64_t rowsWritten(const isa::Instruction &instruction);

/// Returns the row of the tensor for each written row that a rule covers, in the first iteration of
/// the innermost loop.
addressing::Addressing rowsOf(const RowRule &rule);

} // namespace sluice::format
