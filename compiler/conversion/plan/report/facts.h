// What is told of a plan, as plain facts that know nothing of the planner: who does what
// when, the least it could take, where every cycle above that goes, and the memory it uses.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::plan {

/// Use of one memory of one core (core = number of cores: the host port).
struct MemoryUse {
  uint32_t core = 0;
  /// "weight blocks", "inbox rows", "local rows", "preload rows", "function tables",
  /// "instructions", "host instructions".
  std::string memory;
  uint64_t used = 0;
  uint64_t capacity = 0;
};

/// What passes between two events of which the second waits for the first.
enum class Delay : uint8_t {
  Products,     ///< a matrix unit issues its block products one by one
  VectorBeats,  ///< a vector unit issues its beats one by one
  HostRows,     ///< rows pass the host port one by one
  MatrixDepth,  ///< a product on its way through the matrix unit
  VectorDepth,  ///< a row on its way through the vector unit
  Network,      ///< a packet on its way
  Arbitration,  ///< a packet behind others
  PathChange,   ///< a beat of a longer path is ahead in the vector unit
  OutboxFull,   ///< no room for one more packet
  ResultsFull,  ///< no room for one more result
  Instructions, ///< the next instruction is not there yet
  WaitBeats,    ///< a beat that only waits
};

/// What a matrix unit waits for while it issues no product.
enum class Cause : uint8_t {
  Pipeline,  ///< products and rows on their way through matrix and vector units
  Network,   ///< packets on their way, or behind others
  Imbalance, ///< another matrix unit has more to do
  Vector,    ///< vector units issue row after row
  Stalls,    ///< a full queue, a change of path, a missing instruction, a beat that only waits
  Host,      ///< rows pass the host port one by one
};
inline constexpr size_t kCauses = 6;
std::string_view nameOf(Cause cause);
std::string_view nameOf(Delay delay);

/// Core cycles (cycles times cores) by cause.
using CoreCycles = std::array<uint64_t, kCauses>;

/// One stage of the plan. Cycles count from the one that takes the first input row.
struct ExplainedStage {
  std::vector<uint32_t> nodes; ///< indices into Graph::nodes, ascending; none for the inputs
  uint32_t rows = 0;
  std::vector<uint32_t> rowsByCore, productsByCore;
  /// Rows that the stage reads, by the number of cores that read them: one, two, ... A row that
  /// several cores read is sent to each of them.
  std::vector<uint32_t> readsByCores;
  /// First beat, and the cycle after the last one; nothing, if all come behind the last output.
  std::optional<uint64_t> start, end;
  CoreCycles idle{};  ///< of matrix units before products of this stage
  bool ahead = false; ///< sums for the next inference
  /// How its operations became its rows: "matmul by result rows, 12 rows on 2 cores".
  std::vector<std::string> derivation;
};

/// A stretch of the critical path.
struct PathStep {
  Delay delay = Delay::Products;
  uint32_t unit = 0;  ///< matrix units by core, vector units by core, host port
  uint32_t stage = 0; ///< of the row under way
  uint64_t from = 0, cycles = 0;
};

/// A lower bound on the spaced latency of the graph's rows as they are.
struct Floor {
  uint64_t products = 0; ///< beats of the matrix units, but for sums ahead
  uint64_t work = 0;     ///< products / cores, rounded up
  uint64_t way = 0;      ///< besides: first row in to first product, last product to last row out
  uint64_t chain = 0;    ///< the longest chain of dependences with a core for every row
  uint64_t cycles = 0;   ///< max(work + way, chain)
};

/// Plans that were not chosen, equal in their cycles and in everything that `choice` names.
struct Loser {
  std::string choice;
  std::optional<uint64_t> cycles; ///< none: it could not be run
  std::string why;
  bool form = false;  ///< the best of another form of the model
  uint64_t plans = 1; ///< how many
};

struct Explanation {
  uint32_t cores = 0;
  uint64_t cycles = 0; ///< spaced latency
  Floor floor;
  std::vector<ExplainedStage> stages;
  uint64_t ahead = 0; ///< beats of sums ahead in these cycles
  CoreCycles idle{};  ///< of all matrix units; floor.products + ahead + its sum = cycles * cores
  CoreCycles drain{}; ///< the part of `idle` behind a core's last product
  std::vector<PathStep> path; ///< ascending, without gaps: their sum is `cycles`
  std::string choice;
  std::vector<Loser> losers; ///< in the order they were tried
};

/// Returns the number of plans that were not chosen.
uint64_t plansNotChosen(const Explanation &explanation);

/// Returns the plan in the fewest cycles that was not chosen, null if none could be run.
const Loser *nextBest(const Explanation &explanation);

} // namespace sluice::plan
