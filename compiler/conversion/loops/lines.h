// Which rows of a family bodies still need: rows that nobody does are overwritten, so that a family
// of which few are needed at a time lives in a ring.
//
// A body overwrites a row when all cores are known to be done with the bodies that read it: with
// its last rows a body tells the cores that read them that its core has done everything up to
// there. The host overwrites one when all cores have told it so: behind some bodies they give a
// credit.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/conversion/loops/map.h"

namespace sluice::loops {

/// Bodies before the last one that makes something which a body reads from other cores: it takes
/// their tokens. By body.
std::vector<uint32_t> waitsOf(const rows::Program &program,
                              const std::vector<FamilyHome> &families);

class Lines {
public:
  /// `readers`, `waits`: by body, the cores its rows go to, and as waitsOf says or more; not less
  /// than for the body before.
  Lines(const rows::Program &program, const Choice &choice, const std::vector<uint32_t> &readers,
        const std::vector<uint32_t> &waits);

  /// log2 of the rows of the smallest ring that a family fits in; nothing if it is not smaller than
  /// the family.
  [[nodiscard]] std::optional<uint32_t> ringOf(uint32_t family) const;

  /// How the host offers an input that goes through a ring.
  [[nodiscard]] std::vector<Portion> portionsOf(uint32_t family, uint32_t ring) const;

private:
  const rows::Program &program;
  std::vector<uint32_t> done; ///< by body: bodies before this one are finished as it begins
  /// By place of a family.
  struct Life {
    std::optional<uint32_t> made; ///< by which body
    std::optional<uint32_t> last; ///< that needs it
  };
  std::vector<std::vector<Life>> lives;       ///< by family
  std::vector<std::vector<uint32_t>> arrived; ///< by family and body: rows that an input's first
                                              ///< bodies up to this one read

  [[nodiscard]] bool fits(uint32_t family, uint32_t size) const;
  [[nodiscard]] bool inputFits(uint32_t family, uint32_t size) const;
};

} // namespace sluice::loops
