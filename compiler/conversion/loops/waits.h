// What units wait for before the statements of a body, and whom those tell what they have made.
#pragma once

#include "compiler/conversion/loops/statement.h"

namespace sluice::loops {

/// Sets waits, announcements and who takes the tokens of inputs, for statements of a body whose
/// pieces are complete.
void setWaits(const rows::Program &program, const Map &map, uint32_t body, Statements &statements);

} // namespace sluice::loops
