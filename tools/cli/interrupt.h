// Ctrl-C while a search runs.
#pragma once

#include <csignal>

#include "compiler/support/interruption.h"

namespace sluice::cli {

/// While it exists, the first SIGINT during a search requests its end. Any other SIGINT ends the
/// process. At most one exists at a time.
class SearchInterrupt {
public:
  SearchInterrupt();
  ~SearchInterrupt();
  SearchInterrupt(const SearchInterrupt &) = delete;
  SearchInterrupt &operator=(const SearchInterrupt &) = delete;

  [[nodiscard]] Interruption &interruption() const;

private:
  struct sigaction before{};
};

} // namespace sluice::cli
