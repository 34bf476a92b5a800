// How long a fuzz loop goes on.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>

namespace sluice::test {

/// Rounds are numbered, and the number is all a round depends on. As many as
/// there is time for: SLUICE_FUZZ_SECONDS, or `seconds`; from SLUICE_FUZZ_ROUND on.
class Budget {
public:
  explicit Budget(double seconds) : seconds(seconds) {
    if (const char *wanted = std::getenv("SLUICE_FUZZ_SECONDS"))
      this->seconds = std::atof(wanted);
    if (const char *first = std::getenv("SLUICE_FUZZ_ROUND"))
      round = std::strtoull(first, nullptr, 10);
  }

  bool left() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() <
           seconds;
  }
  uint64_t next() { return round++; }

private:
  double seconds;
  uint64_t round = 0;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

} // namespace sluice::test
