#include "compiler/conversion/plan/verify.h"

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <map>

#include <fmt/format.h>

#include "compiler/conversion/plan/verify_blocks.h"

namespace sluice::plan {
namespace {

using rows::Graph;
using rows::kNoRow;
using rows::Row;
using rows::RowId;
using rows::RowKind;

constexpr unsigned kInferences = 3;
constexpr unsigned kMaxUnits = 2 * isa::kMaxCores + 1;

/// What a unit knows of all units: how many of their beats have issued, and
/// how many have also arrived at their destinations. An issued beat reads in
/// the next cycle, so nothing that knows of it can overtake its reads.
struct Clock {
  std::array<uint32_t, kMaxUnits> issued{}, arrived{};

  void merge(const Clock &other) {
    for (unsigned u = 0; u < kMaxUnits; ++u) {
      issued[u] = std::max(issued[u], other.issued[u]);
      arrived[u] = std::max(arrived[u], other.arrived[u]);
    }
  }
};

/// A tensor row of one core.
struct Cell {
  RowId value = kNoRow;
  bool low = false; ///< the lower halves of a wide row
  uint32_t inference = 0;
  int writer = -1; ///< unit; -1: the program image
  uint32_t writerBeat = 0;
  std::array<uint32_t, 2> lastRead{}; ///< by matrix and vector unit
};

struct Accumulator {
  RowId row = kNoRow;
  isa::Init init = isa::Init::Keep;
  uint32_t preload = 0;
  std::vector<std::pair<RowId, uint32_t>> products;
};

struct Result {
  RowId row;
  Clock clock;
};

struct Gift {
  int giver;
  Clock clock;
};

struct Token {
  std::deque<Gift> given;
  int giver = -1;
  uint64_t gives = 0, takes = 0;
  /// After which beat of its unit how many had been taken.
  std::vector<std::pair<uint32_t, uint64_t>> history;
};

struct UnitState {
  isa::Unit kind = isa::Unit::Seq;
  uint32_t core = 0;
  const UnitBeats *planned = nullptr;
  std::deque<const Scheduled *> queue; ///< front: active
  std::vector<Beat> active;            ///< unrolled front of the queue
  uint32_t next = 0;                   ///< in active
  uint32_t issued = 0;
  Clock clock;
  std::array<Token, isa::kTokens> bank;
  RowId reducing = kNoRow;
  uint32_t reduced = 0;
};

class Verifier {
public:
  Verifier(const Graph &graph, const Placement &placement, const MachineBeats &beats,
           const Schedule &schedule)
      : graph(graph), placement(placement), beats(beats), schedule(schedule),
        cores(graph.geometry.cores), units(2 * cores + 1), blocks(graph, beats),
        accumulators(cores), results(cores), outputs(graph.rows.size(), 0) {
    for (uint32_t core = 0; core < cores; ++core) {
      units[core] = unit(isa::Unit::Mxu, core, beats.matrix[core]);
      units[cores + core] = unit(isa::Unit::Vec, core, beats.vector[core]);
      accumulators[core].resize(graph.geometry.accumulators);
      cells.emplace_back(isa::kLocalBase + graph.geometry.localRows);
      for (RowId row : placement.cores[core].constants)
        cells[core][placement.cores[core].localAddress[row]].value = row;
    }
    units[2 * cores] = unit(isa::Unit::Host, cores, beats.host);
    uint32_t outRow = 0;
    for (const rows::Port &port : graph.outputs)
      for (RowId row : port.rows)
        outRows[row] = outRow++;
  }

  std::optional<std::string> run() {
    positions.assign(cores + 1, 0);
    bool progress = true;
    while (progress && error.empty()) {
      progress = false;
      for (uint32_t list = 0; list <= cores; ++list)
        progress |= sequence(list);
      for (uint32_t u = 0; u < units.size() && error.empty(); ++u)
        while (error.empty() && step(u))
          progress = true;
    }
    if (error.empty())
      finish();
    return error.empty() ? std::nullopt : std::optional(error);
  }

private:
  const Graph &graph;
  const Placement &placement;
  const MachineBeats &beats;
  const Schedule &schedule;
  const uint32_t cores;
  std::vector<UnitState> units; ///< matrix units, vector units, host port
  std::vector<std::vector<Cell>> cells;
  BlockProof blocks;
  std::vector<std::vector<Accumulator>> accumulators;
  std::vector<std::deque<Result>> results;
  std::vector<uint32_t> outputs; ///< packets to the host, by row
  std::map<RowId, uint32_t> outRows;
  std::vector<size_t> positions; ///< by list, instructions pushed
  std::string error;

  static UnitState unit(isa::Unit kind, uint32_t core, const UnitBeats &planned) {
    UnitState state;
    state.kind = kind;
    state.core = core;
    state.planned = &planned;
    return state;
  }

  static std::string_view nameOf(isa::Unit kind) {
    return kind == isa::Unit::Mxu   ? "matrix unit"
           : kind == isa::Unit::Vec ? "vector unit"
                                    : "host port";
  }

  void fail(uint32_t u, std::string_view what) {
    if (error.empty())
      error = fmt::format("core {} {} beat {}: {}", units[u].core, nameOf(units[u].kind),
                          units[u].issued, what);
  }

  uint32_t unitOf(uint32_t list, isa::Unit kind) const {
    return kind == isa::Unit::Host ? 2 * cores : kind == isa::Unit::Mxu ? list : cores + list;
  }

  /// Pushes instructions of a list while their unit's queue takes them.
  bool sequence(uint32_t list) {
    const InstructionList &instructions = schedule.lists[list];
    bool progress = false;
    while (positions[list] < instructions.size() * kInferences) {
      const Scheduled &one = instructions[positions[list] % instructions.size()];
      if (one.unit != isa::Unit::Seq) {
        UnitState &state = units[unitOf(list, one.unit)];
        if (state.queue.size() > isa::kUnitQueueDepth)
          break;
        state.queue.push_back(&one);
      }
      ++positions[list];
      progress = true;
    }
    return progress;
  }

  /// Issues the next beat of a unit if it can.
  bool step(uint32_t u) {
    UnitState &state = units[u];
    if (state.queue.empty())
      return false;
    const Scheduled &one = *state.queue.front();
    if (state.next == 0) {
      const Beat &planned = state.planned->beats[one.firstBeat];
      state.active = unroll(one.instruction, planned.form);
      for (uint32_t i = 0; i < one.beats && i < state.active.size(); ++i)
        if (state.active[i] != state.planned->beats[one.firstBeat + i])
          return fail(u, "the instruction is not the planned beat"), false;
      if (state.active.size() != one.beats)
        return fail(u, "the instruction is not the planned number of beats"), false;
    }
    const Beat &beat = state.active[state.next];
    const BeatOrigin &origin = state.planned->origins[one.firstBeat + state.next];
    Token &token = state.bank[beat.wait.token];
    if (token.given.size() < beat.wait.count)
      return false;
    const bool emits = state.kind == isa::Unit::Mxu && beat.last;
    if (emits && results[state.core].size() >= isa::kResultFifoDepth)
      return false;
    const auto *vec = std::get_if<isa::Vec>(&one.instruction);
    if (vec && takesResult(*vec) && results[state.core].empty())
      return false;
    if (beat.wait.count != 0) {
      takeFrom(u, beat.wait);
      token.given.erase(token.given.begin(), token.given.begin() + beat.wait.count);
      token.takes += beat.wait.count;
      token.history.emplace_back(state.issued + 1, token.takes);
    }
    state.clock.issued[u] = ++state.issued;
    if (const auto *mm = std::get_if<isa::Mm>(&one.instruction))
      matrixBeat(u, *mm, beat, origin);
    else if (vec)
      vectorBeat(u, *vec, beat, origin);
    else
      hostBeat(u, std::get<isa::Input>(one.instruction), beat, origin);
    if (++state.next == one.beats) {
      state.next = 0;
      state.queue.pop_front();
    }
    return true;
  }

  /// A token has one producer, whose last gift knows of those before. Done
  /// comes once from every busy core before any core can give it again, so
  /// taking that many takes one of each.
  void takeFrom(uint32_t u, const Wait &wait) {
    UnitState &state = units[u];
    const Token &token = state.bank[wait.token];
    state.clock.merge(token.given[wait.count - 1].clock);
    if (state.kind != isa::Unit::Host || wait.token != beats.doneToken)
      return;
    uint64_t givers = 0;
    for (uint32_t i = 0; i < wait.count; ++i) {
      state.clock.merge(token.given[i].clock);
      givers |= uint64_t{1} << token.given[i].giver;
    }
    if (static_cast<uint32_t>(std::popcount(givers)) != wait.count ||
        wait.count != beats.busyCores || token.given.size() != wait.count)
      fail(u, "does not wait for every core once");
  }

  uint32_t inferenceOf(const UnitState &state) const {
    return (state.issued - 1) / static_cast<uint32_t>(state.planned->beats.size());
  }

  void read(uint32_t u, int32_t address, RowId expected, bool low = false) {
    const UnitState &state = units[u];
    if (address < 0 || static_cast<size_t>(address) >= cells[state.core].size())
      return fail(u, fmt::format("reads tensor row {}, which does not exist", address));
    Cell &cell = cells[state.core][static_cast<size_t>(address)];
    cell.lastRead[state.kind == isa::Unit::Vec] = state.issued;
    if (expected == kNoRow) { // zeros of the program image
      if (cell.value != kNoRow)
        fail(u, fmt::format("reads row {} at {} where zeros are needed", cell.value, address));
      return;
    }
    if (cell.value != expected || cell.low != low)
      return fail(u,
                  fmt::format("reads row {} at {}, needs row {}", cell.value, address, expected));
    if (cell.writer < 0)
      return;
    if (cell.inference != inferenceOf(state))
      fail(u, fmt::format("reads row {} of another inference", expected));
    if (state.clock.arrived[static_cast<size_t>(cell.writer)] < cell.writerBeat)
      fail(u, fmt::format("may read row {} before it arrives", expected));
  }

  void writeCell(uint32_t u, uint32_t core, int32_t address, RowId row, bool low = false) {
    if (address < 0 || static_cast<size_t>(address) >= cells[core].size())
      return fail(u, fmt::format("writes tensor row {}, which does not exist", address));
    const UnitState &state = units[u];
    Cell &cell = cells[core][static_cast<size_t>(address)];
    if (cell.writer < 0 && cell.value != kNoRow)
      fail(u, fmt::format("overwrites constant row {}", cell.value));
    if (cell.lastRead[0] > state.clock.issued[core] ||
        cell.lastRead[1] > state.clock.issued[cores + core])
      fail(u, fmt::format("may overwrite row {} before its last read", cell.value));
    if (cell.writer >= 0 && cell.writer != static_cast<int>(u) &&
        state.clock.arrived[static_cast<size_t>(cell.writer)] < cell.writerBeat)
      fail(u, fmt::format("may write row {} before an older write arrives", row));
    cell = {row, low, inferenceOf(state), static_cast<int>(u), state.issued, cell.lastRead};
  }

  /// Gives a token with this beat's knowledge, which includes its own arrival.
  void give(uint32_t u, uint32_t bankUnit, uint32_t index) {
    Token &token = units[bankUnit].bank[index];
    const bool shared = units[bankUnit].kind == isa::Unit::Host && index == beats.doneToken;
    if (token.giver >= 0 && token.giver != static_cast<int>(u) && !shared)
      return fail(u, fmt::format("token {} has two producers", index));
    token.giver = static_cast<int>(u);
    Clock clock = units[u].clock;
    clock.arrived[u] = units[u].issued;
    token.given.push_back({static_cast<int>(u), clock});
    ++token.gives;
    // What the giver does not know to be taken may all still be there.
    const auto later =
        std::upper_bound(token.history.begin(), token.history.end(), clock.issued[bankUnit],
                         [](uint32_t beat, const std::pair<uint32_t, uint64_t> &entry) {
                           return beat < entry.first;
                         });
    const uint64_t taken = later == token.history.begin() ? 0 : std::prev(later)->second;
    if (!shared && token.gives - taken > isa::kTokenMax)
      fail(u, fmt::format("token {} may count to {}, at most {} fit", index, token.gives - taken,
                          isa::kTokenMax));
  }

  void giveCores(uint32_t u, uint32_t mask, const Signal &signal) {
    for (uint32_t core = 0; core < cores; ++core) {
      if ((mask >> core & 1) == 0)
        continue;
      if ((signal.units & kMatrixBit) != 0)
        give(u, core, signal.token);
      if ((signal.units & kVectorBit) != 0)
        give(u, cores + core, signal.token);
    }
  }

  void matrixBeat(uint32_t u, const isa::Mm &mm, const Beat &beat, const BeatOrigin &origin) {
    if (mm.skip != 0)
      return;
    UnitState &state = units[u];
    const size_t index = static_cast<size_t>(beat.address[2]);
    if (index >= accumulators[state.core].size())
      return fail(u, "accumulator does not exist");
    Accumulator &acc = accumulators[state.core][index];
    if (beat.init != isa::Init::Keep)
      acc = {origin.row, beat.init, static_cast<uint32_t>(beat.address[3]), {}};
    if (acc.row != origin.row)
      return fail(u,
                  fmt::format("adds to row {} in an accumulator of row {}", origin.row, acc.row));
    const std::vector<uint32_t> &weights = beats.weights[state.core];
    const size_t w = static_cast<size_t>(beat.address[1]);
    if (w >= weights.size() || weights[w] != origin.block)
      return fail(u, "wrong weight block");
    if (graph.dynamic.contains(origin.block))
      if (const auto wrong =
              blocks.read(state.core, static_cast<uint32_t>(w), {inferenceOf(state), state.issued},
                          state.clock.arrived[cores + state.core]))
        fail(u, *wrong);
    read(u, beat.address[0], origin.read[0]);
    if (origin.read[0] != kNoRow)
      acc.products.emplace_back(origin.read[0], weights[w]);
    else if (!isZero(weights[w]))
      fail(u, "a product without an operand");
    if (!beat.last)
      return;
    checkSum(u, acc);
    if (mm.emit != isa::Emit::Fp32 && (isWide(acc.row) || isWide(graph.rows[acc.row].b)))
      fail(u, fmt::format("rounds row {}, a part of a sum", acc.row));
    results[state.core].push_back({acc.row, state.clock});
    acc.row = kNoRow;
  }

  void copyToBlock(uint32_t u, const isa::Vec &vec, const Beat &beat, const BeatOrigin &origin) {
    read(u, beat.address[0], origin.row);
    const isa::Vec pass;
    if (vec.aSrc != isa::Source::Ram || vec.alu1 != pass.alu1 || vec.tableEn != 0 ||
        vec.reduce != pass.reduce || vec.alu2 != pass.alu2 || vec.post != pass.post ||
        vec.part != pass.part)
      fail(u, fmt::format("row {} changes on its way into a weight block", origin.row));
    writeBlock(u, vec, beat, origin.row);
  }

  void writeBlock(uint32_t u, const isa::Vec &vec, const Beat &beat, RowId row) {
    const UnitState &state = units[u];
    if (vec.dstKind != isa::Dst::Wrow && vec.dstKind != isa::Dst::Wcol)
      return fail(u, fmt::format("row {} does not go into a weight block", row));
    if (const auto wrong =
            blocks.write(state.core, vec, beat.address[3], row, {inferenceOf(state), state.issued},
                         state.clock.issued[state.core]))
      fail(u, *wrong);
    if (beat.signal.on)
      giveCores(u, 1U << state.core, beat.signal);
  }

  bool isZero(uint32_t block) const {
    if (graph.dynamic.contains(block))
      return false;
    const std::vector<uint16_t> &elements = graph.blocks[block];
    return std::all_of(elements.begin(), elements.end(),
                       [](uint16_t element) { return (element & 0x7F80) == 0; });
  }

  void checkSum(uint32_t u, Accumulator &acc) {
    const Row &row = graph.rows[acc.row];
    std::vector<std::pair<RowId, uint32_t>> expected;
    for (const rows::Term &term : row.terms)
      if (!zeroBlock(term.block))
        expected.emplace_back(term.x, term.block);
    std::sort(expected.begin(), expected.end());
    std::sort(acc.products.begin(), acc.products.end());
    if (row.kind != RowKind::Linear || expected != acc.products)
      fail(u, fmt::format("row {} is another sum of products", acc.row));
    const bool biased =
        std::any_of(row.bias.begin(), row.bias.end(), [](float value) { return value != 0; });
    const std::vector<RowId> &preloads = placement.cores[units[u].core].preloads;
    if (biased != (acc.init == isa::Init::Preload) ||
        (biased && (acc.preload >= preloads.size() || preloads[acc.preload] != acc.row)))
      fail(u, fmt::format("row {} starts from another bias", acc.row));
  }

  bool zeroBlock(uint32_t block) {
    const auto [entry, added] = zeroBlocks.try_emplace(block, false);
    if (added)
      entry->second = isZero(block);
    return entry->second;
  }
  std::map<uint32_t, bool> zeroBlocks;

  void vectorBeat(uint32_t u, const isa::Vec &vec, const Beat &beat, const BeatOrigin &origin) {
    UnitState &state = units[u];
    if (origin.row == kNoRow) {
      if (vec.dstKind == isa::Dst::Signal && beat.signal.on)
        give(u, 2 * cores, beat.signal.token);
      return;
    }
    if (origin.block != kNoBlock)
      return copyToBlock(u, vec, beat, origin);
    const Row &row = graph.rows[origin.row];
    if (takesResult(vec)) {
      const Result result = results[state.core].front();
      if (vec.aSrc == isa::Source::Mxu)
        results[state.core].pop_front();
      state.clock.merge(result.clock);
      if (result.row != origin.row)
        return fail(u, fmt::format("takes row {}, needs row {}", result.row, origin.row));
    } else {
      if (state.reducing != origin.row)
        state.reduced = 0;
      state.reducing = origin.row;
      if (state.reduced >= row.a.size())
        return fail(u, "more beats than operands");
      read(u, beat.address[0], row.a[state.reduced++]);
    }
    if (vec.bEn != 0)
      read(u, beat.address[1], row.b);
    if (vec.cEn != 0)
      read(u, beat.address[2], isWide(row.b) ? row.b : row.c, isWide(row.b));
    if (!sameStep(vec, row, state.core))
      fail(u, fmt::format("another operation than that of row {}", origin.row));
    if (vec.reduce != isa::Reduce::None && !beat.last)
      return;
    if (row.kind == RowKind::Vector) {
      if (state.reduced != row.a.size())
        fail(u, fmt::format("row {} misses operands", origin.row));
      state.reducing = kNoRow;
    }
    deliver(u, vec, beat, origin.row);
  }

  void deliver(uint32_t u, const isa::Vec &vec, const Beat &beat, RowId row) {
    const UnitState &state = units[u];
    if (vec.dstKind == isa::Dst::Wrow || vec.dstKind == isa::Dst::Wcol)
      return writeBlock(u, vec, beat, row);
    if (vec.dstKind == isa::Dst::Local) {
      writeCell(u, state.core, beat.address[3], row);
      if (beat.signal.on)
        giveCores(u, 1U << state.core, beat.signal);
      return;
    }
    for (uint32_t core = 0; core < cores; ++core)
      if ((vec.mask >> core & 1) != 0)
        writeCell(u, core, beat.address[3], row, vec.part == isa::Part::Low);
    if (beat.signal.on)
      giveCores(u, vec.mask, beat.signal);
    if ((vec.mask & kHostMask) == 0)
      return;
    ++outputs[row];
    const auto place = outRows.find(row);
    if (place == outRows.end() || place->second != static_cast<uint32_t>(beat.address[3]))
      fail(u, fmt::format("row {} goes to output row {}", row, beat.address[3]));
    if (beat.signal.on)
      give(u, 2 * cores, beat.signal.token);
  }

  bool isWide(RowId row) const { return row != kNoRow && graph.rows[row].wide; }

  static bool takesResult(const isa::Vec &vec) {
    return vec.aSrc == isa::Source::Mxu || vec.aSrc == isa::Source::Peek;
  }

  bool sameStep(const isa::Vec &vec, const Row &row, uint32_t core) const {
    const rows::VectorStep &step = row.step;
    const std::vector<uint32_t> &tables = placement.cores[core].tables;
    const bool table = step.table ? vec.tableEn != 0 && vec.tableId < tables.size() &&
                                        tables[vec.tableId] == *step.table
                                  : vec.tableEn == 0;
    return table && vec.alu1 == step.alu1 && vec.rhs1 == step.rhs1 && vec.alu2 == step.alu2 &&
           vec.rhs2 == step.rhs2 && vec.imm1 == std::bit_cast<uint32_t>(step.imm1) &&
           vec.imm2 == std::bit_cast<uint32_t>(step.imm2) && vec.reduce == step.reduce &&
           vec.post == step.post && (vec.bBcast != 0) == step.bBroadcast &&
           (vec.cBcast != 0) == step.cBroadcast && (vec.bEn != 0) == (row.b != kNoRow) &&
           (vec.cEn != 0) == (row.c != kNoRow || isWide(row.b)) &&
           (vec.bWide != 0) == isWide(row.b) && takesResult(vec) == (row.kind == RowKind::Linear) &&
           vec.part == (!row.wide                       ? isa::Part::Bf16
                        : vec.aSrc == isa::Source::Peek ? isa::Part::High
                                                        : isa::Part::Low);
  }

  void hostBeat(uint32_t u, const isa::Input &input, const Beat &beat, const BeatOrigin &origin) {
    if (input.skip != 0)
      return;
    for (uint32_t core = 0; core < cores; ++core)
      if ((input.mask >> core & 1) != 0)
        writeCell(u, core, beat.address[0], origin.row);
    if (beat.signal.on)
      giveCores(u, input.mask, beat.signal);
  }

  void finish() {
    for (uint32_t u = 0; u < units.size() && error.empty(); ++u) {
      const UnitState &state = units[u];
      if (state.issued != state.planned->beats.size() * kInferences)
        return fail(u, "never issues: the schedule deadlocks");
      for (uint32_t token = 0; token < isa::kTokens; ++token) {
        const Token &one = state.bank[token];
        if (one.gives != one.takes)
          return fail(u, fmt::format("token {} is given {} times and taken {} times", token,
                                     one.gives, one.takes));
      }
    }
    for (const auto &[row, outRow] : outRows)
      if (outputs[row] != kInferences && error.empty())
        error = fmt::format("row {} is sent to the host {} times in {} inferences", row,
                            outputs[row], kInferences);
  }
};

} // namespace

std::optional<std::string> verify(const Graph &graph, const Placement &placement,
                                  const MachineBeats &beats, const Schedule &schedule) {
  return Verifier(graph, placement, beats, schedule).run();
}

} // namespace sluice::plan
