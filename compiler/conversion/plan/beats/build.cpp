#include "compiler/conversion/plan/beats/build.h"

#include "compiler/conversion/plan/beats/announcements.h"
#include "compiler/conversion/plan/beats/pauses.h"
#include "compiler/conversion/plan/beats/step_form.h"
#include "compiler/conversion/row_graph.h"
#include "hw/numerics/latency.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace sluice::plan {
namespace {

class Builder {
public:
  Builder(const Graph &graph, const Work &work, const Placement &placement, const Order &order,
          const TokenLayout &tokens, const Entry &entry)
      : graph(graph), work(work), placement(placement), order(order), tokens(tokens), entry(entry),
        cores(static_cast<uint32_t>(placement.cores.size())),
        announced(graph, work, placement, order, tokens, entry) {
    result.doneToken = tokens.done;
    for (RowId row = 0; row < graph.rows.size(); ++row)
      if (graph.rows[row].start != kNoRow)
        begunWith[graph.rows[row].start] = row;
    blockAddress.resize(cores);
    result.matrix.resize(cores);
    result.vector.resize(cores);
    result.weights.resize(cores);
  }

  MachineBeats run() {
    for (uint32_t core = 0; core < cores; ++core) {
      matrixBeats(core);
      vectorBeats(core);
    }
    hostBeats();
    return std::move(result);
  }

private:
  const Graph &graph;
  const Work &work;
  const Placement &placement;
  const Order &order;
  const TokenLayout &tokens;
  const Entry entry;
  const uint32_t cores;
  Announcements announced;
  std::vector<std::unordered_map<uint32_t, uint32_t>> blockAddress; ///< by core: of graph blocks
  std::unordered_map<RowId, RowId> begunWith; ///< by sum ahead, the row that begins with it
  MachineBeats result;

  /// Needs no waiting for.
  bool constant(RowId row) const {
    return row == kNoRow || graph.rows[row].kind == RowKind::Constant ||
           graph.rows[row].kind == RowKind::State;
  }

  bool isWide(RowId row) const { return row != kNoRow && graph.rows[row].wide; }

  std::vector<Wait> take(Bank &bank, uint64_t time) const {
    if (tokens.takeArrived)
      bank.needArrived(time);
    return bank.take();
  }

  int32_t address(uint32_t core, RowId row) const {
    return row == kNoRow ? 0 : static_cast<int32_t>(addressAt(placement, core, row));
  }

  /// Appends `beat` behind beats of form `pause` for all waits but the last.
  static void append(UnitBeats &unit, Beat beat, const BeatOrigin &origin,
                     const std::vector<Wait> &waits, const isa::Instruction &pause) {
    for (size_t i = 0; i + 1 < waits.size(); ++i)
      appendPause(unit, waits[i], pause, origin.time);
    if (!waits.empty())
      beat.wait = waits.back();
    unit.beats.push_back(beat);
    unit.origins.push_back(origin);
  }

  static void appendPause(UnitBeats &unit, const Wait &wait, const isa::Instruction &pause,
                          uint64_t time) {
    Beat beat;
    beat.form = unit.formOf(pause);
    // A reduction of nothing ends at once.
    const auto *vec = std::get_if<isa::Vec>(&pause);
    beat.last = vec && vec->reduce != isa::Reduce::None;
    beat.wait = wait;
    unit.beats.push_back(beat);
    BeatOrigin origin;
    origin.time = time;
    unit.origins.push_back(origin);
  }

  /// The result is rounded once: to bf16 where the vector unit would do
  /// nothing else before it rounds, else to fp32.
  static isa::Emit emitOf(const Row &row) {
    const rows::VectorStep &step = row.step;
    const bool first =
        !row.wide && step.alu1 == isa::Alu::Pass &&
        (step.table || (step.reduce == isa::Reduce::None && step.alu2 == isa::Alu::Pass));
    return first ? isa::Emit::Bf16 : isa::Emit::Fp32;
  }

  void matrixBeats(uint32_t core) {
    UnitBeats &unit = result.matrix[core];
    const CoreMemory &memory = placement.cores[core];
    Bank &bank = announced.ofMatrixUnit(core);
    const auto weight = [&](uint32_t block) {
      const auto [entry, added] =
          blockAddress[core].try_emplace(block, static_cast<uint32_t>(result.weights[core].size()));
      if (added)
        result.weights[core].push_back(block);
      return static_cast<int32_t>(entry->second);
    };
    bool segmentHasInit = false;
    RowId previous = kNoRow;
    for (const MatrixItem &item : order.matrix[core]) {
      const Row &what = graph.rows[item.row];
      isa::Mm form;
      form.emit = what.ahead ? isa::Emit::Raw : emitOf(what);
      Beat beat;
      BeatOrigin origin;
      origin.row = item.row;
      origin.time = item.time;
      if (item.term != kNone) {
        const rows::Term &term = work[item.row].terms[item.term];
        origin.read[0] = term.x;
        origin.block = term.block;
        beat.address[0] = address(core, term.x);
        if (!constant(term.x))
          bank.need(term.x);
        if (graph.dynamic.contains(term.block))
          bank.need(announced.blockNumber(term.block));
      } else {
        origin.block = blockOfZeros(graph, item.row);
        beat.address[0] = static_cast<int32_t>(memory.zeroRow);
      }
      if (item.first && work[item.row].gate != kNoRow)
        bank.need(work[item.row].gate);
      // Rows that become weights often go to cores that do not need them: the last
      // result says that their tokens are taken, before the host gives those of the
      // next inference.
      if (!graph.dynamic.empty() && &item == &order.matrix[core].back())
        bank.needAll(tokens.host, tokens.hosts);
      beat.address[1] = weight(origin.block);
      beat.address[2] = static_cast<int32_t>(item.acc);
      const uint32_t preload = memory.preloadRow[item.row];
      // The preload address matters on first beats only; it stays put while
      // the same row goes on, so that the beats roll into one instruction.
      segmentHasInit = item.first || (segmentHasInit && previous == item.row);
      previous = item.row;
      if (item.last && what.ahead)
        beat.address[3] = static_cast<int32_t>(memory.preloadRow[begunWith.at(item.row)]);
      else if (segmentHasInit && preload != kNone)
        beat.address[3] = static_cast<int32_t>(preload);
      if (item.first)
        beat.init = preload != kNone ? isa::Init::Preload : isa::Init::Zero;
      beat.last = item.last;
      beat.form = unit.formOf(form);
      append(unit, beat, origin, take(bank, item.time), matrixPause());
    }
    const uint64_t end = unit.origins.empty() ? 0 : unit.origins.back().time + 1;
    for (const Wait &wait : bank.drain())
      appendPause(unit, wait, matrixPause(), end);
    if (!announced.sumsAhead(core))
      return;
    // The next inference begins far enough behind the sums that it begins with. Then the vector
    // unit may let it in.
    for (unsigned i = 1; i < isa::kPreloadDistance; ++i)
      appendPause(unit, {}, matrixPause(), end);
    unit.beats.back().signal = {true, tokens.ahead, kVectorBit};
  }

  isa::Vec vectorForm(uint32_t core, RowId row) const {
    const Row &what = graph.rows[row];
    const rows::VectorStep &step = what.step;
    const RowPlace &place = placement.rows[row];
    isa::Vec form = stepForm(what);
    // A row that is not rounded is two: its lower halves come where operand c does.
    form.bWide |= isWide(what.b);
    form.cEn |= form.bWide;
    if (step.table) {
      const std::vector<uint32_t> &slots = placement.cores[core].tables;
      form.tableId =
          static_cast<uint32_t>(std::find(slots.begin(), slots.end(), *step.table) - slots.begin());
    }
    form.dstKind = place.weights ? intoBlock(place.weights->first)
                   : place.net   ? isa::Dst::Net
                                 : isa::Dst::Local;
    if (place.net)
      form.mask = place.readers() | (work[row].output ? kHostMask : 0);
    return form;
  }

  isa::Dst intoBlock(uint32_t block) const {
    return graph.dynamic.at(block).columns ? isa::Dst::Wcol : isa::Dst::Wrow;
  }

  void vectorBeats(uint32_t core) {
    UnitBeats &unit = result.vector[core];
    Bank &bank = announced.ofVectorUnit(core);
    const std::vector<VectorItem> &items = order.vector[core];
    if (items.empty())
      return;
    ++result.busyCores;
    size_t lastRead = items.size(); // rows until the next inference may enter
    while (lastRead > 0 && items[lastRead - 1].stage > entry.release)
      --lastRead;
    if (lastRead == 0)
      lastRead = items.size();
    for (size_t i = 0; i < items.size(); ++i) {
      const bool last = announced.completesBlock(core, i);
      if (items[i].block == kNoBlock || placement.rows[items[i].row].weights)
        vectorRow(core, items[i], last, unit, bank);
      else
        copyToBlock(core, items[i], last, unit, bank);
      if (i + 1 == lastRead && lastRead != items.size())
        appendDone(unit, unit.origins.back().time, true);
    }
    const uint64_t end = unit.origins.back().time + 1;
    if (entry.beforeSums) {
      if (lastRead == items.size())
        letIn(unit, end);
      tellReaders(core, unit, bank, end);
    }
    const std::vector<Wait> rest = bank.drain();
    for (const Wait &wait : rest)
      appendPause(unit, wait, isa::Vec{}, end);
    if (lastRead == items.size() && !entry.beforeSums)
      letIn(unit, end);
  }

  /// Lets the next inference in behind a core's last beat. The core has read everything once its
  /// last row is on its way: the signal rides on that packet where it goes to the host alone. Where
  /// it goes to cores too the host port waits for the packet anyway.
  void letIn(UnitBeats &unit, uint64_t end) {
    const auto &lastForm = std::get<isa::Vec>(unit.forms[unit.beats.back().form]);
    const bool toHost = lastForm.dstKind == isa::Dst::Net && (lastForm.mask & kHostMask) != 0;
    if (toHost && unit.beats.back().signal.on)
      --result.busyCores;
    else if (toHost)
      unit.beats.back().signal = {true, tokens.done, 0};
    else
      appendDone(unit, end, false);
  }

  /// Tells the other cores once a core's sums ahead are done: they may write what those read.
  void tellReaders(uint32_t core, UnitBeats &unit, Bank &bank, uint64_t end) {
    if (!announced.sumsAhead(core))
      return;
    bank.need(announced.sumsAheadNumber());
    isa::Vec form;
    form.dstKind = isa::Dst::Signal;
    form.mask = announced.askers(core);
    Beat beat;
    beat.form = unit.formOf(form);
    beat.signal = {true, tokens.ofCore(core, 0), kVectorBit};
    BeatOrigin origin;
    origin.time = end;
    if (form.mask != 0)
      append(unit, beat, origin, bank.take(), isa::Vec{});
  }

  /// Tells the host port that this core lets the next inference in; amid other
  /// rows, on the path of the beat before, so that the pipeline need not empty.
  void appendDone(UnitBeats &unit, uint64_t time, bool amid) {
    isa::Vec done;
    const auto &before = std::get<isa::Vec>(unit.forms[unit.beats.back().form]);
    if (amid && before.reduce == isa::Reduce::None)
      done = vectorPause(before);
    done.dstKind = isa::Dst::Signal;
    done.mask = kHostMask;
    Beat beat;
    beat.form = unit.formOf(done);
    beat.signal = {true, tokens.done, 0};
    BeatOrigin origin;
    origin.time = time;
    append(unit, beat, origin, {}, isa::Vec{});
  }

  /// A row passes into a weight block.
  void copyToBlock(uint32_t core, const VectorItem &item, bool last, UnitBeats &unit, Bank &bank) {
    isa::Vec form;
    form.aSrc = isa::Source::Ram;
    form.dstKind = intoBlock(item.block);
    bank.need(item.row);
    Beat beat;
    beat.form = unit.formOf(form);
    beat.address[0] = address(core, item.row);
    beat.address[3] = destination(core, item);
    if (last)
      beat.signal = announced.blockSignal();
    BeatOrigin origin;
    origin.row = item.row;
    origin.read[0] = item.row;
    origin.block = item.block;
    origin.time = item.time;
    append(unit, beat, origin, take(bank, item.time), vectorPause(form));
  }

  int32_t destination(uint32_t core, const VectorItem &item) const {
    const RowPlace &place = placement.rows[item.row];
    if (item.block != kNoBlock)
      return static_cast<int32_t>(blockAddress[core].at(item.block) * graph.geometry.lanes +
                                  item.index);
    return static_cast<int32_t>(place.net ? place.inbox
                                          : placement.cores[core].localAddress[item.row]);
  }

  /// `completes`: the row is the last of a weight block.
  void vectorRow(uint32_t core, const VectorItem &item, bool completes, UnitBeats &unit,
                 Bank &bank) {
    const Row &what = graph.rows[item.row];
    isa::Vec form = vectorForm(core, item.row);
    // All operands are there before the first beat: a reduction is one
    // instruction without waits inside.
    for (RowId operand : what.a)
      if (!constant(operand))
        bank.need(operand);
    for (RowId operand : {what.b, what.c})
      if (!constant(operand))
        bank.need(operand);
    if (what.kind == RowKind::Vector && work[item.row].gate != kNoRow)
      bank.need(work[item.row].gate);
    const RowPlace &place = placement.rows[item.row];
    if (!place.net && !place.weights && (place.units() & kVectorBit) != 0)
      bank.announceOwn(item.row);
    const size_t beats = what.wide ? 2 : std::max<size_t>(what.a.size(), 1);
    for (size_t i = 0; i < beats; ++i) {
      const bool last = i + 1 == beats;
      if (what.wide) {
        form.aSrc = last ? isa::Source::Mxu : isa::Source::Peek;
        form.part = last ? isa::Part::Low : isa::Part::High;
      }
      Beat beat;
      beat.form = unit.formOf(form);
      BeatOrigin origin;
      origin.row = item.row;
      origin.time = item.time + i;
      origin.read[0] = what.a.empty() ? kNoRow : what.a[i];
      origin.read[1] = what.b;
      origin.read[2] = isWide(what.b) ? what.b : what.c;
      for (unsigned s = 0; s < 3; ++s)
        beat.address[s] = address(core, origin.read[s]);
      if (isWide(what.b))
        ++beat.address[2];
      beat.address[3] = destination(core, item);
      if (what.wide && last)
        ++beat.address[3];
      beat.last = last && what.step.reduce != isa::Reduce::None;
      if (last)
        beat.signal = completes ? announced.blockSignal() : announced.signalOf(item.row);
      append(unit, beat, origin, take(bank, item.time), vectorPause(form));
    }
  }

  void hostBeats() {
    UnitBeats &unit = result.host;
    for (RowId row : work.stages[0]) {
      const RowPlace &place = placement.rows[row];
      isa::Input form;
      // A row nobody reads goes where nobody looks.
      form.mask = place.readers() != 0 ? place.readers() : 1;
      Beat beat;
      beat.form = unit.formOf(form);
      beat.address[0] = static_cast<int32_t>(place.inbox);
      beat.signal = announced.signalOf(row);
      BeatOrigin origin;
      origin.row = row;
      origin.time = unit.beats.size();
      append(unit, beat, origin, {}, form);
    }
    // The next inference enters when every core lets it in.
    isa::Input pause;
    pause.skip = 1;
    for (const Wait &wait : announced.ofHost().drain())
      appendPause(unit, wait, pause, unit.beats.size());
    if (result.busyCores != 0)
      appendPause(unit, {tokens.done, result.busyCores}, pause, unit.beats.size());
  }
};

} // namespace

MachineBeats buildBeats(const Graph &graph, const Work &work, const Placement &placement,
                        const Order &order, const TokenLayout &tokens, const Entry &entry) {
  return Builder(graph, work, placement, order, tokens, entry).run();
}

} // namespace sluice::plan
