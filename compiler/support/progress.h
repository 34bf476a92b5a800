// What a long job is at, for another thread to show.
#pragma once

#include <mutex>
#include <string>

#include <fmt/format.h>

namespace sluice {

class Progress {
public:
  /// A new stage begins; `steps` is the most that it can have, 0 if they are not counted.
  void stage(const char *name, unsigned steps = 0, const char *what = "") {
    const std::lock_guard lock(mutex);
    current = name;
    counted = what;
    done = 0;
    most = steps;
  }

  void step() {
    const std::lock_guard lock(mutex);
    ++done;
  }

  /// "planning, 34 of at most 384 schedules"; "" before the first stage.
  std::string text() const {
    const std::lock_guard lock(mutex);
    return most == 0 ? current
                     : fmt::format("{}, {} of at most {} {}", current, done, most, counted);
  }

private:
  mutable std::mutex mutex;
  std::string current, counted;
  unsigned done = 0, most = 0;
};

} // namespace sluice
