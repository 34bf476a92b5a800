// How long what a test calls may take before it is taken for a hang.
#pragma once

#include <sys/time.h>
#include <unistd.h>

namespace sluice::test {

/// Ends the process, by a signal, if what it stands around does not come back. The limit is of
/// processor time, which does not pass while other programs have the processors; what waits for
/// something that never comes uses none, for that a long time by the clock is the limit.
class TimeLimit {
public:
  TimeLimit() {
    set(kProcessorSeconds);
    alarm(kSeconds);
  }
  ~TimeLimit() {
    set(0);
    alarm(0);
  }
  TimeLimit(const TimeLimit &) = delete;
  TimeLimit &operator=(const TimeLimit &) = delete;

private:
  static constexpr int kProcessorSeconds = 60;
  static constexpr unsigned kSeconds = 1800;

  static void set(int seconds) {
    itimerval timer{};
    timer.it_value.tv_sec = seconds;
    setitimer(ITIMER_PROF, &timer, nullptr); // of all threads, and of the system for them
  }
};

} // namespace sluice::test
