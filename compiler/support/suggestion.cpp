#include "compiler/support/suggestion.h"

#include <algorithm>

#include <fmt/format.h>
#include <llvm/ADT/StringRef.h>

namespace sluice {
namespace {

/// Shorter beginnings begin too much.
constexpr size_t kLeastBeginning = 3;

} // namespace

std::string closest(std::string_view word, const std::vector<std::string> &names) {
  // A word of which no letter is right is no misspelling.
  const size_t allowed = std::min(std::max<size_t>(1, (word.size() + 1) / 3), word.size() - 1);
  std::string best;
  size_t least = allowed + 1;
  for (const std::string &name : names) {
    const llvm::StringRef known(name);
    const bool begins = word.size() >= kLeastBeginning && known.starts_with_insensitive(word);
    const size_t distance =
        begins ? 0 : known.edit_distance_insensitive(word, true, static_cast<unsigned>(allowed));
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  return best;
}

std::vector<Fix> suggestion(std::string_view word, const std::vector<std::string> &names) {
  const std::string found = word.empty() ? "" : closest(word, names);
  if (found.empty())
    return {};
  Fix fix;
  fix.text = fmt::format("did you mean '{}'", found);
  return {fix};
}

} // namespace sluice
