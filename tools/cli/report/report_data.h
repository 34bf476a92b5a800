// The data of `sluice report`: what a program does in one inference, and why.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/pipeline/pipeline.h"
#include "runtime/format/program.h"
#include "tools/cli/activity.h"
#include "tools/cli/command_output.h"

namespace sluice::cli {

struct ReportSubject {
  std::string file; ///< as the user names it
  const ModelHandle &model;
  const format::Program &program;
  const Activity &activity;                ///< a spaced inference on the engine `vm`
  const pipeline::CompileResult *compiled; ///< with an explanation; null: there is no model
  std::string data;                        ///< file of the inputs of the check; may be empty
};

/// How often the program runs for one inference (format::Model::steps).
uint32_t runsOf(const ReportSubject &subject);

/// The result of report --json, but for "output" (docs/json.schema.json describes every member).
Json reportJson(const ReportSubject &subject);

} // namespace sluice::cli
