// A compilation in one way: with the data dimensions that the layout rules choose, all steps of a
// sequence at once or as many as the options say.
#pragma once

#include "compiler/pipeline/compilation.h"
#include "compiler/pipeline/import_once.h"

namespace sluice::pipeline {

class Repairs;

/// Compiles up to options.stage. `repairs` measures what messages offer; without it, they are
/// offered unchecked.
Compilation compileOneWay(const CompileOptions &options, ImportOnce &imported,
                          Repairs *repairs = nullptr);

/// Compiles in the first way in which the model fits.
Compilation compileAnyWay(const CompileOptions &options, ImportOnce &imported,
                          Repairs *repairs = nullptr);

} // namespace sluice::pipeline
