#include "compiler/pipeline/room_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/support/problem_text.h"

namespace sluice::pipeline {
namespace {

/// "1234 cycles"; with the effort if it is less than the one that was asked for.
std::string cyclesOf(const FoundProgram &program, const Room &room) {
  return cyclesText(program.cycles) + (program.effort == room.effort ? "" : " with --effort fast");
}

Fix fixOf(std::string text, const std::optional<FoundProgram> &program) {
  Fix fix;
  fix.text = std::move(text);
  fix.verified = program.has_value();
  if (program)
    fix.cycles = program->cycles;
  return fix;
}

std::string noteOf(const Room &room, unsigned seconds) {
  const bool found = room.preset || room.change;
  if (room.finished)
    return found ? "" : "no preset target and no target with one larger memory has room";
  const bool tried = room.rejected != 0 || room.preset || (room.change && room.change->program);
  return fmt::format("{} tried: the search ended after {} s (--fit-seconds)",
                     tried ? "some other targets were not" : "no other target was", seconds);
}

std::vector<Fix> fixesOf(const Room &room) {
  std::vector<Fix> fixes;
  if (room.preset) {
    fixes.push_back(fixOf(fmt::format("compiles for target '{}' in {}", room.preset->name,
                                      cyclesOf(room.preset->program, room)),
                          room.preset->program));
    fixes.back().flag = "--target " + room.preset->name;
  }
  if (room.change) {
    const MemoryChange &change = *room.change;
    const std::string text =
        fmt::format("\"{}\": {}{} instead of {} in a target file", change.field, change.to,
                    change.program ? "" : " or more", change.from);
    fixes.push_back(fixOf(change.program ? fmt::format("compiles with {} in {}", text,
                                                       cyclesOf(*change.program, room))
                                         : "try " + text,
                          change.program));
  }
  // Cycles of programs of different efforts say nothing about the targets.
  if (room.preset && room.change && room.change->program &&
      room.preset->program.effort == room.change->program->effort) {
    const uint64_t least = std::min(*fixes[0].cycles, *fixes[1].cycles);
    for (Fix &fix : fixes)
      fix.extraCycles = *fix.cycles - least;
  } else if (fixes.size() == 1 && fixes[0].cycles) {
    fixes[0].extraCycles = 0;
  }
  return fixes;
}

} // namespace

void addRoom(const Room &room, unsigned seconds, Problems &problems) {
  const std::vector<Fix> fixes = fixesOf(room);
  for (Problem &problem : problems)
    problem.fixes.insert(problem.fixes.begin(), fixes.begin(), fixes.end());
  if (const std::string note = noteOf(room, seconds); !note.empty())
    problems.back().notes.push_back(note);
}

} // namespace sluice::pipeline
