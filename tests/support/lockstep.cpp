#include "tests/support/lockstep.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hw/isa/isa.h"
#include "runtime/format/state.h"
#include "tests/support/rng.h"

namespace sluice::fixtures {

namespace {

using device::Device;
using device::UnitCounters;
using device::UnitStatus;

/// Cycles without progress after which the host stops playing with its
/// handshakes, and after which a program that is complete (or not) is at rest.
constexpr unsigned kCalm = 60, kComplete = 60, kHung = 5000;

/// Cycles between two comparisons of the counters.
constexpr uint64_t kCounters = 500;

const char *blockName(UnitStatus::Block block) {
  switch (block) {
  case UnitStatus::Block::None:
    return "none";
  case UnitStatus::Block::Token:
    return "token";
  case UnitStatus::Block::ResultFifoEmpty:
    return "result FIFO empty";
  case UnitStatus::Block::ResultFifoFull:
    return "result FIFO full";
  case UnitStatus::Block::OutboxFull:
    return "outbox full";
  case UnitStatus::Block::PipelineBusy:
    return "pipeline busy";
  case UnitStatus::Block::HostInput:
    return "host input";
  case UnitStatus::Block::Idle:
    return "idle";
  }
  return "?";
}

std::string describe(const UnitStatus &status) {
  std::string text = fmt::format("{} of core {}: {}, instruction {}", status.unit, status.core,
                                 blockName(status.block), status.instruction);
  if (status.block == UnitStatus::Block::Token)
    text += fmt::format(", token {}: {} of {}", status.token, status.have, status.need);
  return text;
}

std::string describe(const UnitCounters &unit) {
  return fmt::format("unit {} of core {}: {}", static_cast<unsigned>(unit.unit), unit.core,
                     fmt::join(unit.cycles, " "));
}

std::string describe(const std::optional<device::OutputRow> &row) {
  return row ? fmt::format("row {}: {:04x}", row->address, fmt::join(row->lanes, " ")) : "no row";
}

bool same(const UnitStatus &a, const UnitStatus &b) {
  return a.unit == b.unit && a.core == b.core && a.block == b.block &&
         a.instruction == b.instruction && a.token == b.token && a.have == b.have &&
         a.need == b.need;
}

bool same(const std::optional<device::OutputRow> &a, const std::optional<device::OutputRow> &b) {
  return a.has_value() == b.has_value() &&
         (!a || (a->address == b->address && a->lanes == b->lanes));
}

class Lockstep {
public:
  Lockstep(const RandomProgram &random, Device &model, Device *other)
      : random(random), program(random.program), model(model), other(other),
        handshakes(random.seed ^ 0x5E7D) {}

  LockstepResult run() {
    result.instructions = program.hostInstructions.size();
    for (const format::CoreImage &core : program.cores)
      result.instructions += core.instructions.size();
    move();
    listPlaces();
    model.load(program);
    if (other)
      other->load(program);
    if (!entry.empty())
      restart();
    runToRest();
    if (handshakes.percent(30) && result.difference.empty()) {
      restart();
      runToRest();
    }
    result.counters = model.counters();
    if (!result.difference.empty())
      addListing();
    return std::move(result);
  }

private:
  /// Puts the lists behind others, which are not to be run.
  void move() {
    if (!handshakes.percent(40))
      return;
    const auto behind = [&](std::vector<isa::Words> &list, uint32_t capacity) {
      const auto free = static_cast<int64_t>(capacity - list.size());
      const auto others = static_cast<size_t>(handshakes.range(0, std::min<int64_t>(free, 6)));
      list.insert(list.begin(), others, *isa::encode(isa::Halt{}));
      entry.push_back(static_cast<uint32_t>(others));
    };
    for (format::CoreImage &core : program.cores)
      behind(core.instructions, program.geometry.instructions);
    behind(program.hostInstructions, program.geometry.hostInstructions);
  }

  /// All that has an image is state.
  void listPlaces() {
    using Memory = format::StatePlace::Memory;
    const uint32_t lanes = program.geometry.lanes;
    for (uint32_t core = 0; core < program.cores.size(); ++core) {
      for (const format::RowImage &image : program.cores[core].rows)
        program.state.places.push_back(
            {core, Memory::Rows, image.address, static_cast<uint32_t>(image.lanes.size() / lanes)});
      for (const format::PreloadImage &image : program.cores[core].preloads)
        program.state.places.push_back({core, Memory::Preloads, image.row, 1});
    }
  }

  void restart() {
    const std::vector<uint16_t> state =
        handshakes.percent(50) ? format::initialState(program) : std::vector<uint16_t>();
    const uint64_t mine = model.restart(entry, state);
    if (other && other->restart(entry, state) != mine)
      differ(0, "cycles of a restart");
    result.outputs.clear();
    quiet = 0;
    nextRow = 0;
    offered = false;
  }

  void runToRest() {
    compareStatus();
    while (result.difference.empty() && !atRest())
      step();
    if (result.difference.empty()) {
      compareCounters();
      compareMemories();
    }
    result.cycles += model.cycle();
  }

  void step() {
    const bool calm = quiet >= kCalm;
    // A row that was offered stays until it is taken.
    if (nextRow < random.inputRows.size() && !offered)
      offered = calm || handshakes.percent(random.validPercent);
    const bool ready = calm || handshakes.percent(random.readyPercent);
    const uint16_t *row = offered ? random.inputRows[nextRow].data() : nullptr;
    const uint64_t cycle = model.cycle();

    const Device::Cycle mine = model.step(row, ready);
    if (other) {
      const Device::Cycle theirs = other->step(row, ready);
      if (mine.inputTaken != theirs.inputTaken)
        differ(cycle, fmt::format("input taken: {} / {}", mine.inputTaken, theirs.inputTaken));
      if (!same(mine.output, theirs.output))
        differ(cycle,
               fmt::format("output:\n  {}\n  {}", describe(mine.output), describe(theirs.output)));
      if (mine.progress != theirs.progress)
        differ(cycle, fmt::format("progress: {} / {}", mine.progress, theirs.progress));
      if (model.tokenFault() != other->tokenFault())
        differ(cycle, fmt::format("token fault: {} / {}", model.tokenFault(), other->tokenFault()));
      compareStatus();
    }
    if (model.cycle() % kCounters == 0)
      compareCounters();
    if (model.tokenFault())
      differ(cycle, "a token overflows");
    quiet = mine.progress ? 0 : quiet + 1;
    if (mine.output)
      result.outputs.push_back(*mine.output);
    if (mine.inputTaken) {
      ++nextRow;
      offered = false;
    }
  }

  bool atRest() {
    if (quiet < kCalm + kComplete)
      return false;
    const bool complete =
        nextRow == random.inputRows.size() && result.outputs.size() == random.outputRows &&
        std::ranges::all_of(model.status(),
                            [&](const UnitStatus &status) { return mayRest(status); });
    if (!complete && quiet >= kHung)
      differ(model.cycle(),
             fmt::format("at rest with {} of {} rows taken in and {} of {} handed out", nextRow,
                         random.inputRows.size(), result.outputs.size(), random.outputRows));
    return complete;
  }

  /// Units end idle, or, in a program that restarts, at the next pass's gates, or waiting for
  /// what is behind them: products of constants are made before there is anything else to do.
  bool mayRest(const UnitStatus &status) const {
    return status.block == UnitStatus::Block::Idle ||
           (random.passes > 1 &&
            (status.block == UnitStatus::Block::Token ||
             status.block == UnitStatus::Block::HostInput ||
             (!random.gated && (status.block == UnitStatus::Block::ResultFifoEmpty ||
                                status.block == UnitStatus::Block::ResultFifoFull))));
  }

  void compareStatus() {
    if (!other)
      return;
    const std::vector<UnitStatus> mine = model.status(), theirs = other->status();
    if (mine.size() != theirs.size())
      differ(model.cycle(), fmt::format("units: {} / {}", mine.size(), theirs.size()));
    for (size_t i = 0; i < std::min(mine.size(), theirs.size()); ++i)
      if (!same(mine[i], theirs[i]))
        differ(model.cycle(),
               fmt::format("status:\n  {}\n  {}", describe(mine[i]), describe(theirs[i])));
  }

  /// Equal, and every unit's cycles are those that have been run.
  void compareCounters() {
    const std::vector<UnitCounters> mine = model.counters();
    for (const UnitCounters &unit : mine)
      if (unit.total() != model.cycle())
        differ(model.cycle(),
               fmt::format("counters add up to {}: {}", unit.total(), describe(unit)));
    if (!other)
      return;
    const std::vector<UnitCounters> theirs = other->counters();
    if (mine.size() != theirs.size())
      differ(model.cycle(), fmt::format("counters: {} / {} units", mine.size(), theirs.size()));
    for (size_t i = 0; i < std::min(mine.size(), theirs.size()); ++i)
      if (mine[i] != theirs[i])
        differ(model.cycle(),
               fmt::format("counters:\n  {}\n  {}", describe(mine[i]), describe(theirs[i])));
  }

  void compareMemories() {
    if (!other)
      return;
    const format::Geometry &geometry = program.geometry;
    for (uint32_t core = 0; core < geometry.cores; ++core) {
      const auto compare = [&](uint32_t first, uint32_t count) {
        for (uint32_t address = first; address < first + count; ++address) {
          const std::vector<uint16_t> mine = model.readRow(core, address);
          const std::vector<uint16_t> theirs = other->readRow(core, address);
          if (mine != theirs)
            differ(model.cycle(),
                   fmt::format("tensor row {} of core {}:\n  {:04x}\n  {:04x}", address, core,
                               fmt::join(mine, " "), fmt::join(theirs, " ")));
        }
      };
      compare(0, geometry.inboxRows);
      compare(isa::kLocalBase, geometry.localRows);
    }
  }

  void differ(uint64_t cycle, const std::string &what) {
    if (differences++ == 0)
      result.difference =
          fmt::format("seed {}, geometry {}, {}", random.seed, program.geometry.name,
                      other ? model.name() + " / " + other->name() : model.name());
    if (differences <= 8)
      result.difference += fmt::format("\ncycle {}: {}", cycle, what);
  }

  void addListing() {
    std::string &text = result.difference;
    text += "\nunits:";
    for (const UnitStatus &status : model.status())
      text += "\n  " + describe(status);
    const auto list = [&](const std::string &place, const auto &instructions) {
      text += "\n" + place;
      for (size_t i = 0; i < instructions.size(); ++i)
        text += fmt::format("\n  {:3} {}", i, isa::disassemble(instructions[i]));
    };
    for (size_t core = 0; core < program.cores.size(); ++core)
      list(fmt::format("core {}:", core), program.cores[core].instructions);
    list("host port:", program.hostInstructions);
  }

  const RandomProgram &random;
  format::Program program; ///< as it is run
  format::EntryPoint entry;
  Device &model;
  Device *other;
  Rng handshakes;
  LockstepResult result;
  unsigned differences = 0;
  unsigned quiet = 0; ///< cycles since the last progress
  size_t nextRow = 0;
  bool offered = false;
};

} // namespace

LockstepResult runLockstep(const RandomProgram &random, Device &model, Device *other) {
  return Lockstep(random, model, other).run();
}

} // namespace sluice::fixtures
