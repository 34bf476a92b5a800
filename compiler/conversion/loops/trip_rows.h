// The rows of all trips of all bodies by name, as a graph of its own.
#pragma once

#include <map>
#include <vector>

#include "compiler/conversion/loops/map.h"

namespace sluice::loops {

class TripRows {
public:
  TripRows(const rows::Program &program, const Map &map, const Choice &choice)
      : program(program), map(map), choice(choice) {}

  /// Once.
  rows::Graph run();

  /// Row of the unrolled graph; `trip` is kNone where nothing depends on it.
  [[nodiscard]] rows::RowId of(uint32_t body, uint32_t trip, rows::RowId row) const {
    const auto &mine = names[body];
    const std::vector<rows::RowId> &at = mine[trip == kNone || trip >= mine.size() ? 0 : trip];
    return at[row] != rows::kNoRow ? at[row] : mine[0][row];
  }
  [[nodiscard]] uint32_t block(uint32_t body, uint32_t block) const { return blocks[body][block]; }

  std::vector<std::vector<rows::RowId>> familyRows; ///< by family and place
  /// Constant rows of all trips, by local address.
  std::map<uint32_t, rows::RowId> constants;

private:
  const rows::Program &program;
  const Map &map;
  const Choice &choice;
  rows::Graph graph;
  uint32_t firstGroup = 0, groups = 0; ///< of the body under way; so far
  std::vector<rows::RowId> outRows;
  std::vector<std::vector<std::vector<rows::RowId>>> names; ///< by body, trip and row
  std::vector<std::vector<uint32_t>> blocks;                ///< by body and block

  rows::RowId add(rows::Row row);
  void addInput(uint32_t f);
  void addConstants(uint32_t f);
  void addBody(uint32_t b);

  /// Rows that are one for all positions of a core, and then what rounding leaves of them.
  static std::vector<rows::RowId> sumsOf(const rows::Body &body);

  /// Where a core leaves the first row of a position in what a fold leaves.
  [[nodiscard]] uint32_t placeOf(const rows::Body &body, uint32_t family, uint32_t t) const;

  /// The products of all positions of a core, on each core.
  void addSum(const rows::Body &body, const BodyMap &mine, rows::RowId id,
              std::vector<std::vector<rows::RowId>> &made, uint32_t firstBlock);
  rows::RowId constant(uint32_t address, const std::vector<uint16_t> &lanes);

  /// What the place of a position holds when it is folded: the row that the group before left,
  /// or the one that the fold begins with.
  rows::RowId before(const rows::Body &body, const BodyMap &mine, uint32_t t, const rows::Row &what,
                     const std::vector<std::vector<rows::RowId>> &made);
  void addRow(const rows::Body &body, const BodyMap &mine, uint32_t t, rows::RowId id,
              std::vector<std::vector<rows::RowId>> &made, uint32_t firstBlock);
};

} // namespace sluice::loops
