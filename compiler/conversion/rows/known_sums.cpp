#include "compiler/conversion/rows/known_sums.h"

#include <algorithm>
#include <unordered_map>

namespace sluice::rows {
namespace {

/// Sums that are kept for one place. Of more, the typical values differ, and no search finds one.
constexpr size_t kMostKept = 64;

} // namespace

LinearSum::Rounded KnownSums::sumOf(const Place &place, const Factors &factors, bool isLast,
                                    llvm::function_ref<LinearSum::Rounded()> make) {
  if (isLast && !known.contains(place))
    return make();
  std::vector<Known> &before = known[place];
  Factors pattern = factors;
  std::vector<RowId> rows;
  std::unordered_map<RowId, RowId> ordinals; // of the rows
  for (Element &element : pattern.elements)
    if (element.row != kNoRow) {
      const auto [ordinal, added] =
          ordinals.try_emplace(element.row, static_cast<RowId>(rows.size()));
      if (added)
        rows.push_back(element.row);
      element.row = ordinal->second;
    }
  const auto found = std::ranges::find(before, pattern, &Known::factors);
  if (found == before.end()) {
    LinearSum::Rounded sum = make();
    if (before.size() < kMostKept) {
      Known &one = before.emplace_back(Known{std::move(pattern), sum});
      for (RowId &source : one.sum.sources)
        source = ordinals.at(source);
    }
    return sum;
  }
  LinearSum::Rounded sum = found->sum;
  for (RowId &source : sum.sources)
    source = rows[source];
  return sum;
}

} // namespace sluice::rows
