#include "compiler/pipeline/pipeline.h"

#include "llvm/ADT/STLExtras.h"

#include "compiler/check/check_program.h"
#include "compiler/pipeline/import_once.h"
#include "compiler/pipeline/offered_cut.h"
#include "compiler/pipeline/repairs.h"
#include "compiler/pipeline/room_text.h"
#include "compiler/pipeline/room_trials.h"

namespace sluice::pipeline {
namespace {

/// What checking may cost, in nanoseconds: of every compilation, and for each beat that the planner
/// looks at.
constexpr uint64_t kWorkToCheck = 10'000'000, kCheckedPerBeat = 30;

/// Compares the finished program with the graph as it was imported.
bool checkResult(const CompileOptions &options, CompileResult &result, Problems &problems) {
  if (!options.check || options.ioOnly || !result.oracle || options.stage != Stage::Program ||
      result.constant)
    return true;
  check::Options how = *options.check;
  how.work = kWorkToCheck + kCheckedPerBeat * result.planningWork;
  how.given = result.calibration;
  how.facts = factsOf(result);
  result.checked = check::checkProgram(*result.oracle, result.program, result.streamed.get(), how,
                                       options.progress);
  if (!result.checked->problem)
    return true;
  problems.push_back(*result.checked->problem);
  return false;
}

} // namespace

check::ProgramFacts factsOf(const CompileResult &result) {
  check::ProgramFacts facts{!result.rewrites.empty(), result.exactNodes, {}};
  for (const NodeRef &node : result.dynamicProducts)
    facts.dynamicProducts.insert(node.index);
  return facts;
}

bool compileModel(const CompileOptions &options, CompileResult &result, Problems &problems) {
  ImportOnce imported(options);
  Compilation made = compileRepaired(options, imported);
  if (options.advise && !made.compiles()) {
    if (const auto *lacks = std::get_if<Lacks>(&made.verdict)) {
      const RoomTrials trials(options, imported);
      addRoom(findRoom(made.result.program.geometry, *lacks, options.effort,
                       std::chrono::seconds(options.fitSeconds), trials),
              options.fitSeconds, made.problems);
    }
    offerCut(options, made.problems);
  }
  result = std::move(made.result);
  llvm::append_range(problems, made.problems);
  return made.compiles() && checkResult(options, result, problems);
}

} // namespace sluice::pipeline
