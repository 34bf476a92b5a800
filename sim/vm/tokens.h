// The counting tokens of one unit.
#pragma once

#include <array>
#include <cstdint>

#include "hw/isa/isa.h"

namespace sluice::vm {

class TokenBank {
public:
  uint32_t count(unsigned token) const { return counts[token]; }
  void take(unsigned token, uint32_t amount) { counts[token] -= amount; }
  void give(unsigned token) { faulty |= ++counts[token] > isa::kTokenMax; }
  /// Whether a counter has exceeded token_max.
  bool fault() const { return faulty; }

private:
  std::array<uint32_t, isa::kTokens> counts{};
  bool faulty = false;
};

} // namespace sluice::vm
