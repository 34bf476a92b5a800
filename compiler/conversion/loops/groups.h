// Which positions of a loop are whose.
//
// Positions are dealt out in groups: group g is trips [g * size, (g + 1) * size) and
// belongs to core (g + first core) mod cores, as its group g / cores, of the cores that they are
// dealt out to: all, unless they are pinned. Bodies begin on core 0, but for those that no other
// has to agree with about who has which position.
#pragma once

#include <bit>
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

/// Groups of a loop of `trips` positions, on the cores of a mask.
struct Groups {
  uint32_t trips = 1, size = 1, cores = 1, firstCore = 0;
  uint32_t mask = 1; ///< of as many cores

  [[nodiscard]] bool has(uint32_t core) const { return (mask >> core & 1) != 0; }
  /// How many cores of the mask behind the first one a core is.
  [[nodiscard]] uint32_t turn(uint32_t core) const {
    const auto before = static_cast<uint32_t>(std::popcount(mask & ((1U << core) - 1)));
    return (before + cores - firstCore) % cores;
  }
  [[nodiscard]] uint32_t coreOfGroup(uint32_t group) const {
    uint32_t left = mask;
    for (uint32_t i = (group + firstCore) % cores; i > 0; --i)
      left &= left - 1;
    return static_cast<uint32_t>(std::countr_zero(left));
  }
  [[nodiscard]] uint32_t coreOf(uint32_t trip) const { return coreOfGroup(trip / size); }
  [[nodiscard]] uint32_t full() const { return trips / size; }
  [[nodiscard]] uint32_t rest() const { return trips % size; } ///< positions of the last group
  /// Full groups of a core.
  [[nodiscard]] uint32_t fullOf(uint32_t core) const {
    return has(core) ? full() / cores + (turn(core) < full() % cores) : 0;
  }
  /// Positions of the group behind the full ones, on the core that has it.
  [[nodiscard]] uint32_t restOf(uint32_t core) const {
    return has(core) && turn(core) == full() % cores ? rest() : 0;
  }
  /// Positions of the fullest core.
  [[nodiscard]] uint32_t most() const {
    const uint32_t first = (full() + cores - 1) / cores; // full groups of the first core
    return first * size + (full() % cores == 0 ? rest() : 0);
  }
  [[nodiscard]] uint32_t groupsOf(uint32_t core) const {
    return fullOf(core) + (restOf(core) != 0);
  }
  /// First trip of a core's group.
  [[nodiscard]] uint32_t first(uint32_t core, uint32_t group) const {
    return (group * cores + turn(core)) * size;
  }
};

/// Groups of what each trip has its own rows of, and of a body: as large as chosen, but on every
/// core that may have some if there are positions enough.
Groups groupsOf(const rows::Program &program, const rows::Family &family, const Choice &choice);
Groups groupsOf(const rows::Program &program, const rows::Body &body, const Choice &choice);

/// Bodies that happen once are the work of one core.
inline bool inLoop(const rows::Body &body) { return body.trips > 1; }

/// Mask of the cores that have a part of a body.
uint32_t coresOf(const rows::Program &program, const rows::Body &body, const Choice &choice);

/// Sets where bodies begin, such that cores have as equal shares as they can.
void dealOut(rows::Program &program, const Choice &choice);

} // namespace sluice::loops
