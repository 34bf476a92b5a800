#include "mlir/IR/BuiltinTypes.h"

#include "compiler/conversion/rows/program_ops.h"
#include "compiler/conversion/rows/step_words.h"
#include "compiler/dialect/core/dialect.h"

using namespace mlir;

namespace sluice::rows {
namespace {

template <typename Word> std::vector<Word> wordsOf(ElementsAttr attribute) {
  const auto elements = llvm::cast<DenseElementsAttr>(attribute);
  const llvm::ArrayRef<char> raw = elements.getRawData();
  std::vector<Word> words(elements.isSplat() ? 1 : elements.getNumElements());
  std::memcpy(words.data(), raw.data(), words.size() * sizeof(Word));
  words.resize(elements.getNumElements(), words.front());
  return words;
}

std::vector<uint32_t> numbers(llvm::ArrayRef<int64_t> list) { return {list.begin(), list.end()}; }

class Reader {
public:
  explicit Reader(ProgramOp source) : source(source) {}

  Program run() {
    program.geometry = *core::geometryOf(source, source.getTarget(), source.getGeometry());
    program.modelName = source.getName().str();
    program.macs = source.getMacs();
    program.parameters = source.getParameters();
    program.variant = source.getVariant().value_or("").str();
    for (const auto node : source.getNodes().getAsRange<DictionaryAttr>())
      program.nodes.push_back({node.getAs<IntegerAttr>("index").getInt(),
                               node.getAs<StringAttr>("name").str(),
                               node.getAs<StringAttr>("op").str()});
    if (const auto tensors = source.getTensors())
      for (const auto tensor : tensors->getAsRange<DictionaryAttr>()) {
        format::ModelTensor &one = program.tensors.emplace_back();
        one.name = tensor.getAs<StringAttr>("name").str();
        one.shape = extentsOf(tensor.getAs<DenseI64ArrayAttr>("shape"));
        one.dataDim = static_cast<uint32_t>(tensor.getAs<IntegerAttr>("data_dim").getInt());
        if (const auto packed = tensor.getAs<DenseI64ArrayAttr>("packed"))
          one.packed = extentsOf(packed);
      }
    for (auto input : source.getBody().getOps<InputOp>())
      add(input, program.inputs);
    for (auto output : source.getBody().getOps<OutputOp>())
      add(output, program.outputs);
    for (auto family : source.getBody().getOps<FamilyOp>())
      addFamily(family);
    for (Operation &op : source.getBody().front())
      objects[SymbolTable::getSymbolName(&op)] = &op;
    for (auto body : source.getBody().getOps<BodyOp>())
      addBody(body);
    return std::move(program);
  }

private:
  ProgramOp source;
  Program program;
  llvm::DenseMap<StringAttr, uint32_t> places; ///< of inputs, outputs and families in their lists
  llvm::DenseMap<StringAttr, Operation *> objects;

  static std::vector<int64_t> extentsOf(DenseI64ArrayAttr extents) {
    return {extents.asArrayRef().begin(), extents.asArrayRef().end()};
  }

  static format::HostType hostType(Type type) {
    using enum format::HostType;
    if (type.isF32() || type.isBF16())
      return type.isF32() ? Float32 : BFloat16;
    if (type.isF16() || type.isF64())
      return type.isF16() ? Float16 : Float64;
    const bool isSigned = type.isSignedInteger();
    switch (type.getIntOrFloatBitWidth()) {
    case 8:
      return isSigned ? Int8 : UInt8;
    case 16:
      return isSigned ? Int16 : UInt16;
    case 32:
      return isSigned ? Int32 : UInt32;
    case 64:
      return isSigned ? Int64 : UInt64;
    default:
      return Bool;
    }
  }

  template <typename Named> static std::string nameOf(Named op) {
    return op.getName() ? op.getName()->str() : op.getSymName().str();
  }

  template <typename Tensor> void add(Tensor op, std::vector<format::HostTensor> &list) {
    const auto type = llvm::cast<RankedTensorType>(op.getType());
    format::HostTensor tensor;
    tensor.name = nameOf(op);
    tensor.shape = {type.getShape().begin(), type.getShape().end()};
    tensor.type = hostType(type.getElementType());
    tensor.dataDim = static_cast<uint32_t>(op.getDataDim());
    if (op.getPacked())
      tensor.packed = *op.getPacked();
    if (const auto limits = op.getLimits())
      tensor.limits = format::Limits{(*limits)[0], (*limits)[1]};
    tensor.firstRow = static_cast<uint32_t>(op.getFirstRow());
    tensor.rows = static_cast<uint32_t>(op.getRows());
    places[op.getSymNameAttr()] = static_cast<uint32_t>(list.size());
    list.push_back(std::move(tensor));
  }

  void addFamily(FamilyOp op) {
    Family family;
    family.name = nameOf(op);
    family.trips = static_cast<uint32_t>(op.getTrips());
    family.rows = static_cast<uint32_t>(op.getRows());
    if (op.getInputAttr())
      family.input = places.at(op.getInputAttr().getAttr());
    if (op.getConstant())
      family.constant = wordsOf<uint16_t>(*op.getConstant());
    places[op.getSymNameAttr()] = static_cast<uint32_t>(program.families.size());
    program.families.push_back(std::move(family));
  }

  // --- a body
  struct Trip {
    Body body;
    llvm::DenseMap<Value, RowId> rows;
    llvm::DenseMap<StringAttr, uint32_t> blocks, tables, states;
    llvm::DenseMap<StringAttr, FillOp> fills;
  };

  void addBody(BodyOp op) {
    Trip trip;
    Graph &graph = trip.body.trip;
    trip.body.trips = static_cast<uint32_t>(op.getTrips());
    graph.geometry = program.geometry;
    graph.modelName = program.modelName;
    graph.nodes = program.nodes;
    graph.tensors = program.tensors;
    graph.macs = op.getMacs();
    graph.parameters = program.parameters;
    for (Operation &one : op.getRows().front()) {
      if (auto read = llvm::dyn_cast<ReadOp>(one))
        addRead(trip, read);
      else if (auto fill = llvm::dyn_cast<FillOp>(one))
        trip.fills[fill.getBlockAttr().getAttr()] = fill;
      else if (auto recall = llvm::dyn_cast<RecallOp>(one))
        addRecall(trip, recall);
      else if (auto keep = llvm::dyn_cast<KeepOp>(one))
        graph.states[trip.states.at(keep.getStateAttr().getAttr())].next =
            trip.rows.at(keep.getRow());
      else if (auto write = llvm::dyn_cast<WriteOp>(one))
        addWrite(trip, write);
      else
        addRow(trip, one);
    }
    program.bodies.push_back(std::move(trip.body));
  }

  static RowId push(Trip &trip, Value value, Row row) {
    const auto id = static_cast<RowId>(trip.body.trip.rows.size());
    trip.rows[value] = id;
    trip.body.trip.rows.push_back(std::move(row));
    return id;
  }

  void addRead(Trip &trip, ReadOp op) {
    Graph &graph = trip.body.trip;
    Read read;
    read.family = places.at(op.getFamilyAttr().getAttr());
    if (op.getAt()) {
      read.all = true;
      read.places = numbers(*op.getAt());
      read.step = static_cast<int32_t>(op.getStep());
    }
    const Family &family = program.families[read.family];
    Port port;
    // A trip that is the only one has the tensors of the model.
    if (family.input && trip.body.trips == 1)
      port.tensor = program.inputs[*family.input];
    port.tensor.name = family.name;
    for (const auto &[index, value] : llvm::enumerate(op.getRows())) {
      Row row;
      row.kind = RowKind::Input;
      row.input = static_cast<uint32_t>(graph.inputs.size());
      row.inputRow = static_cast<uint32_t>(index);
      port.rows.push_back(push(trip, value, std::move(row)));
    }
    graph.inputs.push_back(std::move(port));
    trip.body.reads.push_back(std::move(read));
  }

  void addRecall(Trip &trip, RecallOp op) {
    std::vector<State> &states = trip.body.trip.states;
    const StringAttr name = op.getStateAttr().getAttr();
    Row row;
    row.kind = RowKind::State;
    row.state = trip.states[name] = static_cast<uint32_t>(states.size());
    State &state = states.emplace_back();
    state.name = name.str();
    state.row = push(trip, op.getRow(), std::move(row));
    state.initial = wordsOf<uint16_t>(llvm::cast<StateOp>(objects.at(name)).getInitial());
  }

  void addWrite(Trip &trip, WriteOp op) {
    Write write;
    Port port;
    if (op.getFamilyAttr()) {
      write.family = places.at(op.getFamilyAttr().getAttr());
      port.tensor.name = program.families[*write.family].name;
      if (op.getFold())
        write.fold = foldOf(*op.getFold());
    }
    if (op.getOutputAttr()) {
      write.output = places.at(op.getOutputAttr().getAttr());
      port.tensor = program.outputs[*write.output];
    }
    if (op.getFirst())
      write.first = numbers(*op.getFirst());
    write.stride = static_cast<uint32_t>(op.getStride());
    port.rows = rowsOf(trip, op.getRows());
    trip.body.trip.outputs.push_back(std::move(port));
    trip.body.writes.push_back(std::move(write));
  }

  static std::vector<RowId> rowsOf(const Trip &trip, ValueRange values) {
    std::vector<RowId> rows;
    for (const Value value : values)
      rows.push_back(trip.rows.at(value));
    return rows;
  }

  void addRow(Trip &trip, Operation &op) {
    Row row;
    if (auto constant = llvm::dyn_cast<ConstantOp>(op)) {
      row.kind = RowKind::Constant;
      row.lanes = wordsOf<uint16_t>(constant.getLanes());
    } else if (auto vector = llvm::dyn_cast<VectorOp>(op)) {
      row.kind = RowKind::Vector;
      row.a = rowsOf(trip, vector.getA());
      setComputed(trip, vector, row);
    } else {
      auto linear = llvm::cast<LinearOp>(op);
      row.kind = RowKind::Linear;
      const auto blocks = linear.getBlocks().getAsRange<FlatSymbolRefAttr>();
      for (const auto &[value, block] : llvm::zip_equal(linear.getTerms(), blocks))
        row.terms.push_back({trip.rows.at(value), blockNumber(trip, block.getAttr())});
      if (linear.getBiasAttr())
        row.bias = wordsOf<float>(
            llvm::cast<BiasOp>(objects.at(linear.getBiasAttr().getAttr())).getElements());
      setComputed(trip, linear, row);
    }
    push(trip, op.getResult(0), std::move(row));
  }

  template <typename Computed> void setComputed(Trip &trip, Computed op, Row &row) {
    row.step = stepOf(op.getStepAttr());
    if (op.getTableAttr())
      row.step.table = tableNumber(trip, op.getTableAttr().getAttr());
    row.b = op.getB() ? trip.rows.at(op.getB()) : kNoRow;
    row.c = op.getC() ? trip.rows.at(op.getC()) : kNoRow;
    row.group = static_cast<uint32_t>(op.getGroup());
    row.nodes = numbers(op.getNodes());
    for (const auto &[list, partial] :
         {std::pair(op.getElements(), false), std::pair(op.getPartOf(), true)})
      if (list)
        row.elements = {static_cast<uint32_t>((*list)[0]), static_cast<uint32_t>((*list)[1]),
                        static_cast<int32_t>((*list)[2]), partial};
  }

  uint32_t blockNumber(Trip &trip, StringAttr name) {
    Graph &graph = trip.body.trip;
    const auto [entry, added] =
        trip.blocks.try_emplace(name, static_cast<uint32_t>(graph.blocks.size()));
    if (!added)
      return entry->second;
    graph.blocks.push_back(wordsOf<uint16_t>(llvm::cast<BlockOp>(objects.at(name)).getElements()));
    if (const auto fill = trip.fills.find(name); fill != trip.fills.end()) {
      FillOp op = fill->second;
      DynamicBlock &dynamic = graph.dynamic[entry->second];
      dynamic.columns = op.getColumns();
      dynamic.nodes = numbers(op.getNodes());
      for (const auto &[row, index] : llvm::zip_equal(op.getRows(), op.getAt()))
        dynamic.writes.push_back({trip.rows.at(row), static_cast<uint32_t>(index)});
    }
    return entry->second;
  }

  uint32_t tableNumber(Trip &trip, StringAttr name) {
    Graph &graph = trip.body.trip;
    const auto [entry, added] =
        trip.tables.try_emplace(name, static_cast<uint32_t>(graph.tables.size()));
    if (!added)
      return entry->second;
    auto op = llvm::cast<TableOp>(objects.at(name));
    format::TableImage image;
    image.table = entry->second;
    llvm::copy(op.getHeader(), image.header.begin());
    image.entries = wordsOf<uint16_t>(op.getEntries());
    graph.tables.push_back(std::move(image));
    return entry->second;
  }
};

} // namespace

Program fromOps(ProgramOp source) { return Reader(source).run(); }

} // namespace sluice::rows
