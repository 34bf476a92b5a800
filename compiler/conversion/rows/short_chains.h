// Fewer passes of the vector unit between a row and what needs it.
#pragma once

namespace sluice::rows {

struct Graph;

/// Two rewrites that compute the same bits with fewer passes in a row, and more passes in all:
///
/// - a function of a row that is only one arithmetic operation, and that others read too, does
///   this operation itself, in front of its table;
/// - of a product of two functions, one of them behind the matrix unit, the product is made in
///   the pass of the other one.
///
/// In the cell of an LSTM the way from the sum of the state to the hidden row is then one pass.
/// Whether there was any.
bool shortenChains(Graph &graph);

} // namespace sluice::rows
