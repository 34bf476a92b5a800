// Which positions of a loop are whose.
//
// Positions are dealt out in groups: group g is trips [g * size, (g + 1) * size) and
// belongs to core (g + first core) mod cores, as its group g / cores. Bodies begin on core 0,
// but for those that no other has to agree with about who has which position.
#pragma once

#include <cstdint>

#include "compiler/conversion/rows/program.h"
#include "compiler/conversion/rows/trees.h"

namespace sluice::loops {

/// What of a plan is chosen.
struct Choice {
  uint32_t group = 1; ///< positions of a group: an iteration of the hardware loop
  uint32_t runs = 1;  ///< that the lines of windows are made in
  uint32_t lines = 0; ///< of the last layer in a run; 0: equal shares
  /// In which the positions of a group become one, of what is folded over positions.
  rows::TreeShape trees = {.apart = true};

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

/// Groups of a loop: as large as chosen, but on every core if there are positions enough.
Groups groupsOf(uint32_t trips, const rows::Program &program, const Choice &choice);

/// Groups of a body.
Groups groupsOf(const rows::Program &program, const rows::Body &body, const Choice &choice);

/// Bodies that happen once are the work of one core.
inline bool inLoop(const rows::Body &body) { return body.trips > 1; }

/// Mask of the cores that have a part of a body.
uint32_t coresOf(const rows::Program &program, const rows::Body &body, const Choice &choice);

/// Sets where bodies begin, such that cores have as equal shares as they can.
void dealOut(rows::Program &program, const Choice &choice);

} // namespace sluice::loops
