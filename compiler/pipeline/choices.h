// A compilation with selects by known conditions as slices, or as they are, whichever is faster.
#pragma once

#include "compiler/pipeline/compilation.h"
#include "compiler/pipeline/import_once.h"

namespace sluice::pipeline {

class Repairs;

/// Compiles as compileOneWay() does. If the pass `sluice-split-choices` changes the model, it is
/// compiled without the pass too. The program with the pass stays unless it takes more cycles or
/// does not fit. Trials (CompileOptions::limits) and --effort fast compile once.
Compilation compileChoices(const CompileOptions &options, ImportOnce &imported, Repairs *repairs);

/// Returns what an explanation says of a compilation that was not taken.
plan::Loser loserOf(const Compilation &other, std::string name);

} // namespace sluice::pipeline
