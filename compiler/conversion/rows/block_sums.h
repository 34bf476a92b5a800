// Sums over rows that are weights anyway.
#pragma once

namespace sluice::rows {

struct Graph;

/// A sum over rows, lane by lane, that become columns of a weight block (the sum of
/// a softmax, whose exponentials are the weights of the next product) is one product
/// of that block with a row of factors, instead of one for each row: the same
/// products, exactly, and nobody reads those rows as rows.
void sumOverBlocks(Graph &graph);

} // namespace sluice::rows
