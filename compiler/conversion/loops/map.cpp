#include "compiler/conversion/loops/map.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "compiler/conversion/loops/fold.h"
#include "compiler/conversion/loops/frame.h"
#include "compiler/conversion/loops/lines.h"
#include "compiler/conversion/plan/order/operands.h"
#include "hw/isa/isa.h"

namespace sluice::loops {
namespace {

using rows::RowId;
using rows::RowKind;

/// A distinct thing once.
template <typename Thing> uint32_t shared(std::vector<Thing> &all, const Thing &thing) {
  const auto found = std::find(all.begin(), all.end(), thing);
  if (found != all.end())
    return static_cast<uint32_t>(found - all.begin());
  all.push_back(thing);
  return static_cast<uint32_t>(all.size() - 1);
}

uint32_t sharedTable(std::vector<format::TableImage> &all, const format::TableImage &table) {
  for (uint32_t slot = 0; slot < all.size(); ++slot)
    if (all[slot].header == table.header && all[slot].entries == table.entries)
      return slot;
  all.push_back(table);
  return static_cast<uint32_t>(all.size() - 1);
}

class Mapper {
public:
  Mapper(const rows::Program &program, const Choice &choice) : program(program), choice(choice) {}

  std::optional<Map> run() {
    readers.resize(program.families.size());
    map.blocksUsed.assign(program.geometry.cores, 0);
    for (const rows::Body &body : program.bodies)
      for (const rows::Read &read : body.reads)
        readers[read.family].add(read.all, coresOf(program, body, choice));
    for (const rows::Body &body : program.bodies)
      if (!mapBody(body))
        return std::nullopt;
    if (!mapBlocks())
      return std::nullopt;
    map.localRows = static_cast<uint32_t>(map.constantRows.size());
    for (BodyMap &body : map.bodies)
      if (std::ranges::any_of(body.constants, [](uint32_t at) { return at == kZero; })) {
        map.zeroRow = map.zeroRow == kNone ? map.localRows++ : map.zeroRow;
        std::ranges::replace(body.constants, kZero, map.zeroRow);
      }
    placeFamilies();
    uint32_t end = map.localRows; // of the frames: bodies use the same rows
    for (size_t i = 0; i < map.bodies.size(); ++i)
      end = std::max(end,
                     placeFrame(program.bodies[i], map.localRows,
                                groupsOf(program, program.bodies[i], choice).size, map.bodies[i]));
    map.localRows = end;
    return std::move(map);
  }

private:
  static constexpr uint32_t kZero = kNone - 1;
  const rows::Program &program;
  const Choice &choice;
  Map map;
  struct Readers {
    uint32_t own = 0, all = 0;
    uint32_t cores = 0; ///< mask
    void add(bool whole, uint32_t mask) {
      ++(whole ? all : own);
      cores |= mask;
    }
  };
  std::vector<Readers> readers;       ///< by family
  std::map<uint32_t, uint32_t> slots; ///< FamilyHome::slot of families that folds leave
  std::map<std::pair<rows::WeightBlock, uint32_t>, uint32_t> storedBlocks; ///< with their cores
  std::map<std::vector<uint16_t>, uint32_t> constantAddresses;

  bool mapBody(const rows::Body &body) {
    const rows::Graph &trip = body.trip;
    BodyMap result;
    result.work = plan::analyse(trip);
    result.varies.assign(trip.rows.size(), false);
    result.offset.assign(trip.rows.size(), kNone);
    result.constants.assign(trip.rows.size(), kNone);
    result.preloads.assign(trip.rows.size(), kNone);
    result.blocks.assign(trip.blocks.size(), kNone);
    result.cores = groupsOf(program, body, choice).mask;
    for (size_t port = 0; port < trip.inputs.size(); ++port)
      for (RowId row : trip.inputs[port].rows)
        result.varies[row] = !body.reads[port].all || body.reads[port].step != 0;
    for (const rows::Port &port : trip.outputs)
      for (RowId row : port.rows)
        result.varies[row] = true; // every position has its own
    for (RowId row = 0; row < trip.rows.size(); ++row) {
      const rows::Row &what = trip.rows[row];
      if (what.kind == RowKind::Constant)
        result.constants[row] = constantAt(what.lanes);
      if (!result.work[row].live || what.kind == RowKind::Input || what.kind == RowKind::Constant)
        continue;
      plan::forEachOperand(trip, result.work, row, [&](RowId operand, bool) {
        result.varies[row] = result.varies[row] || result.varies[operand];
      });
      if (!what.bias.isZero())
        result.preloads[row] = shared(map.preloads, what.bias);
      if (what.kind == RowKind::Linear && result.work[row].terms.empty()) {
        result.constants[row] = kZero;
        if (!mapBlock(trip, result, what.terms[0].block))
          return false;
      }
    }
    for (const format::TableImage &table : trip.tables)
      result.tables.push_back(sharedTable(map.tables, table));
    mapFolds(body, result);
    map.bodies.push_back(std::move(result));
    return true;
  }

  /// Sums begin and end with products of zeros; the others with a row.
  void mapFolds(const rows::Body &body, BodyMap &result) {
    result.firsts.assign(body.writes.size(), kNone);
    for (size_t port = 0; port < body.writes.size(); ++port) {
      const auto &fold = body.writes[port].fold;
      if (!fold)
        continue;
      const std::vector<RowId> &rows = body.trip.outputs[port].rows;
      const bool sum = fold == rows::Fold::Sum;
      slots[*body.writes[port].family] = sum ? 0 : static_cast<uint32_t>(rows.size());
      if (sum)
        for (RowId row : rows)
          result.constants[row] = kZero;
      else
        result.firsts[port] =
            constantAt(std::vector<uint16_t>(program.geometry.lanes, firstOf(*fold)));
    }
  }

  /// Blocks in the order of the longest sums, so that those of others, which lack the elements
  /// of windows beyond a border, are parts of the same run.
  bool mapBlocks() {
    struct Sum {
      size_t terms;
      uint32_t body;
      RowId row;
    };
    std::vector<Sum> sums;
    for (uint32_t b = 0; b < program.bodies.size(); ++b) {
      const plan::Work &work = map.bodies[b].work;
      for (RowId row = 0; row < program.bodies[b].trip.rows.size(); ++row)
        if (work[row].live && !work[row].terms.empty())
          sums.push_back({work[row].terms.size(), b, row});
    }
    std::ranges::sort(sums, std::ranges::less(), [](const Sum &sum) {
      return std::tuple(-static_cast<int64_t>(sum.terms), sum.body, sum.row);
    });
    return std::ranges::all_of(sums, [&](const Sum &sum) {
      BodyMap &body = map.bodies[sum.body];
      return std::ranges::all_of(body.work[sum.row].terms, [&](const rows::Term &term) {
        return mapBlock(program.bodies[sum.body].trip, body, term.block);
      });
    });
  }

  bool mapBlock(const rows::Graph &trip, BodyMap &body, uint32_t block) {
    if (body.blocks[block] != kNone)
      return true;
    const auto dynamic = trip.dynamic.find(block);
    if (dynamic == trip.dynamic.end()) {
      const auto [known, added] = storedBlocks.try_emplace({trip.blocks[block], body.cores}, kNone);
      if (added)
        known->second = store(trip.blocks[block], body.cores);
      body.blocks[block] = known->second;
    } else {
      body.blocks[block] = store(trip.blocks[block], body.cores);
    }
    return dynamic == trip.dynamic.end() ||
           std::ranges::none_of(dynamic->second.writes, [&](const rows::BlockWrite &write) {
             return body.varies[write.row];
           });
  }

  /// Gives a block the first address that is free on some cores; its number.
  uint32_t store(const rows::WeightBlock &block, uint32_t cores) {
    StoredBlock stored{block, 0, cores};
    for (uint32_t core = 0; core < map.blocksUsed.size(); ++core)
      if (stored.on(core))
        stored.address = std::max(stored.address, map.blocksUsed[core]);
    for (uint32_t core = 0; core < map.blocksUsed.size(); ++core)
      if (stored.on(core))
        map.blocksUsed[core] = stored.address + 1;
    map.blocks.push_back(std::move(stored));
    return static_cast<uint32_t>(map.blocks.size() - 1);
  }

  uint32_t constantAt(const std::vector<uint16_t> &lanes) {
    const auto [known, added] =
        constantAddresses.try_emplace(lanes, static_cast<uint32_t>(map.constantRows.size()));
    if (added)
      map.constantRows.push_back(lanes);
    return known->second;
  }

  [[nodiscard]] Groups groups(const rows::Family &family) const {
    return groupsOf(program, family, choice);
  }

  void placeFamilies() {
    map.families.resize(program.families.size());
    map.portions.resize(program.inputs.size());
    uint32_t compactRows = 0;
    for (uint32_t f = 0; f < program.families.size(); ++f) {
      const rows::Family &family = program.families[f];
      FamilyHome &home = map.families[f];
      const uint32_t own = groups(family).most() * family.rows;
      home.everywhere = readers[f].all != 0;
      home.folded = slots.contains(f);
      home.slot = home.folded ? slots.at(f) : 0;
      home.local = !family.input && !home.everywhere;
      if (home.local) {
        home.base = map.localRows;
        map.localRows += own;
      } else {
        compactRows += rowsOf(f);
      }
    }
    setReaders();
    // What is too long for the inbox goes through rings, or takes turns.
    const bool tooLong = compactRows > program.geometry.inboxRows;
    for (uint32_t f = 0; tooLong && f < program.families.size(); ++f)
      if (const rows::Family &family = program.families[f];
          last(family) && !map.families[f].everywhere && readers[f].own == 1)
        makeRing(family, map.families[f]);
    setLives();
    const bool turns = tooLong && std::ranges::none_of(map.families, [](const FamilyHome &home) {
                         return home.ring != 0;
                       });
    std::vector<uint32_t> placed;
    if (turns && program.hasWindows())
      placed = makeLineRings();
    for (uint32_t f = 0; f < program.families.size(); ++f)
      if (FamilyHome &home = map.families[f]; !home.local && home.ring == 0) {
        home.base = turns ? freeBase(f, placed) : map.inboxRows;
        map.inboxRows = std::max(map.inboxRows, home.base + rowsOf(f));
        placed.push_back(f);
      }
  }

  /// Whom the rows of bodies go to, and what they wait for.
  void setReaders() {
    const std::vector<uint32_t> waits = waitsOf(program, map.families);
    for (size_t i = 0; i < map.bodies.size(); ++i) {
      map.bodies[i].waits = waits[i];
      for (const rows::Write &write : program.bodies[i].writes)
        if (write.family && !map.families[*write.family].local)
          map.bodies[i].readers |= readers[*write.family].cores;
    }
  }

  /// Rings for families of which few rows are needed at a time, the largest first; which they are.
  std::vector<uint32_t> makeLineRings() {
    std::vector<uint32_t> to, waits, rings;
    for (BodyMap &body : map.bodies) {
      // Nor does a core that had no part in the bodies before begin sooner than those that had:
      // what it overwrites, all of them are done with.
      body.waits = std::max(body.waits, waits.empty() ? 0 : waits.back());
      to.push_back(body.readers);
      waits.push_back(body.waits);
    }
    const Lines lines(program, choice, to, waits);
    for (uint32_t f = 0; f < program.families.size(); ++f)
      if (FamilyHome &home = map.families[f];
          home.everywhere && (!program.families[f].input || last(program.families[f])))
        if (const auto ring = lines.ringOf(f)) {
          home.ring = *ring;
          rings.push_back(f);
        }
    std::ranges::sort(rings, std::ranges::greater(), [&](uint32_t f) {
      return std::pair(map.families[f].ring, program.families.size() - f);
    });
    for (const uint32_t f : rings) {
      FamilyHome &home = map.families[f];
      home.base = map.inboxRows;
      map.inboxRows += rowsOf(f);
      if (const auto &input = program.families[f].input) {
        map.portions[*input] = lines.portionsOf(f, home.ring);
        for (const Portion &portion : map.portions[*input])
          if (portion.behind)
            map.bodies[*portion.behind].credits = true;
      }
    }
    return rings;
  }

  /// Rows of a family in an inbox.
  [[nodiscard]] uint32_t rowsOf(uint32_t f) const {
    const rows::Family &family = program.families[f];
    if (map.families[f].ring != 0)
      return 1U << map.families[f].ring;
    return map.families[f].everywhere ? family.total() : groups(family).most() * family.rows;
  }

  /// When families are made and read, by body.
  struct Life {
    uint32_t lastRead = 0;
    /// All bodies that make it begin when those before this one are done, on every core. Nothing:
    /// an input, or made by a body that waits for no one.
    std::optional<uint32_t> begins;
  };
  std::vector<Life> lives;

  void setLives() {
    const auto count = static_cast<uint32_t>(program.bodies.size());
    lives.assign(program.families.size(), {});
    for (uint32_t b = 0; b < count; ++b) {
      const uint32_t waits = map.bodies[b].waits;
      for (const rows::Read &read : program.bodies[b].reads)
        lives[read.family].lastRead = b;
      for (const rows::Write &write : program.bodies[b].writes)
        if (write.family) {
          std::optional<uint32_t> &begins = lives[*write.family].begins;
          begins = std::min(begins.value_or(waits), waits);
        }
    }
  }

  /// Whether one family is read for the last time before the other is begun. Rings are not given
  /// away.
  [[nodiscard]] bool apart(uint32_t before, uint32_t behind) const {
    return map.families[before].ring == 0 && map.families[behind].ring == 0 &&
           lives[behind].begins && *lives[behind].begins > lives[before].lastRead;
  }

  /// The first rows of the inbox that a family can have to itself while it lives.
  [[nodiscard]] uint32_t freeBase(uint32_t f, const std::vector<uint32_t> &placed) const {
    uint32_t base = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (const uint32_t other : placed) {
        const uint32_t begin = map.families[other].base, end = begin + rowsOf(other);
        if (base < end && begin < base + rowsOf(f) && !apart(other, f) && !apart(f, other)) {
          base = end;
          moved = true;
        }
      }
    }
    return base;
  }

  /// The host offers input after input: what comes before another has to be there as
  /// a whole.
  [[nodiscard]] bool last(const rows::Family &family) const {
    return family.input && *family.input + 1 == program.inputs.size();
  }

  /// Groups that a ring should hold: enough that neither the host nor the core waits
  /// for the other's packets.
  static constexpr uint32_t kRingGroups = 8;

  void makeRing(const rows::Family &family, FamilyHome &home) {
    const uint32_t group = groups(family).size * family.rows;
    const uint32_t size = std::bit_ceil(kRingGroups * group);
    if (size >= groups(family).most() * family.rows)
      return;
    home.ring = static_cast<uint32_t>(std::bit_width(size) - 1);
    home.groups = size / group;
    home.base = (map.inboxRows + size - 1) / size * size;
    map.inboxRows = home.base + size;
  }
};

} // namespace

std::optional<Map> makeMap(const rows::Program &program, const Choice &choice) {
  return Mapper(program, choice).run();
}

Stream streamOf(const rows::Program &program, const Map &map, const Choice &choice, uint32_t family,
                uint32_t core, bool all, uint32_t place) {
  const rows::Family &what = program.families[family];
  const FamilyHome &home = map.families[family];
  const auto rows = static_cast<int32_t>(what.rows);
  const Groups groups = groupsOf(program, what, choice);
  const auto group = static_cast<int32_t>(groups.size);
  Stream stream;
  stream.ring = home.ring;
  stream.region = home.ring != 0 ? home.base : 0;
  stream.base = home.base + place + (home.local ? isa::kLocalBase : 0);
  if (home.folded)
    stream.perPosition = static_cast<int32_t>(home.slot);
  if (all || home.folded)
    return stream;
  stream.perPosition = rows;
  stream.perGroup = rows * group;
  if (home.everywhere) {
    stream.base += groups.turn(core) * static_cast<uint32_t>(rows * group);
    stream.perGroup *= static_cast<int32_t>(groups.cores);
  }
  return stream;
}

} // namespace sluice::loops
