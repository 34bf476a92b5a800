#include "compiler/conversion/bodies/lower.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

#include "compiler/conversion/rows/row_tensor.h"
#include "compiler/conversion/scalar/table_builder.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/operations.h"

using namespace mlir;

namespace sluice::bodies {
namespace {

bool isConstant(Value value) { return !ir::dataDim(value); }

RankedTensorType typeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

/// The elements of a cut: they are all inside.
Slab slabOf(const Cut &cut, int64_t extent) {
  return {cut.axis, cut.mirrored ? extent - cut.block : 0, cut.mirrored ? -cut.block : cut.block, 1,
          cut.block};
}

/// A value as a body sees it: some lines of it, or all of it.
using Seen = std::pair<void *, std::optional<Slab>>;

/// Where the rows of some lines of a tensor are in the tensor.
class LineRows {
public:
  LineRows(llvm::ArrayRef<int64_t> shape, int64_t dim, std::optional<Slab> lines, int64_t lanes)
      : shape(shape.begin(), shape.end()), lines(lines), whole(vec(shape), dim, lanes),
        block(whole) {
    if (!lines)
      return;
    blockShape = this->shape;
    blockShape[lines->axis] = lines->size;
    block = rows::RowLayout(vec(blockShape), dim, lanes);
  }

  [[nodiscard]] uint32_t rows() const { return static_cast<uint32_t>(block.rows()); }

  /// Row of the tensor that holds row `row` of trip `trip`.
  [[nodiscard]] int64_t rowOf(int64_t trip, int64_t row) const {
    if (!lines)
      return row;
    int64_t rest = block.flat(row, 0), flat = 0, scale = 1;
    for (size_t axis = shape.size(); axis-- > 0;) {
      int64_t index = rest % blockShape[axis];
      rest /= blockShape[axis];
      if (static_cast<int64_t>(axis) == lines->axis)
        index = lines->first + trip * lines->step + index * lines->spacing;
      flat += index * scale;
      scale *= shape[axis];
    }
    return whole.place(flat).row;
  }

  /// How far each of `trips` trips from `first` on moves every row, whose place is `places[row of
  /// the tensor]`; nothing if they do not all move equally.
  [[nodiscard]] std::optional<int64_t> stepOf(int64_t first, int64_t trips,
                                              llvm::ArrayRef<int64_t> places) const {
    const auto at = [&](int64_t trip, int64_t row) { return places[rowOf(trip, row)]; };
    const int64_t step = trips > 1 ? at(first + 1, 0) - at(first, 0) : 0;
    for (int64_t row = 0; row < block.rows(); ++row)
      for (int64_t trip = 1; trip < trips; ++trip)
        if (at(first + trip, row) != at(first, row) + trip * step)
          return std::nullopt;
    return step;
  }

private:
  static std::vector<int64_t> vec(llvm::ArrayRef<int64_t> shape) {
    return {shape.begin(), shape.end()};
  }
  llvm::SmallVector<int64_t, 4> shape, blockShape;
  std::optional<Slab> lines;
  rows::RowLayout whole, block;
};

/// Trips of a level that see as many lines beyond every border as each other.
struct Part {
  int64_t first = 0, trips = 1;
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
      for (const auto &[trips, work] : loops)
        for (const Part &one : partsOf(trips, work.first))
          if (!addBody(level, one, work.first, work.second))
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
  using Operations = std::vector<Operation *>;

  func::FuncOp function;
  const Partition &partition;
  const format::Geometry &geometry;
  const rows::ModelInfo &info;
  std::vector<std::string> &notes;
  Problems &problems;
  OwningOpRef<ModuleOp> module;
  rows::Program program;
  Part part; ///< that is lowered
  llvm::DenseMap<Value, uint32_t> familyOf;
  llvm::DenseMap<Operation *, uint32_t> foldedParts; ///< family of what an operation is folded of
  std::vector<bool> sent;                            ///< by output
  std::map<uint32_t, rows::Padding> padding; ///< beyond the elements of families that bodies make

  /// Host rows that an address can name.
  static constexpr uint64_t kMostRows = 1 << 18;
  static uint64_t rowsAtHost(const std::vector<format::HostTensor> &tensors) {
    uint64_t rows = 0;
    for (const format::HostTensor &tensor : tensors)
      rows += tensor.rows;
    return rows;
  }

  [[nodiscard]] LineRows rowsOf(Value value, std::optional<Slab> lines) const {
    return {ir::carriedShape(value), ir::dataDim(value).value_or(0), lines,
            static_cast<int64_t>(geometry.lanes)};
  }
  /// What a trip makes of a value.
  [[nodiscard]] static std::optional<Slab> linesOf(Value value, std::optional<Cut> cut) {
    return cut ? std::optional(slabOf(*cut, ir::shapeOf(value)[cut->axis])) : std::nullopt;
  }

  /// Elements of a slab that lie before and behind a tensor in some trip.
  struct Beyond {
    int64_t before = 0, behind = 0;
    bool operator==(const Beyond &) const = default;
  };
  static Beyond beyond(const Slab &slab, int64_t extent, int64_t trip) {
    Beyond result;
    for (int64_t j = 0; j < slab.size; ++j) {
      const int64_t at = slab.first + trip * slab.step + j * slab.spacing;
      result.before += at < 0;
      result.behind += at >= extent;
    }
    return result;
  }

  /// Runs of trips whose windows lie beyond the borders equally.
  [[nodiscard]] std::vector<Part> partsOf(int64_t trips, const Operations &ops) const {
    std::vector<Part> parts;
    std::vector<Beyond> last;
    for (int64_t trip = 0; trip < trips; ++trip) {
      std::vector<Beyond> here;
      for (Operation *op : ops)
        for (const auto &[operand, need] :
             llvm::zip_equal(op->getOperands(), partition.operandCuts(op)))
          if (need.slab)
            here.push_back(beyond(*need.slab, ir::shapeOf(operand)[need.slab->axis], trip));
      if (trip == 0 || here != last)
        parts.push_back({trip, 0});
      ++parts.back().trips;
      last = std::move(here);
    }
    return parts;
  }

  /// The lines of a slab that are there in the trips under way; nothing if there are none.
  [[nodiscard]] std::optional<Slab> linesOf(Value value, const Slab &slab) const {
    const auto [before, behind] = beyond(slab, ir::shapeOf(value)[slab.axis], part.first);
    const int64_t count = slab.size - before - behind;
    if (count < 1)
      return std::nullopt;
    return Slab{slab.axis, slab.first + before * slab.spacing, slab.step, slab.spacing, count};
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
      setExtent(family, argument);
      family.input = argument.getArgNumber();
      familyOf[argument] = static_cast<uint32_t>(program.families.size());
      program.families.push_back(std::move(family));
      program.inputs.push_back(std::move(tensor));
    }
  }

  void setExtent(rows::Family &family, Value value) const {
    const auto cut = partition.windows ? std::nullopt : partition.cutOf(value);
    family.trips = cut ? static_cast<uint32_t>(partition.tripsOf(value)) : 1;
    family.rows = rowsOf(value, linesOf(value, cut)).rows();
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

  /// Where the rows of a value are in a family: its own, or that of the value it is a view of.
  struct Places {
    Value of;
    std::vector<int64_t> rows; ///< by row of the value
  };
  llvm::DenseMap<Value, Places> knownPlaces;

  const Places &placesOf(Value value) {
    if (const auto known = knownPlaces.find(value); known != knownPlaces.end())
      return known->second;
    Places places{value, {}};
    if (auto view = llvm::dyn_cast_if_present<ir::ViewInterface>(value.getDefiningOp());
        view && view->getNumOperands() == 1)
      if (auto selected = selectedRows(view->getOperand(0), value)) {
        const Places base = placesOf(view->getOperand(0)); // a copy: the map grows
        places.of = base.of;
        for (const int64_t row : *selected)
          places.rows.push_back(base.rows[row]);
      }
    if (places.rows.empty())
      for (uint32_t row = 0; row < rowsOf(value, std::nullopt).rows(); ++row)
        places.rows.push_back(row);
    return knownPlaces[value] = std::move(places);
  }

  /// By row of a view, the row of its operand that has the same elements in the same lanes; nothing
  /// if there is not one for each.
  [[nodiscard]] std::optional<std::vector<int64_t>> selectedRows(Value operand, Value view) const {
    const space::IndexSpace space =
        llvm::cast<ir::IndexSpaceInterface>(view.getDefiningOp()).indexSpace();
    if (isConstant(operand) || space.operands.front().outside)
      return std::nullopt; // what lies outside is in no row
    reference::Tensor numbers({ir::shapeOf(operand).begin(), ir::shapeOf(operand).end()});
    for (size_t i = 0; i < numbers.values.size(); ++i)
      numbers.values[i] = static_cast<double>(i);
    const reference::Tensor selected =
        llvm::cast<ir::ReferenceInterface>(view.getDefiningOp()).evaluate({&numbers}).front();
    const rows::RowLayout from = layoutOf(operand), to = layoutOf(view);
    std::vector<int64_t> rows;
    for (int64_t row = 0; row < to.rows(); ++row) {
      std::optional<int64_t> source;
      for (int64_t lane = 0; lane < to.used(row); ++lane) {
        const rows::RowLayout::Place place =
            from.place(static_cast<int64_t>(selected.values[to.flat(row, lane)]));
        if (place.lane != lane || (source && *source != place.row))
          return std::nullopt;
        source = place.row;
      }
      if (from.used(*source) != to.used(row))
        return std::nullopt;
      rows.push_back(*source);
    }
    return rows;
  }

  [[nodiscard]] rows::RowLayout layoutOf(Value value) const {
    const auto shape = ir::carriedShape(value);
    return {{shape.begin(), shape.end()}, ir::dataDim(value).value_or(0), geometry.lanes};
  }

  /// The family of a value that an earlier body makes.
  uint32_t family(Value value) {
    const auto [entry, added] =
        familyOf.try_emplace(value, static_cast<uint32_t>(program.families.size()));
    if (added) {
      rows::Family made;
      made.name = ir::tensorName(value.getLoc());
      setExtent(made, value);
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
        foldedParts.try_emplace(op, static_cast<uint32_t>(program.families.size()));
    if (added) {
      const Value result = op->getResult(0);
      rows::Family parts;
      parts.name = ir::tensorName(result.getLoc());
      parts.trips =
          std::min(geometry.cores, static_cast<uint32_t>(partition.tripsOf(op->getOperand(0))));
      parts.rows = rowsOf(result, std::nullopt).rows() * partsPerCore(op);
      program.families.push_back(std::move(parts));
    }
    return entry->second;
  }

  /// A constant of which every trip needs another block.
  uint32_t constantFamily(ir::ConstantOp constant, const Cut &cut, int64_t dim) {
    const reference::Tensor values = ir::toTensor(constant.getValue());
    const auto shape = ir::shapeOf(constant);
    const LineRows where(shape, dim, slabOf(cut, shape[cut.axis]), geometry.lanes);
    const rows::RowLayout layout({shape.begin(), shape.end()}, dim, geometry.lanes);
    rows::Family made;
    made.name = ir::tensorName(constant.getLoc());
    made.trips = static_cast<uint32_t>(part.trips);
    made.rows = where.rows();
    for (int64_t trip = 0; trip < part.trips; ++trip)
      for (int64_t row = 0; row < made.rows; ++row) {
        const int64_t from = where.rowOf(part.first + trip, row);
        for (int64_t lane = 0; lane < geometry.lanes; ++lane)
          made.constant.push_back(lane < layout.used(from)
                                      ? rows::roundToBf16(values.values[layout.flat(from, lane)])
                                      : uint16_t{0});
      }
    program.families.push_back(std::move(made));
    return static_cast<uint32_t>(program.families.size() - 1);
  }

  /// The block of a constant that is the same in every trip under way; null if they differ.
  Value equalBlocks(OpBuilder &builder, ir::ConstantOp constant, const Cut &cut) const {
    const reference::Tensor values = ir::toTensor(constant.getValue());
    const auto shape = ir::shapeOf(constant);
    int64_t inner = cut.block, outer = 1;
    for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis)
      if (axis != cut.axis)
        (axis < cut.axis ? outer : inner) *= shape[axis];
    const RankedTensorType type = blockType(typeOf(constant), cut);
    reference::Tensor block({type.getShape().begin(), type.getShape().end()});
    const int64_t trips = shape[cut.axis] / cut.block;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t t = part.first; t < part.first + part.trips; ++t)
        for (int64_t i = 0; i < inner; ++i) {
          const int64_t trip = cut.mirrored ? trips - 1 - t : t;
          const double value =
              values.values[o * shape[cut.axis] * (inner / cut.block) + trip * inner + i];
          double &first = block.values[o * inner + i];
          if (t == part.first)
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
                const Need &need) {
    const std::optional<Slab> lines =
        need.slab ? linesOf(value, *need.slab) : linesOf(value, need.cut);
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
    if (const Value made = equalBlocks(builder, constant, *need.cut))
      return made;
    // The result has the same axes where the operation is pointwise.
    const Value result = user->getResult(0);
    if (partition.cutOf(result) != need.cut || ir::shapeOf(value) != ir::shapeOf(result))
      return nullptr;
    const int64_t dim = *ir::dataDim(result);
    const RankedTensorType type = blockType(
        RankedTensorType::get(ir::shapeOf(value), typeOf(result).getElementType(),
                              ir::DimAttr::get(builder.getContext(), dim, ir::shapeOf(value))),
        *need.cut);
    return addArgument(outline, type, ir::tensorName(constant.getLoc()),
                       {constantFamily(constant, *need.cut, dim), false, {}});
  }

  /// Rows of what an earlier body makes, or the host; null if trips do not move over them evenly.
  Value readOperand(Outline &outline, Value value, const Need &need,
                    const std::optional<Slab> &lines) {
    const Places places = partition.windows ? placesOf(value) : Places{value, {}};
    rows::Read read{family(places.of), false, {}};
    const auto cut = partition.cutOf(value);
    if (partition.windows) {
      read.all = true;
      const LineRows where = rowsOf(value, lines);
      for (uint32_t row = 0; row < where.rows(); ++row)
        read.places.push_back(static_cast<uint32_t>(places.rows[where.rowOf(part.first, row)]));
      const auto step = where.stepOf(part.first, part.trips, places.rows);
      if (!step)
        return nullptr;
      read.step = static_cast<int32_t>(*step);
    } else if (cut && !need.cut) {
      read.all = true;
      const LineRows where = rowsOf(value, linesOf(value, cut));
      const int64_t trips = partition.tripsOf(value);
      read.places.resize(where.rows() * trips);
      for (int64_t trip = 0; trip < trips; ++trip)
        for (uint32_t row = 0; row < where.rows(); ++row)
          read.places[where.rowOf(trip, row)] = static_cast<uint32_t>(trip) * where.rows() + row;
    } else if (!cut) {
      read.all = true;
      read.places.resize(rowsOf(value, std::nullopt).rows());
      for (uint32_t row = 0; row < read.places.size(); ++row)
        read.places[row] = row;
    }
    const std::string name = program.families[read.family].name;
    const RankedTensorType type =
        lines ? blockType(typeOf(value), Cut{lines->axis, lines->size}) : typeOf(value);
    return addArgument(outline, type, name, std::move(read));
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

  /// What a body makes of an operation.
  Operation *makeOp(Outline &outline, OpBuilder &builder, Operation *op) {
    const OperandCuts needs = partition.operandCuts(op);
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
      return llvm::cast<CutInterface>(op).makeBlock(builder, operands,
                                                    blockType(typeOf(result), *cut), *cut, missing);
    Operation *made = builder.clone(*op);
    made->setOperands(operands);
    return made;
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
        continue;
      }
      Operation *made = makeOp(outline, builder, op);
      if (!made || !allowed(made))
        return false;
      outline.seen[key] = made->getResult(0);
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
      write.family = partsFamily(op);
      write.fold = partition.foldOf(op);
      const std::string name = program.families[*write.family].name;
      addWrite(llvm::cast<CutInterface>(op).makePart(builder, block), std::move(write), name,
               outline, results, writes);
    }
    if (results.empty())
      return true; // views that are read where they are
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
    body.trips = static_cast<uint32_t>(part.trips);
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
        rows += program.families[foldedParts.at(op)].rows / partsPerCore(op);
    if (rows < geometry.accumulators)
      return std::nullopt;
    Problem problem;
    problem.code = "E0414";
    problem.message =
        fmt::format("sums over {} positions of {} rows each, at most {} are allowed: every core "
                    "keeps them in accumulators, and one is for other products",
                    part.trips, rows, geometry.accumulators - 1);
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

  /// Where the trips under way write the rows of a value, of whose tensor row 0 is `base`. False if
  /// they do not move over them evenly.
  bool setPlaces(rows::Write &write, Value value, uint32_t base) const {
    const LineRows where = rowsOf(value, linesOf(value, partition.cutOf(value)));
    for (uint32_t row = 0; row < where.rows(); ++row)
      write.first.push_back(base + static_cast<uint32_t>(where.rowOf(part.first, row)));
    std::vector<int64_t> all(layoutOf(value).rows());
    std::iota(all.begin(), all.end(), 0);
    const auto step = where.stepOf(part.first, part.trips, all);
    write.stride = static_cast<uint32_t>(step.value_or(0));
    return step.has_value();
  }

  /// Whether a body of a later level reads the rows of a value, maybe through views.
  bool isReadLater(Value value, unsigned level) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      const auto found = partition.levels.find(user);
      if (found == partition.levels.end() || partition.foldOf(user))
        return false;
      const bool through = partition.windows && llvm::isa<ir::ViewInterface>(user) &&
                           placesOf(user->getResult(0)).of == placesOf(value).of;
      return found->second > level || (through && isReadLater(user->getResult(0), level));
    });
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
    if ((partition.windows && placesOf(value).of != value) || !isReadLater(value, level))
      return true;
    rows::Write write;
    write.family = family(value);
    if (partition.windows && !setPlaces(write, value, 0))
      return false;
    const std::string name = program.families[*write.family].name;
    add(std::move(write), name);
    return true;
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
