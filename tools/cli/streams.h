// What a run does to the state of its engine between inferences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/cli/command_output.h"
#include "tools/cli/engine.h"

namespace sluice::cli {

/// Streams that take turns on one engine, each with a state of its own.
class Streams {
public:
  Streams(EngineHandle &engine, const Rounds &rounds, uint64_t resetEvery)
      : engine(engine), rounds(rounds), resetEvery(resetEvery), states(rounds.streams) {}

  /// All streams begin with this state instead of the initial one.
  void beginWith(std::string state) { states.assign(rounds.streams, std::move(state)); }

  /// Puts the state of inference `i`'s stream on the machine; `first` of the engine it has been
  /// loaded.
  std::optional<Problem> before(uint64_t i);
  /// Keeps it, where another stream comes before its next step or the run wants it.
  std::optional<Problem> after(uint64_t i, bool keep);

  /// The number of inference `i` in its stream since the stream's last reset.
  uint64_t number(uint64_t i) const;

  /// Whether `before` begins anew, so that the counters do.
  bool switches(uint64_t i) const;
  const std::string &state(uint64_t stream) const { return states[stream]; }

  /// The longest of each kind; none: there was none.
  struct Costs {
    std::optional<uint64_t> reset, save, restore;
    bool operator==(const Costs &) const = default;
  };
  const Costs &costs() const { return taken; }

private:
  bool resets(uint64_t i) const;

  EngineHandle &engine;
  const Rounds rounds;
  const uint64_t resetEvery;       ///< 0: never
  std::vector<std::string> states; ///< by stream; empty: the initial one
  Costs taken;
};

/// "a reset takes 9 cycles, a save 31, a restore 9", or "".
std::string costsText(const Streams::Costs &costs);
void addCosts(const Streams::Costs &costs, Json &to);

} // namespace sluice::cli
