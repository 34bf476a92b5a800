// Factors behind the newest products of a sum over the past.
#pragma once

namespace sluice::rows {

struct Graph;

/// A sum of products of states and of rows that share a factor, the same in every lane, is what
/// the factor makes of the products without it, and the products of the states as a row of their
/// own: f (W x) + rest in place of W (f x) + rest. The products then do not wait for the factor,
/// and the rest, rounded to bf16, for nothing. Whether there was any. The graph is compact and
/// stays so.
bool factorsBehindNewest(Graph &graph);

} // namespace sluice::rows
