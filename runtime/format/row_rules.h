// What rules of computed rows say.
#pragma once

#include "hw/isa/isa.h"
#include "runtime/addressing/addressing.h"
#include "runtime/format/computed_rows.h"

namespace sluice::format {

/// Rows that one execution of an instruction writes to tensor memories; 0: it writes none.
uint64_t rowsWritten(const isa::Instruction &instruction);

/// Which row of its tensor a rule gives in the first pass to each of the rows it is for.
addressing::Addressing rowsOf(const RowRule &rule);

} // namespace sluice::format
