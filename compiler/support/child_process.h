// Work in a child process, which a time ends whatever the work is at.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace sluice {

using Clock = std::chrono::steady_clock;

/// How the work of a child process ended.
enum class Ending : uint8_t {
  Returned,  ///< with a result
  Late,      ///< it did not return in time
  Killed,    ///< a signal ended the process
  Stopped,   ///< the caller wanted no result any more
  NotStarted ///< or it threw
};

struct ChildResult {
  Ending ending = Ending::NotStarted;
  std::string text; ///< the result, if it returned
  int signal = 0;   ///< if killed
};

/// Calls `work` in a copy of this process. The copy writes to no stream and has only the calling
/// thread. It ends when a handler of a signal sets `stop`, which may be null.
ChildResult tryInChild(const std::function<std::string()> &work, Clock::time_point until,
                       const std::atomic<bool> *stop = nullptr);

/// Calls `work` in a copy of this process and returns its result; nothing if there is none.
std::optional<std::string> runInChild(const std::function<std::string()> &work,
                                      Clock::time_point until);

} // namespace sluice
