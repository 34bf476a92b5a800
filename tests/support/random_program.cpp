#include "tests/support/random_program.h"

#include <algorithm>

#include "runtime/format/address_set.h"
#include "tests/support/random_memory.h"
#include "tests/support/random_stream.h"
#include "tests/support/random_tokens.h"
#include "tests/support/random_values.h"

namespace sluice::fixtures {

namespace {

constexpr int64_t kHostWindow = 16, kHostRows = int64_t{1} << 18;
/// The first of the scratch registers; the ones below belong to loops.
constexpr uint32_t kScratchRegister = 5;
/// In a program that restarts it moves from pass to pass, for ever: only rings can use it.
constexpr uint32_t kPassRegister = isa::kSeqRegs - 1;
constexpr int64_t kForEver = int64_t{1} << 18;

class Generator {
public:
  Generator(uint64_t seed, const format::Geometry &geometry)
      : rng(seed), geometry(geometry), tokens(rng, geometry.cores), code(geometry.cores + 1),
        registers(geometry.cores + 1), passRegisters(geometry.cores + 1) {
    out.seed = seed;
    out.program.geometry = geometry;
  }

  RandomProgram run() {
    for (uint32_t core = 0; core < geometry.cores; ++core)
      out.program.cores.push_back(randomMemories(rng, geometry));
    out.validPercent = rng.pick({100U, 100U, 60U, 15U});
    out.readyPercent = rng.pick({100U, 100U, 60U, 10U});
    const bool restarts = rng.percent(30);
    if (restarts) {
      out.passes = static_cast<unsigned>(rng.range(2, 3));
      tokens.openLoop(out.passes);
      makeGates();
      for (std::vector<RegisterState> &states : passRegisters)
        states.push_back({kPassRegister, 0, randomRegisterValue(), kForEver});
    } else {
      for (std::vector<RegisterState> &states : registers) // zero after reset
        for (uint32_t reg = kScratchRegister; reg < isa::kSeqRegs; ++reg)
          states.push_back({reg, 0, 0, 1});
    }
    for (uint32_t core = 0; core < geometry.cores; ++core)
      if (rng.percent(50))
        clearAccumulators(core);
    makeBody((uint32_t{2} << geometry.cores) - 1, 0, rng.range(6, 28));
    reportRows(static_cast<uint32_t>(rng.range(0, geometry.cores - 1)));
    if (restarts) {
      tokens.closeLoop();
      for (uint32_t place = 0; place <= geometry.cores; ++place)
        for (const RegisterState &state : passRegisters[place])
          append(place, isa::Addreg{state.index, static_cast<int32_t>(state.delta)});
    }

    for (std::vector<isa::Words> &list : code)
      list.push_back(*isa::encode(restarts ? isa::Instruction{isa::Restart{}}
                                           : isa::Instruction{isa::Halt{}}));
    for (uint32_t core = 0; core < geometry.cores; ++core)
      out.program.cores[core].instructions = code[core];
    out.program.hostInstructions = code[geometry.cores];
    out.program.models.push_back(
        describeModel(geometry, static_cast<uint32_t>(inputRowsPerPass), hostRows));
    for (int64_t row = 0; row < inputRowsPerPass * out.passes; ++row)
      out.inputRows.push_back(randomRow(rng, geometry.lanes));
    return std::move(out);
  }

private:
  // Instructions -----------------------------------------------------------------

  bool isHost(uint32_t place) const { return place == geometry.cores; }

  void append(uint32_t place, const isa::Instruction &inst) {
    code[place].push_back(isa::encode(inst).value());
  }
  /// Room for an instruction and for what closes the loops.
  bool hasRoom(uint32_t place) const {
    const uint32_t capacity = isHost(place) ? geometry.hostInstructions : geometry.instructions;
    return code[place].size() + 3 * isa::kSeqLoops + 4 < capacity;
  }

  /// Where a program restarts, every unit of a core first waits for the host's
  /// first row of the pass, by a token nothing else gives: so the machine rests
  /// when the rows have run out.
  void makeGates() {
    isa::Input input;
    input.mask = (1U << geometry.cores) - 1;
    setStream(randomStream(rng, input.n, {0, kTensorWindow - 1}, 18, {}), input.dst,
              input.dstStride);
    input.sigEn = 1;
    input.sigToken = tokens.reserve();
    input.sigUnits = 3;
    append(geometry.cores, input);
    ++inputRowsPerPass;
    for (uint32_t core = 0; core < geometry.cores; ++core) {
      isa::Mm mm;
      mm.skip = 1;
      isa::Vec vec;
      mm.waitEn = vec.waitEn = 1;
      mm.waitToken = vec.waitToken = input.sigToken;
      mm.waitCount = vec.waitCount = 1;
      append(core, mm);
      append(core, vec);
    }
  }

  /// Accumulators are zero after reset, and here once more.
  void clearAccumulators(uint32_t core) {
    isa::Mm mm;
    mm.n[3] = geometry.accumulators;
    mm.accStride[3] = 1;
    mm.init = isa::Init::Zero;
    mm.initLevel = isa::kLoopDepth;
    append(core, mm);
  }

  /// `members`: the places (cores and, above them, the host) that run this body.
  void makeBody(uint32_t members, unsigned depth, int64_t size) {
    for (; size > 0; --size) {
      uint32_t place = 0;
      do
        place = static_cast<uint32_t>(rng.range(0, geometry.cores));
      while (!(members >> place & 1));
      if (depth < isa::kSeqLoops && rng.percent(12))
        makeLoop(members, depth);
      else if (hasRoom(place))
        makeSomething(place);
    }
  }

  void makeLoop(uint32_t members, unsigned depth) {
    uint32_t inside = members & static_cast<uint32_t>(rng.next());
    if (inside == 0)
      inside = members;
    for (uint32_t place = 0; place <= geometry.cores; ++place)
      if ((inside >> place & 1) && !hasRoom(place))
        return;
    const auto trips = static_cast<uint32_t>(rng.range(1, 4));
    const uint32_t reg = depth + 1;
    std::vector<uint32_t> moves(geometry.cores + 1); // places whose register moves
    std::vector<int64_t> deltas(geometry.cores + 1);
    for (uint32_t place = 0; place <= geometry.cores; ++place) {
      if (!(inside >> place & 1))
        continue;
      dropRegisters(place, reg);
      if (rng.percent(60)) {
        const RegisterState state{reg, randomRegisterValue(), rng.range(-2, 3), trips};
        append(place, isa::Setreg{reg, static_cast<int32_t>(state.value)});
        registers[place].push_back(state);
        moves[place] = 1;
        deltas[place] = state.delta;
      }
      append(place, isa::Loop{trips});
    }
    tokens.openLoop(trips);
    makeBody(inside, depth + 1, rng.range(1, 5));
    tokens.closeLoop();
    for (uint32_t place = 0; place <= geometry.cores; ++place) {
      if (!(inside >> place & 1))
        continue;
      if (moves[place])
        append(place, isa::Addreg{reg, static_cast<int32_t>(deltas[place])});
      dropRegisters(place, reg);
      append(place, isa::Endloop{});
    }
  }

  /// Forgets the scratch registers and the loop registers from `reg` on.
  void dropRegisters(uint32_t place, uint32_t reg) {
    std::erase_if(registers[place], [&](const RegisterState &state) { return state.index >= reg; });
  }

  int64_t randomRegisterValue() {
    return rng.percent(70) ? rng.range(-20, 20) : rng.range(-(1 << 17), (1 << 17) - 1);
  }

  void makeSomething(uint32_t place) {
    const int64_t kind = rng.range(0, 99);
    if (kind >= 90)
      setScratch(place);
    else if (isHost(place))
      makeInput();
    else if (kind < 15)
      makeSilentMatrix(place);
    else if (kind < 60)
      makeMatrixAndVector(place);
    else
      appendVector(place, randomTrips(rng, beatLimit()),
                   rng.percent(85) ? isa::Source::Ram : isa::Source::None, true);
  }

  uint32_t beatLimit() { return rng.percent(90) ? 12 : 70; }

  void setScratch(uint32_t place) {
    const auto reg = static_cast<uint32_t>(rng.range(kScratchRegister, kPassRegister - 1));
    std::erase_if(registers[place], [&](const RegisterState &state) { return state.index == reg; });
    int64_t value = randomRegisterValue();
    append(place, isa::Setreg{reg, static_cast<int32_t>(value)});
    if (rng.percent(30)) {
      const int64_t more = rng.range(-1000, 1000);
      append(place, isa::Addreg{reg, static_cast<int32_t>(more)});
      value += more;
    }
    registers[place].push_back({reg, value, 0, 1});
  }

  // Operands ---------------------------------------------------------------------

  template <class Strides>
  static void setStream(const Stream &stream, uint32_t &base, Strides &strides) {
    base = stream.base;
    strides = stream.stride;
  }
  template <class Strides>
  static void setStream(const Stream &stream, uint32_t &base, Strides &strides, uint32_t &reg) {
    setStream(stream, base, strides);
    reg = stream.reg;
  }
  template <class Strides>
  static void setStream(const Stream &stream, uint32_t &base, Strides &strides, uint32_t &reg,
                        uint32_t &ring) {
    setStream(stream, base, strides, reg);
    ring = stream.ring;
  }

  /// A stream inside the window, or of a ring there or anywhere in the memory.
  Stream anyStream(uint32_t place, const Trips &trips, Window window, Window memory,
                   unsigned bits) {
    if (rng.percent(75))
      return randomStream(rng, trips, window, bits, registers[place]);
    return randomRing(rng, trips, rng.percent(60) ? window : memory, bits, ringRegisters(place));
  }
  /// Registers whose values are known, or a multiple of something.
  std::vector<RegisterState> ringRegisters(uint32_t place) const {
    std::vector<RegisterState> all = registers[place];
    all.insert(all.end(), passRegisters[place].begin(), passRegisters[place].end());
    return all;
  }

  Window inbox() const { return {0, int64_t{geometry.inboxRows} - 1}; }
  Window localRows() const {
    return {isa::kLocalBase, int64_t{isa::kLocalBase} + geometry.localRows - 1};
  }

  /// Rows to read: inbox or local, or by turns.
  Stream tensorStream(uint32_t core, const Trips &trips) {
    const bool local = rng.percent(50);
    const int64_t first = local ? isa::kLocalBase : 0;
    const auto loop = static_cast<size_t>(rng.range(0, isa::kLoopDepth - 1));
    if (trips[loop] > 1 && rng.percent(10)) {
      Trips others = trips;
      others[loop] = 1;
      Stream stream =
          randomStream(rng, others, {first, first + kTensorWindow - 1}, 16, registers[core]);
      stream.stride[loop] = -static_cast<int32_t>(isa::kLocalBase);
      return stream;
    }
    return anyStream(
        core, trips,
        windowOf(rng, first, kTensorWindow, local ? geometry.localRows : geometry.inboxRows),
        local ? localRows() : inbox(), 16);
  }

  void setMatrixOperands(uint32_t core, isa::Mm &mm) {
    setStream(tensorStream(core, mm.n), mm.x, mm.xStride, mm.xReg, mm.xRing);
    setStream(randomStream(rng, mm.n, windowOf(rng, 0, kBlockWindow, geometry.weightBlocks), 16,
                           registers[core]),
              mm.w, mm.wStride, mm.wReg);
    setStream(randomStream(rng, mm.n, windowOf(rng, 0, kAccWindow, geometry.accumulators), 8, {}),
              mm.acc, mm.accStride);
    setStream(randomStream(rng, mm.n, windowOf(rng, 0, kPreloadWindow, geometry.preloadRows), 12,
                           registers[core]),
              mm.p, mm.pStride, mm.pReg);
    mm.init = rng.pick({isa::Init::Zero, isa::Init::Zero, isa::Init::Preload, isa::Init::Keep});
    mm.initLevel = static_cast<uint32_t>(rng.range(0, isa::kLoopDepth));
  }

  // Matrix unit ------------------------------------------------------------------

  void makeSilentMatrix(uint32_t core) {
    isa::Mm mm;
    mm.n = randomTrips(rng, beatLimit());
    setMatrixOperands(core, mm);
    mm.skip = rng.percent(25);
    mm.emit = rng.percent(60) ? isa::Emit::Raw : isa::Emit::None;
    mm.emitLevel = static_cast<uint32_t>(rng.range(0, isa::kLoopDepth));
    if (rng.percent(30)) { // beat after beat through the same preload rows
      mm.init = isa::Init::Preload;
      mm.emit = isa::Emit::Raw;
      mm.initLevel = mm.emitLevel = isa::kLoopDepth;
    }
    tokens.chooseWait(matrixUnit(core), mm);
    tokens.chooseSignal(1U << core, isa::kLoopDepth, mm);
    append(core, mm);
  }

  /// Instructions that make results, then instructions that take all of them.
  /// Either they all fit in the result FIFO, or one of each follow each other
  /// and the second waits for nothing else.
  void makeMatrixAndVector(uint32_t core) {
    const bool large = rng.percent(12);
    uint32_t results = 0;
    for (int64_t count = large ? 1 : rng.range(1, 3); count > 0; --count) {
      isa::Mm mm;
      mm.n = randomTrips(rng, large ? 80 : 16);
      setMatrixOperands(core, mm);
      mm.emit = rng.pick({isa::Emit::Fp32, isa::Emit::Fp32, isa::Emit::Bf16, isa::Emit::Bf16,
                          isa::Emit::Low, isa::Emit::High});
      mm.emitLevel = static_cast<uint32_t>(rng.range(0, isa::kLoopDepth));
      const uint32_t made = beatsAt(mm.n, mm.emitLevel);
      if (!large && results + made > isa::kResultFifoDepth)
        break;
      results += made;
      tokens.chooseWait(matrixUnit(core), mm);
      tokens.chooseSignal(1U << core, isa::kLoopDepth, mm);
      append(core, mm);
    }
    while (results > 0) {
      if (rng.percent(20))
        appendVector(core, randomTrips(rng, 6), isa::Source::Peek, !large);
      const uint32_t beats =
          large || rng.percent(60) ? results : static_cast<uint32_t>(rng.range(1, results));
      appendVector(core, randomTripsOf(rng, beats), isa::Source::Mxu, !large);
      results -= beats;
    }
  }

  // Vector unit ------------------------------------------------------------------

  void appendVector(uint32_t core, const Trips &trips, isa::Source source, bool mayWait) {
    isa::Vec vec;
    vec.n = trips;
    vec.aSrc = source;
    setStream(tensorStream(core, trips), vec.a, vec.aStride, vec.aReg, vec.aRing);
    setStream(tensorStream(core, trips), vec.b, vec.bStride, vec.bReg, vec.bRing);
    setStream(tensorStream(core, trips), vec.c, vec.cStride, vec.cReg, vec.cRing);
    vec.bWide = rng.percent(20);
    vec.bEn = vec.bWide || rng.percent(60);
    vec.cEn = vec.bWide || rng.percent(60);
    vec.bBcast = rng.percent(20);
    vec.cBcast = rng.percent(20);
    chooseOperation(core, vec);
    if (mayWait)
      tokens.chooseWait(vectorUnit(core), vec);
    chooseDestination(core, vec);
    append(core, vec);
  }

  void chooseOperation(uint32_t core, isa::Vec &vec) {
    const auto alu = [&](isa::Alu last) {
      return rng.percent(40) ? isa::Alu::Pass
                             : static_cast<isa::Alu>(rng.range(1, static_cast<int64_t>(last)));
    };
    vec.alu1 = alu(isa::Alu::Gt);
    vec.rhs1 = static_cast<isa::Rhs1>(rng.range(0, 2));
    vec.imm1 = randomImmediate(rng);
    vec.tableEn = rng.percent(25);
    const std::vector<format::TableImage> &tables = out.program.cores[core].tables;
    vec.tableId = !tables.empty() && rng.percent(80)
                      ? tables[0].table
                      : static_cast<uint32_t>(rng.range(0, geometry.tables - 1));
    vec.reduce = rng.percent(20)
                     ? rng.pick({isa::Reduce::Max, isa::Reduce::Sum, isa::Reduce::Argmax})
                     : isa::Reduce::None;
    vec.reduceLevel = static_cast<uint32_t>(rng.range(0, isa::kLoopDepth));
    vec.alu2 = alu(vec.bWide ? isa::Alu::Gt : isa::Alu::Select);
    do
      vec.rhs2 = static_cast<isa::Rhs2>(rng.range(0, 3));
    while (vec.bWide && vec.rhs2 == isa::Rhs2::C);
    vec.imm2 = randomImmediate(rng);
    vec.post = rng.percent(25) ? isa::Post::Relu : isa::Post::None;
    vec.part = rng.pick({isa::Part::Bf16, isa::Part::Bf16, isa::Part::Bf16, isa::Part::Bf16,
                         isa::Part::High, isa::Part::Low});
  }

  void chooseDestination(uint32_t core, isa::Vec &vec) {
    using isa::Dst;
    vec.dstKind =
        rng.pick({Dst::None, Dst::Local, Dst::Local, Dst::Local, Dst::Local, Dst::Net, Dst::Net,
                  Dst::Net, Dst::Net, Dst::Signal, Dst::Wrow, Dst::Wrow, Dst::Wcol, Dst::Wcol});
    const bool reduces = vec.reduce != isa::Reduce::None;
    Window window{0, kTensorWindow - 1}, memory = inbox();
    if (vec.dstKind == Dst::Local) {
      memory = localRows();
      window = windowOf(rng, isa::kLocalBase, kTensorWindow, geometry.localRows);
    } else if (vec.dstKind == Dst::Wrow || vec.dstKind == Dst::Wcol) {
      memory = {0, int64_t{geometry.weightBlocks} * geometry.lanes - 1};
      window = windowOf(rng, 0, kBlockWindow * geometry.lanes, memory.high + 1);
    }
    const uint32_t hostMask = 1U << isa::kHostBit, coreMask = (1U << geometry.cores) - 1;
    uint32_t reached = 1U << core; // whose tokens it may give
    if (vec.dstKind == Dst::Net || vec.dstKind == Dst::Signal) {
      do
        vec.mask =
            static_cast<uint32_t>(rng.next()) & (coreMask | (rng.percent(50) ? hostMask : 0));
      while (vec.mask == 0);
      reached = vec.mask;
      if (vec.mask == hostMask)
        window = windowOf(rng, 0, kHostWindow, kHostRows);
      else
        window =
            windowOf(rng, 0, vec.mask & hostMask ? kHostWindow : kTensorWindow, geometry.inboxRows);
      if (vec.mask & hostMask) // few rows for the host
        memory = window;
    }
    const Stream stream = anyStream(core, vec.n, window, memory, 18);
    setStream(stream, vec.dst, vec.dstStride, vec.dstReg, vec.dstRing);
    if (vec.dstKind == Dst::Net && (vec.mask & hostMask))
      noteHostRows(core, stream, vec.n, reduces ? vec.reduceLevel : isa::kLoopDepth);
    tokens.chooseSignal(reached, reduces ? vec.reduceLevel : isa::kLoopDepth, vec);
  }

  /// The rows of the host that a stream reaches on its beats last at `level`.
  void noteHostRows(uint32_t core, const Stream &stream, const Trips &trips, uint32_t level) {
    format::AddressStream all = format::addressesFrom(stream.base, 18, stream.ring);
    for (unsigned l = 0; l < isa::kLoopDepth; ++l) {
      if (l < level)
        all.terms.push_back({stream.stride[l], trips[l]});
      else
        all.base += int64_t{stream.stride[l]} * (trips[l] - 1);
    }
    for (const RegisterState &reg : ringRegisters(core))
      if (stream.reg != 0 && reg.index == stream.reg) {
        all.base += reg.value;
        all.terms.push_back({reg.delta, static_cast<uint64_t>(reg.trips)});
      }
    format::addReached(all, hostRows);
    out.outputRows += static_cast<uint64_t>(beatsAt(trips, level) * tokens.repetitions());
  }

  /// Every program hands something out.
  void reportRows(uint32_t core) {
    isa::Vec vec;
    vec.n[3] = 4;
    vec.aSrc = isa::Source::Ram;
    setStream(tensorStream(core, vec.n), vec.a, vec.aStride, vec.aReg, vec.aRing);
    vec.dstKind = isa::Dst::Net;
    vec.mask = 1U << isa::kHostBit;
    const Stream stream{0, {0, 0, 0, 1}, 0, 0};
    setStream(stream, vec.dst, vec.dstStride);
    noteHostRows(core, stream, vec.n, isa::kLoopDepth);
    append(core, vec);
  }

  // Host port --------------------------------------------------------------------

  void makeInput() {
    isa::Input input;
    input.n = randomTrips(rng, 8);
    input.skip = rng.percent(10);
    input.mask = static_cast<uint32_t>(rng.range(1, (1 << geometry.cores) - 1));
    setStream(anyStream(geometry.cores, input.n,
                        windowOf(rng, 0, kTensorWindow, geometry.inboxRows), inbox(), 18),
              input.dst, input.dstStride, input.dstReg, input.dstRing);
    tokens.chooseWait(hostUnit(geometry.cores), input);
    if (!input.skip) {
      tokens.chooseSignal(input.mask, isa::kLoopDepth, input);
      inputRowsPerPass += beatsAt(input.n, isa::kLoopDepth) * tokens.repetitions() / out.passes;
    }
    append(geometry.cores, input);
  }

  RandomProgram out;
  Rng rng;
  format::Geometry geometry;
  RandomTokens tokens;
  std::vector<std::vector<isa::Words>> code; ///< per core, then the host port
  /// Per place: those whose values are known, and the one that moves with the passes.
  std::vector<std::vector<RegisterState>> registers, passRegisters;
  std::vector<uint64_t> hostRows; ///< written, one bit each
  int64_t inputRowsPerPass = 0;
};

} // namespace

RandomProgram makeRandomProgram(uint64_t seed, const format::Geometry &geometry) {
  return Generator(seed, geometry).run();
}

isa::Stages randomStages(uint64_t seed) {
  Rng rng(seed);
  isa::Stages stages;
  for (const isa::StageInfo &stage : isa::kStages)
    stages.*stage.value = static_cast<uint32_t>(rng.range(stage.least, stage.most));
  return stages;
}

} // namespace sluice::fixtures
