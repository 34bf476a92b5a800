#include "compiler/conversion/bodies/lower.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include "compiler/conversion/bodies/constant_blocks.h"
#include "compiler/conversion/bodies/families.h"
#include "compiler/conversion/bodies/folds.h"
#include "compiler/conversion/bodies/view_places.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/selection.h"

using namespace mlir;

namespace sluice::bodies {
namespace {

using ir::isConstant;
using ir::typeOf;

/// A value as a body sees it: some lines of it, or all of it.
using Seen = std::pair<void *, std::optional<Slab>>;

class BodyLowering {
public:
  BodyLowering(func::FuncOp function, const Partition &partition, const format::Geometry &geometry,
               const rows::ModelInfo &info, const rows::LoweringOptions &options,
               Problems &problems)
      : function(function), partition(partition), geometry(geometry), info(info), options(options),
        problems(problems), module(ModuleOp::create(function.getLoc())),
        families(partition, program), views(geometry.lanes) {
    program.geometry = geometry;
    program.modelName = info.name;
    program.nodes = info.nodes;
    program.tensors = info.tensors;
    program.parameters = info.parameters;
  }

  std::optional<rows::Program> run(llvm::function_ref<bool(const rows::Program &)> mayFit) {
    addInputs();
    addOutputs();
    if (rowsAtHost(program.inputs) > kMostRows || rowsAtHost(program.outputs) > kMostRows)
      return std::nullopt;
    Block &block = function.getBody().front();
    for (unsigned level = 0; level <= partition.lastLevel; ++level) {
      // By number of trips.
      llvm::MapVector<int64_t, std::pair<Operations, Operations>> loops;
      for (Operation &op : block.without_terminator()) {
        const auto found = partition.levels.find(&op);
        if (found != partition.levels.end() && found->second == level)
          loops[partition.tripsOf(op.getResult(0))].first.push_back(&op);
        if (found != partition.levels.end() && partition.foldOf(&op) &&
            level == levelOf(op.getOperand(0)))
          loops[partition.tripsOf(op.getOperand(0))].second.push_back(&op);
      }
      for (const auto &[trips, work] : loops) {
        if (trips > int64_t{rows::kMostTrips})
          return std::nullopt;
        for (const Part &one : partsOf(trips, work.first))
          if (!addBody(level, one, work.first, work.second))
            return std::nullopt;
      }
    }
    // What is returned but not computed has no body that could send it.
    if (!llvm::all_of(sent, [](bool done) { return done; }) || !mayFit(program))
      return std::nullopt;
    for (auto &&[outline, body] : llvm::zip_equal(outlines, program.bodies)) {
      if (!lowerTrip(outline, body))
        return std::nullopt;
      program.macs += body.trip.macs * body.trips;
    }
    return std::move(program);
  }

private:
  using Operations = std::vector<Operation *>;

  func::FuncOp function;
  const Partition &partition;
  const format::Geometry &geometry;
  const rows::ModelInfo &info;
  const rows::LoweringOptions &options;
  Problems &problems;
  OwningOpRef<ModuleOp> module;
  rows::Program program;
  Part part; ///< that is lowered
  Families families;
  ViewPlaces views;
  std::vector<bool> sent; ///< by output

  /// What a trip of a body computes.
  struct Outline {
    func::FuncOp function;
    std::vector<rows::Read> reads;
    rows::ModelInfo info;
    std::map<Seen, Value> seen;
    std::optional<Problem> sums; ///< there are too many
  };
  std::vector<Outline> outlines; ///< by body

  /// Host rows that an address can name.
  static constexpr uint64_t kMostRows = uint64_t{isa::kMostDst} + 1;
  static uint64_t rowsAtHost(const std::vector<format::HostTensor> &tensors) {
    uint64_t rows = 0;
    for (const format::HostTensor &tensor : tensors)
      rows += tensor.rows;
    return rows;
  }

  /// Runs of trips whose windows lie beyond the borders equally.
  [[nodiscard]] std::vector<Part> partsOf(int64_t trips, const Operations &ops) const {
    std::vector<Part> parts;
    std::vector<Beyond> last;
    for (int64_t trip = 0; trip < trips; ++trip) {
      std::vector<Beyond> here;
      for (Operation *op : ops)
        for (const auto &[operand, need] :
             llvm::zip_equal(op->getOperands(), partition.readsOf(op)))
          if (need.slab)
            here.push_back(beyond(*need.slab, ir::shapeOf(operand)[need.slab->axis], trip));
      if (trip == 0 || here != last)
        parts.push_back({trip, 0});
      ++parts.back().trips;
      last = std::move(here);
    }
    return parts;
  }

  static void setRows(format::HostTensor &tensor, Value value, uint32_t lanes, uint32_t &next) {
    rows::setPacking(tensor, value);
    tensor.firstRow = next;
    tensor.rows = static_cast<uint32_t>(layoutOf(value, lanes).rows());
    next += tensor.rows;
  }

  void addInputs() {
    uint32_t next = 0;
    for (BlockArgument argument : function.getArguments()) {
      format::HostTensor tensor = info.inputs[argument.getArgNumber()];
      setRows(tensor, argument, geometry.lanes, next);
      families.addInput(argument, tensor.name, argument.getArgNumber());
      program.inputs.push_back(std::move(tensor));
    }
  }

  void addOutputs() {
    uint32_t next = 0;
    Operation *end = function.getBody().front().getTerminator();
    for (const auto &[value, tensor] : llvm::zip_equal(end->getOperands(), info.outputs)) {
      program.outputs.push_back(tensor);
      setRows(program.outputs.back(), value, geometry.lanes, next);
    }
    sent.assign(program.outputs.size(), false);
  }

  /// Level whose body makes a value, or reads it first.
  [[nodiscard]] unsigned levelOf(Value value) const {
    return static_cast<unsigned>(std::max(0, partition.levelOf(value)));
  }

  Value addArgument(Outline &outline, RankedTensorType type, const std::string &name,
                    rows::Read read) {
    format::HostTensor tensor;
    tensor.name = name;
    tensor.shape = {type.getShape().begin(), type.getShape().end()};
    outline.info.inputs.push_back(std::move(tensor));
    outline.reads.push_back(std::move(read));
    return outline.function.getBody().front().addArgument(type, function.getLoc());
  }

  Value operand(Outline &outline, OpBuilder &builder, Operation *user, Value value,
                const Need &need) {
    const std::optional<Slab> lines =
        need.slab ? linesInside(*need.slab, ir::shapeOf(value)[need.slab->axis], part.first)
                  : linesOf(value, need.cut);
    if (need.slab && !lines)
      return nullptr;
    const Seen key{value.getAsOpaquePointer(), lines};
    if (const auto known = outline.seen.find(key); known != outline.seen.end())
      return known->second;
    const Value made = isConstant(value) ? constantOperand(outline, builder, user, value, need)
                                         : readOperand(outline, value, need, lines);
    outline.seen[key] = made;
    return made;
  }

  Value constantOperand(Outline &outline, OpBuilder &builder, Operation *user, Value value,
                        const Need &need) {
    auto constant = value.getDefiningOp<ir::ConstantOp>();
    if (!constant || need.slab)
      return nullptr;
    if (!need.cut)
      return builder.clone(*constant)->getResult(0);
    if (const Value made = equalBlocks(builder, constant, *need.cut, part))
      return made;
    // The result has the same axes where the operation is pointwise.
    const Value result = user->getResult(0);
    if (partition.cutOf(result) != need.cut || ir::shapeOf(value) != ir::shapeOf(result))
      return nullptr;
    const int64_t dim = *ir::dataDim(result);
    return addArgument(
        outline, ir::withExtent(typeOf(result), need.cut->axis, need.cut->block),
        ir::tensorName(constant.getLoc()),
        {families.add(constantFamily(constant, *need.cut, dim, part, geometry.lanes)), false, {}});
  }

  /// Where the rows of a cut value are for who reads all of them: what repeats rows is not made.
  Places rowsForAll(Value value) {
    return views.fewest(value, [&](Value other) {
      return other.getDefiningOp() && partition.cutOf(other) && levelOf(other) == levelOf(value);
    });
  }

  /// Rows of what an earlier body makes, or the host; null if trips do not move over them evenly.
  Value readOperand(Outline &outline, Value value, const Need &need,
                    const std::optional<Slab> &lines) {
    rows::Read read;
    const auto cut = partition.cutOf(value);
    if (partition.windows) {
      const Places &places = views.of(value);
      read.family = families.of(places.of);
      read.all = true;
      const LineRows where = families.rowsOf(value, lines);
      for (const uint32_t row : where.rowsOf(part.first))
        read.places.push_back(static_cast<uint32_t>(places.rows[row]));
      const auto step = where.stepOf(part, places.rows);
      if (!step)
        return nullptr;
      read.step = static_cast<int32_t>(*step);
    } else if (cut && !need.cut) {
      read.all = true;
      const Places rows = rowsForAll(value);
      read.family = families.of(rows.of);
      const LineRows where = families.rowsOf(rows.of, linesOf(rows.of, partition.cutOf(rows.of)));
      std::vector<uint32_t> placeOf(layoutOf(rows.of, geometry.lanes).rows());
      uint32_t place = 0;
      for (int64_t trip = 0; trip < partition.tripsOf(rows.of); ++trip)
        for (const uint32_t row : where.rowsOf(trip))
          placeOf[row] = place++;
      for (const int64_t row : rows.rows)
        read.places.push_back(placeOf[row]);
    } else if (!cut) {
      read.family = families.of(value);
      read.all = true;
      read.places = families.rowsOf(value, std::nullopt).rowsOf(0);
    } else {
      read.family = families.of(value);
    }
    const std::string name = program.families[read.family].name;
    const RankedTensorType type =
        lines ? ir::withExtent(typeOf(value), lines->axis, lines->size) : typeOf(value);
    const Value argument = addArgument(outline, type, name, std::move(read));
    if (const auto number = info.numbers.find(value); number != info.numbers.end())
      outline.info.numbers[argument] = number->second;
    return argument;
  }

  /// Whether the layout rules allow an operation's data dimensions: a constant whose
  /// blocks differ is no longer one.
  static bool allowed(Operation *op) {
    const auto dimOf = [](Value value) {
      return static_cast<int8_t>(ir::dataDim(value).value_or(ir::kNoDim));
    };
    const bool changed = llvm::any_of(op->getOperands(), [](Value operand) {
      return llvm::isa<BlockArgument>(operand) && !isConstant(operand);
    });
    if (!changed || op->getNumOperands() < 2)
      return true;
    ir::LayoutQuery query = ir::layoutQuery(op, isConstant, 1);
    query.allowDynamicWeights = true;
    ir::LayoutRelation relation;
    llvm::cast<ir::LayoutInterface>(op).layouts(query, relation);
    return llvm::any_of(relation, [&](const ir::LayoutTuple &tuple) {
      return llvm::equal(llvm::ArrayRef(tuple.dims).drop_back(),
                         llvm::map_range(op->getOperands(), dimOf)) &&
             tuple.result() == dimOf(op->getResult(0));
    });
  }

  /// The result of parts that earlier bodies have folded.
  Value merged(Outline &outline, OpBuilder &builder, Operation *op) {
    rows::Read read{families.partsOf(op), true, {}};
    const rows::Family &family = program.families[read.family];
    for (uint32_t place = 0; place < family.total(); ++place)
      read.places.push_back(place);
    const Value result = op->getResult(0);
    llvm::SmallVector<int64_t, 4> shape = ir::carriedShape(result);
    shape.insert(shape.begin(), int64_t{family.trips} * families.partsPerCore(op));
    const std::string name = family.name;
    const Value parts =
        addArgument(outline, ir::withShape(typeOf(result), shape, *ir::dataDim(result) + 1), name,
                    std::move(read));
    return mergeParts(builder, llvm::cast<ir::ReduceOp>(op), parts);
  }

  /// What a body makes of an operation.
  Operation *makeOp(Outline &outline, OpBuilder &builder, Operation *op) {
    const Needs needs = partition.readsOf(op);
    llvm::SmallVector<Value> operands;
    std::optional<int64_t> missing;
    for (const auto &[value, need] : llvm::zip_equal(op->getOperands(), needs)) {
      operands.push_back(operand(outline, builder, op, value, need));
      if (!operands.back())
        return nullptr;
      if (need.slab)
        missing = beyond(*need.slab, ir::shapeOf(value)[need.slab->axis], part.first).before;
    }
    const Value result = op->getResult(0);
    if (const auto cut = partition.cutOf(result))
      return makeTile(op, builder, operands, ir::withExtent(typeOf(result), cut->axis, cut->block),
                      *cut, missing);
    return ir::cloneWith(op, builder, operands, result.getType());
  }

  /// The rows of what the trips under way make of a value are those of its tensor, with its
  /// numbers.
  void nameRows(Outline &outline, Value value, Value made) const {
    if (const auto number = info.numbers.find(value); number != info.numbers.end())
      outline.info.numbers[made] = number->second;
    const auto named = info.values.find(value);
    if (named == info.values.end())
      return;
    const LineRows where = families.rowsOf(value, linesOf(value, partition.cutOf(value)));
    rows::TensorRows rows{named->second.tensor, where.rowsOf(part.first), 0};
    if (part.trips > 1 && where.rows() > 0)
      rows.step = static_cast<int32_t>(where.rowOf(part.first + 1, 0) - where.rowOf(part.first, 0));
    outline.info.values[made] = std::move(rows);
  }

  /// `ops` in order, and what `folds`, operations of a later level, are folded of.
  bool addBody(unsigned level, const Part &trips, const Operations &ops, const Operations &folds) {
    part = trips;
    OpBuilder builder(module->getBody(), module->getBody()->end());
    Outline outline;
    outline.function = builder.create<func::FuncOp>(
        function.getLoc(), fmt::format("level{}", level), builder.getFunctionType({}, {}));
    Block *block = outline.function.addEntryBlock();
    builder.setInsertionPointToStart(block);
    for (Operation *op : ops) {
      const Value result = op->getResult(0);
      const Seen key{result.getAsOpaquePointer(), linesOf(result, partition.cutOf(result))};
      if (partition.foldOf(op)) {
        outline.seen[key] = merged(outline, builder, op);
        nameRows(outline, result, outline.seen[key]);
        continue;
      }
      Operation *made = makeOp(outline, builder, op);
      if (!made || !allowed(made))
        return false;
      outline.seen[key] = made->getResult(0);
      nameRows(outline, result, made->getResult(0));
    }
    std::vector<rows::Write> writes;
    llvm::SmallVector<Value> results;
    for (Operation *op : ops)
      if (!addWrites(op->getResult(0), level, outline, results, writes))
        return false;
    for (Operation *op : folds) {
      const Value value = op->getOperand(0);
      const Value block = operand(outline, builder, op, value, partition.cutOf(value));
      rows::Write write;
      write.family = families.partsOf(op);
      write.fold = partition.foldOf(op);
      const std::string name = program.families[*write.family].name;
      const Value made = makePart(builder, llvm::cast<ir::ReduceOp>(op), block);
      if (const auto whole = info.values.find(op->getResult(0));
          whole != info.values.end() && write.fold == rows::Fold::Sum)
        outline.info.values[made] = {whole->second.tensor, {}, 0, true};
      addWrite(made, std::move(write), name, outline, results, writes);
    }
    if (results.empty())
      return true; // views that are read where they are
    builder.create<func::ReturnOp>(function.getLoc(), results);
    outline.function.setType(
        builder.getFunctionType(block->getArgumentTypes(), ValueRange(results).getTypes()));
    uint32_t sums = 0;
    for (Operation *op : folds)
      if (partition.foldOf(op) == rows::Fold::Sum)
        sums += program.families[families.partsOf(op)].rows / families.partsPerCore(op);
    if (!folds.empty())
      outline.sums = tooManySums(sums, part.trips, folds.front(), geometry);
    rows::Body body;
    body.trips = static_cast<uint32_t>(part.trips);
    body.reads = std::move(outline.reads);
    body.writes = std::move(writes);
    program.bodies.push_back(std::move(body));
    outlines.push_back(std::move(outline));
    return true;
  }

  /// Bodies before it have their trips.
  bool lowerTrip(Outline &outline, rows::Body &body) {
    if (outline.sums)
      return problems.push_back(*outline.sums), false;
    outline.info.name = info.name;
    outline.info.nodes = info.nodes;
    outline.info.tensors = info.tensors;
    const bool takesLanes = rows::takesLanes(function);
    for (const rows::Read &read : body.reads)
      outline.info.lanes.push_back(families.lanesOf(read.family, rows::hostLanes(takesLanes)));
    std::vector<rows::TensorLanes> lanes;
    rows::LoweringOptions trip = options;
    trip.lanes = &lanes;
    trip.clearsUnread = takesLanes;
    // The function as a whole has the problems too.
    auto graph = rows::lowerToRows(outline.function, geometry, outline.info, trip);
    if (!graph || !canFold(*graph, body.writes))
      return false;
    for (const auto &[write, one] : llvm::zip_equal(body.writes, lanes))
      families.addLanes(write, one);
    body.trip = std::move(*graph);
    return true;
  }

  static void addWrite(Value made, rows::Write write, const std::string &name, Outline &outline,
                       llvm::SmallVector<Value> &results, std::vector<rows::Write> &writes) {
    format::HostTensor tensor;
    tensor.name = name;
    tensor.shape = {ir::shapeOf(made).begin(), ir::shapeOf(made).end()};
    outline.info.outputs.push_back(std::move(tensor));
    results.push_back(made);
    writes.push_back(std::move(write));
  }

  /// Where the trips under way write the rows of a value, of whose tensor row 0 is `base`. False if
  /// they do not move over them evenly.
  bool setPlaces(rows::Write &write, Value value, uint32_t base) const {
    const LineRows where = families.rowsOf(value, linesOf(value, partition.cutOf(value)));
    for (const uint32_t row : where.rowsOf(part.first))
      write.first.push_back(base + row);
    const auto step = where.stepOf(part);
    write.stride = static_cast<uint32_t>(step.value_or(0));
    return step.has_value();
  }

  /// Whether a body of a later level reads rows of `base`, itself or through views of it.
  bool isReadLater(Value base, unsigned level) {
    llvm::SetVector<Value> values; // `base`, and views of it
    values.insert(base);
    for (size_t i = 0; i < values.size(); ++i)
      for (OpOperand &use : values[i].getUses()) {
        Operation *user = use.getOwner();
        const auto found = partition.levels.find(user);
        if (found == partition.levels.end() || partition.foldOf(user))
          continue;
        if (found->second > level) {
          if (partition.windows || rowsRead(use) == base)
            return true;
        } else if (llvm::isa<ir::ViewInterface>(user) &&
                   (!partition.windows || views.of(user->getResult(0)).of == views.of(base).of)) {
          values.insert(user->getResult(0));
        }
      }
    return false;
  }

  /// The value whose rows an operation of a later level reads.
  Value rowsRead(OpOperand &use) {
    const Need need = partition.readsOf(use.getOwner())[use.getOperandNumber()];
    const bool all = partition.cutOf(use.get()) && !need.cut && !need.slab;
    return all ? rowsForAll(use.get()).of : use.get();
  }

  /// The rows of a value that later bodies or the host read. False if they cannot be written in
  /// a loop.
  bool addWrites(Value value, unsigned level, Outline &outline, llvm::SmallVector<Value> &results,
                 std::vector<rows::Write> &writes) {
    const Value made =
        outline.seen.at({value.getAsOpaquePointer(), linesOf(value, partition.cutOf(value))});
    const auto add = [&](rows::Write write, const std::string &name) {
      addWrite(made, std::move(write), name, outline, results, writes);
    };
    for (OpOperand &use : value.getUses()) {
      if (!use.getOwner()->hasTrait<OpTrait::IsTerminator>())
        continue;
      const uint32_t output = use.getOperandNumber();
      rows::Write write;
      write.output = output;
      if (!setPlaces(write, value, program.outputs[output].firstRow))
        return false;
      add(std::move(write), program.outputs[output].name);
      sent[output] = true;
    }
    if ((partition.windows && views.of(value).of != value) || !isReadLater(value, level))
      return true;
    rows::Write write;
    write.family = families.of(value);
    if (partition.windows && !setPlaces(write, value, 0))
      return false;
    const std::string name = program.families[*write.family].name;
    add(std::move(write), name);
    return true;
  }
};

} // namespace

Outcome<rows::Program> lowerToBodies(func::FuncOp function, const Partition &partition,
                                     const format::Geometry &geometry, const rows::ModelInfo &info,
                                     const rows::LoweringOptions &options,
                                     llvm::function_ref<bool(const rows::Program &)> mayFit) {
  Outcome<rows::Program> made;
  made.value =
      BodyLowering(function, partition, geometry, info, options, made.problems).run(mayFit);
  return made;
}

} // namespace sluice::bodies
