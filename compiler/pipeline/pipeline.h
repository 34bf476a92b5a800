// The only place that knows the order of the phases: import -> layout -> plan ->
// emit. Drivers fill CompileOptions and print what comes back.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/check/outcome.h"
#include "compiler/conversion/plan/report/facts.h"
#include "compiler/frontend/onnx/bound_value.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/pipeline/operation_space.h"
#include "compiler/pipeline/stored_constant.h"
#include "compiler/streaming/streaming.h"
#include "compiler/support/interruption.h"
#include "compiler/support/progress.h"
#include "compiler/support/repair.h"
#include "runtime/format/program.h"

namespace sluice::frontend {
struct ImportedTensor;
} // namespace sluice::frontend

namespace sluice::check {
class Oracle;
struct Streamed;
} // namespace sluice::check

namespace sluice::pipeline {

/// Where compilation stops. Every stage before Program ends in text.
enum class Stage : uint8_t {
  Graph,   ///< after import: the sluice dialect without data dimensions
  Layout,  ///< after layout: the sluice dialect with data dimensions
  Rows,    ///< the rows dialect: every form of the model that is planned
  Plan,    ///< in words: who computes what, where
  Core,    ///< the core dialect
  Program, ///< the program file
};

/// How much time the planner may spend on comparing schedules.
enum class Effort : uint8_t { Fast, Default, High };

/// --bind: an input that becomes a constant.
struct Binding {
  std::string name;
  frontend::BoundValue value;
  std::string spec; ///< as the user wrote it, which the program file records
};

/// What measuring a changed model may cost.
struct Limits {
  int64_t layoutCost = 0;    ///< cycles of the rough model that layouts are chosen by
  uint64_t planningWork = 0; ///< beats that the planner looks at
};

struct CompileOptions {
  std::string modelPath;        ///< .onnx, or .mlir (textual IR); "-" is standard input
  std::string target = "c6b32"; ///< preset name, or path of a .json file
  /// Not from a target file: what a trial compiles for instead of `target`.
  std::optional<format::Geometry> geometry;
  frontend::Cut cut;                                                     ///< --inputs, --outputs
  std::vector<std::pair<std::string, std::vector<int64_t>>> inputShapes; ///< --input-shape
  std::vector<Binding> bindings;                                         ///< --bind
  /// --state: inputs, and the outputs that they are in the next inference.
  std::vector<std::pair<std::string, std::string>> states;
  streaming::Options streaming; ///< --stream, --stream-delay
  /// Not 0: an inference goes through the program once for every few steps of its sequence, at
  /// most that many. 0: if the model does not fit otherwise.
  int64_t stepsTogether = 0;
  /// Long loops are written out even where steps are possible instead.
  bool writeOut = false;
  std::vector<std::pair<std::string, int64_t>> dataDims; ///< --data-dim
  /// --core-partition: operations, by the number or name of a node, and their cores.
  std::vector<std::pair<std::string, std::vector<int64_t>>> corePartition;
  bool allowDynamicWeights = false;         ///< --allow-dynamic-weights
  bool rewriteLayout = false;               ///< --rewrite-layout
  bool applyFixes = false;                  ///< --apply-fixes
  bool fixedRandom = false;                 ///< --fixed-random
  bool ioOnly = false;                      ///< --io-only
  std::vector<std::string> withoutRewrites; ///< --without-rewrite
  /// Selects by known conditions become slices where a whole row selects the same operand.
  bool splitChoices = true;
  /// A model whose selects can become slices is compiled to the program whatever `stage` is, and
  /// the text of `stage` is kept.
  bool measuresChoices = false;
  std::string externalDataDir; ///< empty: the model's folder
  std::string modelName;       ///< empty: the file's stem
  Stage stage = Stage::Program;
  Effort effort = Effort::Default;
  /// --fit-seconds: of wall clock, for the search for another target where the model does not fit.
  unsigned fitSeconds = 1;
  /// Look for what would help where the model does not compile: flags, cuts, other targets. It
  /// takes further compilations.
  bool advise = true;
  bool onlyLoops = false; ///< no other form than loops over positions, for tests of them
  /// A model that certainly does not fit is rejected without finding out what it lacks.
  bool onlyFitting = false;
  bool measure = true; ///< run the finished program on the vm for the cycle counts
  /// Run the finished program and compare it with the model; a program that computes something else
  /// is the problem E0498. Before Stage::Program only CompileResult::oracle is made.
  std::optional<check::Options> check;
  /// Reads the user's inputs of the check: for each sample, a tensor for every input of the model.
  std::function<std::vector<reference::Tensors>(const std::vector<frontend::ImportedTensor> &,
                                                Problems &)>
      calibration;
  /// Of a compilation that only measures. Without them, it takes as long as it takes.
  std::optional<Limits> limits;
  /// With both flags that repair a layout: no dynamic weights where a rewrite helps. Compilation
  /// stops if no rewrite is needed then.
  bool rewriteFirst = false;
  bool explain = false; ///< fill CompileResult::explanation
  bool spaces = false;  ///< fill CompileResult::spaces and splits
  /// A model whose outputs are all constants, of which there is no program, is a result too and
  /// not the problem E0118.
  bool allowConstant = false;
  Progress *progress = nullptr; ///< what is shown meanwhile; may be null
  /// Ends the search for a plan on request (CompileResult::interrupted); may be null.
  Interruption *interruption = nullptr;
};

/// Whether a sequence may be taken a few steps at a time without being asked to.
inline bool mayTakeSteps(const CompileOptions &options) {
  return options.stepsTogether == 0 && options.streaming.inputs.empty() && options.states.empty();
}

/// Cycles of one inference on the target (docs/machine.md, Measures).
struct Cycles {
  uint64_t spaced = 0;     ///< machine idle before
  uint64_t contiguous = 0; ///< next input offered as soon as the output is out
  uint64_t period = 0;     ///< inputs always waiting
  /// Of a program with a state: those of the busiest matrix unit for the next inference, which are
  /// over before its input comes if it is spaced.
  std::optional<uint64_t> ahead = std::nullopt;
};

/// The data dimension of one graph tensor (`check --explain-layout`).
struct TensorLayout {
  std::string name;
  std::vector<int64_t> shape;
  std::optional<int64_t> dataDim; ///< empty for constants
  std::string why;
};

/// An inference that goes through its program several times (format::Model::steps).
struct StepsTaken {
  int64_t together = 1; ///< steps of the sequence that one of them takes
  int64_t trips = 1;
  std::vector<std::optional<unsigned>> inputAxes; ///< by input: along which it has a part for each
  std::vector<streaming::OutputPart> outputs;     ///< by output
  /// The whole shapes.
  std::vector<std::vector<int64_t>> inputShapes, outputShapes;
  std::vector<std::string> parts; ///< tensors of which a step has its own positions
  std::string text;               ///< which axes are taken how
};

/// A change of the model that lets it lay out.
struct Rewrite {
  Change change;
  bool free = false; ///< it costs no cycle and needs no flag
};

/// The change at a product that --allow-dynamic-weights allows.
inline Change usesDynamicWeights(const NodeRef &node) { return {node, "activations as weights"}; }

struct CompileResult {
  format::Program program; ///< Stage::Program
  std::string text;        ///< the stages before
  uint32_t operators = 0;  ///< nodes of the model
  uint32_t accelerated = 0;
  uint64_t parameters = 0;
  uint64_t macs = 0; ///< of one inference, with weights that are not 0
  uint64_t peakMacsPerCycle = 0;
  std::vector<plan::MemoryUse> memory;
  uint64_t planningWork = 0;    ///< beats that were looked at (plan/search/budget.h)
  std::optional<Cycles> cycles; ///< if CompileOptions::measure
  /// Cycles of the first inference by the plan; nothing if no plan was timed.
  std::optional<uint64_t> plannedCycles;
  std::vector<TensorLayout> tensors;
  std::vector<format::HostTensor> inputs;       ///< name, shape, type and data dimension
  std::vector<frontend::ImportedTensor> arrays; ///< of the host; empty: the inputs
  std::vector<frontend::ImportedTensor> made;   ///< the inputs, and what they are made from
  std::vector<frontend::ImportedTensor> given;  ///< the outputs, and what is made of them
  std::vector<Rewrite> rewrites;
  bool hasSplitChoices = false;         ///< CompileOptions::splitChoices has changed the model
  std::vector<NodeRef> dynamicProducts; ///< that use activations as weights
  /// What the flags give that repair the layout, the fewest cycles first. If
  /// CompileOptions::applyFixes, the first one is applied.
  std::vector<Repair> repairs;
  /// By CompileOptions::limits, or because CompileOptions::rewriteFirst changes nothing: there is
  /// no program, but maybe a plan.
  bool stopped = false;
  bool interrupted = false;              ///< by CompileOptions::interruption: plans are untried
  std::vector<OperationSpace> spaces;    ///< if asked for
  std::vector<TakenSplit> splits;        ///< if spaces are asked for and the model was planned
  std::vector<std::string> notes;        ///< what was accepted that may not be meant
  std::set<int64_t> exactNodes;          ///< that round to the integers of ONNX, by their index
  std::vector<StoredConstant> constants; ///< that the model's maps read
  bool constant = false;                 ///< nothing to compile: every output is a constant
  std::optional<StepsTaken> steps;       ///< if there are several
  std::optional<check::Outcome> checked; ///< if CompileOptions::check
  /// If CompileOptions::check: the graph as it was imported, and how it is streamed.
  std::shared_ptr<const check::Oracle> oracle;
  std::vector<reference::Tensors> calibration; ///< what CompileOptions::calibration read
  std::shared_ptr<const check::Streamed> streamed;
  std::optional<plan::Explanation> explanation; ///< if asked for; nodes are those of `program`
};

/// Returns what the check of the program, or of its layers, has to know.
check::ProgramFacts factsOf(const CompileResult &result);

/// Compiles up to options.stage. False if `problems` says why not; `result` then
/// holds what was found out before. The same options give the same bytes.
bool compileModel(const CompileOptions &options, CompileResult &result, Problems &problems);

} // namespace sluice::pipeline
