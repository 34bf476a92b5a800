// Where the rows of bodies and families live while loops run: the same on every
// core, but for which positions are its own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/conversion/loops/groups.h"
#include "compiler/conversion/plan/order/work.h"
#include "compiler/conversion/rows/program.h"

namespace sluice::loops {

inline constexpr uint32_t kNone = ~uint32_t{0};

/// A row at every position of a core: base + position in the group * perPosition +
/// number of the group * perGroup, wrapped within the ring of 2^ring rows at `region` if not 0.
struct Stream {
  uint32_t base = 0;
  int32_t perPosition = 0;
  int32_t perGroup = 0;
  uint32_t ring = 0;
  uint32_t region = 0;
};

/// How a family lives on the cores.
struct FamilyHome {
  bool local = false;      ///< written by the core's own vector unit, or constant
  bool everywhere = false; ///< all of its rows at every core; else only those of its positions
  uint32_t base = kNone;
  uint32_t ring = 0;   ///< log2 of its rows, if they wrap
  uint32_t groups = 0; ///< groups that a ring holds; 0: those of its rows that are needed
  /// What a fold leaves on a core: all groups have the same places.
  bool folded = false;
  uint32_t slot = 0; ///< of a folded family, rows for each position of a group; 0: one for all
};

/// What one body needs.
struct BodyMap {
  plan::Work work;
  std::vector<bool> varies;        ///< by row: depends on the position
  std::vector<uint32_t> offset;    ///< by computed row, in the frame, or in the local memory
  uint32_t frame = kNone;          ///< address of the frames of a group
  uint32_t frameRows = 0;          ///< of one position
  std::vector<uint32_t> constants; ///< by constant row: local address
  std::vector<uint32_t> preloads;  ///< by linear row: preload row, or kNone
  std::vector<uint32_t> blocks;    ///< by block of the trip: which of Map::blocks, or kNone
  std::vector<uint32_t> tables;    ///< by table of the trip: slot
  /// By output port, if it is a fold: local address of the row that it begins with.
  std::vector<uint32_t> firsts;
  uint32_t cores = 0;   ///< mask of those that it is dealt out to
  uint32_t readers = 0; ///< mask of cores that its families go to, but for those that stay local
  uint32_t waits = 0;   ///< bodies before this one have to be finished when it begins
  bool credits = false; ///< behind it cores give the host a credit for lines of an input
};

/// Rows of an input that are announced together: up to `end`, once all cores have given the credit
/// behind a body, if one is named.
struct Portion {
  uint32_t end = 0;
  std::optional<uint32_t> behind;
};

/// A weight block and where it is: cores whose bodies need others have those there.
struct StoredBlock {
  rows::WeightBlock block;
  uint32_t address = 0;
  uint32_t cores = 0; ///< mask

  [[nodiscard]] bool on(uint32_t core) const { return (cores >> core & 1) != 0; }
};

/// Memory of every core.
struct Map {
  std::vector<FamilyHome> families;
  std::vector<BodyMap> bodies;
  std::vector<std::vector<uint16_t>> constantRows; ///< from local row 0
  std::vector<rows::Bias> preloads;
  std::vector<StoredBlock> blocks;
  std::vector<uint32_t> blocksUsed; ///< by core: addresses before this one
  std::vector<format::TableImage> tables;
  std::vector<std::vector<Portion>> portions; ///< by input; none unless its lines are in a ring
  uint32_t inboxRows = 0, localRows = 0;
  uint32_t zeroRow = kNone; ///< a local row of zeros, if one is needed
};

/// Nothing if the rows of blocks depend on the position: every position would need
/// weights of its own.
std::optional<Map> makeMap(const rows::Program &program, const Choice &choice);

/// Where `core` finds row `place` (trip * rows + row) of a family: at its own
/// positions (`all` false), or one and the same for all.
Stream streamOf(const rows::Program &program, const Map &map, const Choice &choice, uint32_t family,
                uint32_t core, bool all, uint32_t place);

} // namespace sluice::loops
