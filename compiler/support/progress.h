// What a long job is at, for another thread to show.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace sluice {

class Progress {
public:
  Progress() = default;
  /// Calls `watch` with the name of each stage that begins.
  explicit Progress(std::function<void(const char *)> watch) : watch(std::move(watch)) {}

  /// A new stage begins; `work` is the most that it may do, 0 if it is not counted.
  void stage(const char *name, uint64_t work = 0) {
    const std::lock_guard lock(mutex);
    current = name;
    done = tried = 0;
    best.reset();
    most = work;
    if (watch)
      watch(name);
  }

  /// So much of the stage's work is done, and another plan is tried. The best plan so far takes
  /// `cycles`.
  void plan(uint64_t work, std::optional<uint64_t> cycles) {
    const std::lock_guard lock(mutex);
    done = work;
    best = cycles;
    ++tried;
  }

  /// "planning, 34 % of its budget, 12 plans, best 231 cycles"; "" before the first stage.
  std::string text() const {
    const std::lock_guard lock(mutex);
    std::string said = current;
    if (most != 0)
      said += fmt::format(", {} % of its budget", 100 * done / most);
    if (tried != 0)
      said += fmt::format(", {} plan{}", tried, tried == 1 ? "" : "s");
    if (best)
      said += fmt::format(", best {} cycles", *best);
    return said;
  }

private:
  mutable std::mutex mutex;
  std::function<void(const char *)> watch;
  std::string current;
  uint64_t done = 0, most = 0, tried = 0;
  std::optional<uint64_t> best; ///< cycles
};

} // namespace sluice
