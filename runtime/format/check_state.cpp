// What a program remembers: where its rows are, and where the program that saves them begins.
#include <fmt/format.h>

#include "hw/isa/isa.h"
#include "runtime/format/checks.h"

namespace sluice::format {
namespace {

using Memory = StatePlace::Memory;

/// The memory that a place is in: its first address and the one behind its last.
struct Bounds {
  const char *name;
  uint64_t first, end;
};

Bounds boundsOf(const StatePlace &place, const Geometry &geometry) {
  if (place.memory == Memory::Preloads)
    return {"preload row", 0, geometry.preloadRows};
  if (place.first < isa::kLocalBase)
    return {"inbox row", 0, geometry.inboxRows};
  return {"local row", isa::kLocalBase, uint64_t{isa::kLocalBase} + geometry.localRows};
}

/// What is wrong with a place that follows `before` (null: none), or nothing.
std::optional<std::string> checkPlace(const StatePlace &place, const StatePlace *before,
                                      const Geometry &geometry) {
  if (place.core >= geometry.cores)
    return fmt::format("core is {}, allowed: 0 to {}", place.core, geometry.cores - 1);
  if (place.memory != Memory::Rows && place.memory != Memory::Preloads)
    return fmt::format("memory is {}, allowed: 1 (rows) and 2 (preload rows)",
                       static_cast<unsigned>(place.memory));
  const Bounds bounds = boundsOf(place, geometry);
  const uint64_t end = uint64_t{place.first} + place.rows;
  if (place.rows == 0)
    return "the range has no rows";
  if (end > bounds.end)
    return fmt::format("{}s {} to {}, allowed: {} to {}", bounds.name, place.first, end - 1,
                       bounds.first, bounds.end - 1);
  if (!before)
    return std::nullopt;
  const auto order = [](const StatePlace &one) { return std::pair(one.core, one.memory); };
  if (order(*before) > order(place) ||
      (order(*before) == order(place) && uint64_t{before->first} + before->rows > place.first))
    return fmt::format(
        "core {}, {} {} follows core {}, rows {} to {}, allowed: ascending and disjoint",
        place.core, bounds.name, place.first, before->core, before->first,
        uint64_t{before->first} + before->rows - 1);
  return std::nullopt;
}

} // namespace

void checkState(const Program &program, ProblemList &problems) {
  const ProgramState &state = program.state;
  const StatePlace *before = nullptr;
  for (size_t i = 0; i < state.places.size() && !problems.full(); ++i) {
    if (const auto wrong = checkPlace(state.places[i], before, program.geometry))
      problems.add("E0517", fmt::format("state range {}: {}", i, *wrong));
    before = &state.places[i];
  }
  if (state.save.empty())
    return;
  if (state.places.empty())
    problems.add("E0517", "the program has save instructions but no state");
  const size_t lists = program.cores.size() + 1;
  if (state.save.size() != lists) {
    problems.add(
        "E0517",
        fmt::format(
            "the save has {} entry points, expected {}: one per core and one for the host port",
            state.save.size(), lists));
    return;
  }
  for (size_t list = 0; list < lists; ++list) {
    const bool host = list == program.cores.size();
    const size_t count =
        host ? program.hostInstructions.size() : program.cores[list].instructions.size();
    if (state.save[list] >= count)
      problems.add("E0517",
                   fmt::format("the save of {} begins at instruction {}, but its list has {}",
                               host ? "the host port" : fmt::format("core {}", list),
                               state.save[list], count));
  }
}

} // namespace sluice::format
