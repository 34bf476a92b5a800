#include "compiler/conversion/loops/statement.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/conversion/loops/streams.h"
#include "compiler/conversion/loops/waits.h"
#include "compiler/conversion/plan/beats/roll.h"
#include "compiler/conversion/plan/beats/step_form.h"
#include "compiler/conversion/plan/order/placement.h"

namespace sluice::loops {
namespace {

using plan::Beat;
using plan::BeatOrigin;
using rows::kNoRow;
using rows::Row;
using rows::RowId;
using rows::RowKind;

constexpr size_t kFirstLook = 16; // rows that a statement may have, to begin with

class Maker {
public:
  Maker(const rows::Program &program, const Map &map, const Choice &choice, uint32_t index,
        uint32_t core)
      : program(program), map(map), body(program.bodies[index]), mine(map.bodies[index]),
        trip(body.trip), index(index), groups(groupsOf(program, body, choice)), group(groups.size),
        streams(program, map, choice, index, core) {
    findSums();
  }

  std::optional<Statements> run() {
    for (size_t stage = 1; stage < mine.work.stages.size() && !failed; ++stage)
      addStage(mine.work.stages[stage]);
    addEnds();
    if (failed || result.registers.size() >= isa::kSeqRegs)
      return std::nullopt;
    setWaits(program, map, index, result);
    return std::move(result);
  }

private:
  const rows::Program &program;
  const Map &map;
  const rows::Body &body;
  const BodyMap &mine;
  const rows::Graph &trip;
  const uint32_t index;
  const Groups groups;
  const uint32_t group;
  const TripStreams streams;
  Statements result;
  bool failed = false;
  std::set<uint32_t> writtenBlocks;
  /// Rows that are sums over all positions, and rows of what rounding leaves of those.
  std::vector<RowId> sums, rests;
  std::map<RowId, uint32_t> accumulators; ///< of both
  enum class Part { Begin, Trip, End };
  Part part = Part::Trip; ///< of a fold that beats are put down for

  void findSums() {
    for (size_t port = 0; port < body.writes.size(); ++port)
      if (body.writes[port].fold == rows::Fold::Sum) {
        const std::vector<RowId> &rows = trip.outputs[port].rows;
        const auto half = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
        sums.insert(sums.end(), rows.begin(), half);
        rests.insert(rests.end(), half, rows.end());
      }
    // Behind those that positions of a group have.
    failed = sums.size() + group > program.geometry.accumulators;
    for (size_t i = 0; i < sums.size(); ++i)
      accumulators[sums[i]] = accumulators[rests[i]] =
          static_cast<uint32_t>(program.geometry.accumulators - sums.size() + i);
  }

  [[nodiscard]] bool isSum(RowId row) const { return accumulators.contains(row); }
  /// Whether a row is made of the one that the group before has left in its place.
  [[nodiscard]] bool isCarried(RowId row) const {
    return streams.port(row).output && mine.firsts[streams.port(row).port] != kNone;
  }

  /// Register that holds what an address advances with the groups, if there are several.
  uint32_t registerOf(int32_t perGroup) {
    if (perGroup == 0 || groups.full() + (groups.rest() != 0) <= groups.cores)
      return 0;
    const auto found = std::ranges::find(result.registers, perGroup);
    if (found != result.registers.end())
      return static_cast<uint32_t>(found - result.registers.begin()) + 1;
    result.registers.push_back(perGroup);
    return static_cast<uint32_t>(result.registers.size());
  }

  // Beats -------------------------------------------------------------------------------------

  static isa::Emit emitOf(const Row &row) {
    const rows::VectorStep &step = row.step;
    const bool first =
        step.alu1 == isa::Alu::Pass &&
        (step.table || (step.reduce == isa::Reduce::None && step.alu2 == isa::Alu::Pass));
    return first ? isa::Emit::Bf16 : isa::Emit::Fp32;
  }

  void addProducts(plan::UnitBeats &unit, RowId row, bool byPosition) {
    const Row &what = trip.rows[row];
    const std::vector<rows::Term> &terms = mine.work[row].terms;
    const bool sum = isSum(row);
    const bool zeros = terms.empty() || (sum && part != Part::Trip);
    const size_t count = zeros ? 1 : terms.size();
    for (size_t i = 0; i < count; ++i) {
      isa::Mm form;
      form.emit = emitOf(what);
      Beat beat;
      BeatOrigin origin;
      origin.row = row;
      Stream x{mine.constants[row] + isa::kLocalBase, 0, 0, 0};
      if (!zeros) {
        origin.read[0] = terms[i].x;
        origin.block = terms[i].block;
        x = streams.read(terms[i].x);
      } else {
        origin.block = what.terms[0].block;
      }
      form.xStride[0] = x.perPosition;
      form.xReg = registerOf(x.perGroup);
      form.xRing = x.ring;
      form.x = x.region;
      beat.address[0] = static_cast<int32_t>(x.base);
      beat.address[1] = static_cast<int32_t>(map.blocks[mine.blocks[origin.block]].address);
      if (byPosition)
        form.accStride[0] = 1;
      if (mine.preloads[row] != kNone)
        beat.address[3] = static_cast<int32_t>(mine.preloads[row]);
      if (sum)
        beat.address[2] = static_cast<int32_t>(accumulators.at(row));
      if (i == 0 && (!sum || part == Part::Begin))
        beat.init = mine.preloads[row] != kNone ? isa::Init::Preload : isa::Init::Zero;
      beat.last = i + 1 == count && (!sum || part == Part::End);
      beat.form = unit.formOf(form);
      unit.beats.push_back(beat);
      unit.origins.push_back(origin);
    }
  }

  [[nodiscard]] uint32_t maskOf(const PortRow &port) const {
    return body.writes[port.port].family ? mine.readers : plan::kHostMask;
  }

  void addStep(plan::UnitBeats &unit, RowId row) {
    const Row &what = trip.rows[row];
    const rows::VectorStep &step = what.step;
    const PortRow &port = streams.port(row);
    const bool leaves = port.output && !(body.writes[port.port].family &&
                                         map.families[*body.writes[port.port].family].local);
    const size_t count = std::max<size_t>(what.a.size(), 1);
    for (size_t i = 0; i < count; ++i) {
      isa::Vec form = plan::stepForm(what);
      Beat beat;
      BeatOrigin origin;
      origin.row = row;
      if (step.table)
        form.tableId = mine.tables[*step.table];
      form.dstKind = leaves ? isa::Dst::Net : isa::Dst::Local;
      if (leaves)
        form.mask = maskOf(port);
      const auto put = [&](RowId operand, unsigned at, uint32_t &region, int32_t &stride,
                           uint32_t &reg, uint32_t &ring) {
        if (operand == kNoRow)
          return;
        const Stream stream = streams.read(operand);
        origin.read[at] = operand;
        beat.address[at] = static_cast<int32_t>(stream.base);
        stride = stream.perPosition;
        reg = registerOf(stream.perGroup);
        ring = stream.ring;
        region = stream.region;
      };
      put(what.a.empty() ? kNoRow : what.a[i], 0, form.a, form.aStride[0], form.aReg, form.aRing);
      put(what.b, 1, form.b, form.bStride[0], form.bReg, form.bRing);
      put(what.c, 2, form.c, form.cStride[0], form.cReg, form.cRing);
      const Stream to = streams.write(row);
      beat.address[3] = static_cast<int32_t>(to.base);
      form.dstStride[0] = to.perPosition;
      form.dstReg = registerOf(to.perGroup);
      form.dstRing = to.ring;
      form.dst = to.region;
      beat.last = i + 1 == count && step.reduce != isa::Reduce::None;
      beat.form = unit.formOf(form);
      unit.beats.push_back(beat);
      unit.origins.push_back(origin);
    }
  }

  /// What a row that is made of itself begins with.
  void addFirst(plan::UnitBeats &unit, RowId row) {
    isa::Vec form;
    form.aSrc = isa::Source::Ram;
    form.dstKind = isa::Dst::Local;
    const Stream to = streams.write(row);
    form.dstStride[0] = to.perPosition;
    Beat beat;
    beat.address[0] = static_cast<int32_t>(mine.firsts[streams.port(row).port] + isa::kLocalBase);
    beat.address[3] = static_cast<int32_t>(to.base);
    beat.form = unit.formOf(form);
    BeatOrigin origin;
    origin.row = trip.rows[row].b;
    unit.beats.push_back(beat);
    unit.origins.push_back(origin);
  }

  // Statements --------------------------------------------------------------------------------

  /// Loops that a statement has for one position: one is left to the positions of a group.
  [[nodiscard]] uint32_t ownLoops() const {
    return group == 1 ? isa::kLoopDepth : isa::kLoopDepth - 1;
  }

  /// The beats of one position as pieces.
  std::optional<std::vector<Piece>> pieces(const plan::UnitBeats &unit) const {
    const auto rolled = plan::roll(unit, ownLoops());
    if (!rolled)
      return std::nullopt;
    std::vector<Piece> result;
    for (const plan::Rolled &one : *rolled) {
      Piece piece{one.instruction, {}, {}};
      wrapRings(piece.instruction, unit.forms[unit.beats[one.firstBeat].form]);
      piece.origins.assign(unit.origins.begin() + one.firstBeat,
                           unit.origins.begin() + one.firstBeat + one.beats);
      std::set<uint32_t> nodes;
      for (const BeatOrigin &origin : piece.origins)
        if (origin.row != kNoRow)
          nodes.insert(trip.rows[origin.row].nodes.begin(), trip.rows[origin.row].nodes.end());
      piece.nodes.assign(nodes.begin(), nodes.end());
      result.push_back(std::move(piece));
    }
    return result;
  }

  /// Rows from `first` on whose beats are one piece. It looks at no more rows than show that: one
  /// more repetition of a piece is no longer than the piece, so beats behind its double change
  /// nothing.
  template <typename Add>
  size_t longest(const std::vector<RowId> &stage, size_t first, size_t most, Add add) const {
    plan::UnitBeats unit;
    std::vector<size_t> ends;
    for (size_t look = kFirstLook;; look *= 2) {
      while (ends.size() < std::min(look, most)) {
        add(unit, stage[first + ends.size()]);
        ends.push_back(unit.beats.size());
      }
      const auto rolled = plan::rollFrom(unit, 0, ownLoops());
      if (ends.size() < most && (!rolled || 2 * rolled->beats > unit.beats.size()))
        continue;
      return rolled
                 ? static_cast<size_t>(std::ranges::upper_bound(ends, rolled->beats) - ends.begin())
                 : 0;
    }
  }

  /// As many rows of a stage as one statement makes.
  size_t rowsOfStatement(const std::vector<RowId> &stage, size_t first) {
    const Row &what = trip.rows[stage[first]];
    const auto kindOf = [&](RowId row) {
      return std::tuple(trip.rows[row].kind, mine.varies[row], isSum(row), isCarried(row));
    };
    size_t most = 1;
    while (first + most < stage.size() && kindOf(stage[first + most]) == kindOf(stage[first]))
      ++most;
    const auto step = [&](plan::UnitBeats &unit, RowId row) { addStep(unit, row); };
    const auto products = [&](plan::UnitBeats &unit, RowId row) { addProducts(unit, row, false); };
    for (size_t count = most;;) {
      size_t fits = count;
      if (makesRows(stage[first]))
        fits = std::max<size_t>(longest(stage, first, count, step), 1);
      if (what.kind == RowKind::Linear)
        fits = std::min(fits, std::max<size_t>(longest(stage, first, fits, products), 1));
      if (fits >= count)
        return count;
      count = fits;
    }
  }

  /// Whether the beats of the part under way leave rows; those that only add up do not.
  [[nodiscard]] bool makesRows(RowId row) const { return !isSum(row) || part == Part::End; }

  /// What rounding leaves of sums is of no stage.
  void addStage(std::vector<RowId> stage) {
    std::erase_if(stage, [&](RowId row) { return std::ranges::find(rests, row) != rests.end(); });
    addStatements(byBlocks(std::move(stage)));
  }

  /// Sums of the same products one behind the other, as far as one statement can make them: those
  /// of all positions of a line.
  [[nodiscard]] std::vector<RowId> byBlocks(std::vector<RowId> stage) const {
    std::map<std::vector<uint32_t>, size_t> first; // by the addresses of a sum's blocks
    std::map<RowId, size_t> place;
    for (size_t i = 0; i < stage.size(); ++i) {
      if (trip.rows[stage[i]].kind != RowKind::Linear)
        return stage;
      std::vector<uint32_t> blocks{mine.preloads[stage[i]]};
      for (const rows::Term &term : mine.work[stage[i]].terms)
        blocks.push_back(map.blocks[mine.blocks[term.block]].address);
      place[stage[i]] = first.try_emplace(std::move(blocks), i).first->second;
    }
    std::ranges::sort(stage, std::ranges::less(),
                      [&](RowId row) { return std::pair(place.at(row), row); });
    return stage;
  }

  void addStatements(const std::vector<RowId> &stage) {
    for (size_t first = 0; first < stage.size() && !failed;) {
      const size_t count = rowsOfStatement(stage, first);
      addStatement({stage.begin() + first, stage.begin() + first + count});
      first += count;
    }
  }

  void addStatement(const std::vector<RowId> &members) {
    const Row &what = trip.rows[members.front()];
    std::vector<Statement> &into = part == Part::End                               ? result.end
                                   : mine.varies[members.front()] || !inLoop(body) ? result.loop
                                                                                   : result.before;
    Statement statement;
    if (what.kind == RowKind::Linear) {
      writeBlocks(members, inLoop(body) ? result.before : result.loop);
      for (const bool byPosition : {false, true}) {
        if (byPosition && (isSum(members.front()) || group == 1))
          break; // has accumulators of its own, or one position after the other
        plan::UnitBeats unit;
        for (RowId row : members)
          addProducts(unit, row, byPosition);
        auto made = pieces(unit);
        if (!made)
          return fail();
        statement.matrix = std::move(*made);
        if (statement.matrix.size() == 1)
          break;
      }
    }
    if (!makesRows(members.front())) {
      into.push_back(std::move(statement));
      return begin(members);
    }
    if (isCarried(members.front())) {
      statement.vectorWaits.fold = statement.announcesFold = true;
      ++result.carried;
      begin(members);
    }
    plan::UnitBeats unit;
    for (RowId row : members)
      addStep(unit, row);
    auto made = pieces(unit);
    if (!made || made->size() != 1)
      return fail();
    statement.vector = std::move(made->front());
    const auto &vec = std::get<isa::Vec>(statement.vector->instruction);
    statement.toHost = vec.dstKind == isa::Dst::Net && vec.mask == plan::kHostMask;
    into.push_back(std::move(statement));
  }

  /// What comes before the first position of rows that are folded.
  void begin(const std::vector<RowId> &members) {
    part = Part::Begin;
    plan::UnitBeats unit;
    for (RowId row : members)
      if (isSum(row))
        addProducts(unit, row, false);
      else
        addFirst(unit, row);
    part = Part::Trip;
    auto made = pieces(unit);
    if (!made || (made->size() != 1 && !isSum(members.front())))
      return fail();
    Statement statement;
    if (isSum(members.front())) {
      statement.matrix = std::move(*made);
    } else {
      statement.vector = std::move(made->front());
      statement.announcesFold = true;
    }
    result.begin.push_back(std::move(statement));
  }

  /// Sums leave the accumulators twice, for they keep their content.
  void addEnds() {
    part = Part::End;
    addStatements(sums);
    addStatements(rests);
    part = Part::Trip;
  }

  void fail() { failed = true; }

  /// Copies rows into the blocks that some rows multiply by, where that is not done.
  void writeBlocks(const std::vector<RowId> &members, std::vector<Statement> &into) {
    plan::UnitBeats unit;
    for (RowId row : members)
      for (const rows::Term &term : mine.work[row].terms) {
        const auto dynamic = trip.dynamic.find(term.block);
        if (dynamic == trip.dynamic.end() || !writtenBlocks.insert(term.block).second)
          continue;
        for (const rows::BlockWrite &write : dynamic->second.writes) {
          isa::Vec form;
          form.aSrc = isa::Source::Ram;
          form.dstKind = dynamic->second.columns ? isa::Dst::Wcol : isa::Dst::Wrow;
          const Stream from = streams.read(write.row);
          if (from.perPosition != 0)
            return fail();
          Beat beat;
          beat.address[0] = static_cast<int32_t>(from.base);
          beat.address[3] = static_cast<int32_t>(
              map.blocks[mine.blocks[term.block]].address * program.geometry.lanes + write.index);
          beat.form = unit.formOf(form);
          BeatOrigin origin;
          origin.row = origin.read[0] = write.row;
          origin.block = term.block;
          unit.beats.push_back(beat);
          unit.origins.push_back(origin);
        }
      }
    if (unit.beats.empty())
      return;
    auto made = pieces(unit);
    if (!made)
      return fail();
    for (Piece &piece : *made) {
      Statement statement;
      statement.vector = std::move(piece);
      statement.writesBlock = true;
      into.push_back(std::move(statement));
    }
  }
};

} // namespace

std::optional<Statements> makeStatements(const rows::Program &program, const Map &map,
                                         const Choice &choice, uint32_t body, uint32_t core) {
  return Maker(program, map, choice, body, core).run();
}

} // namespace sluice::loops
