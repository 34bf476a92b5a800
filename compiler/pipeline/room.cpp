#include "compiler/pipeline/room.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <string_view>

#include "runtime/format/checks.h"
#include "runtime/format/targets.h"

namespace sluice::pipeline {
namespace {

using format::Geometry;

/// A memory of a target, by its name in LacksMemory.
struct Memory {
  std::string_view name;
  uint32_t Geometry::*size;
  bool ofAllCores; ///< every core stores other data in it
  unsigned lanes;  ///< dimensions of an entry that are as long as a row
};

constexpr Memory kMemories[] = {
    {"weight blocks", &Geometry::weightBlocks, true, 2},
    {"inbox rows", &Geometry::inboxRows, false, 1},
    {"local rows", &Geometry::localRows, true, 1},
    {"preload rows", &Geometry::preloadRows, true, 1},
    {"function tables", &Geometry::tables, true, 0},
    {"instructions", &Geometry::instructions, true, 1},
    {"host instructions", &Geometry::hostInstructions, false, 1},
};

const Memory *memoryOf(std::string_view name) {
  const auto found = std::ranges::find(kMemories, name, &Memory::name);
  return found == std::end(kMemories) ? nullptr : found;
}

const char *fieldOf(const Memory &memory) {
  return std::ranges::find(format::geometryFields(), memory.size, &format::GeometryField::value)
      ->name;
}

/// How much of a model a memory holds, to compare targets of different lanes and cores.
uint64_t capacity(const Geometry &geometry, const Memory &memory) {
  uint64_t capacity = geometry.*memory.size;
  if (memory.ofAllCores)
    capacity *= geometry.cores;
  for (unsigned i = 0; i < memory.lanes; ++i)
    capacity *= geometry.lanes;
  return capacity;
}

Geometry withSize(Geometry geometry, const Memory &memory, uint32_t size) {
  geometry.*memory.size = size;
  return geometry;
}

/// Returns the largest size of a memory that a target file may have.
uint32_t largestSize(const Geometry &geometry, const Memory &memory) {
  uint32_t legal = geometry.*memory.size, illegal = std::numeric_limits<uint32_t>::max();
  while (illegal - legal > 1) {
    const uint32_t middle = legal + (illegal - legal) / 2;
    (format::checkGeometry(withSize(geometry, memory, middle)) ? illegal : legal) = middle;
  }
  return legal;
}

class Search {
public:
  Search(const Geometry &geometry, const Lacks &lacks, Effort effort,
         std::chrono::milliseconds time, const TryGeometry &tryGeometry)
      : geometry(geometry), effort(effort), tryGeometry(tryGeometry), start(Clock::now()),
        end(start + time), lacking(lacks.memories) {}

  Room run() {
    room.effort = effort;
    findPreset(start + (end - start) / 2);
    if (const auto change = findChange())
      room.change = *change;
    refine();
    return room;
  }

private:
  const Geometry &geometry;
  const Effort effort;
  const TryGeometry &tryGeometry;
  const Clock::time_point start, end;
  const std::vector<LacksMemory> &lacking;
  Room room;
  std::optional<Geometry> preset, changed; ///< that have room

  Verdict compile(const Geometry &candidate, Clock::time_point until) {
    Verdict trial = tryGeometry(candidate, Effort::Fast, until);
    if (std::holds_alternative<Unfinished>(trial))
      room.finished = false;
    else if (!std::holds_alternative<Compiles>(trial))
      ++room.rejected;
    return trial;
  }

  /// Whether a preset may have room: it holds no less in any memory that the model lacks. A smaller
  /// machine, which takes more cycles, is not what the user looks for.
  [[nodiscard]] bool mayHaveRoom(const Geometry &other) const {
    if (other.lanes <= geometry.lanes && other.cores <= geometry.cores &&
        (other.lanes < geometry.lanes || other.cores < geometry.cores))
      return false;
    const bool sameRows = other.lanes == geometry.lanes && other.cores == geometry.cores;
    return std::ranges::all_of(lacking, [&](const LacksMemory &one) {
      const Memory *memory = memoryOf(one.memory);
      if (!memory)
        return false;
      const uint64_t before = capacity(geometry, *memory), after = capacity(other, *memory);
      return sameRows ? after > before : after >= before;
    });
  }

  /// Tries the presets, those with little memory for weights first.
  void findPreset(Clock::time_point until) {
    std::vector<const Geometry *> presets;
    for (const Geometry &one : format::targetPresets())
      if (mayHaveRoom(one))
        presets.push_back(&one);
    std::ranges::sort(presets, {}, [](const Geometry *one) {
      return std::pair(capacity(*one, kMemories[0]), std::string_view(one->name));
    });
    for (const Geometry *one : presets) {
      const Verdict trial = compile(*one, until);
      if (const auto *found = std::get_if<Compiles>(&trial)) {
        preset = *one;
        room.preset = {one->name, {found->cycles, Effort::Fast}};
        return;
      }
    }
  }

  /// Tries one larger memory after the other, among those that are lacking.
  std::optional<MemoryChange> findChange() {
    std::optional<MemoryChange> bound;
    std::set<const Memory *> seen;
    for (const LacksMemory &one : lacking)
      if (const Memory *memory = memoryOf(one.memory); memory && seen.insert(memory).second)
        if (auto change = grow(*memory, one)) {
          if (change->program)
            return change;
          bound = std::move(change);
        }
    return bound;
  }

  /// Doubles a memory until the model fits, then halves it for as long as it does.
  std::optional<MemoryChange> grow(const Memory &memory, const LacksMemory &lack) {
    const uint32_t size = geometry.*memory.size, largest = largestSize(geometry, memory);
    const auto legal = [&](uint64_t least) {
      return static_cast<uint32_t>(std::min<uint64_t>(std::bit_ceil(least), largest));
    };
    // What is lacking may be counted over all cores.
    const uint64_t needed = (size * lack.needed + lack.available - 1) / lack.available;
    MemoryChange change{fieldOf(memory), size, legal(needed), std::nullopt};
    if (needed > largest)
      return std::nullopt;
    const bool isBound = lack.atLeast && lacking.size() == 1;
    for (;;) {
      const Verdict trial = compile(withSize(geometry, memory, change.to), end);
      if (std::holds_alternative<Unfinished>(trial))
        return isBound && needed > change.to / 2 ? std::optional(change) : std::nullopt;
      if (const auto *found = std::get_if<Compiles>(&trial)) {
        take(memory, change, *found);
        break;
      }
      const auto *lacks = std::get_if<Lacks>(&trial);
      const LacksMemory *still = nullptr;
      if (lacks)
        for (const LacksMemory &one : lacks->memories)
          if (one.memory == memory.name)
            still = &one;
      if (!still || change.to == largest)
        return std::nullopt;
      change.to = legal(uint64_t{change.to} + 1);
    }
    while (std::bit_ceil(change.to) / 2 > size &&
           !(isBound && std::bit_ceil(change.to) / 2 < needed)) {
      MemoryChange half = change;
      half.to = std::bit_ceil(change.to) / 2;
      const Verdict trial = compile(withSize(geometry, memory, half.to), end);
      const auto *found = std::get_if<Compiles>(&trial);
      if (!found)
        break;
      take(memory, half, *found);
      change = half;
    }
    return change;
  }

  void take(const Memory &memory, MemoryChange &change, const Compiles &found) {
    change.program = {found.cycles, Effort::Fast};
    changed = withSize(geometry, memory, change.to);
  }

  /// Plans what was found with the effort that was asked for.
  void refine() {
    if (room.preset) {
      const auto now = Clock::now();
      const auto until = now + (end - now) / (room.change && room.change->program ? 2 : 1);
      if (!refined(*preset, room.preset->program, until))
        room.preset.reset();
    }
    if (room.change && room.change->program && !refined(*changed, *room.change->program, end))
      room.change.reset();
  }

  /// False if there is no program with that effort.
  bool refined(const Geometry &target, FoundProgram &program, Clock::time_point until) {
    if (effort == program.effort)
      return true;
    const Verdict trial = tryGeometry(target, effort, until);
    if (const auto *found = std::get_if<Compiles>(&trial))
      program = {found->cycles, effort};
    return std::holds_alternative<Compiles>(trial) || std::holds_alternative<Unfinished>(trial);
  }
};

} // namespace

Room findRoom(const Geometry &geometry, const Lacks &lacks, Effort effort,
              std::chrono::milliseconds time, const TryGeometry &tryGeometry) {
  return Search(geometry, lacks, effort, time, tryGeometry).run();
}

} // namespace sluice::pipeline
