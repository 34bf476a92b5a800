// Where the rows of bodies and families live while loops run: the same on every
// core, but for which positions are its own.
//
// Positions are dealt out in groups: group g is trips [g * size, (g + 1) * size) and
// belongs to core (g + first core) mod cores, as its group g / cores. Bodies begin on core 0,
// but for those that no other has to agree with about who has which position.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "compiler/conversion/plan/order/work.h"
#include "compiler/conversion/rows/program.h"

namespace sluice::loops {

inline constexpr uint32_t kNone = ~uint32_t{0};

/// What of a plan is chosen.
struct Choice {
  uint32_t group = 1; ///< positions of a group: an iteration of the hardware loop
  uint32_t runs = 1;  ///< that the lines of windows are made in
  uint32_t lines = 0; ///< of the last layer in a run; 0: equal shares

  auto operator<=>(const Choice &) const = default;
};

/// Groups of a loop of `trips` positions.
struct Groups {
  uint32_t trips = 1, size = 1, cores = 1, firstCore = 0;

  /// How many cores behind the first one a core is.
  [[nodiscard]] uint32_t turn(uint32_t core) const { return (core + cores - firstCore) % cores; }
  [[nodiscard]] uint32_t coreOf(uint32_t trip) const { return (trip / size + firstCore) % cores; }
  [[nodiscard]] uint32_t full() const { return trips / size; }
  [[nodiscard]] uint32_t rest() const { return trips % size; } ///< positions of the last group
  /// Full groups of a core.
  [[nodiscard]] uint32_t fullOf(uint32_t core) const {
    return full() / cores + (turn(core) < full() % cores);
  }
  /// Positions of the group behind the full ones, on the core that has it.
  [[nodiscard]] uint32_t restOf(uint32_t core) const {
    return turn(core) == full() % cores ? rest() : 0;
  }
  /// Positions of the fullest core.
  [[nodiscard]] uint32_t most() const {
    return full() % cores == 0 ? fullOf(firstCore) * size + rest() : fullOf(firstCore) * size;
  }
  [[nodiscard]] uint32_t groupsOf(uint32_t core) const {
    return fullOf(core) + (restOf(core) != 0);
  }
  /// First trip of a core's group.
  [[nodiscard]] uint32_t first(uint32_t core, uint32_t group) const {
    return (group * cores + turn(core)) * size;
  }
};

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
  std::vector<uint32_t> blocks;    ///< by block of the trip: address, or kNone
  std::vector<uint32_t> tables;    ///< by table of the trip: slot
  /// By output port, if it is a fold: local address of the row that it begins with.
  std::vector<uint32_t> firsts;
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

/// Memory of every core.
struct Map {
  std::vector<FamilyHome> families;
  std::vector<BodyMap> bodies;
  std::vector<std::vector<uint16_t>> constantRows; ///< from local row 0
  std::vector<std::vector<float>> preloads;
  std::vector<std::vector<uint16_t>> blocks; ///< by address; empty: written at run time
  std::vector<format::TableImage> tables;
  std::vector<std::vector<Portion>> portions; ///< by input; none unless its lines are in a ring
  uint32_t inboxRows = 0, localRows = 0;
  uint32_t zeroRow = kNone; ///< a local row of zeros, if one is needed
};

/// Sets where bodies begin, such that cores have as equal shares as they can.
void dealOut(rows::Program &program, const Choice &choice);

/// The program as loops can run it: every row that leaves its core is read by nobody
/// there.
rows::Program separateOutputs(rows::Program program);

/// Groups of a loop: as large as chosen, but on every core if there are positions enough.
Groups groupsOf(uint32_t trips, const rows::Program &program, const Choice &choice);

/// Groups of a body.
Groups groupsOf(const rows::Program &program, const rows::Body &body, const Choice &choice);

/// Bodies that happen once are the work of one core.
inline bool inLoop(const rows::Body &body) { return body.trips > 1; }

/// Mask of the cores that have a part of a body.
uint32_t coresOf(const rows::Program &program, const rows::Body &body, const Choice &choice);

/// Nothing if the rows of blocks depend on the position: every position would need
/// weights of its own.
std::optional<Map> makeMap(const rows::Program &program, const Choice &choice);

/// Where `core` finds row `place` (trip * rows + row) of a family: at its own
/// positions (`all` false), or one and the same for all.
Stream streamOf(const rows::Program &program, const Map &map, const Choice &choice, uint32_t family,
                uint32_t core, bool all, uint32_t place);

} // namespace sluice::loops
