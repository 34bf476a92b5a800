#include "compiler/conversion/loops/unroll.h"

#include <algorithm>
#include <array>
#include <map>

#include "compiler/conversion/loops/trip_rows.h"
#include "compiler/conversion/plan/beats/roll.h"

namespace sluice::loops {
namespace {

using plan::BeatOrigin;
using rows::kNoRow;
using rows::RowId;
using rows::RowKind;

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
    for (uint32_t core = 0; core < cores; ++core) {
      std::vector<uint32_t> &weights = result.beats.weights.emplace_back(map.blocksUsed[core], 0);
      for (uint32_t block = 0; block < map.blocks.size(); ++block)
        if (map.blocks[block].on(core))
          weights[map.blocks[block].address] = first[block];
    }
    place();
    for (uint32_t list = 0; list < lists.size(); ++list)
      addList(lists[list], list);
    return std::move(result);
  }

private:
  const rows::Program &program;
  const Map &map;
  const Choice &choice;
  TripRows names;
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
          if (const RowId id = names.of(b, t, row); id != kNoRow) {
            // The first body that has a row makes it; those behind read it.
            uint32_t &core = result.placement.rows[id].core;
            const RowKind kind = result.graph.rows[id].kind;
            if (core == plan::kNone && kind != RowKind::Input && kind != RowKind::Constant)
              core = groups.coreOf(t);
          }
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
      const Groups groups = groupsOf(program, family, choice);
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
