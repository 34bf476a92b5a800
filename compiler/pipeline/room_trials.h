// Compilations for other geometries, each in a process of its own that ends in time.
#pragma once

#include "compiler/pipeline/import_once.h"
#include "compiler/pipeline/room.h"

namespace sluice::pipeline {

/// Compiles a model, which is imported already, for a geometry (TryGeometry).
class RoomTrials {
public:
  RoomTrials(const CompileOptions &options, ImportOnce &imported);

  Verdict operator()(const format::Geometry &geometry, Effort effort,
                     Clock::time_point until) const;

private:
  CompileOptions options;
  ImportOnce &imported;
};

} // namespace sluice::pipeline
