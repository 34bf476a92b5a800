#include "compiler/pipeline/host_attributes.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include "compiler/dialect/sluice/tensors.h"
#include "compiler/pipeline/host_arrays.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "runtime/format/checks.h"

using namespace mlir;

namespace sluice::pipeline {
namespace {

constexpr llvm::StringLiteral kType = "type", kLimits = "limits", kArray = "array", kName = "name",
                              kIndex = "index", kFirst = "first", kTable = "table",
                              kScale = "scale", kZero = "zero", kRange = "range", kCodes = "codes",
                              kDraws = "draws", kParameters = "parameters", kStream = "stream";

/// Writes the attribute of one tensor.
class Writer {
public:
  explicit Writer(MLIRContext *context) : builder(context) {}

  /// `arrays` are those of the model.
  DictionaryAttr write(const frontend::ImportedTensor &tensor,
                       const std::vector<frontend::ImportedTensor> &arrays) {
    entries.clear();
    if (!arrays.empty()) {
      const frontend::ImportedTensor &array = arrays[tensor.array];
      add(kName, builder.getStringAttr(array.name));
      add(kIndex, builder.getI64IntegerAttr(static_cast<int64_t>(tensor.array)));
      addType(array);
      if (array.random)
        addRandom(*array.random);
      const DictionaryAttr own = builder.getDictionaryAttr(entries);
      entries.clear();
      add(kArray, own);
    }
    addType(tensor);
    if (tensor.lookup) {
      llvm::SmallVector<int64_t> shape{tensor.lookup->rows()};
      llvm::append_range(shape, tensor.lookup->inner);
      add(kFirst, builder.getI64IntegerAttr(tensor.lookup->first));
      add(kTable, DenseElementsAttr::get(RankedTensorType::get(shape, builder.getF32Type()),
                                         llvm::ArrayRef(tensor.lookup->values)));
    }
    if (tensor.quantised) {
      add(kScale, builder.getF32FloatAttr(tensor.quantised->scale));
      add(kZero, builder.getI64IntegerAttr(tensor.quantised->zero));
      addRange(kRange, tensor.quantised->limits);
    }
    if (tensor.codes)
      add(kCodes, builder.getUnitAttr());
    return builder.getDictionaryAttr(entries);
  }

private:
  Builder builder;
  llvm::SmallVector<NamedAttribute> entries;

  void add(StringRef name, Attribute value) {
    entries.push_back(builder.getNamedAttr(name, value));
  }

  void addRange(StringRef name, const format::Limits &limits) {
    add(name, builder.getDenseI64ArrayAttr({limits.low, limits.high}));
  }

  void addRandom(const random::RandomNumbers &numbers) {
    add(kDraws, builder.getStringAttr(random::nameOf(numbers.distribution)));
    add(kParameters, builder.getDenseF64ArrayAttr({numbers.first, numbers.second}));
    add(kStream, builder.getI64IntegerAttr(static_cast<int64_t>(numbers.stream)));
  }

  void addType(const frontend::ImportedTensor &tensor) {
    if (tensor.type != format::HostType::Float32)
      add(kType, builder.getStringAttr(format::nameOf(tensor.type)));
    if (tensor.limits)
      addRange(kLimits, *tensor.limits);
  }
};

std::optional<format::HostType> typeNamed(StringRef name) {
  for (auto type = format::HostType::Float32; type <= format::kLastHostType;
       type = static_cast<format::HostType>(static_cast<uint8_t>(type) + 1))
    if (name == llvm::StringRef(format::nameOf(type)))
      return type;
  return std::nullopt;
}

/// Reads the attribute of one tensor; throws what is wrong with it.
class Reader {
public:
  Reader(DictionaryAttr attribute, std::string of) : attribute(attribute), of(std::move(of)) {}

  void read(frontend::ImportedTensor &tensor) {
    if (const auto name = take<StringAttr>(kType)) {
      const auto type = typeNamed(name.getValue());
      if (!type)
        throw wrong(fmt::format("type '{}', allowed: a type of NumPy, like 'int64'", name.str()));
      tensor.type = *type;
    }
    if (const auto limits = range(kLimits))
      tensor.limits = *limits;
    if (take<UnitAttr>(kCodes))
      tensor.codes = true;
    readQuantisation(tensor);
    readLookup(tensor);
  }

  /// The array that the input is made of; nothing if there is none.
  std::optional<frontend::ImportedTensor> array(const frontend::ImportedTensor &made) {
    const auto own = take<DictionaryAttr>(kArray);
    if (!own)
      return std::nullopt;
    Reader reader(own, of);
    frontend::ImportedTensor result;
    const auto name = reader.take<StringAttr>(kName);
    const auto index = reader.take<IntegerAttr>(kIndex);
    if (!name || !index || index.getInt() < 0)
      throw wrong("an array without a name and an index");
    result.name = name.str();
    result.array = static_cast<size_t>(index.getInt());
    reader.read(result);
    reader.readRandom(result);
    reader.finish();
    if (result.isMade() || result.codes)
      throw wrong("an array with a table, a scale or codes");
    const size_t inner = made.lookup ? made.lookup->inner.size() : 0;
    result.shape.assign(made.shape.begin(), made.shape.end() - static_cast<ptrdiff_t>(inner));
    return result;
  }

  /// Nothing may be left that has no meaning.
  void finish() const {
    for (const NamedAttribute &one : attribute)
      if (!llvm::is_contained(taken, one.getName()))
        throw wrong(fmt::format("unknown entry '{}'", one.getName().str()));
  }

private:
  DictionaryAttr attribute;
  std::string of;
  llvm::SmallVector<StringAttr> taken;

  [[nodiscard]] std::invalid_argument wrong(const std::string &what) const {
    return std::invalid_argument(fmt::format("sluice.host of {} has {}", of, what));
  }

  template <typename Kind> Kind take(StringRef name) {
    const auto found = attribute.getNamed(name);
    if (!found)
      return {};
    taken.push_back(found->getName());
    if (auto value = llvm::dyn_cast<Kind>(found->getValue()))
      return value;
    throw wrong(fmt::format("another kind of value for '{}'", name.str()));
  }

  std::optional<format::Limits> range(StringRef name) {
    const auto value = take<DenseI64ArrayAttr>(name);
    if (!value)
      return std::nullopt;
    if (value.size() != 2)
      throw wrong(fmt::format("{} values for '{}', allowed: 2", value.size(), name.str()));
    return format::Limits{value[0], value[1]};
  }

  void readRandom(frontend::ImportedTensor &array) {
    const auto name = take<StringAttr>(kDraws);
    const auto parameters = take<DenseF64ArrayAttr>(kParameters);
    const auto stream = take<IntegerAttr>(kStream);
    if (!name && !parameters && !stream)
      return;
    if (!name || !parameters || parameters.size() != 2 || !stream)
      throw wrong("some of 'draws', 'parameters' and 'stream', allowed: all, with two parameters");
    const auto distribution = random::distributionNamed(name.getValue());
    if (!distribution)
      throw wrong(fmt::format("distribution '{}', allowed: uniform, normal, bernoulli, gumbel, "
                              "threshold",
                              name.str()));
    array.random = {*distribution, parameters[0], parameters[1],
                    static_cast<uint64_t>(stream.getInt())};
  }

  void readQuantisation(frontend::ImportedTensor &tensor) {
    const auto scale = take<FloatAttr>(kScale);
    const auto zero = take<IntegerAttr>(kZero);
    const auto limits = range(kRange);
    if (!scale && !zero && !limits)
      return;
    if (!scale || !zero || !limits)
      throw wrong("some of 'scale', 'zero' and 'range', allowed: all or none");
    tensor.quantised = {
        static_cast<float>(scale.getValueAsDouble()),
        static_cast<int32_t>(std::clamp<int64_t>(zero.getInt(), INT32_MIN, INT32_MAX)), *limits};
  }

  void readLookup(frontend::ImportedTensor &tensor) {
    const auto first = take<IntegerAttr>(kFirst);
    const auto table = take<DenseElementsAttr>(kTable);
    if (!first && !table)
      return;
    if (!first || !table || !table.getElementType().isF32() || table.getType().getRank() == 0 ||
        table.empty())
      throw wrong("a table that does not have 'first' and rows of f32");
    auto lookup = std::make_shared<frontend::ArrayLookup>();
    lookup->first = first.getInt();
    lookup->inner.assign(table.getType().getShape().begin() + 1, table.getType().getShape().end());
    lookup->values.assign(table.value_begin<float>(), table.value_end<float>());
    if (tensor.shape.size() < lookup->inner.size() ||
        !std::equal(lookup->inner.rbegin(), lookup->inner.rend(), tensor.shape.rbegin()))
      throw wrong("a table whose rows are not the last axes of the argument");
    tensor.lookup = std::move(lookup);
  }
};

/// A tensor as a program file has it, without its rows.
format::HostTensor withBorder(const frontend::ImportedTensor &tensor) {
  format::HostTensor result = hostTensor(tensor);
  result.quantised = tensor.quantised;
  result.codes = tensor.codes;
  if (tensor.lookup)
    result.lookup = lookupOf(*tensor.lookup);
  return result;
}

} // namespace

void setHostAttributes(func::FuncOp main, const frontend::ImportedModel &model) {
  Writer writer(main.getContext());
  for (auto [i, input] : llvm::enumerate(model.inputs))
    if (const auto attribute = writer.write(input, model.arrays); !attribute.empty())
      main.setArgAttr(i, ir::kHostAttr, attribute);
  for (auto [i, output] : llvm::enumerate(model.outputs))
    if (const auto attribute = writer.write(output, {}); !attribute.empty())
      main.setResultAttr(i, ir::kHostAttr, attribute);
}

std::optional<std::string> readHostAttributes(func::FuncOp main, frontend::ImportedModel &model) {
  const auto inputAttribute = [&](size_t i) {
    return main.getArgAttrOfType<DictionaryAttr>(i, ir::kHostAttr);
  };
  std::map<size_t, frontend::ImportedTensor> arrays;
  try {
    for (auto [i, input] : llvm::enumerate(model.inputs)) {
      const auto attribute = inputAttribute(i);
      if (!attribute)
        continue;
      Reader reader(attribute, fmt::format("argument '{}'", input.name));
      reader.read(input);
      if (auto array = reader.array(input)) {
        input.array = array->array;
        const std::string name = array->name;
        if (arrays.try_emplace(input.array, std::move(*array)).first->second.name != name)
          return fmt::format("sluice.host has two arrays with index {}", input.array);
      }
      reader.finish();
    }
    for (auto [i, input] : llvm::enumerate(model.inputs))
      if (!arrays.empty() && !(inputAttribute(i) && inputAttribute(i).contains(kArray)))
        return fmt::format("argument '{}' has no array in sluice.host; if one has, all must",
                           input.name);
    for (auto [i, output] : llvm::enumerate(model.outputs))
      if (const auto attribute = main.getResultAttrOfType<DictionaryAttr>(i, ir::kHostAttr)) {
        Reader reader(attribute, fmt::format("result '{}'", output.name));
        reader.read(output);
        reader.finish();
      }
  } catch (const std::invalid_argument &problem) {
    return problem.what();
  }
  for (auto &[index, array] : arrays) {
    if (index != model.arrays.size())
      return fmt::format("sluice.host has {} arrays, but none with index {}", arrays.size(),
                         model.arrays.size());
    model.arrays.push_back(std::move(array));
  }
  format::Model border;
  for (const frontend::ImportedTensor &input : model.inputs) {
    border.inputs.push_back(withBorder(input));
    if (!arrays.empty())
      border.inputs.back().array = static_cast<uint32_t>(input.array);
  }
  for (const frontend::ImportedTensor &output : model.outputs)
    border.outputs.push_back(withBorder(output));
  for (const frontend::ImportedTensor &array : model.arrays)
    border.arrays.push_back({array.name, array.shape, array.type, array.limits, array.random});
  return format::checkHostSide(border);
}

} // namespace sluice::pipeline
