// Bodies whose rows are read on the core that makes them and sent by it as well: those leave as
// copies.
#pragma once

#include "compiler/conversion/rows/program.h"

namespace sluice::loops {

/// The program as loops can run it: every row that leaves its core is read by nobody
/// there.
rows::Program separateOutputs(rows::Program program);

} // namespace sluice::loops
