#include "tools/cli/progress.h"

#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace sluice::cli {

ProgressLine::ProgressLine(std::string label)
    : label(std::move(label)), start(std::chrono::steady_clock::now()),
      terminal(isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() {
  if (shown)
    std::fputs("\r\033[K", stderr);
}

double ProgressLine::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void ProgressLine::update(std::string_view state) {
  if (!terminal || seconds() < 1)
    return;
  shown = true;
  std::fputs(fmt::format("\r\033[K{}: {}", label, state).c_str(), stderr);
  std::fflush(stderr);
}

Ticker::Ticker(std::string label)
    : line(std::move(label)), thread([this] {
        std::unique_lock lock(mutex);
        while (!done.wait_for(lock, std::chrono::milliseconds(500), [&] { return stopping; }))
          line.update(fmt::format("{}{}{:.0f} s", stages.text(), stages.text().empty() ? "" : ", ",
                                  line.seconds()));
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
