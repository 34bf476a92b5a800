#include "tests/rtl/plans/forced.h"

#include "compiler/conversion/loops/fold.h"
#include "compiler/conversion/loops/image.h"
#include "compiler/conversion/loops/runs.h"
#include "compiler/conversion/plan/beats/images.h"
#include "hw/isa/isa.h"

namespace sluice::fixtures {

using plan::Choice;

Choice Straight::draw(Rng &rng) const {
  Choice choice;
  choice.placement.keepTogether = static_cast<uint32_t>(rng.pick({0, 4, 1000}));
  choice.placement.inputsEverywhere = rng.percent(50);
  choice.placement.reuse = static_cast<uint32_t>(rng.pick({0, 0, 1, 2}));
  choice.placement.copies = static_cast<uint32_t>(rng.pick({1, 2}));
  choice.placement.byOperand = rng.percent(50);
  choice.placement.follow = rng.percent(50);
  choice.placement.byArrival = rng.percent(50);
  choice.placement.runs = static_cast<uint32_t>(rng.pick({0, 0, 1, 2}));
  choice.slots = static_cast<plan::Slots>(rng.pick({0, 1, 2}));
  choice.takeArrived = rng.percent(50);
  for (size_t stage = 0; stage < work.stages.size(); ++stage)
    choice.tails.push_back(rng.percent(50) ? plan::kAll : static_cast<uint32_t>(rng.range(0, 3)));
  if (rng.percent(30))
    choice.entry.release = static_cast<uint32_t>(rng.range(0, int64_t(work.stages.size()) - 1));
  return choice;
}

std::optional<format::Program> Straight::program(const Choice &choice) {
  const plan::Candidate candidate = maker.build(choice);
  if (!maker.sound(candidate))
    return std::nullopt;
  format::Program program = plan::makeImages(maker.graphOf(candidate), maker.workOf(candidate),
                                             candidate.placement, candidate.beats);
  for (size_t list = 0; list < candidate.schedule.lists.size(); ++list)
    for (const plan::Scheduled &one : candidate.schedule.lists[list])
      (list < program.cores.size() ? program.cores[list].instructions : program.hostInstructions)
          .push_back(isa::encode(one.instruction).value());
  return program;
}

std::optional<format::Program> inLoops(const rows::Program &original, const loops::Choice &choice) {
  std::optional<rows::Program> program =
      loops::withFolds(loops::inRuns(original, choice.runs, choice.lines), choice);
  if (program)
    loops::dealOut(*program, choice);
  const auto map = program ? loops::makeMap(*program, choice) : std::nullopt;
  const auto lists = map ? loops::emitLists(*program, *map, choice) : std::nullopt;
  const format::Geometry &geometry = original.geometry;
  if (!lists || map->inboxRows > geometry.inboxRows || map->localRows > geometry.localRows ||
      map->blocks.size() > geometry.weightBlocks)
    return std::nullopt;
  for (size_t list = 0; list < lists->size(); ++list)
    if ((*lists)[list].size() >
        (list < geometry.cores ? geometry.instructions : geometry.hostInstructions))
      return std::nullopt;
  format::Program result = loops::makeImages(*program, *map, choice);
  for (size_t list = 0; list < lists->size(); ++list)
    for (const loops::Emitted &one : (*lists)[list])
      (list < result.cores.size() ? result.cores[list].instructions : result.hostInstructions)
          .push_back(isa::encode(one.instruction).value());
  return result;
}

} // namespace sluice::fixtures
