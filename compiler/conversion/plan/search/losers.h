// Which plans were not chosen, and why: for `sluice explain --plan`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/conversion/plan/search/candidate.h"

namespace sluice::plan {

/// Plans with split rows that are looked at as a whole.
inline constexpr size_t kFinalists = 16;

class Losers {
public:
  /// A candidate that another one beats or that is none. `run` is its explanation.
  void add(const Choice &choice, const Candidate &candidate, std::optional<Explanation> run);
  /// A candidate that loses for `why`; `run` may be nothing.
  void add(const Choice &choice, std::optional<Explanation> run, std::string why) {
    all.push_back({choice, std::move(run), std::move(why)});
  }

  /// Adds the chosen choice to its explanation, and every other one by its differences from it.
  /// What was said last about a choice is why it lost. Choices with the same cycles and the same
  /// differences are one loser.
  void describe(const Choice &chosen, Explanation &explanation) const;

private:
  struct Rejected {
    Choice choice;
    std::optional<Explanation> run;
    std::string why; ///< empty: its cycles, if it ran
  };
  std::vector<Rejected> all;
};

} // namespace sluice::plan
