// Proof of a finished schedule, independent of how it was made.
#pragma once

#include <optional>
#include <string>

#include "compiler/conversion/plan/beats/schedule.h"

namespace sluice::plan {

/// Inferences that are followed.
inline constexpr unsigned kProvedInferences = 3;

/// Unrolls the instructions and follows three inferences symbolically: memory
/// cells hold rows, accumulators hold sums of products, tokens and result FIFOs
/// carry what their giver knew (vector clocks). Proves that
///  - instructions stand for exactly the planned beats,
///  - every read happens after the write of the row it means, and no cell is
///    overwritten before its last read, for every timing of the machine; the
///    same for weight blocks that rows are written to,
///  - every row is the sum and the operands the graph says, and every output
///    row goes to its place once per inference,
///  - sequencer queues, result FIFOs and tokens never deadlock, tokens are
///    balanced and never pass token_max.
/// Gives the first thing that is wrong. `stateRests`, which may be null, says whether the state
/// is as an inference left it until the next input comes: whoever changes it knows of a row of
/// that input.
std::optional<std::string> verify(const rows::Graph &graph, const Placement &placement,
                                  const MachineBeats &beats, const Schedule &schedule,
                                  bool *stateRests = nullptr);

} // namespace sluice::plan
