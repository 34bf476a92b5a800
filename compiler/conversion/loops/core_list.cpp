#include "compiler/conversion/loops/core_list.h"

#include <algorithm>
#include <utility>

#include "compiler/conversion/loops/roll_runs.h"
#include "compiler/conversion/plan/beats/pauses.h"
#include "compiler/conversion/plan/order/placement.h"

namespace sluice::loops {
namespace {

using plan::matrixPause;
using plan::vectorPause;

class CoreList {
public:
  CoreList(const rows::Program &program, const Map &map, const Choice &choice, const Links &links,
           uint32_t core)
      : program(program), map(map), choice(choice), links(links), core(core),
        takenInputs(program.inputs.size(), false), takenChunks(program.inputs.size(), 0) {
    if (usesRing())
      signalHost(kCreditTokens, links.ringGroups);
  }

  void addBody(uint32_t index, const Statements &statements) {
    body = index;
    const rows::Body &what = program.bodies[index];
    if (begins.empty() || what.run != run)
      begins.push_back(list.size());
    run = what.run;
    groups = groupsOf(program, what, choice);
    if (body >= links.early)
      takeChunks();
    barrier(what);
    waitForChunks(statements, [](const rows::Read &read) { return read.step == 0; }, 0);
    lastToCores = lastNet(statements.loop);
    for (const Statement &statement : statements.before)
      addStatement(statement, kNone, 0, 1);
    if (!statements.before.empty())
      joinUnits();
    const uint32_t full = groups.fullOf(core), rest = groups.restOf(core);
    const uint32_t first = groups.first(core, 0);
    const bool loop = inLoop(what);
    for (const Statement &statement : statements.begin)
      addStatement(statement, first, 0, statement.vector ? groups.size : 1);
    if (loop)
      for (size_t i = 0; i < statements.registers.size(); ++i)
        list.push_back(sequencer(isa::Setreg{static_cast<uint32_t>(i) + 1, 0}));
    addFullGroups(statements, full);
    if (rest != 0) {
      waitForChunks(statements, groups.first(core, full) + rest - 1);
      addGroups(statements, 1, rest, full);
    }
    pauseBehind(statements.loop, kFoldToken, statements.carried);
    for (const Statement &statement : statements.end)
      addStatement(statement, first, 0, 1);
    if (index == links.lastReading[core] && !endsWithRing(links, core)) {
      takeChunks();
      if (std::exchange(untold, false))
        awaitMatrix();
      signalHost(kDoneTokens, 1);
    }
  }

  /// Tells the host that everything up to here is done, if the core reads lines that it offers.
  void giveCredit() {
    for (uint32_t input = 0; input < program.inputs.size(); ++input)
      if (!map.portions[input].empty() && (links.inputReaders[input] >> core & 1) != 0)
        signalHost(kCreditTokens, 1);
  }

  List take() {
    if (!list.empty()) {
      begins.push_back(list.size());
      takeChunks();
      for (uint32_t input = 0; input < program.inputs.size(); ++input)
        takePortions(input, static_cast<uint32_t>(map.portions[input].size()));
      takeBodies(static_cast<uint32_t>(program.bodies.size()));
    }
    list.push_back(list.empty() ? sequencer(isa::Halt{}) : sequencer(isa::Restart{}));
    return rollRuns(std::move(list), begins);
  }

private:
  const rows::Program &program;
  const Map &map;
  const Choice &choice;
  const Links &links;
  const uint32_t core;
  List list;
  std::vector<size_t> begins; ///< of runs
  uint32_t run = 0;
  uint32_t body = 0;
  Groups groups;
  std::vector<bool> takenInputs;
  std::vector<uint32_t> takenChunks; ///< by input
  uint32_t takenBodies = 0;          ///< whose tokens are taken
  const Statement *lastToCores = nullptr;
  const Statement *credits = nullptr; ///< gives the host a credit with its last row
  std::optional<size_t> creditBehind; ///< else: behind this statement
  bool untold = false; ///< the matrix unit has taken chunks, and no result since has said so

  [[nodiscard]] bool usesRing() const {
    return links.ring && (links.inputReaders[*links.ring] >> core & 1) != 0;
  }

  /// The last statement whose rows go to cores.
  static const Statement *lastNet(const std::vector<Statement> &statements) {
    const Statement *last = nullptr;
    for (const Statement &statement : statements)
      if (statement.vector)
        if (const auto *vec = std::get_if<isa::Vec>(&statement.vector->instruction);
            vec->dstKind == isa::Dst::Net && vec->mask != plan::kHostMask)
          last = &statement;
    return last;
  }

  /// Waits on the path of the last of some statements, so that the pipeline need not empty.
  void pauseBehind(const std::vector<Statement> &statements, uint32_t token, uint32_t count) {
    isa::Vec like;
    for (const Statement &statement : statements)
      if (statement.vector)
        like = std::get<isa::Vec>(statement.vector->instruction);
    pause(list, isa::Unit::Vec, vectorPause(like), token, count);
  }

  /// Takes what earlier bodies on all cores have given, and inputs that are read as
  /// a whole.
  void barrier(const rows::Body &what) {
    for (const rows::Read &read : what.reads)
      if (const auto input = program.families[read.family].input;
          input && links.inputWhole[*input] && links.chunk[*input] == 0 &&
          map.portions[*input].empty() && !takenInputs[*input]) {
        takenInputs[*input] = true;
        both(kInputTokens + *input, 1);
      }
    // What the core's own vector unit left in the local rows.
    if (body != 0 && std::ranges::any_of(what.reads, [&](const rows::Read &read) {
          return map.families[read.family].local && program.families[read.family].constant.empty();
        }))
      joinUnits();
    takePortions(what);
    takeBodies(map.bodies[body].waits);
  }

  void both(uint32_t token, uint32_t count) {
    pause(list, isa::Unit::Mxu, matrixPause(), token, count);
    pause(list, isa::Unit::Vec, isa::Vec{}, token, count);
  }

  /// Waits until all cores have finished the bodies before one.
  void takeBodies(uint32_t end) {
    for (; takenBodies < end; ++takenBodies)
      if ((map.bodies[takenBodies].readers >> core & 1) != 0)
        for (uint32_t from = 0; from < program.geometry.cores; ++from)
          both(kCoreTokens + from, links.signals[takenBodies][from]);
  }

  /// Waits until so many portions of an input are there.
  void takePortions(uint32_t input, uint32_t count) {
    if (count <= takenChunks[input] || (links.inputReaders[input] >> core & 1) == 0)
      return;
    both(kInputTokens + input, count - takenChunks[input]);
    takenChunks[input] = count;
  }

  /// Those of inputs that a body reads.
  void takePortions(const rows::Body &what) {
    for (const rows::Read &read : what.reads) {
      const auto input = program.families[read.family].input;
      if (!input || map.portions[*input].empty())
        continue;
      uint32_t end = 0;
      for (uint32_t row = 0; row < read.places.size(); ++row)
        end = std::max({end, read.placeOf(row, 0) + 1, read.placeOf(row, what.trips - 1) + 1});
      const auto &portions = map.portions[*input];
      const auto last = std::ranges::lower_bound(portions, end, {}, &Portion::end);
      takePortions(*input, static_cast<uint32_t>(last - portions.begin()) + 1);
    }
  }

  /// Both units wait until the vector unit has finished what it has begun.
  void joinUnits() {
    isa::Vec give;
    give.dstKind = isa::Dst::None;
    give.sigEn = 1;
    give.sigToken = kLocalToken;
    give.sigUnits = plan::kMatrixBit | plan::kVectorBit;
    Emitted emitted;
    emitted.instruction = give;
    emitted.unit = isa::Unit::Vec;
    list.push_back(std::move(emitted));
    pause(list, isa::Unit::Mxu, matrixPause(), kLocalToken, 1);
    pause(list, isa::Unit::Vec, isa::Vec{}, kLocalToken, 1);
  }

  /// The vector unit waits until the matrix unit has come here.
  void awaitMatrix() {
    isa::Mm give = matrixPause();
    CoreList::give(give, kReadToken, plan::kVectorBit, 0);
    Emitted emitted;
    emitted.instruction = give;
    emitted.unit = isa::Unit::Mxu;
    list.push_back(std::move(emitted));
    pause(list, isa::Unit::Vec, isa::Vec{}, kReadToken, 1);
  }

  /// Whether a credit for every group goes to the host from this body.
  [[nodiscard]] bool givesCredits() const {
    if (!links.ring)
      return false;
    const rows::Body &what = program.bodies[body];
    return std::ranges::any_of(what.reads, [&](const rows::Read &read) {
      return program.families[read.family].input == links.ring;
    });
  }

  void placeCredits(const Statements &statements) {
    credits = nullptr;
    creditBehind.reset();
    if (!givesCredits())
      return;
    const size_t last = statements.lastInput.value_or(0);
    for (size_t i = last; i < statements.loop.size(); ++i)
      if (statements.loop[i].toHost) {
        credits = &statements.loop[i];
        return;
      }
    creditBehind = std::min(last, statements.loop.size() - 1);
  }

  // Chunks of inputs ---------------------------------------------------------------------------

  /// Chunks of an input that have to be there for trips up to one.
  template <typename Which>
  [[nodiscard]] uint32_t chunksFor(uint32_t input, Which which, uint32_t trip) const {
    uint32_t rows = 0;
    for (const rows::Read &read : program.bodies[body].reads)
      if (program.families[read.family].input == input && which(read))
        for (uint32_t row = 0; row < read.places.size(); ++row)
          rows = std::max(rows, read.placeOf(row, trip) + 1);
    return (rows + links.chunk[input] - 1) / links.chunk[input];
  }

  void takeChunks(const Statements *statements, uint32_t input, uint32_t count) {
    if ((links.wholeUnits[input] & plan::kMatrixBit) != 0) {
      pause(list, isa::Unit::Mxu, matrixPause(), kInputTokens + input, count);
      untold |= count != 0;
    }
    if ((links.wholeUnits[input] & plan::kVectorBit) == 0)
      return;
    if (statements)
      pauseBehind(statements->loop, kInputTokens + input, count);
    else
      pause(list, isa::Unit::Vec, isa::Vec{}, kInputTokens + input, count);
  }

  [[nodiscard]] std::vector<uint32_t> chunkedInputs() const {
    std::vector<uint32_t> inputs;
    for (uint32_t input = 0; input < program.inputs.size(); ++input)
      if (links.chunk[input] != 0 && (links.inputReaders[input] >> core & 1) != 0)
        inputs.push_back(input);
    return inputs;
  }

  /// Those that the body under way reads as they come.
  [[nodiscard]] std::vector<uint32_t> comingInputs() const {
    return body < links.early ? chunkedInputs() : std::vector<uint32_t>();
  }

  /// What is left of all inputs.
  void takeChunks() {
    for (const uint32_t input : chunkedInputs()) {
      const uint32_t all =
          (program.inputs[input].rows + links.chunk[input] - 1) / links.chunk[input];
      takeChunks(nullptr, input, all - takenChunks[input]);
      takenChunks[input] = all;
    }
  }

  template <typename Which>
  void waitForChunks(const Statements &statements, Which which, uint32_t trip) {
    for (const uint32_t input : comingInputs()) {
      const uint32_t needed = chunksFor(input, which, trip);
      if (needed <= takenChunks[input])
        continue;
      takeChunks(&statements, input, needed - takenChunks[input]);
      takenChunks[input] = needed;
    }
  }
  void waitForChunks(const Statements &statements, uint32_t trip) {
    waitForChunks(statements, [](const rows::Read &) { return true; }, trip);
  }

  /// Groups in a loop, every pass of which waits for equally many chunks; those before which that
  /// would be too many are outside of it.
  void addFullGroups(const Statements &statements, uint32_t count) {
    const auto any = [](const rows::Read &) { return true; };
    const auto lastTrip = [&](uint32_t group) {
      return groups.first(core, group) + groups.size - 1;
    };
    uint32_t next = 0;
    const auto each = [&](uint32_t input) { // from this group to the next
      return chunksFor(input, any, lastTrip(next + 1)) - chunksFor(input, any, lastTrip(next));
    };
    const auto tooFew = [&](uint32_t input) {
      return chunksFor(input, any, lastTrip(next)) < takenChunks[input] + each(input);
    };
    const std::vector<uint32_t> inputs = comingInputs();
    while (!inputs.empty() && next < count &&
           (next + 1 == count || std::ranges::any_of(inputs, tooFew))) {
      waitForChunks(statements, lastTrip(next));
      addGroups(statements, 1, groups.size, next++);
    }
    if (next == count)
      return;
    perPass.assign(program.inputs.size(), 0);
    for (const uint32_t input : inputs) {
      const uint32_t first = chunksFor(input, any, lastTrip(next)) - takenChunks[input];
      perPass[input] = each(input);
      takeChunks(&statements, input, first - perPass[input]);
      takenChunks[input] += first + (count - next - 1) * perPass[input];
    }
    addGroups(statements, count - next, groups.size, next);
    perPass.clear();
  }
  std::vector<uint32_t> perPass; ///< by input, chunks that every pass of a loop waits for

  void addGroups(const Statements &statements, uint32_t count, uint32_t size, uint32_t before) {
    placeCredits(statements);
    for (; count != 0; count -= std::min(count, rows::kMostTrips)) {
      const uint32_t passes = std::min(count, rows::kMostTrips);
      if (passes > 1)
        list.push_back(sequencer(isa::Loop{passes}));
      for (const uint32_t input : statements.takenByBoth) {
        both(kInputTokens + input, links.byGroup[input] ? 1 : size);
      }
      for (uint32_t input = 0; input < perPass.size(); ++input)
        takeChunks(&statements, input, perPass[input]);
      for (size_t i = 0; i < statements.loop.size(); ++i) {
        addStatement(statements.loop[i], groups.first(core, before), groups.cores * groups.size,
                     size);
        if (statements.sums && i + 1 == statements.loop.size())
          pauseBehind(statements.loop, kReadToken, 1);
        if (creditBehind == i)
          signalHost(kCreditTokens, 1);
      }
      if (passes > 1 || before + passes < groups.groupsOf(core))
        for (size_t i = 0; i < statements.registers.size(); ++i)
          list.push_back(
              sequencer(isa::Addreg{static_cast<uint32_t>(i) + 1, statements.registers[i]}));
      if (passes > 1)
        list.push_back(sequencer(isa::Endloop{}));
      before += passes;
    }
  }

  void add(const isa::Instruction &instruction, isa::Unit unit, const Piece &piece,
           uint32_t position, uint32_t step, uint32_t positions) {
    Emitted emitted;
    emitted.instruction = instruction;
    emitted.unit = unit;
    emitted.body = body;
    emitted.origins = piece.origins;
    emitted.nodes = piece.nodes;
    emitted.position = position;
    emitted.step = step;
    emitted.positions = positions;
    list.push_back(std::move(emitted));
  }

  /// A group of one position has its loops all to itself.
  template <typename Unit> void setPositions(Unit &instruction, uint32_t positions) const {
    if (groups.size != 1)
      instruction.n[0] = positions;
  }
  /// Of waits and signals for every position.
  [[nodiscard]] uint32_t positionLevel() const { return groups.size == 1 ? 0 : 1; }

  /// One wait rides on the instruction, position by position; others are taken before.
  template <typename Unit>
  void addWaits(const Waits &waits, isa::Unit kind, const Unit &form, Unit &instruction,
                uint32_t positions) {
    std::vector<uint32_t> tokens;
    if (waits.local)
      tokens.push_back(kLocalToken);
    for (uint32_t input : waits.inputs)
      if (links.byGroup[input])
        pause(list, kind, form, kInputTokens + input, 1);
      else
        tokens.push_back(kInputTokens + input);
    if (waits.blocks)
      pause(list, kind, form, kBlockToken, 1);
    if (waits.fold)
      pause(list, kind, form, kFoldToken, 1);
    for (size_t i = 1; i < tokens.size(); ++i)
      pause(list, kind, form, tokens[i], positions);
    if (!tokens.empty()) {
      instruction.waitEn = 1;
      instruction.waitToken = tokens.front();
      instruction.waitCount = 1;
      instruction.waitLevel = positionLevel();
    }
  }

  void addStatement(const Statement &statement, uint32_t position, uint32_t step,
                    uint32_t positions) {
    for (size_t i = 0; i < statement.matrix.size(); ++i) {
      auto mm = std::get<isa::Mm>(statement.matrix[i].instruction);
      setPositions(mm, positions);
      if (i == 0)
        addWaits(statement.matrixWaits, isa::Unit::Mxu, matrixPause(), mm, positions);
      if (statement.announcesReads && i + 1 == statement.matrix.size())
        give(mm, kReadToken, plan::kVectorBit, 0);
      add(mm, isa::Unit::Mxu, statement.matrix[i], position, step, positions);
    }
    if (!statement.vector)
      return;
    untold &= statement.matrix.empty();
    auto vec = std::get<isa::Vec>(statement.vector->instruction);
    setPositions(vec, positions);
    addWaits(statement.vectorWaits, isa::Unit::Vec, vectorPause(vec), vec, positions);
    if (statement.announcesBlocks) {
      give(vec, kBlockToken, plan::kMatrixBit, 0);
    } else if (statement.announcesFold) {
      give(vec, kFoldToken, plan::kVectorBit, 0);
    } else if (statement.localUnits != 0) {
      give(vec, kLocalToken, statement.localUnits, positionLevel());
    } else if (&statement == credits) {
      give(vec, kCreditTokens + core, 0, 0);
    } else if (&statement == lastToCores) {
      give(vec, kCoreTokens + core, plan::kMatrixBit | plan::kVectorBit, 0);
    }
    add(vec, isa::Unit::Vec, *statement.vector, position, step, positions);
  }

  template <typename Unit>
  static void give(Unit &vec, uint32_t token, uint32_t units, uint32_t level) {
    vec.sigEn = 1;
    vec.sigToken = token;
    vec.sigUnits = units;
    vec.sigLevel = level;
  }

  void signalHost(uint32_t tokens, uint32_t count) {
    isa::Vec signal;
    signal.n[3] = count;
    signal.dstKind = isa::Dst::Signal;
    signal.mask = plan::kHostMask;
    give(signal, tokens + core, 0, isa::kLoopDepth);
    Emitted emitted;
    emitted.instruction = signal;
    emitted.unit = isa::Unit::Vec;
    list.push_back(std::move(emitted));
  }
};

} // namespace

List coreList(const rows::Program &program, const Map &map, const Choice &choice,
              const Links &links, const std::vector<std::vector<Statements>> &statements,
              uint32_t core) {
  CoreList list(program, map, choice, links, core);
  for (uint32_t b = 0; b < program.bodies.size(); ++b) {
    if ((coresOf(program, program.bodies[b], choice) >> core & 1) != 0)
      list.addBody(b, statements[b][core]);
    if (map.bodies[b].credits)
      list.giveCredit();
  }
  return list.take();
}

} // namespace sluice::loops
