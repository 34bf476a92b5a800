// What depends on state alone is computed in the inference before: products with states
// leave their sums in preload rows, and states that vector units read stay where they are.
#pragma once

#include <optional>
#include <string>

namespace sluice::rows {
struct Graph;
} // namespace sluice::rows

namespace sluice::plan {

/// A state that products read and that never becomes anything but a state, if there is one: such
/// sums cannot be done ahead.
std::optional<uint32_t> circularState(const rows::Graph &graph);

/// The graph without products of states, none of which is circular.
///
/// A sum with such products starts from what a row with `ahead` has left (Row::start): the same
/// products of what the states become, summed in the inference before. The sums of a delay line,
/// whose states become one another, pass through one such row for each inference.
///
/// Vector steps still read states: `next` of a state is then a row that is computed and that
/// holds nothing else, behind all steps that read the state; a copy if it was none. States that
/// no step reads are gone.
/// With `longestWayFirst` groups are in another order: of those that are ready together the ones
/// with the longest way to the next products come first.
rows::Graph workAhead(const rows::Graph &graph, bool longestWayFirst);

/// Proves that every row of `ahead` is the one of `graph`, with what was summed before put back.
/// Gives the first thing that is wrong.
std::optional<std::string> verifyAhead(const rows::Graph &graph, const rows::Graph &ahead);

} // namespace sluice::plan
