// Trials of changes that a message offers: the changed copy of a model is compiled.
#pragma once

#include <optional>

#include "compiler/conversion/rows/lower.h"
#include "compiler/layout/data_dimension.h"
#include "compiler/pipeline/pipeline.h"
#include "runtime/format/geometry.h"

namespace sluice::pipeline {

/// What measuring one changed model may cost, about a second.
inline constexpr Limits kTrialLimits{10'000, uint64_t{1} << 22};

/// The options of a compilation that only measures.
CompileOptions trialOptions(CompileOptions options);

/// Compiles changed copies of one model. All together may cost as much as kTrialLimits says.
class CopyTrials {
public:
  /// `measured`: a copy's cycles are those of a whole inference.
  CopyTrials(const CompileOptions &options, const format::Geometry &geometry, rows::ModelInfo model,
             bool measured);

  /// Lays out and compiles a copy, alone in its module; nothing if that would take too long.
  std::optional<layout::Trial> run(mlir::FunctionOpInterface copy,
                                   const layout::DataDimensionOptions &options);

private:
  /// The model around a copy, whose inputs may be others.
  [[nodiscard]] rows::ModelInfo modelOf(mlir::FunctionOpInterface copy) const;

  CompileOptions options;
  const format::Geometry &geometry;
  rows::ModelInfo model;
  bool measured;
  Limits left = kTrialLimits;
};

} // namespace sluice::pipeline
