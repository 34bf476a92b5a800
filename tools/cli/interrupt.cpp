#include "tools/cli/interrupt.h"

namespace sluice::cli {
namespace {

Interruption current; ///< for the handler

void onInterrupt(int /*signal*/) {
  std::signal(SIGINT, SIG_DFL);
  if (current.isSearching)
    current.isRequested = true;
  else
    std::raise(SIGINT); // waits until the handler returns
}

} // namespace

SearchInterrupt::SearchInterrupt() {
  current.isRequested = current.isSearching = false;
  struct sigaction action{};
  action.sa_handler = onInterrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, nullptr, &before);
  if (before.sa_handler != SIG_IGN) // in the background of a shell
    sigaction(SIGINT, &action, nullptr);
}

SearchInterrupt::~SearchInterrupt() { sigaction(SIGINT, &before, nullptr); }

Interruption &SearchInterrupt::interruption() const { return current; }

} // namespace sluice::cli
