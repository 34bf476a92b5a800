// The options that shape a program, as the words of a command line.
#pragma once

#include <string>
#include <vector>

#include "compiler/pipeline/pipeline.h"

namespace sluice::pipeline {

/// Returns the flags of `sluice compile` that give these options. An effort that is the default is
/// not among them.
std::vector<std::string> optionWords(const CompileOptions &options, const std::string &target);

/// Returns the flags as a program file records them, with the effort, between spaces.
std::string optionText(const CompileOptions &options, const std::string &target);

} // namespace sluice::pipeline
