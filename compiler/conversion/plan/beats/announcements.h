// What is announced to which unit, by which token: rows, written weight blocks, sums ahead.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "compiler/conversion/plan/beats/bank.h"
#include "compiler/conversion/plan/beats/entry.h"
#include "compiler/conversion/plan/beats/token_layout.h"
#include "compiler/conversion/plan/order/order.h"

namespace sluice::plan {

/// The banks of all units with everything that arrives in them in an inference, in the order of
/// its producers.
class Announcements {
public:
  /// Whatever is given must outlive this.
  Announcements(const rows::Graph &graph, const Work &work, const Placement &placement,
                const Order &order, const TokenLayout &tokens, const Entry &entry);

  Bank &ofMatrixUnit(uint32_t core) { return matrix[core]; }
  Bank &ofVectorUnit(uint32_t core) { return vector[core]; }
  Bank &ofHost() { return host; }

  // What else than rows is called in banks.

  /// That a block is written.
  [[nodiscard]] rows::RowId blockNumber(uint32_t block) const;
  /// That a core has summed ahead.
  [[nodiscard]] rows::RowId sumsAheadNumber() const;

  /// Whether a core sums ahead for the next inference.
  [[nodiscard]] bool sumsAhead(uint32_t core) const;
  /// The other cores, if they are to know when a core's sums ahead are done.
  [[nodiscard]] uint32_t askers(uint32_t core) const;
  /// Whether a write of a core, by its position in its order, is the last one of a block.
  [[nodiscard]] bool completesBlock(uint32_t core, size_t position) const {
    return lastWrites.contains({core, position});
  }

  /// What tells the readers of a row that it is there.
  [[nodiscard]] Signal signalOf(rows::RowId row) const;
  /// The token of the last row of a block stands for all: a vector unit's beats
  /// finish in order. Nothing has to say that the block may be written again: the
  /// vector unit has taken the results of all products of an inference before it
  /// begins the next.
  [[nodiscard]] Signal blockSignal() const { return {true, tokens.local, kMatrixBit}; }

private:
  const rows::Graph &graph;
  const Work &work;
  const Placement &placement;
  const Order &order;
  const TokenLayout &tokens;
  const Entry entry;
  const uint32_t cores;
  std::vector<Bank> matrix, vector; ///< by core
  Bank host;
  /// (core, position in its order) of the last write of a block there.
  std::set<std::pair<uint32_t, size_t>> lastWrites;
  std::vector<uint32_t> sent; ///< how many rows a row's core sends before it; empty if not needed

  /// That a core's sums ahead have read what they read.
  [[nodiscard]] rows::RowId readNumber(uint32_t core) const { return sumsAheadNumber() + 1 + core; }
  [[nodiscard]] uint32_t tokenOf(rows::RowId row) const;
  /// In every bank that a row reaches: those of its readers, or of `producer` (a mask) if it does
  /// not leave its core.
  void announce(rows::RowId row, uint32_t producer);
  /// What a core's vector unit writes.
  void announceWrites(uint32_t core);
  void announceSumsAhead(uint32_t core);
  void countSent();
};

} // namespace sluice::plan
