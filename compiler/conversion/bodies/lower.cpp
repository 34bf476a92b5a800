#include "compiler/conversion/bodies/lower.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "mlir/IR/BuiltinOps.h"

#include "compiler/conversion/rows/row_tensor.h"
#include "compiler/conversion/scalar/table_builder.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/operations.h"

using namespace mlir;

namespace sluice::bodies {
namespace {

bool isConstant(Value value) { return !ir::dataDim(value); }

RankedTensorType typeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

/// A value as a body sees it: block by block, or all of it.
using Seen = std::pair<void *, bool>;

/// Where the rows of a cut tensor are in the tensor, and the other way round.
class CutRows {
public:
  CutRows(llvm::ArrayRef<int64_t> shape, int64_t dim, std::optional<Cut> cut, int64_t lanes)
      : shape(shape.begin(), shape.end()), cut(cut), whole(vec(shape), dim, lanes), block(whole) {
    if (!cut)
      return;
    blockShape = this->shape;
    blockShape[cut->axis] = cut->block;
    block = rows::RowLayout(vec(blockShape), dim, lanes);
  }

  [[nodiscard]] uint32_t rows() const { return static_cast<uint32_t>(block.rows()); }

  /// Row of the tensor that holds row `row` of trip `trip`.
  [[nodiscard]] int64_t rowOf(int64_t trip, int64_t row) const {
    if (!cut)
      return row;
    int64_t rest = block.flat(row, 0), flat = 0, scale = 1;
    for (size_t axis = shape.size(); axis-- > 0;) {
      int64_t index = rest % blockShape[axis];
      rest /= blockShape[axis];
      if (static_cast<int64_t>(axis) == cut->axis)
        index += (cut->mirrored ? shape[axis] / cut->block - 1 - trip : trip) * cut->block;
      flat += index * scale;
      scale *= shape[axis];
    }
    return whole.place(flat).row;
  }

private:
  static std::vector<int64_t> vec(llvm::ArrayRef<int64_t> shape) {
    return {shape.begin(), shape.end()};
  }
  llvm::SmallVector<int64_t, 4> shape, blockShape;
  std::optional<Cut> cut;
  rows::RowLayout whole, block;
};

class BodyLowering {
public:
  BodyLowering(func::FuncOp function, const Partition &partition, const format::Geometry &geometry,
               const rows::ModelInfo &info, std::vector<std::string> &notes, Problems &problems)
      : function(function), partition(partition), geometry(geometry), info(info), notes(notes),
        problems(problems), module(ModuleOp::create(function.getLoc())) {
    program.geometry = geometry;
    program.modelName = info.name;
    program.nodes = info.nodes;
    program.parameters = info.parameters;
  }

  std::optional<rows::Program> run() {
    addInputs();
    addOutputs();
    if (rowsAtHost(program.inputs) > kMostRows || rowsAtHost(program.outputs) > kMostRows)
      return std::nullopt;
    Block &block = function.getBody().front();
    for (unsigned level = 0; level <= partition.lastLevel; ++level) {
      std::vector<Operation *> ops, folds;
      for (Operation &op : block.without_terminator()) {
        const auto found = partition.levels.find(&op);
        if (found != partition.levels.end() && found->second == level)
          ops.push_back(&op);
        if (found != partition.levels.end() && partition.foldOf(&op) &&
            level == levelOf(op.getOperand(0)))
          folds.push_back(&op);
      }
      if ((!ops.empty() || !folds.empty()) && !addBody(level, ops, folds))
        return std::nullopt;
    }
    for (const rows::Body &body : program.bodies)
      program.macs += body.trip.macs * body.trips;
    // What is returned but not computed has no body that could send it.
    for (const bool done : sent)
      if (!done)
        return std::nullopt;
    return std::move(program);
  }

private:
  func::FuncOp function;
  const Partition &partition;
  const format::Geometry &geometry;
  const rows::ModelInfo &info;
  std::vector<std::string> &notes;
  Problems &problems;
  OwningOpRef<ModuleOp> module;
  rows::Program program;
  llvm::DenseMap<Value, uint32_t> familyOf;
  llvm::DenseMap<Operation *, uint32_t> partsOf; ///< family of what an operation is folded of
  std::vector<bool> sent;                        ///< by output
  std::map<uint32_t, rows::Padding> padding; ///< beyond the elements of families that bodies make

  /// Host rows that an address can name.
  static constexpr uint64_t kMostRows = 1 << 18;
  static uint64_t rowsAtHost(const std::vector<format::HostTensor> &tensors) {
    uint64_t rows = 0;
    for (const format::HostTensor &tensor : tensors)
      rows += tensor.rows;
    return rows;
  }

  [[nodiscard]] CutRows rowsOf(Value value, std::optional<Cut> cut) const {
    return {ir::carriedShape(value), ir::dataDim(value).value_or(0), cut,
            static_cast<int64_t>(geometry.lanes)};
  }

  static void setRows(format::HostTensor &tensor, Value value, uint32_t lanes, uint32_t &next) {
    const auto shape = ir::carriedShape(value);
    tensor.dataDim = static_cast<uint32_t>(ir::dataDim(value).value_or(0));
    tensor.firstRow = next;
    tensor.rows = static_cast<uint32_t>(
        rows::RowLayout({shape.begin(), shape.end()}, tensor.dataDim, lanes).rows());
    next += tensor.rows;
  }

  void addInputs() {
    uint32_t next = 0;
    for (BlockArgument argument : function.getArguments()) {
      format::HostTensor tensor = info.inputs[argument.getArgNumber()];
      setRows(tensor, argument, geometry.lanes, next);
      rows::Family family;
      family.name = tensor.name;
      const auto cut = partition.cutOf(argument);
      family.trips = cut ? static_cast<uint32_t>(partition.trips) : 1;
      family.rows = rowsOf(argument, cut).rows();
      family.input = argument.getArgNumber();
      familyOf[argument] = static_cast<uint32_t>(program.families.size());
      program.families.push_back(std::move(family));
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

  /// The family of a value that an earlier body makes.
  uint32_t family(Value value) {
    const auto [entry, added] =
        familyOf.try_emplace(value, static_cast<uint32_t>(program.families.size()));
    if (added) {
      rows::Family made;
      made.name = ir::tensorName(value.getLoc());
      const auto cut = partition.cutOf(value);
      made.trips = cut ? static_cast<uint32_t>(partition.trips) : 1;
      made.rows = rowsOf(value, cut).rows();
      program.families.push_back(std::move(made));
    }
    return entry->second;
  }

  /// Level whose body makes a value, or reads it first.
  [[nodiscard]] unsigned levelOf(Value value) const {
    const auto found = partition.levels.find(value.getDefiningOp());
    return value.getDefiningOp() && found != partition.levels.end() ? found->second : 0;
  }

  /// Beyond the elements of a family's rows.
  [[nodiscard]] rows::Padding paddingOf(uint32_t family) const {
    const auto known = padding.find(family);
    return known == padding.end() ? rows::Padding::known(0) : known->second;
  }

  /// Sums are products, with zeros; a product of what is beyond is something else.
  static rows::Padding folded(std::optional<rows::Fold> fold, const rows::Padding &beyond) {
    return fold == rows::Fold::Product && beyond != rows::Padding::known(0) ? rows::Padding::open()
                                                                            : beyond;
  }

  [[nodiscard]] uint32_t partsPerCore(Operation *op) const {
    return partition.foldOf(op) == rows::Fold::Sum ? 2 : 1;
  }

  /// The family of the parts of all positions that cores have folded.
  uint32_t partsFamily(Operation *op) {
    const auto [entry, added] =
        partsOf.try_emplace(op, static_cast<uint32_t>(program.families.size()));
    if (added) {
      const Value result = op->getResult(0);
      rows::Family parts;
      parts.name = ir::tensorName(result.getLoc());
      parts.trips = std::min(geometry.cores, static_cast<uint32_t>(partition.trips));
      parts.rows = rowsOf(result, std::nullopt).rows() * partsPerCore(op);
      program.families.push_back(std::move(parts));
    }
    return entry->second;
  }

  /// A constant of which every trip needs another block.
  uint32_t constantFamily(ir::ConstantOp constant, const Cut &cut, int64_t dim) {
    const reference::Tensor values = ir::toTensor(constant.getValue());
    const auto shape = ir::shapeOf(constant);
    const CutRows where(shape, dim, cut, geometry.lanes);
    const rows::RowLayout layout({shape.begin(), shape.end()}, dim, geometry.lanes);
    rows::Family made;
    made.name = ir::tensorName(constant.getLoc());
    made.trips = static_cast<uint32_t>(partition.trips);
    made.rows = where.rows();
    for (int64_t trip = 0; trip < partition.trips; ++trip)
      for (int64_t row = 0; row < made.rows; ++row) {
        const int64_t from = where.rowOf(trip, row);
        for (int64_t lane = 0; lane < geometry.lanes; ++lane)
          made.constant.push_back(lane < layout.used(from)
                                      ? rows::roundToBf16(values.values[layout.flat(from, lane)])
                                      : uint16_t{0});
      }
    program.families.push_back(std::move(made));
    return static_cast<uint32_t>(program.families.size() - 1);
  }

  /// The block of a constant that is the same in every trip; null if they differ.
  Value equalBlocks(OpBuilder &builder, ir::ConstantOp constant, const Cut &cut) const {
    const reference::Tensor values = ir::toTensor(constant.getValue());
    const auto shape = ir::shapeOf(constant);
    int64_t inner = cut.block, outer = 1;
    for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis)
      if (axis != cut.axis)
        (axis < cut.axis ? outer : inner) *= shape[axis];
    const RankedTensorType type = blockType(typeOf(constant), cut);
    reference::Tensor block({type.getShape().begin(), type.getShape().end()});
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t trip = 0; trip < partition.trips; ++trip)
        for (int64_t i = 0; i < inner; ++i) {
          const double value = values.values[(o * partition.trips + trip) * inner + i];
          double &first = block.values[o * inner + i];
          if (trip == 0)
            first = value;
          else if (first != value)
            return nullptr;
        }
    return builder.create<ir::ConstantOp>(constant.getLoc(), type,
                                          ir::toElements(block, builder.getContext()));
  }

  struct Outline {
    func::FuncOp function;
    std::vector<rows::Read> reads;
    rows::ModelInfo info;
    std::map<Seen, Value> seen;
  };

  Value addArgument(Outline &outline, RankedTensorType type, const std::string &name,
                    rows::Read read) {
    format::HostTensor tensor;
    tensor.name = name;
    tensor.shape = {type.getShape().begin(), type.getShape().end()};
    outline.info.inputs.push_back(std::move(tensor));
    outline.info.padding.push_back(paddingOf(read.family));
    outline.reads.push_back(std::move(read));
    return outline.function.getBody().front().addArgument(type, function.getLoc());
  }

  Value operand(Outline &outline, OpBuilder &builder, Operation *user, Value value,
                std::optional<Cut> need) {
    const Seen key{value.getAsOpaquePointer(), need.has_value()};
    if (const auto known = outline.seen.find(key); known != outline.seen.end())
      return known->second;
    Value made;
    if (isConstant(value)) {
      auto constant = value.getDefiningOp<ir::ConstantOp>();
      if (!constant)
        return nullptr;
      made = need ? equalBlocks(builder, constant, *need) : builder.clone(*constant)->getResult(0);
      if (!made) {
        // The result has the same axes where the operation is pointwise.
        const Value result = user->getResult(0);
        if (partition.cutOf(result) != need || ir::shapeOf(value) != ir::shapeOf(result))
          return nullptr;
        const int64_t dim = *ir::dataDim(result);
        const RankedTensorType type = blockType(
            RankedTensorType::get(ir::shapeOf(value), typeOf(result).getElementType(),
                                  ir::DimAttr::get(builder.getContext(), dim, ir::shapeOf(value))),
            *need);
        made = addArgument(outline, type, ir::tensorName(constant.getLoc()),
                           {constantFamily(constant, *need, dim), false, {}});
      }
    } else {
      rows::Read read{family(value), false, {}};
      const auto cut = partition.cutOf(value);
      if (cut && !need) {
        read.all = true;
        const CutRows where = rowsOf(value, cut);
        read.places.resize(where.rows() * partition.trips);
        for (int64_t trip = 0; trip < partition.trips; ++trip)
          for (uint32_t row = 0; row < where.rows(); ++row)
            read.places[where.rowOf(trip, row)] = static_cast<uint32_t>(trip) * where.rows() + row;
      } else if (!cut) {
        read.all = true;
        read.places.resize(rowsOf(value, std::nullopt).rows());
        for (uint32_t row = 0; row < read.places.size(); ++row)
          read.places[row] = row;
      }
      const std::string name = program.families[read.family].name;
      made = addArgument(outline, need ? blockType(typeOf(value), *need) : typeOf(value), name,
                         std::move(read));
    }
    outline.seen[key] = made;
    return made;
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
    ir::LayoutQuery query = ir::layoutQuery(op, isConstant, 1);
    query.allowDynamicWeights = true;
    ir::LayoutRelation relation;
    llvm::cast<ir::LayoutInterface>(op).layouts(query, relation);
    return !changed || op->getNumOperands() < 2 ||
           llvm::any_of(
               relation,
               [&](const ir::LayoutTuple &tuple) {
                 return llvm::equal(llvm::ArrayRef(tuple.dims).drop_back(),
                                    llvm::map_range(op->getOperands(), dimOf)) &&
                        tuple.result() == dimOf(op->getResult(0));
               });
  }

  /// The result of parts that earlier bodies have folded.
  Value merged(Outline &outline, OpBuilder &builder, Operation *op) {
    rows::Read read{partsFamily(op), true, {}};
    const rows::Family &family = program.families[read.family];
    for (uint32_t place = 0; place < family.total(); ++place)
      read.places.push_back(place);
    const Value result = op->getResult(0);
    llvm::SmallVector<int64_t, 4> shape = ir::carriedShape(result);
    shape.insert(shape.begin(), int64_t{family.trips} * partsPerCore(op));
    const Attribute encoding =
        ir::DimAttr::get(builder.getContext(), *ir::dataDim(result) + 1, shape);
    const std::string name = family.name;
    const Value parts = addArgument(
        outline, RankedTensorType::get(shape, typeOf(result).getElementType(), encoding), name,
        std::move(read));
    return llvm::cast<CutInterface>(op).mergeParts(builder, parts);
  }

  /// `ops` in order, and what `folds`, operations of a later level, are folded of.
  bool addBody(unsigned level, const std::vector<Operation *> &ops,
               const std::vector<Operation *> &folds) {
    const bool loop = level % 2 == 0;
    OpBuilder builder(module->getBody(), module->getBody()->end());
    Outline outline;
    outline.function = builder.create<func::FuncOp>(
        function.getLoc(), fmt::format("level{}", level), builder.getFunctionType({}, {}));
    Block *block = outline.function.addEntryBlock();
    builder.setInsertionPointToStart(block);
    for (Operation *op : ops) {
      if (partition.foldOf(op)) {
        outline.seen[{op->getResult(0).getAsOpaquePointer(), loop}] = merged(outline, builder, op);
        continue;
      }
      const OperandCuts needs = partition.operandCuts(op);
      llvm::SmallVector<Value> operands;
      for (const auto &[value, need] : llvm::zip_equal(op->getOperands(), needs)) {
        operands.push_back(operand(outline, builder, op, value, need));
        if (!operands.back())
          return false;
      }
      const Value result = op->getResult(0);
      Operation *made;
      if (const auto cut = partition.cutOf(result)) {
        made = llvm::cast<CutInterface>(op).makeBlock(builder, operands,
                                                      blockType(typeOf(result), *cut), *cut);
      } else {
        made = builder.clone(*op);
        made->setOperands(operands);
      }
      if (!allowed(made))
        return false;
      outline.seen[{result.getAsOpaquePointer(), loop}] = made->getResult(0);
    }
    std::vector<rows::Write> writes;
    llvm::SmallVector<Value> results;
    for (Operation *op : ops)
      addWrites(op->getResult(0), level, outline, results, writes);
    for (Operation *op : folds) {
      const Value value = op->getOperand(0);
      const Value block = operand(outline, builder, op, value, partition.cutOf(value));
      rows::Write write;
      write.family = partsFamily(op);
      write.fold = partition.foldOf(op);
      const std::string name = program.families[*write.family].name;
      addWrite(llvm::cast<CutInterface>(op).makePart(builder, block), std::move(write), name,
               outline, results, writes);
    }
    builder.create<func::ReturnOp>(function.getLoc(), results);
    outline.function.setType(
        builder.getFunctionType(block->getArgumentTypes(), ValueRange(results).getTypes()));
    outline.info.name = info.name;
    outline.info.nodes = info.nodes;
    if (const auto many = tooManySums(folds))
      return problems.push_back(*many), false;
    std::vector<rows::Padding> beyond;
    Problems ignored; // the function as a whole has them too
    auto graph = rows::lowerToRows(outline.function, geometry, outline.info, ignored,
                                   {.notes = &notes, .padding = &beyond});
    if (!graph || !canFold(*graph, writes))
      return false;
    for (const auto &[write, one] : llvm::zip_equal(writes, beyond))
      if (write.family)
        padding.emplace(*write.family, folded(write.fold, one));
    rows::Body body;
    body.trips = loop ? static_cast<uint32_t>(partition.trips) : 1;
    body.trip = std::move(*graph);
    body.reads = std::move(outline.reads);
    body.writes = std::move(writes);
    program.bodies.push_back(std::move(body));
    return true;
  }

  /// What is wrong if sums of rows of every position need more accumulators than there are
  /// beside that of another product.
  std::optional<Problem> tooManySums(const std::vector<Operation *> &folds) const {
    uint32_t rows = 0;
    for (Operation *op : folds)
      if (partition.foldOf(op) == rows::Fold::Sum)
        rows += program.families[partsOf.at(op)].rows / partsPerCore(op);
    if (rows < geometry.accumulators)
      return std::nullopt;
    Problem problem;
    problem.code = "E0414";
    problem.message =
        fmt::format("sums over {} positions of {} rows each, at most {} are allowed: every core "
                    "keeps them in accumulators, and one is for other products",
                    partition.trips, rows, geometry.accumulators - 1);
    if (const NodeRef node = ir::nodeOf(folds.front()->getLoc()); node.index >= 0)
      problem.node = node;
    problem.fixes.push_back(
        {"use a target with more accumulators or more lanes", std::nullopt, false, std::nullopt});
    return problem;
  }

  /// Whether rows that are summed over the trips are sums of products alone.
  static bool canFold(const rows::Graph &trip, const std::vector<rows::Write> &writes) {
    const auto readBy = [](const rows::Row &row, rows::RowId id) {
      return llvm::is_contained(row.a, id) || row.b == id || row.c == id ||
             llvm::any_of(row.terms, [&](const rows::Term &term) { return term.x == id; });
    };
    for (const auto &[port, write] : llvm::zip_equal(trip.outputs, writes))
      for (const rows::RowId id : port.rows)
        if (const rows::Row &row = trip.rows[id];
            write.fold == rows::Fold::Sum &&
            (row.kind != rows::RowKind::Linear || !row.bias.empty() ||
             !(row.step == rows::VectorStep{}) ||
             llvm::any_of(trip.rows, [&](const rows::Row &other) { return readBy(other, id); })))
          return false;
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

  /// The rows of a value that later bodies or the host read.
  void addWrites(Value value, unsigned level, Outline &outline, llvm::SmallVector<Value> &results,
                 std::vector<rows::Write> &writes) {
    const auto cut = partition.cutOf(value);
    const Value made = outline.seen.at({value.getAsOpaquePointer(), cut.has_value()});
    const auto add = [&](rows::Write write, const std::string &name) {
      addWrite(made, std::move(write), name, outline, results, writes);
    };
    bool later = false;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (user->hasTrait<OpTrait::IsTerminator>()) {
        const uint32_t output = use.getOperandNumber();
        const CutRows where = rowsOf(value, cut);
        rows::Write write;
        write.output = output;
        for (uint32_t row = 0; row < where.rows(); ++row)
          write.first.push_back(program.outputs[output].firstRow +
                                static_cast<uint32_t>(where.rowOf(0, row)));
        if (cut && partition.trips > 1)
          write.stride = static_cast<uint32_t>(where.rowOf(1, 0) - where.rowOf(0, 0));
        add(std::move(write), program.outputs[output].name);
        sent[output] = true;
      } else if (const auto found = partition.levels.find(user); found != partition.levels.end() &&
                                                                 found->second > level &&
                                                                 !partition.foldOf(user)) {
        later = true;
      }
    }
    if (later) {
      rows::Write write;
      write.family = family(value);
      const std::string name = program.families[*write.family].name;
      add(std::move(write), name);
    }
  }
};

} // namespace

std::optional<rows::Program> lowerToBodies(func::FuncOp function, const Partition &partition,
                                           const format::Geometry &geometry,
                                           const rows::ModelInfo &info,
                                           std::vector<std::string> &notes, Problems &problems) {
  return BodyLowering(function, partition, geometry, info, notes, problems).run();
}

} // namespace sluice::bodies
