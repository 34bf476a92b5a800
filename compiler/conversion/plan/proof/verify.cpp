#include "compiler/conversion/plan/proof/verify.h"

#include <deque>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "compiler/conversion/plan/proof/verify_blocks.h"
#include "compiler/conversion/plan/proof/verify_memory.h"
#include "compiler/conversion/plan/proof/verify_preloads.h"
#include "compiler/conversion/plan/proof/verify_rows.h"
#include "compiler/conversion/plan/proof/verify_tokens.h"
#include "compiler/conversion/row_graph.h"
#include "hw/numerics/latency.h"

namespace sluice::plan {
namespace {

struct Result {
  RowId row;
  Clock clock;
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
  RowId reducing = kNoRow;
  uint32_t reduced = 0;
};

class Verifier {
public:
  Verifier(const Graph &graph, const Placement &placement, const MachineBeats &beats,
           const Schedule &schedule)
      : graph(graph), beats(beats), schedule(schedule), cores(graph.geometry.cores),
        host(2 * cores), units(host + 1), memory(graph, placement), tokens(beats, host + 1),
        values(graph, placement), blocks(graph, beats), preloads(graph, placement),
        accumulators(cores), results(cores), outputs(graph.rows.size(), 0) {
    for (uint32_t core = 0; core < cores; ++core) {
      units[core] = unit(isa::Unit::Mxu, core, beats.matrix[core]);
      units[cores + core] = unit(isa::Unit::Vec, core, beats.vector[core]);
      accumulators[core].resize(graph.geometry.accumulators);
    }
    units[host] = unit(isa::Unit::Host, cores, beats.host);
    uint32_t outRow = 0;
    for (const rows::Port &port : graph.outputs)
      for (RowId row : port.rows) {
        if (row != kNoRow)
          outRows[row] = outRow;
        ++outRow;
      }
    for (const rows::State &state : graph.states) {
      const uint32_t core = placement.rows[state.next].core;
      statePlaces.emplace(core, addressAt(placement, core, state.next));
    }
    while (firstInput < beats.host.beats.size() && !takesRow(firstInput))
      ++firstInput;
  }

  /// Whether no unit has changed the state without knowing of a row of its inference's input.
  bool stateRests() const { return restless == 0; }

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
  const MachineBeats &beats;
  const Schedule &schedule;
  const uint32_t cores, host;
  std::vector<UnitState> units; ///< matrix units, vector units, host port
  MemoryProof memory;
  TokenProof tokens;
  RowProof values;
  BlockProof blocks;
  PreloadProof preloads;
  std::vector<std::vector<Accumulator>> accumulators;
  std::vector<std::deque<Result>> results;
  std::vector<uint32_t> outputs; ///< packets to the host, by row
  std::map<RowId, uint32_t> outRows;
  std::vector<size_t> positions;                       ///< by list, instructions pushed
  std::set<std::pair<uint32_t, uint32_t>> statePlaces; ///< core, address
  uint32_t firstInput = 0;                             ///< beat of the host port that takes a row
  uint32_t restless = 0;                               ///< changes of the state before an input
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

  /// Remembers the first thing that is wrong, if anything is.
  void fail(uint32_t u, const std::optional<std::string> &what) {
    if (what && error.empty())
      error = fmt::format("core {} {} beat {}: {}", units[u].core, nameOf(units[u].kind),
                          units[u].issued, *what);
  }

  uint32_t unitOf(uint32_t list, isa::Unit kind) const {
    return kind == isa::Unit::Host ? host : kind == isa::Unit::Mxu ? list : cores + list;
  }

  /// Pushes instructions of a list while their unit's queue takes them.
  bool sequence(uint32_t list) {
    const InstructionList &instructions = schedule.lists[list];
    bool progress = false;
    while (positions[list] < instructions.size() * kProvedInferences) {
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
          return fail(u, "the instruction differs from the planned beat"), false;
      if (state.active.size() != one.beats)
        return fail(u, "the instruction differs from the planned number of beats"), false;
    }
    const Beat &beat = state.active[state.next];
    const BeatOrigin &origin = state.planned->origins[one.firstBeat + state.next];
    if (!tokens.ready(u, beat.wait))
      return false;
    const auto *mm = std::get_if<isa::Mm>(&one.instruction);
    const bool emits = mm && beat.last && mm->emit != isa::Emit::Raw;
    if (emits && results[state.core].size() >= isa::kResultFifoDepth)
      return false;
    const auto *vec = std::get_if<isa::Vec>(&one.instruction);
    if (vec && isa::takesResult(*vec) && results[state.core].empty())
      return false;
    state.clock.issued[u] = ++state.issued;
    fail(u, tokens.take(u, beat.wait, state.issued, state.clock));
    if (mm)
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

  /// The beat of a unit that has just issued.
  Moment now(const UnitState &state) const {
    const auto beats = static_cast<uint32_t>(state.planned->beats.size());
    return {(state.issued - 1) / beats, state.issued};
  }

  bool takesRow(uint32_t beat) const {
    const isa::Instruction &form = beats.host.forms[beats.host.beats[beat].form];
    return std::get<isa::Input>(form).skip == 0;
  }

  /// A unit changes the state.
  void changeState(uint32_t u) {
    const auto each = static_cast<uint32_t>(beats.host.beats.size());
    const UnitState &state = units[u];
    if (state.clock.issued[host] <= now(state).inference * each + firstInput)
      ++restless;
  }

  void read(uint32_t u, int32_t address, RowId expected, bool low = false) {
    const UnitState &state = units[u];
    fail(u, memory.read({u, now(state), state.clock}, state.core, address, expected, low));
  }

  void writeCell(uint32_t u, uint32_t core, int32_t address, RowId row, bool low = false) {
    if (statePlaces.contains({core, static_cast<uint32_t>(address)}))
      changeState(u);
    fail(u, memory.write({u, now(units[u]), units[u].clock}, core, address, row, low));
  }

  void give(uint32_t u, uint32_t to, uint32_t token) {
    fail(u, tokens.give(u, to, token, units[u].clock));
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
    if (beat.signal.on)
      giveCores(u, 1U << units[u].core, beat.signal);
    if (mm.skip != 0)
      return;
    UnitState &state = units[u];
    const size_t index = static_cast<size_t>(beat.address[2]);
    if (index >= accumulators[state.core].size())
      return fail(u, "the accumulator does not exist");
    Accumulator &acc = accumulators[state.core][index];
    if (beat.init != isa::Init::Keep)
      acc = {origin.row, beat.init, static_cast<uint32_t>(beat.address[3]), {}};
    else if (std::exchange(acc.left, false))
      acc.row = origin.row;
    if (beat.init == isa::Init::Preload)
      fail(u, preloads.begin(state.core, acc.preload, now(state)));
    if (acc.row != origin.row)
      return fail(u,
                  fmt::format("adds to row {} in the accumulator of row {}", origin.row, acc.row));
    const std::vector<uint32_t> &weights = beats.weights[state.core];
    const size_t w = static_cast<size_t>(beat.address[1]);
    if (w >= weights.size() || weights[w] != origin.block)
      return fail(u, "wrong weight block");
    if (graph.dynamic.contains(origin.block))
      fail(u, blocks.read(state.core, static_cast<uint32_t>(w), now(state),
                          state.clock.arrived[cores + state.core]));
    read(u, beat.address[0], origin.read[0]);
    if (origin.read[0] != kNoRow) // else zeros
      acc.products.emplace_back(origin.read[0], weights[w]);
    if (!beat.last)
      return;
    fail(u, values.sum(state.core, acc));
    if (mm.emit != isa::Emit::Fp32 &&
        (values.isWide(acc.row) || values.isWide(graph.rows[acc.row].b)))
      fail(u, fmt::format("rounds row {}, which is part of a sum", acc.row));
    const bool raw = mm.emit == isa::Emit::Raw;
    if (raw != graph.rows[acc.row].ahead)
      return fail(u, fmt::format("row {} goes to the wrong destination", acc.row));
    if (raw) {
      changeState(u);
      fail(u,
           preloads.leave(state.core, static_cast<uint32_t>(beat.address[3]), acc.row, now(state)));
    } else {
      results[state.core].push_back({acc.row, state.clock});
    }
    acc.row = kNoRow;
    acc.left = true;
  }

  void copyToBlock(uint32_t u, const isa::Vec &vec, const Beat &beat, const BeatOrigin &origin) {
    read(u, beat.address[0], origin.row);
    const isa::Vec pass;
    if (vec.aSrc != isa::Source::Ram || vec.alu1 != pass.alu1 || vec.tableEn != 0 ||
        vec.reduce != pass.reduce || vec.alu2 != pass.alu2 || vec.post != pass.post ||
        vec.part != pass.part)
      fail(u, fmt::format("row {} is modified before it reaches a weight block", origin.row));
    writeBlock(u, vec, beat, origin.row);
  }

  void writeBlock(uint32_t u, const isa::Vec &vec, const Beat &beat, RowId row) {
    const UnitState &state = units[u];
    if (vec.dstKind != isa::Dst::Wrow && vec.dstKind != isa::Dst::Wcol)
      return fail(u, fmt::format("row {} does not go into a weight block", row));
    fail(u, blocks.write(state.core, vec, beat.address[3], row, now(state),
                         state.clock.issued[state.core]));
    if (beat.signal.on)
      giveCores(u, 1U << state.core, beat.signal);
  }

  void vectorBeat(uint32_t u, const isa::Vec &vec, const Beat &beat, const BeatOrigin &origin) {
    UnitState &state = units[u];
    if (origin.row == kNoRow) {
      if (vec.dstKind == isa::Dst::Signal && beat.signal.on) {
        giveCores(u, vec.mask, beat.signal);
        if ((vec.mask & kHostMask) != 0)
          give(u, host, beat.signal.token);
      }
      if (vec.dstKind == isa::Dst::None && beat.signal.on)
        giveCores(u, 1U << state.core, beat.signal);
      return;
    }
    if (origin.block != kNoBlock)
      return copyToBlock(u, vec, beat, origin);
    const Row &row = graph.rows[origin.row];
    if (isa::takesResult(vec)) {
      const Result result = results[state.core].front();
      if (vec.aSrc == isa::Source::Mxu)
        results[state.core].pop_front();
      state.clock.merge(result.clock);
      if (result.row != origin.row)
        return fail(u, fmt::format("reads row {}, expected row {}", result.row, origin.row));
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
      read(u, beat.address[2], values.isWide(row.b) ? row.b : row.c, values.isWide(row.b));
    fail(u, values.step(state.core, vec, origin.row));
    if (vec.reduce != isa::Reduce::None && !beat.last)
      return;
    if (row.kind == RowKind::Vector) {
      if (state.reduced != row.a.size())
        fail(u, fmt::format("row {} lacks operands", origin.row));
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
        writeCell(u, core, beat.address[3], row, values.isWide(row) && vec.part == isa::Part::Low);
    if (beat.signal.on)
      giveCores(u, vec.mask, beat.signal);
    if ((vec.mask & kHostMask) == 0)
      return;
    ++outputs[row];
    const auto place = outRows.find(row);
    if (place == outRows.end() || place->second != static_cast<uint32_t>(beat.address[3]))
      fail(u, fmt::format("row {} goes to output row {}", row, beat.address[3]));
    if (beat.signal.on)
      give(u, host, beat.signal.token);
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
      if (state.issued != state.planned->beats.size() * kProvedInferences)
        return fail(u, "never issues: the schedule deadlocks");
      fail(u, tokens.unbalanced(u));
    }
    for (const auto &[row, outRow] : outRows)
      if (outputs[row] != kProvedInferences && error.empty())
        error = fmt::format("row {} is sent to the host {} times in {} inferences", row,
                            outputs[row], kProvedInferences);
  }
};

} // namespace

std::optional<std::string> verify(const Graph &graph, const Placement &placement,
                                  const MachineBeats &beats, const Schedule &schedule,
                                  bool *stateRests) {
  Verifier verifier(graph, placement, beats, schedule);
  auto wrong = verifier.run();
  if (stateRests)
    *stateRests = verifier.stateRests();
  return wrong;
}

} // namespace sluice::plan
