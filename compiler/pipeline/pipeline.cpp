#include "compiler/pipeline/pipeline.h"

#include "compiler/check/check_program.h"
#include "compiler/pipeline/repairs.h"

namespace sluice::pipeline {
namespace {

/// What checking may cost, in nanoseconds: of every compilation, and for each beat that the planner
/// looks at.
constexpr uint64_t kWorkToCheck = 10'000'000, kCheckedPerBeat = 30;

/// Compares the finished program with the graph as it was imported.
bool checkResult(const CompileOptions &options, CompileResult &result, Problems &problems) {
  if (!options.check || !result.oracle || options.stage != Stage::Program || result.constant)
    return true;
  check::Options how = *options.check;
  how.work = kWorkToCheck + kCheckedPerBeat * result.planningWork;
  how.given = result.calibration;
  result.checked = check::checkProgram(*result.oracle, result.program, result.streamed.get(), how,
                                       options.progress);
  if (!result.checked->problem)
    return true;
  problems.push_back(*result.checked->problem);
  return false;
}

} // namespace

bool compileModel(const CompileOptions &options, CompileResult &result, Problems &problems) {
  return compileRepaired(options, result, problems) && checkResult(options, result, problems);
}

} // namespace sluice::pipeline
