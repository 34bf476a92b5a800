#include "compiler/conversion/loops/statement.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>
#include <utility>

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

class Maker {
public:
  Maker(const rows::Program &program, const Map &map, const Choice &choice, uint32_t index,
        uint32_t core)
      : program(program), map(map), choice(choice), body(program.bodies[index]),
        mine(map.bodies[index]), trip(body.trip), index(index), core(core),
        groups(groupsOf(program, body, choice)), group(groups.size) {
    result.inputUnits.assign(program.inputs.size(), 0);
    result.wholeUnits.assign(program.inputs.size(), 0);
    home.resize(trip.rows.size());
    for (size_t port = 0; port < trip.inputs.size(); ++port)
      for (uint32_t row = 0; row < trip.inputs[port].rows.size(); ++row)
        home[trip.inputs[port].rows[row]] = {false, static_cast<uint32_t>(port), row};
    for (size_t port = 0; port < trip.outputs.size(); ++port)
      for (uint32_t row = 0; row < trip.outputs[port].rows.size(); ++row)
        home[trip.outputs[port].rows[row]] = {true, static_cast<uint32_t>(port), row};
    findSums();
  }

  std::optional<Statements> run() {
    for (size_t stage = 1; stage < mine.work.stages.size() && !failed; ++stage)
      addStage(mine.work.stages[stage]);
    addEnds();
    if (failed || result.registers.size() >= isa::kSeqRegs)
      return std::nullopt;
    connect(result.before, false);
    connect(result.end, false);
    findInputs(index);
    connect(result.loop, true);
    gate();
    return std::move(result);
  }

private:
  const rows::Program &program;
  const Map &map;
  const Choice &choice;
  const rows::Body &body;
  const BodyMap &mine;
  const rows::Graph &trip;
  const uint32_t index, core;
  const Groups groups;
  const uint32_t group;
  Statements result;
  bool failed = false;
  struct Port {
    bool output = false;
    uint32_t port = kNone, row = 0;
  };
  std::vector<Port> home; ///< by row of the trip
  std::set<uint32_t> writtenBlocks;
  std::set<uint32_t> there, first; ///< inputs: when a group begins; not read by a body before
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
    return home[row].output && mine.firsts[home[row].port] != kNone;
  }

  // Addresses ---------------------------------------------------------------------------------

  [[nodiscard]] Stream readStream(RowId row) const {
    const Port &port = home[row];
    if (port.port != kNone && !port.output) {
      const rows::Read &read = body.reads[port.port];
      const Stream first = streamOf(program, map, choice, read.family, core, read.all,
                                    read.all ? read.places[port.row] : port.row);
      return read.all ? stepping(first, read.step) : first;
    }
    if (trip.rows[row].kind == RowKind::Constant)
      return {mine.constants[row] + isa::kLocalBase, 0, 0, 0};
    if (port.output) // a family that is read where it is written
      return writeStream(row);
    if (!mine.varies[row])
      return {mine.offset[row] + isa::kLocalBase, 0, 0, 0};
    return {mine.frame + mine.offset[row] + isa::kLocalBase, static_cast<int32_t>(mine.frameRows),
            0, 0};
  }

  /// A row in trip 0 and how far every further trip moves it.
  [[nodiscard]] Stream stepping(Stream row, int32_t step) const {
    const auto round = static_cast<int32_t>(group * groups.cores);
    row.base += groups.turn(core) * group * static_cast<uint32_t>(step);
    row.perPosition = step;
    row.perGroup = step * round;
    return row;
  }

  [[nodiscard]] Stream writeStream(RowId row) const {
    const Port &port = home[row];
    if (!port.output)
      return readStream(row);
    const rows::Write &write = body.writes[port.port];
    if (write.placed())
      return stepping(
          streamOf(program, map, choice, *write.family, core, true, write.first[port.row]),
          static_cast<int32_t>(write.stride));
    if (write.family) {
      const bool once = !inLoop(body);
      return streamOf(program, map, choice, *write.family, core, once, port.row);
    }
    return stepping({write.first[port.row], 0, 0, 0}, static_cast<int32_t>(write.stride));
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
        x = readStream(terms[i].x);
      } else {
        origin.block = what.terms[0].block;
      }
      form.xStride[0] = x.perPosition;
      form.xReg = registerOf(x.perGroup);
      form.xRing = x.ring;
      form.x = x.region;
      beat.address[0] = static_cast<int32_t>(x.base);
      beat.address[1] = static_cast<int32_t>(mine.blocks[origin.block]);
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

  [[nodiscard]] uint32_t maskOf(const Port &port) const {
    return body.writes[port.port].family ? mine.readers : plan::kHostMask;
  }

  void addStep(plan::UnitBeats &unit, RowId row) {
    const Row &what = trip.rows[row];
    const rows::VectorStep &step = what.step;
    const Port &port = home[row];
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
        const Stream stream = readStream(operand);
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
      const Stream to = writeStream(row);
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
    const Stream to = writeStream(row);
    form.dstStride[0] = to.perPosition;
    Beat beat;
    beat.address[0] = static_cast<int32_t>(mine.firsts[home[row].port] + isa::kLocalBase);
    beat.address[3] = static_cast<int32_t>(to.base);
    beat.form = unit.formOf(form);
    BeatOrigin origin;
    origin.row = trip.rows[row].b;
    unit.beats.push_back(beat);
    unit.origins.push_back(origin);
  }

  // Statements --------------------------------------------------------------------------------

  /// Addresses of beats are as if rings had no end; the form has where the rings are.
  static void wrap(isa::Instruction &instruction, const isa::Instruction &form) {
    const auto within = [](uint32_t &address, uint32_t ring, uint32_t region) {
      if (ring != 0)
        address = region + ((address - region) & ((1U << ring) - 1));
    };
    if (auto *mm = std::get_if<isa::Mm>(&instruction)) {
      within(mm->x, mm->xRing, std::get<isa::Mm>(form).x);
    } else if (auto *vec = std::get_if<isa::Vec>(&instruction)) {
      const auto &where = std::get<isa::Vec>(form);
      within(vec->a, vec->aRing, where.a);
      within(vec->b, vec->bRing, where.b);
      within(vec->c, vec->cRing, where.c);
      within(vec->dst, vec->dstRing, where.dst);
    }
  }

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
      wrap(piece.instruction, unit.forms[unit.beats[one.firstBeat].form]);
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

  /// Rows from `first` on whose beats are one piece.
  template <typename Add>
  size_t longest(const std::vector<RowId> &stage, size_t first, size_t most, Add add) const {
    plan::UnitBeats unit;
    std::vector<size_t> ends;
    for (size_t i = first; i < first + most; ++i) {
      add(unit, stage[i]);
      ends.push_back(unit.beats.size());
    }
    const auto all = plan::roll(unit, ownLoops());
    if (!all)
      return 0;
    size_t count = 0;
    while (count < ends.size() && ends[count] <= all->front().beats)
      ++count;
    return count;
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
        blocks.push_back(mine.blocks[term.block]);
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
          const Stream from = readStream(write.row);
          if (from.perPosition != 0)
            return fail();
          Beat beat;
          beat.address[0] = static_cast<int32_t>(from.base);
          beat.address[3] =
              static_cast<int32_t>(mine.blocks[term.block] * program.geometry.lanes + write.index);
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

  // Waits -------------------------------------------------------------------------------------

  /// What a unit knows of a position: the last statement whose rows have arrived, and the
  /// inputs that have.
  struct Known {
    int statement = -1;
    std::set<uint32_t> inputs;
    void merge(const Known &other) {
      statement = std::max(statement, other.statement);
      inputs.insert(other.inputs.begin(), other.inputs.end());
    }
  };

  /// Waits that make the operands of a unit's pieces known; units learn from each other
  /// by results and tokens. `made`: by row, the statement that makes it.
  void need(std::vector<Statement> &all, const std::vector<int> &made,
            const std::vector<BeatOrigin> &origins, unsigned unitBit, Known &known, Waits &waits) {
    int latest = -1;
    for (const BeatOrigin &origin : origins)
      for (RowId row : origin.read) {
        if (row == kNoRow)
          continue;
        if (made[row] >= 0) {
          latest = std::max(latest, made[row]);
        } else if (const Port &port = home[row]; port.port != kNone && !port.output) {
          const rows::Read &read = body.reads[port.port];
          const auto &input = program.families[read.family].input;
          if (read.all && input)
            result.wholeUnits[*input] |= unitBit;
          if (!read.all && input && !map.families[read.family].everywhere &&
              known.inputs.insert(*input).second) {
            waits.inputs.push_back(*input);
            result.inputUnits[*input] |= unitBit;
          }
        }
      }
    if (latest > known.statement) {
      waits.local = true;
      all[latest].localUnits |= unitBit;
      known.statement = latest;
    }
  }

  /// Inputs that are there when a group begins: earlier bodies have waited for them, or
  /// both units do now, for the bodies to come.
  void findInputs(uint32_t index) {
    std::map<uint32_t, uint32_t> readers; // bodies, by input
    for (uint32_t b = 0; b < program.bodies.size(); ++b) {
      std::set<uint32_t> inputs;
      for (const rows::Read &read : program.bodies[b].reads)
        if (const auto &input = program.families[read.family].input;
            input && !read.all && !map.families[read.family].everywhere)
          inputs.insert(*input);
      for (const uint32_t input : inputs) {
        ++readers[input];
        if (b < index)
          there.insert(input);
        if (b == index && readers[input] == 1)
          first.insert(input);
      }
    }
    const auto takeByBoth = [&](uint32_t input) {
      there.insert(input);
      result.takenByBoth.push_back(input);
      result.inputUnits[input] = plan::kMatrixBit | plan::kVectorBit;
    };
    for (const uint32_t input : first)
      if (readers[input] > 1)
        takeByBoth(input);
    if (!startsUnread())
      return;
    // Rows that depend on no input still come once per inference, not before it.
    if (!first.empty() && !there.contains(*first.begin()))
      takeByBoth(*first.begin());
    for (const rows::Read &read : body.reads)
      if (const auto &input = program.families[read.family].input; input && read.all)
        result.wholeUnits[*input] = plan::kMatrixBit | plan::kVectorBit;
  }

  /// Whether the first rows that the vector unit makes of a group are made of constants alone.
  [[nodiscard]] bool startsUnread() const {
    const auto makes = std::ranges::find_if(
        result.loop, [](const Statement &statement) { return statement.vector.has_value(); });
    return makes != result.loop.end() && !readsInput(*makes);
  }

  /// A body that uses nothing of the inputs it is given still happens once per inference.
  void gate() {
    if (!first.empty() &&
        std::ranges::all_of(first, [&](uint32_t input) { return result.inputUnits[input] == 0; })) {
      result.takenByBoth.push_back(*first.begin());
      result.inputUnits[*first.begin()] = plan::kMatrixBit | plan::kVectorBit;
    }
  }

  void connect(std::vector<Statement> &all, bool loop) {
    std::vector<int> made(trip.rows.size(), -1);
    Known matrix, vector;
    matrix.inputs = vector.inputs = there;
    Statement *blocks = nullptr; // the last that writes some
    Statement *sum = nullptr;    // the last that only adds up
    for (size_t i = 0; i < all.size(); ++i) {
      Statement &statement = all[i];
      std::vector<BeatOrigin> products;
      for (const Piece &piece : statement.matrix)
        products.insert(products.end(), piece.origins.begin(), piece.origins.end());
      need(all, made, products, plan::kMatrixBit, matrix, statement.matrixWaits);
      if (!products.empty() && blocks)
        statement.matrixWaits.blocks = std::exchange(blocks, nullptr)->announcesBlocks = true;
      if (loop && readsInput(statement))
        result.lastInput =
            std::max(result.lastInput.value_or(0), statement.vector ? i : all.size());
      if (!statement.vector) {
        sum = &statement;
        continue;
      }
      if (!products.empty())
        vector.merge(matrix);
      need(all, made, statement.vector->origins, plan::kVectorBit, vector, statement.vectorWaits);
      if (statement.writesBlock)
        blocks = &statement;
      if (!statement.writesBlock)
        for (const BeatOrigin &origin : statement.vector->origins)
          made[origin.row] = static_cast<int>(i);
    }
    if (sum)
      sum->announcesReads = result.sums = true;
  }

  [[nodiscard]] bool readsInput(const Statement &statement) const {
    const auto reads = [&](const Piece &piece) {
      return std::ranges::any_of(piece.origins, [&](const BeatOrigin &origin) {
        return std::ranges::any_of(origin.read, [&](RowId row) {
          return row != kNoRow && home[row].port != kNone && !home[row].output;
        });
      });
    };
    return std::ranges::any_of(statement.matrix, reads) ||
           (statement.vector && reads(*statement.vector));
  }
};

} // namespace

std::optional<Statements> makeStatements(const rows::Program &program, const Map &map,
                                         const Choice &choice, uint32_t body, uint32_t core) {
  return Maker(program, map, choice, body, core).run();
}

} // namespace sluice::loops
