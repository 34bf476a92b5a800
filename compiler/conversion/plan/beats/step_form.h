// The vector instruction of a row, as far as the row itself says what it is.
#pragma once

#include "compiler/conversion/row.h"

namespace sluice::plan {

/// Operands and datapath, without addresses, the table's number and where the row goes.
isa::Vec stepForm(const rows::Row &row);

} // namespace sluice::plan
