// Bodies as instruction lists: on every core its groups of positions in hardware
// loops, one body after the other; at the host port the loop that offers them.
#pragma once

#include <optional>
#include <vector>

#include "compiler/conversion/loops/list.h"
#include "compiler/conversion/loops/statement.h"

namespace sluice::loops {

/// By core, the host port's last. Nothing if a body has no statements for this machine:
/// see makeStatements.
std::optional<std::vector<List>> emitLists(const rows::Program &program, const Map &map,
                                           const Choice &choice);

} // namespace sluice::loops
