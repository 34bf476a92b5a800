// A request of the user to end a search.
#pragma once

#include <atomic>

namespace sluice {

/// Signal handlers and other threads may use it.
struct Interruption {
  std::atomic<bool> isSearching{false}; ///< a search runs that can end early with a result
  std::atomic<bool> isRequested{false}; ///< the search is to end
};
static_assert(std::atomic<bool>::is_always_lock_free);

/// While it exists, a search runs. `interruption` may be null.
class SearchScope {
public:
  explicit SearchScope(Interruption *interruption) : interruption(interruption) { set(true); }
  ~SearchScope() { set(false); }
  SearchScope(const SearchScope &) = delete;
  SearchScope &operator=(const SearchScope &) = delete;

private:
  void set(bool isSearching) {
    if (interruption)
      interruption->isSearching = isSearching;
  }
  Interruption *interruption;
};

} // namespace sluice
