// Every instruction: its encoding, its unit, its fields, and every address it
// can reach.
#include <algorithm>
#include <bit>
#include <limits>

#include <fmt/format.h>

#include "hw/isa/matrix_beats.h"
#include "runtime/format/address_set.h"
#include "runtime/format/checks.h"
#include "runtime/format/sequencer.h"
#include "runtime/format/state.h"

namespace sluice::format {
namespace {

using isa::kLoopDepth;

/// Which beats use a stream: all, or those first or last at a level.
enum class Beats { All, FirstAt, LastAt };

/// Addresses of one core that are used, one bit each.
struct CoreReach {
  std::vector<uint64_t> rows;    ///< its own instructions', inbox and local
  std::vector<uint64_t> arrived; ///< in the inbox, by packets
  std::vector<uint64_t> blocks, weightRows;
};

/// What a program's lists of instructions do from one entry on, and what their packets to the
/// host are.
struct Routine {
  bool saves = false;                 ///< the state, else inferences
  std::vector<AddressRange> hostRows; ///< allowed, ascending
  std::vector<uint64_t> written;      ///< of these, one bit each
  uint64_t taken = 0;                 ///< rows from the host per pass
};

/// Checks a routine's part of one instruction list: a core's or the host port's. With `reach`
/// (by core) it also says what the instructions reach.
class ListCheck {
public:
  ListCheck(const Program &program, uint32_t core, Routine &routine, ProblemList &problems,
            std::vector<CoreReach> *reach = nullptr)
      : geometry(program.geometry), core(core), isHost(core == geometry.cores),
        all(isHost ? program.hostInstructions : program.cores[core].instructions), routine(routine),
        problems(problems), reach(reach) {
    const uint32_t save = program.state.save.empty() ? 0 : program.state.save[core];
    first = routine.saves ? save : 0;
    words = std::span(all).subspan(first);
    if (!routine.saves && save != 0)
      words = words.first(save);
    const int64_t local = isa::kLocalBase;
    tensorRows = {{0, int64_t{geometry.inboxRows} - 1}, {local, local + geometry.localRows - 1}};
    localRows = {tensorRows[1]};
    inboxRows = {tensorRows[0]};
  }

  void run() {
    const uint32_t capacity = isHost ? geometry.hostInstructions : geometry.instructions;
    if (all.size() > capacity) {
      problems.add("E0509", fmt::format("{} has {} instructions, its memory holds {}", place(),
                                        all.size(), capacity));
      return;
    }
    std::vector<isa::Instruction> list;
    for (index = 0; index < words.size(); ++index) {
      const auto decoded = isa::decode(words[index]);
      if (!decoded) {
        problems.add("E0509", fmt::format("{} instruction {} does not decode: unknown opcode, "
                                          "unknown enum value or stray bits",
                                          place(), first + index));
        return;
      }
      list.push_back(*decoded);
    }
    for (index = 0; index < list.size(); ++index)
      std::visit([&](const auto &one) { checkFields(one); }, list[index]);
    if (!problems.empty())
      return;
    if (const auto error = analyseSequencer(list, info)) {
      index = error->instruction;
      bad(error->message);
      return;
    }
    if (routine.saves && !std::holds_alternative<isa::Halt>(list.back())) {
      index = list.size() - 1;
      bad("the save ends with restart, allowed: halt");
      return;
    }
    for (index = 0; index < list.size() && !problems.full(); ++index) {
      if (const auto *mm = std::get_if<isa::Mm>(&list[index]))
        checkAddresses(*mm);
      else if (const auto *vec = std::get_if<isa::Vec>(&list[index]))
        checkAddresses(*vec);
      else if (const auto *input = std::get_if<isa::Input>(&list[index]))
        checkAddresses(*input);
    }
  }

private:
  std::string place() const {
    return isHost ? std::string("host port") : fmt::format("core {}", core);
  }

  void bad(std::string_view field, uint64_t value, std::string_view allowed) {
    problems.add("E0509", fmt::format("{} instruction {}: {} is {}, allowed: {}", place(),
                                      first + index, field, value, allowed));
  }
  void bad(std::string_view what) {
    problems.add("E0509", fmt::format("{} instruction {}: {}", place(), first + index, what));
  }

  void checkFields(const isa::Restart &) {}
  void checkFields(const isa::Halt &) {}
  void checkFields(const isa::Loop &) {}
  void checkFields(const isa::Endloop &) {}
  void checkFields(const isa::Setreg &inst) { checkRegister(inst.index); }
  void checkFields(const isa::Addreg &inst) { checkRegister(inst.index); }

  void checkRegister(uint32_t number) {
    if (number == 0)
      bad("index", number, fmt::format("1 to {} (register 0 is always zero)", isa::kMostIndex));
  }

  void level(std::string_view field, uint32_t value) {
    if (value > kLoopDepth)
      bad(field, value, fmt::format("0 to {}", kLoopDepth));
  }

  /// Loops and wait, which every unit has.
  template <typename Inst> void checkCommon(const Inst &inst, bool hostUnit) {
    if (hostUnit != isHost)
      bad(hostUnit ? "input in a core, allowed: at the host port"
                   : "mm or vec at the host port, allowed: in a core");
    for (uint32_t n : inst.n)
      if (n == 0)
        bad("n", n, fmt::format("1 to {}", isa::kMostN));
    if (inst.waitEn && inst.waitCount == 0)
      bad("wait_count", 0, fmt::format("1 to {}", isa::kMostWaitCount));
    level("wait_level", inst.waitLevel);
    level("sig_level", inst.sigLevel);
  }

  void checkFields(const isa::Mm &inst) {
    checkCommon(inst, false);
    level("init_level", inst.initLevel);
    level("emit_level", inst.emitLevel);
    if (inst.sigEn && inst.sigUnits == 0)
      bad("sig_units", 0, "1 to 3 (a signal needs a bank)");
  }

  void checkFields(const isa::Vec &inst) {
    checkCommon(inst, false);
    level("reduce_level", inst.reduceLevel);
    const bool packet = inst.dstKind == isa::Dst::Net || inst.dstKind == isa::Dst::Signal;
    const uint32_t host = 1U << isa::kHostBit;
    if (packet)
      checkMask(inst.mask, host);
    const bool toCores = !packet || (inst.mask & ~host) != 0;
    if (inst.sigEn && toCores && inst.sigUnits == 0)
      bad("sig_units", 0, "1 to 3 (a signal needs a bank)");
    if (inst.sigEn && inst.reduce != isa::Reduce::None && inst.sigLevel > inst.reduceLevel)
      bad("sig_level", inst.sigLevel,
          fmt::format("0 to {} (reduce_level; other beats produce no result)", inst.reduceLevel));
    if (inst.alu1 == isa::Alu::Select)
      bad("select in alu1, allowed: in alu2");
    checkWide(inst);
    if (inst.tableEn && inst.tableId >= geometry.tables)
      bad("table_id", inst.tableId, fmt::format("0 to {}", geometry.tables - 1));
  }

  /// Rows b and c of an instruction with b_wide are one operand.
  void checkWide(const isa::Vec &inst) {
    if (!inst.bWide)
      return;
    if (!inst.bEn || !inst.cEn)
      bad(inst.bEn ? "c_en" : "b_en", 0, "1 (b_wide reads rows b and c)");
    if (inst.alu2 == isa::Alu::Select)
      bad("select needs separate operands b and c, but b_wide joins them");
    else if (inst.alu2 != isa::Alu::Pass && inst.rhs2 == isa::Rhs2::C)
      bad("rhs2 is c, but b_wide joins c to b");
  }

  void checkFields(const isa::Input &inst) {
    checkCommon(inst, true);
    if (!inst.skip)
      checkMask(inst.mask, 0);
  }

  void checkMask(uint32_t mask, uint32_t alsoAllowed) {
    const uint32_t allowed = ((1U << geometry.cores) - 1) | alsoAllowed;
    if (mask == 0 || (mask & ~allowed) != 0)
      bad("mask", mask,
          fmt::format("cores 0 to {}{}, at least one", geometry.cores - 1,
                      alsoAllowed ? " and the host (bit 8)" : ""));
  }

  /// The stream of one operand; registers are one more term.
  template <typename Inst, typename Strides>
  AddressStream stream(const Inst &inst, uint32_t base, const Strides &strides, uint32_t reg,
                       uint32_t ring, unsigned bits, Beats beats = Beats::All,
                       uint32_t level = 0) const {
    AddressStream result = addressesFrom(base, bits, ring);
    for (unsigned l = 0; l < kLoopDepth; ++l) {
      const uint64_t trips = inst.n[l];
      const bool fixed = beats != Beats::All && l >= level;
      if (!fixed)
        result.terms.push_back({strides[l], trips});
      else if (beats == Beats::LastAt)
        result.base += static_cast<int64_t>(trips - 1) * strides[l];
    }
    if (reg != 0) {
      const ValueSet &values = info.registers[index][reg];
      result.base += values.low;
      result.terms.push_back({values.step, values.count()});
    }
    return result;
  }

  void within(const AddressStream &stream, std::string_view field,
              const std::vector<AddressRange> &valid, std::string_view memory) {
    const auto address = firstOutside(stream, valid);
    if (!address)
      return;
    std::string ranges;
    for (const AddressRange &range : valid)
      if (range.last >= range.first)
        ranges += fmt::format("{}{} to {}", ranges.empty() ? "" : ", ", range.first, range.last);
    problems.add("E0510", fmt::format("{} instruction {}: {} reaches {} {}, allowed: {}", place(),
                                      first + index, field, memory, *address,
                                      ranges.empty() ? "none" : ranges));
  }

  /// A row of this core that an operand reads.
  void operand(const AddressStream &stream, std::string_view field) {
    within(stream, field, tensorRows, "tensor row");
    if (reach)
      addReached(stream, (*reach)[core].rows);
  }

  /// An inbox row of the cores of `mask`.
  void arrival(const AddressStream &stream, uint32_t mask) {
    within(stream, "dst", inboxRows, "inbox row");
    for (uint32_t to = 0; reach && to < geometry.cores; ++to)
      if ((mask >> to & 1) != 0)
        addReached(stream, (*reach)[to].arrived);
  }

  void checkAddresses(const isa::Mm &inst) {
    if (inst.skip)
      return;
    if (isa::multiplies(inst)) {
      operand(stream(inst, inst.x, inst.xStride, inst.xReg, inst.xRing, 16), "x");
      const AddressStream blocks = stream(inst, inst.w, inst.wStride, inst.wReg, 0, 16);
      within(blocks, "w", {{0, int64_t{geometry.weightBlocks} - 1}}, "weight block");
      if (reach)
        addReached(blocks, (*reach)[core].blocks);
    }
    within(stream(inst, inst.acc, inst.accStride, 0, 0, 8), "acc",
           {{0, int64_t{geometry.accumulators} - 1}}, "accumulator");
    const std::vector<AddressRange> preload{{0, int64_t{geometry.preloadRows} - 1}};
    if (inst.init == isa::Init::Preload)
      within(stream(inst, inst.p, inst.pStride, inst.pReg, 0, 12, Beats::FirstAt, inst.initLevel),
             "p", preload, "preload row");
    if (inst.emit == isa::Emit::Raw)
      within(stream(inst, inst.p, inst.pStride, inst.pReg, 0, 12, Beats::LastAt, inst.emitLevel),
             "p", preload, "preload row");
  }

  void checkAddresses(const isa::Vec &inst) {
    if (inst.aSrc == isa::Source::Ram)
      operand(stream(inst, inst.a, inst.aStride, inst.aReg, inst.aRing, 16), "a");
    if (inst.bEn)
      operand(stream(inst, inst.b, inst.bStride, inst.bReg, inst.bRing, 16), "b");
    if (inst.cEn)
      operand(stream(inst, inst.c, inst.cStride, inst.cReg, inst.cRing, 16), "c");
    const AddressStream dst =
        stream(inst, inst.dst, inst.dstStride, inst.dstReg, inst.dstRing, 18,
               inst.reduce == isa::Reduce::None ? Beats::All : Beats::LastAt, inst.reduceLevel);
    switch (inst.dstKind) {
    case isa::Dst::None:
    case isa::Dst::Signal:
      break;
    case isa::Dst::Local:
      within(dst, "dst", localRows, "local row");
      if (reach)
        addReached(dst, (*reach)[core].arrived);
      break;
    case isa::Dst::Wrow:
    case isa::Dst::Wcol:
      within(dst, "dst", {{0, int64_t{geometry.weightBlocks} * geometry.lanes - 1}},
             "weight row or column");
      if (reach)
        addReached(dst, (*reach)[core].weightRows);
      break;
    case isa::Dst::Net:
      if ((inst.mask >> isa::kHostBit & 1) != 0) {
        within(dst, "dst", routine.hostRows, "host output row");
        addReached(dst, routine.written);
      }
      if ((inst.mask & ((1U << isa::kHostBit) - 1)) != 0)
        arrival(dst, inst.mask);
      break;
    }
  }

  void checkAddresses(const isa::Input &inst) {
    if (inst.skip)
      return;
    arrival(stream(inst, inst.dst, inst.dstStride, inst.dstReg, inst.dstRing, 18), inst.mask);
    uint64_t rows = info.trips[index];
    for (uint32_t n : inst.n)
      if (__builtin_mul_overflow(rows, uint64_t{n}, &rows))
        rows = std::numeric_limits<uint64_t>::max();
    if (__builtin_add_overflow(routine.taken, rows, &routine.taken))
      routine.taken = std::numeric_limits<uint64_t>::max();
  }

  const Geometry &geometry;
  const uint32_t core;
  const bool isHost;
  const std::vector<InstructionWords> &all; ///< of the list
  std::span<const InstructionWords> words;  ///< of the routine
  uint32_t first = 0;                       ///< of `words` in `all`
  Routine &routine;
  ProblemList &problems;
  std::vector<CoreReach> *reach;
  std::vector<AddressRange> tensorRows, inboxRows, localRows;
  SequencerInfo info;
  size_t index = 0; ///< in `words`
};

/// Inferences: the rows of all outputs, adjacent ones as one range.
Routine inferences(const Program &program) {
  Routine routine;
  std::vector<AddressRange> all;
  for (const Model &model : program.models)
    for (const HostTensor &tensor : model.outputs)
      all.push_back({tensor.firstRow, int64_t{tensor.firstRow} + tensor.rows - 1});
  std::sort(all.begin(), all.end(),
            [](const AddressRange &a, const AddressRange &b) { return a.first < b.first; });
  for (const AddressRange &range : all) {
    if (!routine.hostRows.empty() && routine.hostRows.back().last + 1 == range.first)
      routine.hostRows.back().last = range.last;
    else
      routine.hostRows.push_back(range);
  }
  return routine;
}

Routine saving(const Program &program) {
  return {true, {{0, static_cast<int64_t>(stateRows(program.state)) - 1}}, {}, 0};
}

/// All lists of a routine.
void checkLists(const Program &program, Routine &routine, ProblemList &problems,
                std::vector<CoreReach> *reach = nullptr) {
  for (uint32_t core = 0; core <= program.geometry.cores; ++core)
    ListCheck(program, core, routine, problems, reach).run();
}

bool contains(const std::vector<uint64_t> &rows, uint32_t row) {
  return row / 64 < rows.size() && (rows[row / 64] >> (row % 64) & 1) != 0;
}

void add(std::vector<uint64_t> &set, uint32_t element) {
  set.resize(std::max<size_t>(set.size(), element / 64 + 1));
  set[element / 64] |= uint64_t{1} << (element % 64);
}

/// Rows from `first` to the last one of either set, among `count`.
uint64_t extent(const CoreReach &reach, uint32_t first, uint32_t count) {
  while (count > 0 && !contains(reach.rows, first + count - 1) &&
         !contains(reach.arrived, first + count - 1))
    --count;
  return count;
}

/// What the program that saves the state sends.
void checkSave(const Program &program, ProblemList &problems) {
  Routine save = saving(program);
  checkLists(program, save, problems);
  const auto rows = static_cast<uint32_t>(stateRows(program.state));
  for (uint32_t row = 0; row < rows && problems.empty(); ++row)
    if (!contains(save.written, row))
      problems.add("E0517", fmt::format("the save does not write state row {} of {}", row, rows));
  if (problems.empty() && save.taken != 0)
    problems.add("E0517",
                 fmt::format("the save reads {} rows from the host, allowed: 0", save.taken));
}

} // namespace

std::vector<MemoryReach> memoryReach(const Program &program) {
  const Geometry &geometry = program.geometry;
  std::vector<CoreReach> reach(geometry.cores);
  ProblemList none(1); // the program has passed the checks
  Routine routine = inferences(program);
  checkLists(program, routine, none, &reach);
  std::vector<MemoryReach> result;
  for (uint32_t core = 0; core < geometry.cores; ++core) {
    CoreReach &one = reach[core];
    for (const RowImage &image : program.cores[core].rows)
      addReached({image.address, {{1, image.lanes.size() / geometry.lanes}}, 16}, one.rows);
    for (const WeightImage &image : program.cores[core].weights)
      add(one.blocks, image.block);
    for (uint32_t row = 0; row < geometry.weightBlocks * geometry.lanes; ++row)
      if (contains(one.weightRows, row))
        add(one.blocks, row / geometry.lanes);
    uint64_t blocks = 0;
    for (const uint64_t word : one.blocks)
      blocks += static_cast<uint64_t>(std::popcount(word));
    result.push_back({blocks, extent(one, 0, geometry.inboxRows),
                      extent(one, isa::kLocalBase, geometry.localRows)});
  }
  return result;
}

void checkLists(const Program &program, ProblemList &problems) {
  Routine routine = inferences(program);
  checkLists(program, routine, problems);
  if (!program.state.save.empty() && problems.empty())
    checkSave(program, problems);
}

void checkInstructions(const Program &program, ProblemList &problems) {
  Routine routine = inferences(program);
  checkLists(program, routine, problems);
  if (!program.state.save.empty() && problems.empty())
    checkSave(program, problems);
  if (!problems.empty())
    return;
  const uint64_t taken = routine.taken;
  uint64_t offered = 0;
  for (const Model &model : program.models) {
    for (const HostTensor &tensor : model.inputs)
      offered += tensor.rows;
    for (const HostTensor &tensor : model.outputs)
      for (uint32_t row = tensor.firstRow; row < tensor.firstRow + tensor.rows; ++row)
        if (!contains(routine.written, row)) {
          problems.add("E0511",
                       fmt::format("output '{}' of model '{}': no instruction writes row {}",
                                   tensor.name, model.name, row));
          break;
        }
  }
  if (offered == 0 ? taken != 0 : (taken == 0 || taken % offered != 0))
    problems.add(
        "E0511",
        fmt::format(
            "the host port reads {} rows per pass, allowed: a multiple of the {} input rows", taken,
            offered));
}

} // namespace sluice::format
