// What bodies, cores and the host port tell each other, found before any list is made.
#pragma once

#include <optional>
#include <vector>

#include "compiler/conversion/loops/statement.h"

namespace sluice::loops {

/// How bodies, cores and the host port depend on each other.
struct Links {
  std::vector<uint32_t> inputReaders; ///< by input: mask of cores that read it
  std::vector<bool> inputWhole;       ///< by input: announced once, when it is there
  std::vector<uint32_t> inputUnits;   ///< by input: who takes its tokens
  /// By input that is dealt out: a token stands for a group of positions. A core may be given more
  /// of them than tokens count.
  std::vector<bool> byGroup;
  /// By input that is everywhere: rows that are announced together, so that bodies begin before all
  /// of it is there. 0: it is announced once.
  std::vector<uint32_t> chunk;
  std::vector<uint32_t> wholeUnits; ///< by input: who takes the tokens of its chunks
  uint32_t early = 0;               ///< bodies from the first one on that read inputs alone
  std::optional<uint32_t> ring;     ///< the input that goes through a ring
  uint32_t ringGroups = 0;          ///< groups that it holds
  uint32_t ringBody = kNone;        ///< the body that reads it
  /// By core, the last of its bodies that reads the inbox; kNone: none does.
  std::vector<uint32_t> lastReading;
  std::vector<std::vector<uint32_t>> signals; ///< by body and core: tokens given to its readers
};

/// Of all bodies, whose statements are by body and core.
Links linksOf(const rows::Program &program, const Map &map, const Choice &choice,
              const std::vector<std::vector<Statements>> &statements);

/// Whether the credits for a ring tell that a core has read all of an inference: they are given
/// in order, and those that are left at its end are behind its last group.
inline bool endsWithRing(const Links &links, uint32_t core) {
  return links.ring && links.lastReading[core] == links.ringBody;
}

} // namespace sluice::loops
