// A line on the terminal while something takes longer than a second; nothing
// where standard error is not a terminal.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "compiler/support/progress.h"

namespace sluice::cli {

/// Updated by its owner.
class ProgressLine {
public:
  explicit ProgressLine(std::string label);
  ~ProgressLine();
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;

  void update(std::string_view state);
  double seconds() const;

private:
  std::string label;
  std::chrono::steady_clock::time_point start;
  bool terminal;
  bool shown = false;
};

/// Shows stage and seconds by itself.
class Ticker {
public:
  explicit Ticker(std::string label);
  ~Ticker();
  Ticker(const Ticker &) = delete;
  Ticker &operator=(const Ticker &) = delete;

  double seconds() const { return line.seconds(); }
  /// What tells it of stages.
  Progress &progress() { return stages; }

private:
  ProgressLine line;
  Progress stages;
  std::mutex mutex;
  std::condition_variable done;
  bool stopping = false;
  std::thread thread;
};

} // namespace sluice::cli
