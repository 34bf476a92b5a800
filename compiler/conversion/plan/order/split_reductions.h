// Reductions over rows that do not lie evenly spaced.
#pragma once

namespace sluice::rows {
struct Graph;
} // namespace sluice::rows

namespace sluice::plan {

/// The same graph without reductions over several rows: their rows are merged
/// two by two first, and one row is reduced over its lanes. A reduction over
/// several rows is one instruction and needs rows at even distances; where rows
/// come from different operations or are outputs too, this form always works.
rows::Graph splitReductions(const rows::Graph &graph);

} // namespace sluice::plan
