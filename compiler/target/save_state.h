// The part of a program that sends its state to the host.
#pragma once

namespace sluice::format {
struct Program;
} // namespace sluice::format

namespace sluice::core {

/// Appends to every list, behind what runs inferences, the instructions that send the rows of
/// program.state.places to the host, and names their entry. They wait for nothing, write no
/// memory, and halt. False, and nothing changes, if the instruction memories have no room or the
/// rows are more than a packet's address counts.
bool appendSave(format::Program &program);

} // namespace sluice::core
