// The search for a target with room for a model that does not fit: another preset, or one larger
// memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "compiler/pipeline/pipeline.h"
#include "compiler/pipeline/verdict.h"
#include "compiler/support/child_process.h"
#include "runtime/format/geometry.h"

namespace sluice::pipeline {

/// Compiles the model for a geometry, with an effort, until a time.
using TryGeometry =
    std::function<Verdict(const format::Geometry &, Effort, Clock::time_point until)>;

/// The program for a target that has room.
struct FoundProgram {
  uint64_t cycles = 0;
  Effort effort = Effort::Fast; ///< of the program with these cycles
};

struct PresetWithRoom {
  std::string name;
  FoundProgram program;
};

/// One number of a target file.
struct MemoryChange {
  std::string field; ///< of a target file: "weight_blocks"
  uint32_t from = 0, to = 0;
  std::optional<FoundProgram> program; ///< nothing: no trial ended in time
};

struct Room {
  std::optional<PresetWithRoom> preset;
  std::optional<MemoryChange> change;
  Effort effort = Effort::Fast; ///< that was asked for
  bool finished = true;         ///< false: the time ended before the search
  uint32_t rejected = 0;        ///< trials that ended without a program
};

/// Searches for the smallest preset and the smallest larger memory for which a model compiles.
/// `lacks` says how the model does not fit `geometry`. Programs are planned
/// with Effort::Fast, and those that are found once more with `effort` if the time allows.
Room findRoom(const format::Geometry &geometry, const Lacks &lacks, Effort effort,
              std::chrono::milliseconds time, const TryGeometry &tryGeometry);

} // namespace sluice::pipeline
