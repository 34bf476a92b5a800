#include "compiler/conversion/rows/block_sums.h"

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/conversion/row_graph.h"

namespace sluice::rows {
namespace {

/// The factor of every lane, if a block multiplies every lane by the same and by
/// nothing else.
std::optional<uint16_t> factorOf(const std::vector<uint16_t> &block, size_t lanes) {
  for (size_t i = 0; i < block.size(); ++i)
    if (block[i] != (i % (lanes + 1) == 0 ? block[0] : 0))
      return std::nullopt;
  return block[0];
}

class Rewriter {
public:
  explicit Rewriter(Graph &graph) : graph(graph), lanes(graph.geometry.lanes) {
    for (const auto &[block, dynamic] : graph.dynamic)
      if (dynamic.columns && onlyWritten(block, dynamic))
        for (const BlockWrite &write : dynamic.writes)
          blocks[write.row].push_back(block);
  }

  void run() {
    const size_t count = graph.rows.size(); // constants are added behind
    for (RowId row = 0; row < count; ++row)
      if (graph.rows[row].kind == RowKind::Linear)
        rewrite(row);
  }

private:
  Graph &graph;
  const size_t lanes;
  std::map<RowId, std::vector<uint32_t>> blocks; ///< that a row becomes a column of
  std::map<std::vector<uint16_t>, RowId> constants;

  /// Nothing constant is in the columns that are not written, and no row is in two.
  bool onlyWritten(uint32_t block, const DynamicBlock &dynamic) const {
    std::vector<RowId> written;
    for (const BlockWrite &write : dynamic.writes)
      written.push_back(write.row);
    std::sort(written.begin(), written.end());
    return std::adjacent_find(written.begin(), written.end()) == written.end() &&
           graph.blocks[block].isCleared();
  }

  void rewrite(RowId id) {
    std::map<RowId, uint16_t> factors; // of the rows that are summed
    for (const Term &term : graph.rows[id].terms) {
      const bool fixed = !graph.dynamic.contains(term.block);
      const auto factor = fixed ? factorOf(graph.blocks[term.block], lanes) : std::nullopt;
      if (!factor || !blocks.contains(term.x) || !factors.emplace(term.x, *factor).second)
        return;
    }
    std::vector<Term> terms;
    while (!factors.empty()) {
      const std::optional<uint32_t> block = within(factors);
      if (!block)
        return;
      std::vector<uint16_t> x(lanes);
      for (const BlockWrite &write : graph.dynamic.at(*block).writes) {
        x[write.index] = factors.at(write.row);
        factors.erase(write.row);
      }
      terms.push_back({constant(std::move(x)), *block});
    }
    if (terms.size() < graph.rows[id].terms.size())
      graph.rows[id].terms = std::move(terms);
  }

  /// A block that only rows with factors become columns of, the first of them too.
  std::optional<uint32_t> within(const std::map<RowId, uint16_t> &factors) const {
    for (const uint32_t block : blocks.at(factors.begin()->first)) {
      const std::vector<BlockWrite> &writes = graph.dynamic.at(block).writes;
      if (std::all_of(writes.begin(), writes.end(),
                      [&](const BlockWrite &write) { return factors.contains(write.row); }))
        return block;
    }
    return std::nullopt;
  }

  RowId constant(std::vector<uint16_t> row) {
    const auto [entry, added] = constants.try_emplace(row, kNoRow);
    if (added) {
      Row what;
      what.lanes = std::move(row);
      graph.rows.push_back(std::move(what));
      entry->second = static_cast<RowId>(graph.rows.size() - 1);
    }
    return entry->second;
  }
};

} // namespace

void sumOverBlocks(Graph &graph) {
  if (!graph.dynamic.empty())
    Rewriter(graph).run();
}

} // namespace sluice::rows
