// A compilation in one way: with the data dimensions that the layout rules choose, all steps of a
// sequence at once or as many as the options say.
#pragma once

#include "compiler/pipeline/import_once.h"
#include "compiler/pipeline/pipeline.h"

namespace sluice::pipeline {

class Repairs;

/// Whether only memory keeps a model from being compiled.
bool doesNotFit(const Problems &problems);

/// Compiles up to options.stage. `repairs` measures what messages offer; without it, they are
/// offered unchecked.
bool compileOneWay(const CompileOptions &options, ImportOnce &imported, CompileResult &result,
                   Problems &problems, Repairs *repairs = nullptr);

/// Compiles in the first way in which the model fits.
bool compileAnyWay(const CompileOptions &options, ImportOnce &imported, CompileResult &result,
                   Problems &problems, Repairs *repairs = nullptr);

} // namespace sluice::pipeline
