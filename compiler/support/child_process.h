// Work in a child process, which a time ends whatever the work is at.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace sluice {

using Clock = std::chrono::steady_clock;

/// Calls `work` in a copy of this process and returns its result. Nothing if it does not return by
/// `until`, throws or ends the process, or if no process can be started. The copy writes to no
/// stream and has only the calling thread.
std::optional<std::string> runInChild(const std::function<std::string()> &work,
                                      Clock::time_point until);

} // namespace sluice
