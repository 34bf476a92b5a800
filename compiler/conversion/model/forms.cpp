#include "compiler/conversion/model/forms.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include "compiler/conversion/bodies/lower.h"
#include "compiler/conversion/bodies/partition.h"
#include "compiler/conversion/loops/block_bound.h"
#include "compiler/conversion/loops/loop_plan.h"
#include "compiler/conversion/loops/ring_bound.h"
#include "compiler/conversion/plan/order/least_memory.h"
#include "compiler/conversion/plan/order/planned.h"
#include "compiler/conversion/plan/order/split_reductions.h"
#include "compiler/conversion/plan/order/work_ahead.h"
#include "compiler/conversion/plan/report/fit.h"
#include "compiler/conversion/rows/bound_facts.h"
#include "compiler/conversion/rows/constant_bound.h"
#include "compiler/conversion/rows/late_factors.h"
#include "compiler/conversion/rows/longest_way.h"
#include "compiler/conversion/rows/program_ops.h"
#include "compiler/conversion/rows/row_bound.h"
#include "compiler/conversion/rows/row_tensor.h"
#include "compiler/conversion/rows/short_chains.h"
#include "compiler/conversion/rows/stage_bound.h"
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

/// Functions that need so many times the rows that there are do not become rows if their products
/// take so many beats, times the lanes. A transformer block has up to six forms, and each takes a
/// third of a second to lower.
constexpr uint64_t kFarBeyond = 2, kManyElements = uint64_t{1} << 19;

/// The count of constants ends at so many times the local rows that there are, so that it takes a
/// fraction of a second.
constexpr uint64_t kMostConstants = 16;

/// Whether the planner may find memory for a graph, and what to say if it cannot.
struct Bound {
  bool mayFit = false;
  Problems lacking;             ///< not empty: no plan is worth a try
  bool mayFitReordered = false; ///< with the rows in another order

  explicit Bound(const rows::Graph &graph) {
    if (plan::circularState(graph))
      return;
    const plan::Planned planned(graph);
    mayFit = planned.mayFit();
    mayFitReordered =
        !graph.states.empty() || plan::fitsButForRows(planned.leastMemory(), graph.geometry);
    if (!mayFit && planned.work().beats >= kAlwaysPlanned &&
        !(mayFitReordered && fitsInPairs(graph)))
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

/// A copy of a module, which the variants that are lowered from it share.
using Copy = std::shared_ptr<OwningOpRef<ModuleOp>>;

Copy copyOf(ModuleOp module) { return std::make_shared<OwningOpRef<ModuleOp>>(module.clone()); }

/// What the rows of a function are lowered from.
struct Source {
  func::FuncOp main;
  Copy module; ///< of the function; null if the caller of formsOf() keeps it
  format::Geometry geometry;
  rows::ModelInfo model;

  [[nodiscard]] Outcome<rows::Graph> asRows(const rows::LoweringOptions &options) const {
    return rows::lowerToRows(main, geometry, model, options);
  }

  /// Loops over positions; nothing if the function has none, or if `mayFit` says no: of the
  /// outlines before trips are lowered, or of the program.
  [[nodiscard]] Outcome<rows::Program>
  asLoops(const bodies::Partition &partition, const rows::LoweringOptions &options,
          llvm::function_ref<bool(const rows::Program &)> mayFit) const {
    auto made = bodies::lowerToBodies(main, partition, geometry, model, options, mayFit);
    const bool loops =
        made && llvm::any_of(made->bodies, [](const rows::Body &body) { return body.trips > 1; });
    // Bodies that instructions cannot express are no form of the model; the plain one remains.
    if (!loops || !mayFit(*made) || !loops::isPlannable(*made))
      made.value.reset();
    return made;
  }
};

/// Variants of one function share it.
using SharedSource = std::shared_ptr<const Source>;

/// Returns a program as its text has it, or the problem that it is no valid one.
Outcome<rows::Program> verified(MLIRContext &context, const rows::Program &program) {
  std::vector<std::string> errors;
  const ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      errors.push_back(diagnostic.str());
  });
  const OwningOpRef<rows::ProgramOp> made = rows::toOps(context, program);
  if (succeeded(verify(*made)))
    return rows::fromOps(*made);
  Problem problem;
  problem.code = "E0499";
  problem.reason = InternalError();
  problem.message = "internal error: the rows of the model are not a valid program";
  problem.notes = std::move(errors);
  return Problems{std::move(problem)};
}

class Forms {
public:
  /// `copy` owns the module, unless the caller of formsOf() does.
  Forms(ModuleOp module, Copy copy, const format::Geometry &geometry, const rows::ModelInfo &model,
        const FormOptions &options)
      : module(module), copy(std::move(copy)), geometry(geometry), model(model), options(options) {}

  ModelForms run() {
    for (const auto find : {&Forms::lackingWeights, &Forms::lackingSums, &Forms::lackingConstants})
      if (Problems lacks = (this->*find)(); !lacks.empty())
        return {{}, {}, std::move(lacks), {}};
    std::vector<std::string> loopNotes, plainNotes;
    rows::IntegerDifferences differences;
    findNumbers();
    const SharedSource main = sourceOf(mainOf(module), copy);
    rows::TreesSeen inTrips;
    const Outcome<rows::Program> loops =
        asLoops(main, {.notes = &loopNotes, .differences = &differences, .treesSeen = &inTrips});
    hasLoops = loops.value.has_value();
    const uint64_t products = loops ? productsOf(*loops) : 0;
    Problems inRows; // of no interest where loops can do it
    const bool layers = loops && loops->hasWindows();
    if (!options.onlyLoops && products <= (layers ? kMostOfLayers : kMostProducts)) {
      rows::TreesSeen seen;
      auto graph =
          asRows(main, {.notes = &plainNotes, .differences = &differences, .treesSeen = &seen});
      inRows = std::move(graph.problems);
      if (graph) {
        const Bound bound(*graph);
        Trees trees = bound.mayFit ? rowsInTrees(main, seen) : Trees();
        addRows(std::move(*graph), std::move(trees), bound);
      }
      if (graph || areFor<LacksMemory>(inRows))
        for (const Copy &sunk : withLateFactors()) {
          const SharedSource late = sourceOf(mainOf(**sunk), sunk);
          if (auto other = asRows(late, {})) {
            const Bound ofOther(*other);
            Trees others = ofOther.mayFit ? rowsInTrees(late, seen) : Trees();
            addRowByRow(std::move(*other), others, ofOther);
          }
        }
    }
    const bool plain = !forms.empty();
    if (loops && (options.onlyLoops || products >= kLoopProducts || forms.empty())) {
      add(*loops);
      addTrees(loopsInTrees(main, inTrips));
      for (const Copy &sunk : withLateFactors()) {
        const SharedSource late = sourceOf(mainOf(**sunk), sunk);
        if (const auto other = asLoops(late, {})) {
          add(*other);
          addTrees(loopsInTrees(late, inTrips));
        }
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
  const Copy copy;
  const format::Geometry &geometry;
  const rows::ModelInfo &model;
  const FormOptions options;
  bool hasLoops = false;              ///< the function can be lowered to loops
  static constexpr size_t kNamed = 3; ///< nodes in a problem
  rows::ValueNumbers numbers;         ///< of a quantised network
  Problems problems;
  Problems lacking; ///< of the graph that comes closest to fitting, of those that cannot fit
  std::vector<Form> forms;
  llvm::DenseMap<Operation *, std::unique_ptr<rows::BoundFacts>> facts; ///< of functions
  std::optional<std::vector<Copy>> late; ///< as far as they were asked for

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
          return lacks(weightsOf(mainOf(**sunk)));
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
    if (!bound || !llvm::all_of(withLateFactors(), [&](const auto &sunk) {
          return lacks(mainOf(**sunk)).has_value();
        }))
      return {};
    return {plan::leastProblem(geometry, {"preload rows",
                                          "its sums",
                                          bound->rows,
                                          available,
                                          {{nameOf(bound->node), bound->rows}}})};
  }

  /// The problem of a model whose constants have no room in local rows whatever its form.
  Problems lackingConstants() {
    const uint64_t available = uint64_t{geometry.cores} * geometry.localRows;
    const auto boundOf = [&](func::FuncOp main) {
      return rows::constantBound(factsOf(main), geometry.lanes, kMostConstants * available);
    };
    const rows::ConstantBound bound = boundOf(mainOf(module));
    if (bound.rows <= available || !llvm::all_of(withLateFactors(), [&](const auto &sunk) {
          return boundOf(mainOf(**sunk)).rows > available;
        }))
      return {};
    std::vector<plan::User> largest;
    for (const auto &[node, rows] : llvm::ArrayRef(bound.nodes).take_front(kNamed))
      largest.push_back({nameOf(node), rows});
    return {plan::leastProblem(
        geometry, {"local rows", "its constants", bound.rows, available, std::move(largest)})};
  }

  /// What is known of the numbers of a quantised network.
  void findNumbers() {
    if (llvm::any_of(model.nodes,
                     [](const format::SourceNode &node) { return rows::isQuantising(node.op); }))
      numbers = rows::numbersOf(mainOf(module), model.inputNumbers);
  }

  rows::WeightBound weightsOf(func::FuncOp main) {
    return rows::weightBound(factsOf(main), geometry.lanes);
  }

  /// Functions are not changed any more once a bound was asked for.
  rows::BoundFacts &factsOf(func::FuncOp main) {
    std::unique_ptr<rows::BoundFacts> &known = facts[main];
    if (!known)
      known = std::make_unique<rows::BoundFacts>(main);
    return *known;
  }

  /// A function, and the model with the tensors that values of the function are.
  [[nodiscard]] SharedSource sourceOf(func::FuncOp main, Copy module) const {
    Source source{main, std::move(module), geometry, model};
    rows::nameTensors(main, source.model);
    source.model.numbers = numbers;
    return std::make_shared<const Source>(std::move(source));
  }

  /// The function row by row. It is not lowered if its rows certainly lack memory.
  Outcome<rows::Graph> asRows(const SharedSource &source, const rows::LoweringOptions &options) {
    if (Problems lacks = lackingRows(source->main); !lacks.empty()) {
      keepCloser(lacks, lacking);
      return lacks;
    }
    return source->asRows(options);
  }

  /// The problem of a function whose rows have no room whatever core computes them.
  Problems lackingRows(func::FuncOp main) {
    const rows::RowBound bound = rows::rowBound(factsOf(main), geometry.lanes);
    const uint64_t available = geometry.inboxRows + uint64_t{geometry.cores} * geometry.localRows;
    const bool isFar =
        bound.rows >= kFarBeyond * available && bound.beats * geometry.lanes >= kManyElements;
    if (bound.rows > available && (isFar || bound.beats >= kAlwaysLowered)) {
      std::vector<plan::User> largest;
      for (const auto &[node, rows] : bound.nodes)
        largest.push_back({nameOf(node), rows});
      return {plan::leastProblem(geometry,
                                 plan::rowsTogether(geometry, bound.rows, std::move(largest)))};
    }
    if (Problems lacks = bound.beats >= kAlwaysPlanned && bound.readsAnOutput
                             ? lackingHostRows(main)
                             : Problems();
        !lacks.empty())
      return lacks;
    if (!options.onlyFitting || hasLoops || bound.beats < kAlwaysPlanned)
      return {};
    const uint64_t rows = std::max(bound.rows, rows::stageBound(factsOf(main), geometry.lanes));
    return rows > available
               ? Problems{plan::leastProblem(geometry, plan::rowsTogether(geometry, rows, {}))}
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

  /// The function as loops over positions, if it has any and their rings and weights may have room.
  /// Trips are not lowered if the rings have none.
  Outcome<rows::Program> asLoops(const SharedSource &source, const rows::LoweringOptions &options) {
    const auto partition = bodies::findPartition(source->main);
    if (!partition || keepsState())
      return {};
    Problems lacks;
    auto made = source->asLoops(*partition, options, [&](const rows::Program &program) {
      lacks = lackingRings(program);
      if (lacks.empty())
        lacks = lackingBlocks(program);
      return lacks.empty();
    });
    if (!lacks.empty()) {
      keepCloser(lacks, lacking);
      return lacks;
    }
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

  /// The problem of loops whose weights have no room whatever their groups and runs. Of small ones
  /// the planner says more.
  [[nodiscard]] Problems lackingBlocks(const rows::Program &program) const {
    if (productsOf(program) < kAlwaysPlanned)
      return {};
    const uint64_t available = uint64_t{geometry.cores} * geometry.weightBlocks;
    loops::BlockBound bound = loops::blockBound(program);
    if (bound.blocks <= available)
      return {};
    return {plan::leastProblem(geometry, {"weight blocks", "its weights", bound.blocks, available,
                                          std::move(bound.largest)})};
  }

  /// How to make a program with trees of another shape.
  struct Tree {
    rows::TreeShape shape;
    Form::Maker make;
  };
  /// Of those things of a shape that matter.
  using Trees = std::vector<Tree>;

  /// `lower` makes the program with trees of one shape, if it can.
  template <typename Lower> static Trees inTrees(const rows::TreesSeen &seen, Lower lower) {
    Trees trees;
    for (const rows::TreeShape &shape : rows::otherShapes(seen))
      trees.push_back({shape, [lower, shape] { return lower(shape); }});
    return trees;
  }

  static Trees rowsInTrees(const SharedSource &source, const rows::TreesSeen &seen) {
    return inTrees(seen, [source](const rows::TreeShape &shape) -> Outcome<rows::Program> {
      auto graph = source->asRows({.trees = shape});
      if (!graph)
        return std::move(graph.problems);
      return rows::straightLine(std::move(*graph));
    });
  }

  /// The rings of the loops do not depend on their trees.
  static Trees loopsInTrees(const SharedSource &source, const rows::TreesSeen &seen) {
    return inTrees(seen, [source](const rows::TreeShape &shape) -> Outcome<rows::Program> {
      const auto partition = bodies::findPartition(source->main);
      if (!partition)
        return {};
      return source->asLoops(*partition, {.trees = shape},
                             [](const rows::Program &) { return true; });
    });
  }

  /// Adds what the program that was added last is with trees of other shapes.
  void addTrees(const Trees &trees) {
    for (const Tree &tree : trees)
      addVariant(textOf(tree.shape), tree.make);
  }

  /// Adds a variant of the program that was added last.
  void addVariant(const std::string &name, Form::Maker make) {
    forms.emplace_back(
        name,
        [context = module.getContext(), name, make = std::move(make)]() -> Outcome<rows::Program> {
          Outcome<rows::Program> program = make();
          if (!program) // the first has its problems too
            return {};
          program->variant = name;
          return verified(*context, *program);
        });
  }

  /// A loop's trips cannot hand on what passes from one inference to the next.
  [[nodiscard]] bool keepsState() const { return !mainOf(module).getOps<ir::StateOp>().empty(); }

  void add(const rows::Program &program) {
    Outcome<rows::Program> made = verified(*module.getContext(), program);
    if (made)
      forms.emplace_back(std::move(*made));
    llvm::append_range(problems, made.problems);
  }

  static constexpr const char *kLongestChainsFirst = "longest chains of rows first";

  /// Adds the rows as they are, with other trees, and in another order. Rows that certainly lack
  /// memory are left out.
  void addRowByRow(rows::Graph graph, const Trees &trees, const Bound &bound) {
    keepCloser(bound.lacking, lacking);
    if (bound.lacking.empty()) {
      const auto rows = std::make_shared<const rows::Graph>(std::move(graph));
      add(rows::straightLine(*rows));
      addTrees(trees);
      addVariant(kLongestChainsFirst, [rows]() -> Outcome<rows::Program> {
        std::optional<rows::Graph> reordered = rows::longestWayFirst(*rows);
        if (!reordered)
          return {};
        return rows::straightLine(std::move(*reordered));
      });
      return;
    }
    if (!bound.mayFitReordered)
      return;
    std::optional<rows::Graph> reordered = rows::longestWayFirst(graph);
    if (!reordered || !Bound(*reordered).lacking.empty())
      return;
    rows::Program program = rows::straightLine(std::move(*reordered));
    program.variant = kLongestChainsFirst;
    add(program);
  }

  /// Adds the rows as they are, with other trees, and what each rewrite makes of those before it.
  /// What they shorten is the way through a state's cell or past.
  void addRows(rows::Graph graph, Trees trees, const Bound &bound) {
    struct Rows {
      rows::Graph graph;
      Trees trees;
      Bound bound;
    };
    std::vector<Rows> all;
    all.push_back({std::move(graph), std::move(trees), bound});
    if (!all[0].graph.states.empty())
      for (const auto rewrite : {rows::shortenChains, rows::factorsBehindNewest})
        for (size_t i = 0, count = all.size(); i < count; ++i)
          if (Rows other = all[i]; rewrite(other.graph)) {
            for (Tree &tree : other.trees)
              tree.make = rewritten(tree.make, rewrite);
            other.bound = Bound(other.graph);
            all.push_back(std::move(other));
          }
    for (Rows &one : all)
      addRowByRow(std::move(one.graph), one.trees, one.bound);
  }

  /// Makes what a rewrite makes of a program, if it changes the program.
  static Form::Maker rewritten(Form::Maker make, bool (*rewrite)(rows::Graph &)) {
    return [make = std::move(make), rewrite]() -> Outcome<rows::Program> {
      Outcome<rows::Program> program = make();
      if (program && !rewrite(program->bodies[0].trip))
        return {};
      return program;
    };
  }

  /// The model with factors behind the products of two activations, and behind those with constant
  /// weights too, where there are any.
  const std::vector<Copy> &withLateFactors() {
    if (late)
      return *late;
    late.emplace();
    if (!ir::sinksFactors(mainOf(module)))
      return *late;
    unsigned before = 0;
    for (const bool constantWeights : {false, true}) {
      Copy copy = copyOf(module);
      const unsigned sunk = ir::sinkFactors(mainOf(**copy), constantWeights);
      if (sunk == before)
        continue;
      before = sunk;
      if (mergeMaps(**copy))
        late->push_back(std::move(copy));
    }
    return *late;
  }
};

} // namespace

ModelForms formsOf(ModuleOp module, const format::Geometry &geometry, const rows::ModelInfo &model,
                   const FormOptions &options) {
  ModelForms found = Forms(module, nullptr, geometry, model, options).run();
  const Copy copy = ir::readsHeads(mainOf(module), geometry.lanes) ? copyOf(module) : nullptr;
  if (copy && ir::headsInRows(mainOf(**copy), geometry.lanes) != 0 && mergeMaps(**copy)) {
    // Notes and problems are those of the first forms.
    ModelForms others = Forms(**copy, copy, geometry, model, options).run();
    for (Form &form : others.forms)
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

} // namespace sluice::conversion
