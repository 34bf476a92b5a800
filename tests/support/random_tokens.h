// Random waits and signals that leave a program free of deadlock.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "tests/support/random_stream.h"
#include "tests/support/rng.h"
#include "tests/support/token_ledger.h"

namespace sluice::fixtures {

/// Units are numbered matrix, vector, matrix, ... core by core, then the host port.
inline uint32_t matrixUnit(uint32_t core) { return 2 * core; }
inline uint32_t vectorUnit(uint32_t core) { return 2 * core + 1; }
inline uint32_t hostUnit(uint32_t cores) { return 2 * cores; }

class RandomTokens {
public:
  RandomTokens(Rng &rng, uint32_t cores) : rng(rng), cores(cores), ledger(2 * cores + 1) {}

  /// A token that no wait or signal made here will use.
  unsigned reserve() { return reserved = static_cast<unsigned>(rng.range(0, isa::kTokens - 1)); }

  void openLoop(uint32_t trips) { ledger.openLoop(trips); }
  void closeLoop() { ledger.closeLoop(); }
  /// How often the innermost loop's body runs in all.
  int64_t repetitions() const { return ledger.repetitions(); }

  /// May give the instruction of a unit a wait for tokens that are certain to come.
  template <class Inst> void chooseWait(uint32_t unit, Inst &inst) {
    for (unsigned tries = 0; tries < 5; ++tries) {
      const unsigned token = randomToken();
      const int64_t step = rng.pick<int64_t>({0, 0, 1, -1, 15, -16});
      const auto level = static_cast<uint32_t>(rng.range(0, isa::kLoopDepth));
      const int64_t count = rng.pick<int64_t>({1, 1, 1, 2, 3, ledger.available(unit, token)});
      if (count < 1 || count > isa::kTokenMax)
        continue;
      std::array<int64_t, isa::kTokens> need{};
      for (uint32_t wait = 0; wait < beatsAt(inst.n, level); ++wait)
        need[static_cast<uint64_t>(token + wait * step) % isa::kTokens] += count;
      bool enough = true;
      for (unsigned one = 0; one < isa::kTokens; ++one)
        enough &= need[one] <= std::max<int64_t>(ledger.available(unit, one), 0);
      if (!enough)
        continue;
      for (unsigned one = 0; one < isa::kTokens; ++one)
        ledger.take(unit, one, need[one]);
      inst.waitEn = 1;
      inst.waitToken = token;
      inst.waitStep = static_cast<int32_t>(step);
      inst.waitCount = static_cast<uint32_t>(count);
      inst.waitLevel = level;
      return;
    }
  }

  /// May give an instruction signals to the banks of the places in `mask` (bit
  /// host_bit the host), at a level up to `deepest`.
  template <class Inst> void chooseSignal(uint32_t mask, uint32_t deepest, Inst &inst) {
    if (rng.percent(30))
      return;
    for (unsigned tries = 0; tries < 4; ++tries) {
      const unsigned token = randomToken();
      const auto units = static_cast<uint32_t>(rng.range(1, 3));
      const auto level = static_cast<uint32_t>(rng.range(0, deepest));
      const int64_t amount = beatsAt(inst.n, level);
      std::vector<uint32_t> banks;
      for (uint32_t core = 0; core < cores; ++core) {
        if ((mask >> core & 1) && (units & 1))
          banks.push_back(matrixUnit(core));
        if ((mask >> core & 1) && (units & 2))
          banks.push_back(vectorUnit(core));
      }
      if (mask >> isa::kHostBit & 1)
        banks.push_back(hostUnit(cores));
      if (!std::ranges::all_of(banks,
                               [&](uint32_t bank) { return ledger.mayGive(bank, token, amount); }))
        continue;
      for (uint32_t bank : banks)
        ledger.give(bank, token, amount);
      inst.sigEn = 1;
      inst.sigToken = token;
      inst.sigUnits = units;
      inst.sigLevel = level;
      return;
    }
  }

private:
  unsigned randomToken() {
    unsigned token = reserved;
    while (token == reserved)
      token = rng.percent(85) ? rng.pick({0U, 1U, 2U, 31U})
                              : static_cast<unsigned>(rng.range(0, isa::kTokens - 1));
    return token;
  }

  Rng &rng;
  uint32_t cores;
  TokenLedger ledger;
  unsigned reserved = isa::kTokens; ///< none
};

} // namespace sluice::fixtures
