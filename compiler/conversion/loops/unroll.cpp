#include "compiler/conversion/loops/unroll.h"

#include <algorithm>
#include <array>
#include <map>

#include "compiler/conversion/plan/beats/roll.h"

namespace sluice::loops {
namespace {

using plan::BeatOrigin;
using rows::kNoRow;
using rows::RowId;
using rows::RowKind;

/// The rows of all trips of all bodies.
class Names {
public:
  Names(const rows::Program &program, const Map &map, const Choice &choice)
      : program(program), map(map), choice(choice) {}

  rows::Graph run() {
    graph.geometry = program.geometry;
    graph.modelName = program.modelName;
    graph.nodes = program.nodes;
    graph.tables = map.tables;
    familyRows.resize(program.families.size());
    for (uint32_t input = 0; input < program.inputs.size(); ++input)
      for (uint32_t f = 0; f < program.families.size(); ++f)
        if (program.families[f].input == input)
          addInput(f);
    for (uint32_t f = 0; f < program.families.size(); ++f)
      addConstants(f);
    uint32_t outputs = 0;
    for (const rows::Body &body : program.bodies)
      for (const rows::Write &write : body.writes)
        for (uint32_t row : write.output ? write.first : std::vector<uint32_t>())
          outputs = std::max({outputs, row + 1, row + (body.trips - 1) * write.stride + 1});
    outRows.assign(outputs, kNoRow);
    for (uint32_t b = 0; b < program.bodies.size(); ++b)
      addBody(b);
    rows::Port port;
    port.rows = outRows;
    graph.outputs.push_back(std::move(port));
    return std::move(graph);
  }

  /// Row of the unrolled graph; `trip` is kNone where nothing depends on it.
  [[nodiscard]] RowId of(uint32_t body, uint32_t trip, RowId row) const {
    const auto &mine = names[body];
    const std::vector<RowId> &at = mine[trip == kNone || trip >= mine.size() ? 0 : trip];
    return at[row] != kNoRow ? at[row] : mine[0][row];
  }
  [[nodiscard]] uint32_t block(uint32_t body, uint32_t block) const { return blocks[body][block]; }

  std::vector<std::vector<RowId>> familyRows; ///< by family and place
  /// Constant rows of all trips, by local address.
  std::map<uint32_t, RowId> constants;

private:
  const rows::Program &program;
  const Map &map;
  const Choice &choice;
  rows::Graph graph;
  uint32_t firstGroup = 0, groups = 0; ///< of the body under way; so far
  std::vector<RowId> outRows;
  std::vector<std::vector<std::vector<RowId>>> names; ///< by body, trip and row
  std::vector<std::vector<uint32_t>> blocks;          ///< by body and block

  RowId add(rows::Row row) {
    graph.rows.push_back(std::move(row));
    return static_cast<RowId>(graph.rows.size() - 1);
  }

  void addInput(uint32_t f) {
    rows::Port port;
    for (uint32_t place = 0; place < program.families[f].total(); ++place) {
      rows::Row row;
      row.kind = RowKind::Input;
      row.input = *program.families[f].input;
      row.inputRow = place;
      port.rows.push_back(add(std::move(row)));
    }
    familyRows[f] = port.rows;
    graph.inputs.push_back(std::move(port));
  }

  void addConstants(uint32_t f) {
    const rows::Family &family = program.families[f];
    if (family.input)
      return;
    familyRows[f].assign(family.total(), kNoRow);
    const size_t lanes = program.geometry.lanes;
    // A shortened program still has all constants.
    for (size_t place = 0; !family.constant.empty() && place < family.total(); ++place) {
      rows::Row row;
      const auto from = family.constant.begin() + static_cast<std::ptrdiff_t>(place * lanes);
      row.lanes.assign(from, from + static_cast<std::ptrdiff_t>(lanes));
      familyRows[f][place] = add(std::move(row));
    }
  }

  void addBody(uint32_t b) {
    const rows::Body &body = program.bodies[b];
    const BodyMap &mine = map.bodies[b];
    const rows::Graph &trip = body.trip;
    const auto firstBlock = static_cast<uint32_t>(graph.blocks.size());
    blocks.emplace_back();
    for (uint32_t i = 0; i < trip.blocks.size(); ++i) {
      blocks.back().push_back(firstBlock + i);
      graph.blocks.push_back(trip.blocks[i]);
    }
    auto &made = names.emplace_back(body.trips, std::vector<RowId>(trip.rows.size(), kNoRow));
    const std::vector<RowId> sums = sumsOf(body);
    for (uint32_t t = 0; t < body.trips; ++t)
      for (RowId row = 0; row < trip.rows.size(); ++row)
        if (std::ranges::find(sums, row) == sums.end())
          addRow(body, mine, t, row, made, firstBlock);
    for (const RowId sum : sums)
      addSum(body, mine, sum, made, firstBlock);
    for (const rows::Row &row : trip.rows)
      groups = std::max(groups, firstGroup + row.group + 1);
    firstGroup = groups; // of the next body
    for (const auto &[block, dynamic] : trip.dynamic) {
      rows::DynamicBlock copy = dynamic;
      for (rows::BlockWrite &write : copy.writes)
        write.row = made[0][write.row];
      graph.dynamic[firstBlock + block] = std::move(copy);
    }
    for (uint32_t t = 0; t < body.trips; ++t)
      for (size_t port = 0; port < trip.outputs.size(); ++port) {
        const rows::Write &write = body.writes[port];
        for (uint32_t r = 0; r < trip.outputs[port].rows.size(); ++r) {
          const RowId row = made[t][trip.outputs[port].rows[r]];
          if (write.placed())
            familyRows[*write.family][write.placeOf(r, t)] = row;
          else if (write.fold) // the last position of a place stays
            familyRows[*write.family][placeOf(body, *write.family, t) + r] = row;
          else if (write.family)
            familyRows[*write.family][t * program.families[*write.family].rows + r] = row;
          else
            outRows[write.first[r] + t * write.stride] = row;
        }
      }
  }

  /// Rows that are one for all positions of a core, and then what rounding leaves of them.
  static std::vector<RowId> sumsOf(const rows::Body &body) {
    std::vector<RowId> sums;
    for (size_t port = 0; port < body.writes.size(); ++port)
      if (body.writes[port].fold == rows::Fold::Sum)
        sums.insert(sums.end(), body.trip.outputs[port].rows.begin(),
                    body.trip.outputs[port].rows.end());
    return sums;
  }

  /// Where a core leaves the first row of a position in what a fold leaves.
  [[nodiscard]] uint32_t placeOf(const rows::Body &body, uint32_t family, uint32_t t) const {
    const Groups groups = groupsOf(program, body, choice);
    return groups.coreOf(t) * program.families[family].rows +
           t % groups.size * map.families[family].slot;
  }

  /// The products of all positions of a core, on each core.
  void addSum(const rows::Body &body, const BodyMap &mine, RowId id,
              std::vector<std::vector<RowId>> &made, uint32_t firstBlock) {
    const Groups groups = groupsOf(program, body, choice);
    for (uint32_t core = 0; core < groups.cores; ++core) {
      rows::Row row = body.trip.rows[id];
      row.group += firstGroup;
      row.terms.clear();
      std::vector<uint32_t> own;
      for (uint32_t g = 0; g < groups.groupsOf(core); ++g)
        for (uint32_t t = groups.first(core, g);
             t < std::min(groups.first(core, g) + groups.size, body.trips); ++t)
          own.push_back(t);
      if (own.empty())
        continue;
      for (const uint32_t t : own)
        for (const rows::Term &term : mine.work[id].terms)
          row.terms.push_back({made[t][term.x], term.block + firstBlock});
      if (row.b != kNoRow)
        row.b = made[own.front()][row.b];
      const RowId sum = add(std::move(row));
      for (const uint32_t t : own)
        made[t][id] = sum;
    }
  }

  RowId constant(uint32_t address, const std::vector<uint16_t> &lanes) {
    const auto [known, added] = constants.try_emplace(address, kNoRow);
    if (added) {
      rows::Row row;
      row.lanes = lanes;
      known->second = add(std::move(row));
    }
    return known->second;
  }

  /// What the place of a position holds when it is folded: the row that the group before left,
  /// or the one that the fold begins with.
  RowId before(const rows::Body &body, const BodyMap &mine, uint32_t t, const rows::Row &what,
               const std::vector<std::vector<RowId>> &made) {
    const uint32_t family = body.reads[what.input].family;
    size_t port = 0;
    while (body.writes[port].family != family)
      ++port;
    const Groups groups = groupsOf(program, body, choice);
    const uint32_t round = groups.size * groups.cores;
    if (t >= round)
      return made[t - round][body.trip.outputs[port].rows[what.inputRow]];
    rows::Row first;
    first.kind = RowKind::Vector;
    first.a = {constant(mine.firsts[port], map.constantRows[mine.firsts[port]])};
    first.group = firstGroup;
    first.nodes = body.trip.rows[body.trip.outputs[port].rows[what.inputRow]].nodes;
    return add(std::move(first));
  }

  void addRow(const rows::Body &body, const BodyMap &mine, uint32_t t, RowId id,
              std::vector<std::vector<RowId>> &made, uint32_t firstBlock) {
    const rows::Row &what = body.trip.rows[id];
    if (what.kind == RowKind::Input) {
      const rows::Read &read = body.reads[what.input];
      if (std::ranges::any_of(
              body.writes, [&](const rows::Write &write) { return write.family == read.family; })) {
        made[t][id] = before(body, mine, t, what, made);
        return;
      }
      made[t][id] = familyRows[read.family]
                              [read.all ? read.placeOf(what.inputRow, t)
                                        : t * program.families[read.family].rows + what.inputRow];
      return;
    }
    if (!mine.work[id].live && what.kind != RowKind::Constant)
      return;
    if (what.kind == RowKind::Constant) {
      if (mine.constants[id] != kNone)
        made[t][id] = constant(mine.constants[id], what.lanes);
      return;
    }
    if (t != 0 && !mine.varies[id]) {
      made[t][id] = made[0][id];
      return;
    }
    rows::Row row = what;
    row.group += firstGroup;
    row.terms = mine.work[id].terms; // what others multiply need not exist
    const auto rename = [&](RowId &operand) {
      if (operand != kNoRow)
        operand = made[t][operand];
    };
    for (rows::Term &term : row.terms) {
      rename(term.x);
      term.block += firstBlock;
    }
    for (RowId &operand : row.a)
      rename(operand);
    rename(row.b);
    rename(row.c);
    if (row.step.table)
      row.step.table = mine.tables[*row.step.table];
    made[t][id] = add(std::move(row));
  }
};

/// Runs a list's sequencer.
class Walk {
public:
  template <typename Visit> static void run(const List &list, Visit visit) {
    std::array<int64_t, isa::kSeqRegs> registers{};
    struct Open {
      size_t begin;
      uint32_t left, pass;
    };
    std::vector<Open> open;
    for (size_t pc = 0; pc < list.size(); ++pc) {
      const isa::Instruction &instruction = list[pc].instruction;
      if (const auto *loop = std::get_if<isa::Loop>(&instruction)) {
        open.push_back({pc, loop->count, 0});
      } else if (std::holds_alternative<isa::Endloop>(instruction)) {
        if (++open.back().pass < open.back().left)
          pc = open.back().begin;
        else
          open.pop_back();
      } else if (const auto *set = std::get_if<isa::Setreg>(&instruction)) {
        registers[set->index] = set->imm;
      } else if (const auto *more = std::get_if<isa::Addreg>(&instruction)) {
        registers[more->index] += more->imm;
      } else if (list[pc].unit != isa::Unit::Seq) {
        visit(list[pc], registers, open.empty() ? 0 : open.back().pass);
      }
    }
  }
};

using Values = std::array<int64_t, isa::kSeqRegs>;

/// Adds a register's value to a base, within the ring around it.
void resolve(uint32_t &base, uint32_t &reg, uint32_t ring, unsigned bits, const Values &values) {
  const int64_t sum = base + values[reg];
  const int64_t span = int64_t{1} << (ring != 0 ? ring : bits);
  base = static_cast<uint32_t>(ring != 0 ? (base & ~(span - 1)) | (sum & (span - 1))
                                         : sum & (span - 1));
  reg = 0;
}

isa::Instruction resolved(isa::Instruction instruction, const Values &values) {
  if (auto *mm = std::get_if<isa::Mm>(&instruction)) {
    resolve(mm->x, mm->xReg, mm->xRing, 16, values);
  } else if (auto *vec = std::get_if<isa::Vec>(&instruction)) {
    resolve(vec->a, vec->aReg, vec->aRing, 16, values);
    resolve(vec->b, vec->bReg, vec->bRing, 16, values);
    resolve(vec->c, vec->cReg, vec->cRing, 16, values);
    resolve(vec->dst, vec->dstReg, vec->dstRing, 18, values);
  } else if (auto *input = std::get_if<isa::Input>(&instruction)) {
    resolve(input->dst, input->dstReg, input->dstRing, 18, values);
  }
  return instruction;
}

/// What only a unit's form holds: the rest is by beat.
isa::Instruction formOf(isa::Instruction instruction) {
  const auto clear = [](auto &unit) {
    const std::remove_reference_t<decltype(unit)> none;
    unit.n = none.n;
    unit.waitEn = none.waitEn;
    unit.waitToken = none.waitToken;
    unit.waitStep = none.waitStep;
    unit.waitCount = none.waitCount;
    unit.waitLevel = none.waitLevel;
    unit.sigEn = none.sigEn;
    unit.sigToken = none.sigToken;
    unit.sigUnits = none.sigUnits;
    unit.sigLevel = none.sigLevel;
  };
  if (auto *mm = std::get_if<isa::Mm>(&instruction))
    clear(*mm);
  else if (auto *vec = std::get_if<isa::Vec>(&instruction))
    clear(*vec);
  else if (auto *input = std::get_if<isa::Input>(&instruction))
    clear(*input);
  return instruction;
}

class Unroller {
public:
  Unroller(const rows::Program &program, const Map &map, const Choice &choice)
      : program(program), map(map), choice(choice), names(program, map, choice) {}

  Unrolled run(const std::vector<List> &lists) {
    result.graph = names.run();
    const uint32_t cores = program.geometry.cores;
    result.beats.matrix.resize(cores);
    result.beats.vector.resize(cores);
    result.beats.doneToken = isa::kTokens; // every token has one giver
    // Blocks of bodies are copies of those in memory: an address stands for the first.
    std::vector<uint32_t> first(map.blocks.size(), 0);
    for (uint32_t b = static_cast<uint32_t>(program.bodies.size()); b-- > 0;)
      for (uint32_t i = static_cast<uint32_t>(map.bodies[b].blocks.size()); i-- > 0;)
        if (map.bodies[b].blocks[i] != kNone)
          first[map.bodies[b].blocks[i]] = names.block(b, i);
    for (uint32_t b = 0; b < program.bodies.size(); ++b)
      for (uint32_t i = 0; i < map.bodies[b].blocks.size(); ++i)
        if (map.bodies[b].blocks[i] != kNone)
          representative[names.block(b, i)] = first[map.bodies[b].blocks[i]];
    for (rows::Row &row : result.graph.rows)
      for (rows::Term &term : row.terms)
        if (const auto known = representative.find(term.block); known != representative.end())
          term.block = known->second;
    result.beats.weights.assign(cores, first);
    place();
    for (uint32_t list = 0; list < lists.size(); ++list)
      addList(lists[list], list);
    return std::move(result);
  }

private:
  const rows::Program &program;
  const Map &map;
  const Choice &choice;
  Names names;
  Unrolled result;
  std::map<uint32_t, uint32_t> representative; ///< by block of the unrolled graph

  void place() {
    const uint32_t cores = program.geometry.cores;
    const size_t rows = result.graph.rows.size();
    result.placement.rows.resize(rows);
    for (uint32_t b = 0; b < program.bodies.size(); ++b) {
      const Groups groups = groupsOf(program, program.bodies[b], choice);
      for (uint32_t t = 0; t < program.bodies[b].trips; ++t)
        for (RowId row = 0; row < program.bodies[b].trip.rows.size(); ++row)
          if (const RowId id = names.of(b, t, row); id != kNoRow &&
                                                    result.graph.rows[id].kind != RowKind::Input &&
                                                    result.graph.rows[id].kind != RowKind::Constant)
            result.placement.rows[id].core = groups.coreOf(t);
    }
    result.placement.cores.resize(cores);
    result.placement.inboxRows = map.inboxRows;
    // A bias is that of any row that has it.
    std::vector<RowId> preloads(map.preloads.size(), kNoRow);
    for (RowId row = 0; row < rows; ++row)
      if (const auto found = std::ranges::find(map.preloads, result.graph.rows[row].bias);
          found != map.preloads.end() && preloads[found - map.preloads.begin()] == kNoRow)
        preloads[found - map.preloads.begin()] = row;
    std::vector<uint32_t> slots(map.tables.size());
    for (uint32_t i = 0; i < slots.size(); ++i)
      slots[i] = i;
    for (uint32_t core = 0; core < cores; ++core) {
      plan::CoreMemory &memory = result.placement.cores[core];
      memory.localAddress.assign(rows, plan::kNone);
      memory.localRows = map.localRows;
      memory.preloads = preloads;
      memory.tables = slots;
      placeConstants(core, memory);
    }
  }

  void placeConstants(uint32_t core, plan::CoreMemory &memory) const {
    const auto put = [&](RowId row, uint32_t address) {
      if (row == kNoRow || memory.localAddress[row] != plan::kNone)
        return;
      memory.localAddress[row] = isa::kLocalBase + address;
      memory.constants.push_back(row);
    };
    for (const auto &[address, row] : names.constants)
      put(row, address);
    for (uint32_t f = 0; f < program.families.size(); ++f) {
      const rows::Family &family = program.families[f];
      if (family.constant.empty())
        continue;
      const Groups groups = groupsOf(family.trips, program, choice);
      uint32_t next = map.families[f].base;
      for (uint32_t g = 0; g < groups.groupsOf(core); ++g)
        for (uint32_t t = groups.first(core, g);
             t < std::min(groups.first(core, g) + groups.size, family.trips); ++t)
          for (uint32_t r = 0; r < family.rows; ++r)
            put(names.familyRows[f][t * family.rows + r], next++);
    }
  }

  void addList(const List &list, uint32_t core) {
    plan::InstructionList &into = result.schedule.lists.emplace_back();
    Walk::run(list, [&](const Emitted &one, const Values &values, uint32_t pass) {
      const isa::Instruction instruction = resolved(one.instruction, values);
      plan::UnitBeats &unit = one.unit == isa::Unit::Mxu   ? result.beats.matrix[core]
                              : one.unit == isa::Unit::Vec ? result.beats.vector[core]
                                                           : result.beats.host;
      const auto first = static_cast<uint32_t>(unit.beats.size());
      std::vector<plan::Beat> beats = plan::unroll(instruction, unit.formOf(formOf(instruction)));
      for (uint32_t i = 0; i < beats.size(); ++i)
        unit.origins.push_back(originOf(one, i, pass));
      unit.beats.insert(unit.beats.end(), beats.begin(), beats.end());
      into.push_back(
          {instruction, one.unit, first, static_cast<uint32_t>(beats.size()), one.nodes});
    });
    into.push_back({list.back().instruction, isa::Unit::Seq, 0, 0, {}});
  }

  [[nodiscard]] BeatOrigin originOf(const Emitted &one, uint32_t beat, uint32_t pass) const {
    BeatOrigin origin;
    if (one.input != kNone) {
      for (uint32_t f = 0; f < program.families.size(); ++f)
        if (program.families[f].input == one.input)
          origin.row = names.familyRows[f][one.inputRow + pass * one.inputStep + beat];
      return origin;
    }
    if (one.origins.empty())
      return origin;
    origin = one.origins[beat % one.origins.size()];
    const uint32_t body = one.body + pass * one.bodyStep;
    const uint32_t trip =
        one.position == kNone
            ? kNone
            : one.position + pass * one.step + beat / static_cast<uint32_t>(one.origins.size());
    if (origin.row != kNoRow)
      origin.row = names.of(body, trip, origin.row);
    for (RowId &row : origin.read)
      if (row != kNoRow)
        row = names.of(body, trip, row);
    if (origin.block != plan::kNoBlock)
      origin.block = representative.at(names.block(body, origin.block));
    return origin;
  }
};

} // namespace

Unrolled unroll(const rows::Program &program, const Map &map, const Choice &choice,
                const std::vector<List> &lists) {
  return Unroller(program, map, choice).run(lists);
}

} // namespace sluice::loops
