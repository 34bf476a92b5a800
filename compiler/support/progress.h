// What a long job is at, for another thread to show.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
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
    done = 0;
    most = work;
    if (watch)
      watch(name);
  }

  /// So much of the stage's work is done.
  void spent(uint64_t work) {
    const std::lock_guard lock(mutex);
    done = work;
  }

  /// "planning, 34 % of its budget"; "" before the first stage.
  std::string text() const {
    const std::lock_guard lock(mutex);
    return most == 0 ? current : fmt::format("{}, {} % of its budget", current, 100 * done / most);
  }

private:
  mutable std::mutex mutex;
  std::function<void(const char *)> watch;
  std::string current;
  uint64_t done = 0, most = 0;
};

} // namespace sluice
