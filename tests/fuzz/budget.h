// How long a fuzz loop goes on.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>

namespace sluice::test {

/// Rounds are numbered, and the number is all a round depends on. As many as
/// there is time for: SLUICE_FUZZ_SECONDS, or `seconds`; from SLUICE_FUZZ_ROUND on.
/// The file SLUICE_FUZZ_LOG always holds the round that is on, for one that ends the
/// process.
class Budget {
public:
  explicit Budget(double seconds) : seconds(seconds) {
    if (const char *wanted = std::getenv("SLUICE_FUZZ_SECONDS"))
      this->seconds = std::atof(wanted);
    if (const char *first = std::getenv("SLUICE_FUZZ_ROUND"))
      round = std::strtoull(first, nullptr, 10);
    if (const char *path = std::getenv("SLUICE_FUZZ_LOG"))
      log.open(path);
  }

  bool left() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() <
           seconds;
  }
  uint64_t next() {
    if (log.is_open())
      log.seekp(0) << round << '\n' << std::flush;
    return round++;
  }

private:
  double seconds;
  uint64_t round = 0;
  std::ofstream log;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

} // namespace sluice::test
