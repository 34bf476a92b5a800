#include <map>
#include <set>

#include <fmt/format.h>

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

#include "compiler/conversion/rows/program_ops.h"
#include "compiler/conversion/rows/step_words.h"
#include "compiler/dialect/core/dialect.h"

using namespace mlir;

namespace sluice::rows {
namespace {

class Writer {
public:
  Writer(MLIRContext &context, const Program &program)
      : program(program), builder(&context), where(builder.getUnknownLoc()) {}

  OwningOpRef<ProgramOp> run() {
    auto made = builder.create<ProgramOp>(
        where, program.modelName, program.geometry.name,
        core::geometryAttr(builder.getContext(), program.geometry), program.macs,
        program.parameters, nodeList(),
        program.variant.empty() ? StringAttr() : builder.getStringAttr(program.variant),
        tensorList());
    body = &made.getBody().emplaceBlock();
    builder.setInsertionPointToEnd(body);
    for (const format::HostTensor &tensor : program.inputs)
      inputs.push_back(hostTensor<InputOp>(tensor));
    for (const format::HostTensor &tensor : program.outputs)
      outputs.push_back(hostTensor<OutputOp>(tensor));
    for (const Family &family : program.families)
      addFamily(family);
    for (const Body &one : program.bodies)
      addBody(one);
    return made;
  }

private:
  const Program &program;
  OpBuilder builder;
  Location where;
  Block *body = nullptr;
  Operation *firstBody = nullptr;
  std::set<std::string> names;
  std::map<std::string, size_t> next; ///< number of the next name with this stem
  std::vector<FlatSymbolRefAttr> inputs, outputs, families;
  llvm::DenseMap<Attribute, FlatSymbolRefAttr> blocks, biases, tables;

  ArrayAttr nodeList() {
    llvm::SmallVector<Attribute> list;
    for (const format::SourceNode &node : program.nodes)
      list.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr("index", builder.getI64IntegerAttr(node.index)),
           builder.getNamedAttr("name", builder.getStringAttr(node.name)),
           builder.getNamedAttr("op", builder.getStringAttr(node.op))}));
    return builder.getArrayAttr(list);
  }

  ArrayAttr tensorList() {
    if (program.tensors.empty())
      return {};
    llvm::SmallVector<Attribute> list;
    for (const format::ModelTensor &tensor : program.tensors) {
      llvm::SmallVector<NamedAttribute> entry{
          builder.getNamedAttr("name", builder.getStringAttr(tensor.name)),
          builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(tensor.shape)),
          builder.getNamedAttr("data_dim", builder.getI64IntegerAttr(tensor.dataDim))};
      if (!tensor.packed.empty())
        entry.push_back(
            builder.getNamedAttr("packed", builder.getDenseI64ArrayAttr(tensor.packed)));
      list.push_back(builder.getDictionaryAttr(entry));
    }
    return builder.getArrayAttr(list);
  }

  /// The name, or one like it if it is taken or empty.
  StringAttr symbol(const std::string &name, const char *kind) {
    std::string unique = name;
    const std::string stem = name.empty() ? kind : name + "_";
    while (unique.empty() || !names.insert(unique).second)
      unique = fmt::format("{}{}", stem, next[stem]++);
    return builder.getStringAttr(unique);
  }

  /// What the symbol does not say of a name.
  StringAttr rest(const std::string &name, StringAttr symbol) {
    return symbol.getValue() == name ? StringAttr() : builder.getStringAttr(name);
  }

  Type elementType(format::HostType type) {
    switch (type) {
    case format::HostType::Float32:
      return builder.getF32Type();
    case format::HostType::BFloat16:
      return builder.getBF16Type();
    case format::HostType::Float16:
      return builder.getF16Type();
    case format::HostType::Float64:
      return builder.getF64Type();
    case format::HostType::Bool:
      return builder.getI1Type();
    default:
      return builder.getIntegerType(static_cast<unsigned>(8 * format::elementBytes(type)),
                                    format::limitsOf(type).low < 0);
    }
  }

  template <typename Tensor> FlatSymbolRefAttr hostTensor(const format::HostTensor &tensor) {
    const StringAttr name = symbol(tensor.name, "tensor");
    const auto type = RankedTensorType::get(tensor.shape, elementType(tensor.type));
    const auto packed =
        tensor.packed.empty() ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(tensor.packed);
    const auto limits =
        tensor.limits ? builder.getDenseI64ArrayAttr({tensor.limits->low, tensor.limits->high})
                      : DenseI64ArrayAttr();
    builder.create<Tensor>(where, name.getValue(), rest(tensor.name, name), type, packed,
                           tensor.dataDim, tensor.firstRow, tensor.rows, limits);
    return FlatSymbolRefAttr::get(name);
  }

  template <typename Word>
  DenseElementsAttr elements(llvm::ArrayRef<Word> values, llvm::ArrayRef<int64_t> shape,
                             Type type) {
    return DenseElementsAttr::getFromRawBuffer(
        RankedTensorType::get(shape, type),
        {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(Word)});
  }

  DenseElementsAttr bf16(llvm::ArrayRef<uint16_t> values, llvm::ArrayRef<int64_t> shape) {
    return elements(values, shape, builder.getBF16Type());
  }

  void addFamily(const Family &family) {
    const StringAttr name = symbol(family.name, "family");
    const auto input = family.input ? inputs[*family.input] : FlatSymbolRefAttr();
    ElementsAttr constant;
    if (!family.constant.empty())
      constant = bf16(family.constant, {family.total(), program.geometry.lanes});
    builder.create<FamilyOp>(where, name.getValue(), rest(family.name, name), family.trips,
                             family.rows, input, constant);
    families.push_back(FlatSymbolRefAttr::get(name));
  }

  /// The object of a value: there already, or made in front of the bodies.
  template <typename Make>
  FlatSymbolRefAttr object(llvm::DenseMap<Attribute, FlatSymbolRefAttr> &known, Attribute value,
                           const char *kind, const Make &make) {
    FlatSymbolRefAttr &entry = known[value];
    if (!entry) {
      const OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(firstBody);
      entry = FlatSymbolRefAttr::get(symbol("", kind));
      make(entry.getAttr());
    }
    return entry;
  }

  // --- a body
  struct Trip {
    const Graph &graph;
    llvm::SmallVector<Value> rows;
    std::map<uint32_t, FlatSymbolRefAttr> blocks; ///< by number in the graph
  };

  void addBody(const Body &one) {
    auto made = builder.create<BodyOp>(where, one.trips, one.trip.macs);
    if (!firstBody)
      firstBody = made;
    const OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&made.getRows().emplaceBlock());
    Trip trip{one.trip, llvm::SmallVector<Value>(one.trip.rows.size()), {}};
    for (const auto &[port, read] : llvm::zip_equal(one.trip.inputs, one.reads))
      addRead(trip, port, read);
    llvm::SmallVector<FlatSymbolRefAttr> states;
    for (const State &state : one.trip.states)
      states.push_back(addState(state));
    for (RowId id = 0; id < one.trip.rows.size(); ++id)
      if (const Row &row = one.trip.rows[id]; row.kind == RowKind::State)
        trip.rows[id] =
            builder.create<RecallOp>(where, builder.getType<RowType>(), states[row.state]);
      else if (row.kind != RowKind::Input)
        trip.rows[id] = addRow(trip, row);
    for (const auto &[port, write] : llvm::zip_equal(one.trip.outputs, one.writes))
      addWrite(trip, port, write);
    for (const auto &[state, name] : llvm::zip_equal(one.trip.states, states))
      builder.create<KeepOp>(where, trip.rows[state.next], name);
  }

  FlatSymbolRefAttr addState(const State &state) {
    const OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(firstBody);
    const StringAttr name = symbol(state.name, "state");
    builder.create<StateOp>(where, name.getValue(),
                            bf16(state.initial, {static_cast<int64_t>(program.geometry.lanes)}));
    return FlatSymbolRefAttr::get(name);
  }

  void addRead(Trip &trip, const Port &port, const Read &read) {
    const llvm::SmallVector<Type> types(port.rows.size(), builder.getType<RowType>());
    const llvm::SmallVector<int64_t> places(read.places.begin(), read.places.end());
    auto made = builder.create<ReadOp>(where, types, families[read.family],
                                       read.all ? builder.getDenseI64ArrayAttr(places)
                                                : DenseI64ArrayAttr(),
                                       builder.getI64IntegerAttr(read.step));
    for (const auto &[id, row] : llvm::zip_equal(port.rows, made.getRows()))
      trip.rows[id] = row;
  }

  void addWrite(const Trip &trip, const Port &port, const Write &write) {
    const llvm::SmallVector<int64_t> first(write.first.begin(), write.first.end());
    builder.create<WriteOp>(where, valuesOf(trip, port.rows),
                            write.family ? families[*write.family] : FlatSymbolRefAttr(),
                            write.fold ? builder.getStringAttr(wordOf(*write.fold)) : StringAttr(),
                            write.output ? outputs[*write.output] : FlatSymbolRefAttr(),
                            write.first.empty() ? DenseI64ArrayAttr()
                                                : builder.getDenseI64ArrayAttr(first),
                            static_cast<int64_t>(static_cast<int32_t>(write.stride)));
  }

  static llvm::SmallVector<Value> valuesOf(const Trip &trip, llvm::ArrayRef<RowId> ids) {
    return llvm::map_to_vector(ids, [&](RowId id) { return trip.rows[id]; });
  }

  static Value valueOf(const Trip &trip, RowId id) {
    return id == kNoRow ? Value() : trip.rows[id];
  }

  FlatSymbolRefAttr block(Trip &trip, uint32_t number) {
    FlatSymbolRefAttr &entry = trip.blocks[number];
    if (entry)
      return entry;
    const auto lanes = static_cast<int64_t>(program.geometry.lanes);
    const DenseElementsAttr values = bf16(trip.graph.blocks[number].elements(), {lanes, lanes});
    const auto dynamic = trip.graph.dynamic.find(number);
    const auto make = [&](StringAttr name) {
      builder.create<BlockOp>(where, name.getValue(), values, dynamic != trip.graph.dynamic.end());
    };
    if (dynamic == trip.graph.dynamic.end())
      return entry = object(blocks, values, "w", make);
    llvm::DenseMap<Attribute, FlatSymbolRefAttr> own;
    entry = object(own, values, "w", make);
    llvm::SmallVector<Value> rows;
    llvm::SmallVector<int64_t> places;
    for (const BlockWrite &write : dynamic->second.writes) {
      rows.push_back(trip.rows[write.row]);
      places.push_back(write.index);
    }
    builder.create<FillOp>(where, entry.getValue(), dynamic->second.columns, rows, places,
                           list(dynamic->second.nodes));
    return entry;
  }

  static llvm::SmallVector<int64_t> list(const std::vector<uint32_t> &numbers) {
    return {numbers.begin(), numbers.end()};
  }

  FlatSymbolRefAttr table(const Trip &trip, const VectorStep &step) {
    if (!step.table)
      return {};
    const format::TableImage &image = trip.graph.tables[*step.table];
    const llvm::SmallVector<int64_t> header(image.header.begin(), image.header.end());
    const DenseElementsAttr entries =
        bf16(image.entries, {static_cast<int64_t>(image.entries.size())});
    const auto key = builder.getArrayAttr({builder.getDenseI64ArrayAttr(header), entries});
    return object(tables, key, "t", [&](StringAttr name) {
      builder.create<TableOp>(where, name.getValue(), header, entries);
    });
  }

  FlatSymbolRefAttr bias(const Row &row) {
    if (row.bias.empty())
      return {};
    const DenseElementsAttr values =
        elements(llvm::ArrayRef(row.bias.lanes()), {static_cast<int64_t>(row.bias.size())},
                 builder.getF32Type());
    return object(biases, values, "b",
                  [&](StringAttr name) { builder.create<BiasOp>(where, name.getValue(), values); });
  }

  Value addRow(Trip &trip, const Row &row) {
    if (row.kind == RowKind::Constant)
      return builder.create<ConstantOp>(where, builder.getType<RowType>(),
                                        bf16(row.lanes, {static_cast<int64_t>(row.lanes.size())}));
    const DictionaryAttr step = stepWords(builder.getContext(), row.step);
    if (row.kind == RowKind::Vector)
      return builder.create<VectorOp>(where, builder.getType<RowType>(), valuesOf(trip, row.a),
                                      valueOf(trip, row.b), valueOf(trip, row.c), step,
                                      table(trip, row.step), row.group, list(row.nodes),
                                      elements(row, false), elements(row, true));
    llvm::SmallVector<Value> terms;
    llvm::SmallVector<Attribute> by;
    for (const Term &term : row.terms) {
      terms.push_back(trip.rows[term.x]);
      by.push_back(block(trip, term.block));
    }
    return builder.create<LinearOp>(where, builder.getType<RowType>(), terms, valueOf(trip, row.b),
                                    valueOf(trip, row.c), builder.getArrayAttr(by), bias(row), step,
                                    table(trip, row.step), row.group, list(row.nodes),
                                    elements(row, false), elements(row, true));
  }

  DenseI64ArrayAttr elements(const Row &row, bool partial) {
    const Elements &of = row.elements;
    return of.known() && of.partial == partial
               ? builder.getDenseI64ArrayAttr({of.tensor, of.first, of.step})
               : DenseI64ArrayAttr();
  }
};

} // namespace

OwningOpRef<ProgramOp> toOps(MLIRContext &context, const Program &program) {
  context.loadDialect<RowsDialect>();
  return Writer(context, program).run();
}

} // namespace sluice::rows
