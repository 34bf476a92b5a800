// Compilations with the data dimensions of inputs along other axes than those that the layout
// chooses.
#pragma once

#include "compiler/pipeline/compilation.h"
#include "compiler/pipeline/import_once.h"

namespace sluice::pipeline {

/// Returns the options with every input's rows along an axis, counted from its last one, where that
/// is not said and not what was chosen; nothing if that changes none.
std::optional<CompileOptions> along(CompileOptions options,
                                    const std::vector<format::HostTensor> &chosen, size_t fromLast);

/// Returns the fastest of a compilation and those in which the host sends fewer rows. They are
/// tried where sending rows takes at least half of the cycles: the rough costs by which the layout
/// is chosen count products, which cores share, and rows, which they cannot, alike. Trials
/// (CompileOptions::limits) and --effort fast stay as they are.
Compilation withFewerRows(const CompileOptions &options, ImportOnce &imported, Compilation first);

} // namespace sluice::pipeline
