// Repairs of models without a layout: the flags that repair them, and the programs that they give.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "compiler/layout/data_dimension.h"
#include "compiler/pipeline/compilation.h"
#include "compiler/pipeline/import_once.h"

namespace sluice::pipeline {

/// One way to compile a model with flags that repair its layout.
struct RepairWay {
  RepairFlags flags;
  bool rewriteFirst = false; ///< CompileOptions::rewriteFirst

  bool operator==(const RepairWay &) const = default;
};

/// Compiles one model with more flags than it was compiled with, to measure the programs.
class Repairs {
public:
  Repairs(const CompileOptions &options, ImportOnce &imported)
      : options(options), imported(imported) {}

  /// Adds flags. Both together are as good as the better of them. Nothing if finding out whether
  /// the model compiles takes too long.
  std::optional<layout::Trial> tryFlags(RepairFlags more);

  /// The flags that are known to give a program, the fewest cycles first.
  std::vector<Repair> found();

private:
  /// What is known of one way.
  struct Tried {
    RepairWay way;
    bool hasLayout = false;
    std::optional<bool> compiles; ///< nothing if finding out takes too long
    std::optional<uint64_t> cycles;
    std::vector<Change> changes, rewrites;
  };

  /// Compiles the model this way, once.
  const Tried &compile(const RepairWay &way);

  const CompileOptions &options;
  ImportOnce &imported;
  std::deque<Tried> tried;
};

/// Compiles a model. If it has no layout and CompileOptions::applyFixes says so, the flags are
/// added that give the fastest program. Without a program, result.repairs are the flags that would
/// help.
Compilation compileRepaired(const CompileOptions &options, ImportOnce &imported);

} // namespace sluice::pipeline
