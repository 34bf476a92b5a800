#include "compiler/conversion/model/forms.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include "compiler/conversion/bodies/lower.h"
#include "compiler/conversion/bodies/partition.h"
#include "compiler/conversion/loops/loop_plan.h"
#include "compiler/conversion/loops/ring_bound.h"
#include "compiler/conversion/plan/order/planned.h"
#include "compiler/conversion/plan/order/split_reductions.h"
#include "compiler/conversion/plan/order/work_ahead.h"
#include "compiler/conversion/plan/report/fit.h"
#include "compiler/conversion/rows/late_factors.h"
#include "compiler/conversion/rows/longest_way.h"
#include "compiler/conversion/rows/program_ops.h"
#include "compiler/conversion/rows/row_bound.h"
#include "compiler/conversion/rows/row_tensor.h"
#include "compiler/conversion/rows/short_chains.h"
#include "compiler/conversion/rows/sum_bound.h"
#include "compiler/conversion/rows/weight_bound.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/support/lack.h"
#include "compiler/transforms/passes.h"

using namespace mlir;

namespace sluice::conversion {
namespace {

/// Between these numbers of block products plans with loops and plans that name every
/// row are both tried. Where loops are layers that wait for each other, those that do not are
/// worth more time.
constexpr uint64_t kLoopProducts = 256, kMostProducts = 4096, kMostOfLayers = 16384;

func::FuncOp mainOf(ModuleOp module) { return module.lookupSymbol<func::FuncOp>("main"); }

/// Block products, or rows that are computed without, of all trips.
uint64_t productsOf(const rows::Program &program) {
  uint64_t total = 0;
  for (const rows::Body &body : program.bodies)
    for (const rows::Row &row : body.trip.rows)
      total += body.trips * std::max<uint64_t>(row.terms.size(), row.a.size());
  return total;
}

/// Merges maps of what a rewrite has left, and removes what nobody reads any more.
bool mergeMaps(ModuleOp module) {
  PassManager passes(module.getContext());
  OpPassManager &perFunction = passes.nest<func::FuncOp>();
  perFunction.addPass(ir::createFuseMaps());
  perFunction.addPass(ir::createFoldConstants());
  perFunction.addPass(ir::createRemoveDeadCode());
  return succeeded(passes.run(module));
}

/// Graphs of fewer beats are planned even if they certainly do not fit. That takes little time, and
/// the problem then names the cores.
constexpr uint64_t kAlwaysPlanned = 8192;

/// Functions whose products take fewer beats become rows even if these certainly do not fit. That
/// takes a part of a second, and the problem then names all rows that are stored at once.
constexpr uint64_t kAlwaysLowered = 32768;

/// Whether the planner may find memory for a graph, and what to say if it cannot.
struct Bound {
  bool mayFit = false;
  Problems lacking; ///< not empty: no plan is worth a try

  explicit Bound(const rows::Graph &graph) {
    if (plan::circularState(graph))
      return;
    const plan::Planned planned(graph);
    mayFit = planned.mayFit();
    if (!mayFit && planned.work().beats >= kAlwaysPlanned && !fitsInPairs(graph))
      lacking = plan::leastProblems(planned.graph(), planned.work(), planned.leastMemory());
  }

private:
  /// If one instruction cannot read the rows of a reduction, the planner reduces them in pairs.
  /// Then fewer of them may be stored at once.
  static bool fitsInPairs(const rows::Graph &graph) {
    return std::ranges::any_of(graph.rows, [](const rows::Row &row) { return row.a.size() > 1; }) &&
           plan::Planned(plan::splitReductions(graph)).mayFit();
  }
};

/// Keeps the problems of the graph that comes closer to fitting. A graph without problems does not
/// count.
void keepCloser(const Problems &other, Problems &closest) {
  if (!other.empty() && (closest.empty() || lackOf(other) < lackOf(closest)))
    closest = other;
}

class Forms {
public:
  Forms(ModuleOp module, const format::Geometry &geometry, const rows::ModelInfo &model)
      : module(module), geometry(geometry), model(model) {}

  ModelForms run(bool onlyLoops) {
    for (const auto find : {&Forms::lackingWeights, &Forms::lackingSums})
      if (Problems lacks = (this->*find)(); !lacks.empty())
        return {{}, {}, std::move(lacks), {}};
    std::vector<std::string> loopNotes, plainNotes;
    rows::IntegerDifferences differences;
    findNumbers();
    func::FuncOp main = mainOf(module);
    rows::TreesSeen inTrips;
    const Outcome<rows::Program> loops =
        asLoops(main, {.notes = &loopNotes, .differences = &differences, .treesSeen = &inTrips});
    const uint64_t products = loops ? productsOf(*loops) : 0;
    Problems inRows; // of no interest where loops can do it
    const bool layers = loops && loops->hasWindows();
    if (!onlyLoops && products <= (layers ? kMostOfLayers : kMostProducts)) {
      rows::TreesSeen seen;
      auto graph =
          asRows(main, {.notes = &plainNotes, .differences = &differences, .treesSeen = &seen});
      inRows = std::move(graph.problems);
      if (graph) {
        const Bound bound(*graph);
        Trees trees = bound.mayFit ? rowsInTrees(main, seen) : Trees();
        addRows(std::move(*graph), std::move(trees), bound.lacking);
      }
      if (graph || areFor<LacksMemory>(inRows))
        for (const OwningOpRef<ModuleOp> &sunk : withLateFactors())
          if (auto other = asRows(mainOf(*sunk), {})) {
            const Bound ofOther(*other);
            Trees others = ofOther.mayFit ? rowsInTrees(mainOf(*sunk), seen) : Trees();
            addRowByRow(std::move(*other), std::move(others), ofOther.lacking);
          }
    }
    const bool plain = !forms.empty();
    if (loops && (onlyLoops || products >= kLoopProducts || forms.empty())) {
      add(*loops);
      addTrees(loopsInTrees(mainOf(module), inTrips));
      for (const OwningOpRef<ModuleOp> &sunk : withLateFactors())
        if (const auto other = asLoops(mainOf(*sunk), {})) {
          add(*other);
          addTrees(loopsInTrees(mainOf(*sunk), inTrips));
        }
    }
    if (forms.empty())
      llvm::append_range(problems, !lacking.empty()          ? lacking
                                   : !loops.problems.empty() ? loops.problems
                                                             : inRows);
    if (forms.empty() && problems.empty()) {
      Problem &problem = problems.emplace_back();
      problem.code = "E0414";
      problem.message = "the model cannot run as a loop over its positions";
    }
    std::vector<std::string> &notes = plain ? plainNotes : loopNotes;
    llvm::append_range(notes, differences.notes());
    // Nobody looks at the integers of programs with late factors.
    std::set<int64_t> exactNodes;
    if (!late || late->empty())
      exactNodes = differences.exactNodes();
    return {std::move(forms), std::move(notes), std::move(problems), std::move(exactNodes),
            std::move(lacking)};
  }

private:
  ModuleOp module;
  const format::Geometry &geometry;
  const rows::ModelInfo &model;
  static constexpr size_t kNamed = 3; ///< nodes in a problem
  rows::ValueNumbers numbers;         ///< of a quantised network
  Problems problems;
  Problems lacking; ///< of the graph that comes closest to fitting, of those that cannot fit
  std::vector<OwningOpRef<rows::ProgramOp>> forms;
  std::optional<std::vector<OwningOpRef<ModuleOp>>> late; ///< as far as they were asked for

  static std::string nameOf(const NodeRef &node) {
    return plan::nodeName({node.index, node.name, node.op});
  }

  /// The problem of a model whose weights have no room whatever its form.
  Problems lackingWeights() {
    const rows::WeightBound bound = weightsOf(mainOf(module));
    const auto lacks = [&](const rows::WeightBound &one) {
      return one.blocks > uint64_t{geometry.cores} * geometry.weightBlocks;
    };
    if (!lacks(bound) || !llvm::all_of(withLateFactors(), [&](const auto &sunk) {
          return lacks(weightsOf(mainOf(*sunk)));
        }))
      return {};
    std::vector<plan::User> largest;
    for (const auto &[node, blocks] : llvm::ArrayRef(bound.products).take_front(kNamed))
      largest.push_back({nameOf(node), static_cast<uint64_t>(std::ceil(blocks))});
    return {plan::leastProblem(geometry, {"weight blocks", "its weights", bound.blocks,
                                          uint64_t{geometry.cores} * geometry.weightBlocks,
                                          std::move(largest)})};
  }

  /// The problem of a model whose sums of states have no room whatever its form.
  Problems lackingSums() {
    const uint64_t available = uint64_t{geometry.cores} * geometry.preloadRows;
    const auto lacks = [&](func::FuncOp main) {
      const rows::SumBound bound = rows::sumBound(main, geometry.lanes);
      return bound.rows > available && bound.products >= kAlwaysLowered ? std::optional(bound)
                                                                        : std::nullopt;
    };
    const auto bound = lacks(mainOf(module));
    if (!bound || !llvm::all_of(withLateFactors(),
                                [&](const auto &sunk) { return lacks(mainOf(*sunk)).has_value(); }))
      return {};
    return {plan::leastProblem(geometry, {"preload rows",
                                          "its sums",
                                          bound->rows,
                                          available,
                                          {{nameOf(bound->node), bound->rows}}})};
  }

  /// What is known of the numbers of a quantised network.
  void findNumbers() {
    if (llvm::any_of(model.nodes,
                     [](const format::SourceNode &node) { return rows::isQuantising(node.op); }))
      numbers = rows::numbersOf(mainOf(module), model.inputNumbers);
  }

  [[nodiscard]] rows::WeightBound weightsOf(func::FuncOp main) const {
    return rows::weightBound(main, geometry.lanes);
  }

  /// The model with the tensors that values of a function are.
  [[nodiscard]] rows::ModelInfo named(func::FuncOp main) const {
    rows::ModelInfo info = model;
    rows::nameTensors(main, info);
    info.numbers = numbers;
    return info;
  }

  /// The function row by row. It is not lowered if its rows certainly lack memory.
  Outcome<rows::Graph> asRows(func::FuncOp main, const rows::LoweringOptions &options) {
    if (Problems lacks = lackingRows(main); !lacks.empty()) {
      keepCloser(lacks, lacking);
      return lacks;
    }
    return rows::lowerToRows(main, geometry, named(main), options);
  }

  /// The problem of a function whose rows have no room whatever core computes them.
  [[nodiscard]] Problems lackingRows(func::FuncOp main) const {
    const rows::RowBound bound = rows::rowBound(main, geometry.lanes);
    if (bound.beats >= kAlwaysLowered &&
        bound.rows > geometry.inboxRows + uint64_t{geometry.cores} * geometry.localRows) {
      std::vector<plan::User> largest;
      for (const auto &[node, rows] : bound.nodes)
        largest.push_back({nameOf(node), rows});
      return {plan::leastProblem(geometry,
                                 plan::rowsTogether(geometry, bound.rows, std::move(largest)))};
    }
    return bound.beats >= kAlwaysPlanned && bound.readsAnOutput ? lackingHostRows(main)
                                                                : Problems();
  }

  /// The problem of a function whose inputs and outputs have no room in an inbox together.
  [[nodiscard]] Problems lackingHostRows(func::FuncOp main) const {
    const auto users = [&](const char *kind, mlir::ValueRange values,
                           const std::vector<format::HostTensor> &tensors) {
      std::vector<plan::User> found;
      for (const auto &[value, tensor] : llvm::zip_equal(values, tensors))
        if (ir::dataDim(value))
          found.push_back({fmt::format("{} '{}'", kind, tensor.name),
                           static_cast<uint64_t>(rows::layoutOf(value, geometry.lanes).rows())});
      return found;
    };
    return plan::lackingHostRows(
        geometry, users("input", main.getArguments(), model.inputs),
        users("output", main.front().getTerminator()->getOperands(), model.outputs));
  }

  /// The function as loops over positions, if it has any. Trips are not lowered if their rings
  /// certainly lack memory.
  Outcome<rows::Program> asLoops(func::FuncOp main, const rows::LoweringOptions &options) {
    const auto partition = bodies::findPartition(main);
    if (!partition || keepsState())
      return {};
    Problems lacks;
    auto made = bodies::lowerToBodies(main, *partition, geometry, named(main), options,
                                      [&](const rows::Program &outlines) {
                                        lacks = lackingRings(outlines);
                                        return lacks.empty();
                                      });
    if (!lacks.empty()) {
      keepCloser(lacks, lacking);
      return lacks;
    }
    const bool loops =
        made && llvm::any_of(made->bodies, [](const rows::Body &body) { return body.trips > 1; });
    // Bodies that instructions cannot express are no form of the model; the plain one remains.
    if (!loops || !loops::isPlannable(*made))
      made.value.reset();
    return made;
  }

  /// The problem of loops whose rings have no room whatever their groups and runs.
  [[nodiscard]] Problems lackingRings(const rows::Program &outlines) const {
    const loops::RingBound bound = loops::ringBound(outlines);
    if (bound.rows <= geometry.inboxRows)
      return {};
    return {plan::leastProblem(
        geometry, {"inbox rows", "its tensors", bound.rows, geometry.inboxRows,
                   llvm::ArrayRef(bound.largest).take_front(kNamed).vec(), "an inbox"})};
  }

  /// With trees of other shapes, of those things of a shape that matter.
  using Trees = std::vector<std::pair<rows::TreeShape, rows::Program>>;

  /// `lower` makes the program with trees of one shape, if it can.
  template <typename Lower> static Trees inTrees(const rows::TreesSeen &seen, Lower lower) {
    Trees programs;
    for (const rows::TreeShape &shape : rows::otherShapes(seen)) {
      if (Outcome<rows::Program> program = lower(shape)) // the first has its problems too
        programs.emplace_back(shape, std::move(*program));
    }
    return programs;
  }

  Trees rowsInTrees(func::FuncOp main, const rows::TreesSeen &seen) const {
    return inTrees(seen, [&](const rows::TreeShape &shape) -> Outcome<rows::Program> {
      auto graph = rows::lowerToRows(main, geometry, named(main), {.trees = shape});
      if (!graph)
        return std::move(graph.problems);
      return rows::straightLine(std::move(*graph));
    });
  }

  Trees loopsInTrees(func::FuncOp main, const rows::TreesSeen &seen) {
    return inTrees(seen,
                   [&](const rows::TreeShape &shape) { return asLoops(main, {.trees = shape}); });
  }

  /// Adds what the program that was added last is with trees of other shapes.
  void addTrees(Trees programs) {
    for (auto &[shape, program] : programs) {
      program.variant = textOf(shape);
      add(program);
    }
  }

  /// A loop's trips cannot hand on what passes from one inference to the next.
  [[nodiscard]] bool keepsState() const { return !mainOf(module).getOps<ir::StateOp>().empty(); }

  void add(const rows::Program &program) {
    std::vector<std::string> errors;
    const ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        errors.push_back(diagnostic.str());
    });
    OwningOpRef<rows::ProgramOp> made = rows::toOps(*module.getContext(), program);
    if (succeeded(verify(*made))) {
      forms.push_back(std::move(made));
      return;
    }
    Problem problem;
    problem.code = "E0499";
    problem.reason = InternalError();
    problem.message = "internal error: the rows of the model are not a valid program";
    problem.notes = std::move(errors);
    problems.push_back(std::move(problem));
  }

  /// Adds the rows as they are, with other trees, and in another order. Rows that certainly lack
  /// memory are left out.
  void addRowByRow(rows::Graph graph, Trees trees, const Problems &lacks) {
    std::optional<rows::Graph> reordered = rows::longestWayFirst(graph);
    keepCloser(lacks, lacking);
    if (lacks.empty()) {
      add(rows::straightLine(std::move(graph)));
      addTrees(std::move(trees));
    }
    if (!reordered || (!lacks.empty() && !Bound(*reordered).lacking.empty()))
      return;
    rows::Program program = rows::straightLine(std::move(*reordered));
    program.variant = "longest chains of rows first";
    add(program);
  }

  /// Adds the rows as they are, with other trees, and what each rewrite makes of those before it.
  /// What they shorten is the way through a state's cell or past.
  void addRows(rows::Graph graph, Trees trees, const Problems &lacks) {
    struct Form {
      rows::Graph graph;
      Trees trees;
      Problems lacks;
    };
    std::vector<Form> all;
    all.push_back({std::move(graph), std::move(trees), lacks});
    if (!all[0].graph.states.empty())
      for (const auto rewrite : {rows::shortenChains, rows::factorsBehindNewest})
        for (size_t i = 0, count = all.size(); i < count; ++i)
          if (Form other = all[i]; rewrite(other.graph)) {
            std::erase_if(other.trees,
                          [&](auto &tree) { return !rewrite(tree.second.bodies[0].trip); });
            other.lacks = Bound(other.graph).lacking;
            all.push_back(std::move(other));
          }
    for (Form &one : all)
      addRowByRow(std::move(one.graph), std::move(one.trees), one.lacks);
  }

  /// The model with factors behind the products of two activations, and behind those with constant
  /// weights too, where there are any.
  const std::vector<OwningOpRef<ModuleOp>> &withLateFactors() {
    if (late)
      return *late;
    late.emplace();
    unsigned before = 0;
    for (const bool constantWeights : {false, true}) {
      OwningOpRef<ModuleOp> copy(module.clone());
      const unsigned sunk = ir::sinkFactors(mainOf(*copy), constantWeights);
      if (sunk == before)
        continue;
      before = sunk;
      if (mergeMaps(*copy))
        late->push_back(std::move(copy));
    }
    return *late;
  }
};

} // namespace

ModelForms formsOf(ModuleOp module, const format::Geometry &geometry, const rows::ModelInfo &model,
                   bool onlyLoops) {
  ModelForms found = Forms(module, geometry, model).run(onlyLoops);
  const OwningOpRef<ModuleOp> copy(module.clone());
  if (ir::headsInRows(mainOf(*copy), geometry.lanes) != 0 && mergeMaps(*copy)) {
    // Notes and problems are those of the first forms.
    ModelForms others = Forms(*copy, geometry, model).run(onlyLoops);
    for (OwningOpRef<rows::ProgramOp> &form : others.forms)
      found.forms.push_back(std::move(form));
    keepCloser(others.lacking, found.lacking);
    if (areFor<LacksMemory>(found.problems) && areFor<LacksMemory>(others.problems))
      keepCloser(others.problems, found.problems);
    std::erase_if(found.exactNodes,
                  [&](int64_t node) { return !others.exactNodes.contains(node); });
  }
  // A model fits if one of its forms does.
  if (!found.forms.empty() && areFor<LacksMemory>(found.problems))
    found.problems.clear();
  return found;
}

std::vector<rows::Program>
programsOf(const std::vector<mlir::OwningOpRef<rows::ProgramOp>> &forms) {
  std::vector<rows::Program> programs;
  for (const auto &form : forms)
    programs.push_back(rows::fromOps(*form));
  return programs;
}

} // namespace sluice::conversion
