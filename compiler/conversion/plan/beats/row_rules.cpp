#include "compiler/conversion/plan/beats/row_rules.h"

#include <algorithm>
#include <numeric>

namespace sluice::plan {
namespace {

/// Nests of more terms than loops that an instruction has, and some runs of them.
constexpr size_t kMostTerms = isa::kLoopDepth;

bool sameKind(const WrittenRow &left, const WrittenRow &right) {
  return left.elements.known() && left.elements.tensor == right.elements.tensor &&
         left.elements.partial == right.elements.partial && left.perPass == right.perPass;
}

/// The terms of a rule for some rows from `begin` on, as many as a nest of terms reaches.
class RowNest {
public:
  RowNest(const std::vector<WrittenRow> &written, size_t begin) : written(written), begin(begin) {
    while (terms.size() < kMostTerms && addTerm())
      ;
  }

  std::vector<format::RowTerm> terms; ///< fastest first
  size_t rows = 1;

private:
  const std::vector<WrittenRow> &written;
  const size_t begin;

  [[nodiscard]] int32_t distance(size_t from, size_t to) const {
    return static_cast<int32_t>(written[to].elements.first - written[from].elements.first);
  }

  /// Whether the rows that there are so far come once more from `at` on, `step` rows further.
  [[nodiscard]] bool comesAgain(size_t at, int32_t step) const {
    for (size_t i = 0; i < rows; ++i)
      if (at + i >= written.size() || !sameKind(written[begin], written[at + i]) ||
          distance(at - rows + i, at + i) != step)
        return false;
    return true;
  }

  /// Repeats what there is as often as it comes again.
  bool addTerm() {
    if (begin + rows >= written.size())
      return false;
    const int32_t step = distance(begin, begin + rows);
    uint32_t count = 1;
    while (comesAgain(begin + count * rows, step))
      ++count;
    if (count == 1)
      return false;
    terms.push_back({count, step});
    rows *= count;
    return true;
  }
};

} // namespace

std::vector<uint32_t> writingBeats(const isa::Instruction &instruction) {
  const auto *vec = std::get_if<isa::Vec>(&instruction);
  if (!vec || (vec->dstKind != isa::Dst::Net && vec->dstKind != isa::Dst::Local))
    return {};
  uint32_t all = 1, each = 1;
  for (uint32_t level = 0; level < isa::kLoopDepth; ++level) {
    all *= vec->n[level];
    if (vec->reduce != isa::Reduce::None && level >= vec->reduceLevel)
      each *= vec->n[level];
  }
  std::vector<uint32_t> beats;
  for (uint32_t beat = each - 1; beat < all; beat += each)
    beats.push_back(beat);
  return beats;
}

std::vector<format::RowRule> rulesOf(const std::vector<WrittenRow> &written) {
  std::vector<format::RowRule> rules;
  for (size_t begin = 0; begin < written.size();) {
    const WrittenRow &first = written[begin];
    if (!first.elements.known()) {
      ++begin;
      continue;
    }
    RowNest nest(written, begin);
    std::ranges::reverse(nest.terms);
    rules.push_back({static_cast<uint32_t>(begin), first.elements.tensor, first.elements.partial,
                     first.elements.first, first.perPass, std::move(nest.terms)});
    begin += nest.rows;
  }
  return rules;
}

} // namespace sluice::plan
