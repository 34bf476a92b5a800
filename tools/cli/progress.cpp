#include "tools/cli/progress.h"

#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace sluice::cli {

namespace {

std::string_view chosen = "auto"; ///< set once, before there is a line

} // namespace

void ProgressLine::when(std::string_view choice) {
  chosen = choice == "always" ? "always" : choice == "never" ? "never" : "auto";
}

std::string_view ProgressLine::choice() { return chosen; }

ProgressLine::ProgressLine(std::string label)
    : label(std::move(label)), start(std::chrono::steady_clock::now()),
      terminal(chosen != "never" && isatty(STDERR_FILENO) != 0),
      lines(chosen == "always" && !terminal) {}

ProgressLine::~ProgressLine() {
  if (shown && terminal)
    std::fputs("\r\033[K", stderr);
}

double ProgressLine::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void ProgressLine::update(std::string_view state) {
  if (lines) {
    if (shown && seconds() < nextLine)
      return;
    shown = true;
    nextLine = seconds() + 0.4;
    std::fputs(fmt::format("progress: {}: {}\n", label, state).c_str(), stderr);
    std::fflush(stderr);
    return;
  }
  if (!terminal || seconds() < 1)
    return;
  shown = true;
  std::fputs(fmt::format("\r\033[K{}: {}", label, state).c_str(), stderr);
  std::fflush(stderr);
}

Ticker::Ticker(std::string label)
    : line(std::move(label)), thread([this] {
        std::unique_lock lock(mutex);
        do
          line.update(fmt::format("{}{}{:.0f} s", stages.text(), stages.text().empty() ? "" : ", ",
                                  line.seconds()));
        while (!done.wait_for(lock, std::chrono::milliseconds(500), [&] { return stopping; }));
      }) {}

Ticker::~Ticker() {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
  }
  done.notify_all();
  thread.join();
}

} // namespace sluice::cli
