// A line on the terminal while something takes longer than a second. Where standard error is no
// terminal, nothing, or lines that begin with "progress: " from the beginning, for a program that
// shows them.
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
  /// --progress: "auto", "always" or "never".
  static void when(std::string_view choice);
  /// What was chosen: "auto" without a choice.
  static std::string_view choice();

  explicit ProgressLine(std::string label);
  ~ProgressLine();
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;

  void update(std::string_view state);
  double seconds() const;

private:
  std::string label;
  std::chrono::steady_clock::time_point start;
  bool terminal, lines;
  bool shown = false;
  double nextLine = 0; ///< seconds after the start: not more than two lines a second
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
