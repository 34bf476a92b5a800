#include "compiler/dialect/core/instruction.h"

#include <fmt/format.h>

#include "mlir/IR/Builders.h"

#include "compiler/dialect/core/dialect.h"

namespace sluice::core {
namespace {

const isa::InstructionInfo *instructionNamed(llvm::StringRef name) {
  name.consume_front("core.");
  for (const isa::InstructionInfo &info : isa::instructions())
    if (name == llvm::StringRef(info.name))
      return &info;
  return nullptr;
}

const isa::FieldInfo *fieldNamed(const isa::InstructionInfo &info, llvm::StringRef name) {
  for (const isa::FieldInfo &field : info.fields)
    if (name == llvm::StringRef(field.name))
      return &field;
  return nullptr;
}

int64_t defaultOf(const isa::FieldInfo &field) { return field.name == "n" ? 1 : 0; }

/// The values of a field, defaults where the operation says nothing.
llvm::SmallVector<int64_t, 4> valuesOf(mlir::Operation *op, const isa::FieldInfo &field) {
  llvm::SmallVector<int64_t, 4> values(field.count, defaultOf(field));
  const mlir::Attribute attribute = op->getAttr(field.name);
  if (const auto scalar = llvm::dyn_cast_or_null<mlir::IntegerAttr>(attribute))
    values.assign(1, scalar.getInt());
  else if (const auto array = llvm::dyn_cast_or_null<mlir::DenseI64ArrayAttr>(attribute))
    values.assign(array.asArrayRef().begin(), array.asArrayRef().end());
  return values;
}

mlir::ParseResult parseList(mlir::OpAsmParser &parser, llvm::SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(values.emplace_back()); });
}

/// One value: a number, or a word of the field's enumeration.
mlir::ParseResult parseScalar(mlir::OpAsmParser &parser, const isa::FieldInfo &field,
                              int64_t &value) {
  if (field.enumName.empty())
    return parser.parseInteger(value);
  const llvm::SMLoc loc = parser.getCurrentLocation();
  llvm::StringRef word;
  if (parser.parseKeyword(&word))
    return mlir::failure();
  const std::optional<unsigned> code = isa::enumValue(field.enumName, word);
  if (!code)
    return parser.emitError(loc) << "'" << word << "' is not a value of " << field.enumName;
  value = *code;
  return mlir::success();
}

mlir::ParseResult parseField(mlir::OpAsmParser &parser, const isa::InstructionInfo &info,
                             mlir::OperationState &result) {
  const llvm::SMLoc loc = parser.getCurrentLocation();
  llvm::StringRef name;
  if (parser.parseKeyword(&name) || parser.parseEqual())
    return mlir::failure();
  if (result.attributes.get(name))
    return parser.emitError(loc) << "field " << name << " is given twice";
  const isa::FieldInfo *field = fieldNamed(info, name);
  if (!field && name != "nodes")
    return parser.emitError(loc) << info.name << " has no field " << name;
  mlir::Builder &builder = parser.getBuilder();
  if (!field || field->count > 1) {
    llvm::SmallVector<int64_t, 4> values;
    if (parseList(parser, values))
      return mlir::failure();
    result.addAttribute(name, builder.getDenseI64ArrayAttr(values));
    return mlir::success();
  }
  int64_t value = 0;
  if (parseScalar(parser, *field, value))
    return mlir::failure();
  result.addAttribute(name, builder.getI64IntegerAttr(value));
  return mlir::success();
}

/// The words of an operation, without messages; `problem` says what does not
/// fit.
std::optional<isa::Words> encodeFields(mlir::Operation *op, std::string &problem) {
  const isa::InstructionInfo &info = *instructionOf(op);
  isa::Words words{};
  words[0] = static_cast<uint64_t>(info.opcode);
  for (const isa::FieldInfo &field : info.fields) {
    const auto values = valuesOf(op, field);
    if (values.size() != field.count) {
      problem = fmt::format("field {} has {} values, allowed: {}", field.name, values.size(),
                            field.count);
      return std::nullopt;
    }
    for (unsigned i = 0; i < field.count; ++i) {
      if (isa::setField(words, field, i, values[i]))
        continue;
      const int64_t span = int64_t{1} << (field.bits - (field.isSigned ? 1 : 0));
      problem = fmt::format("field {} is {}, allowed: {} to {}", field.name, values[i],
                            field.isSigned ? -span : 0, span - 1);
      return std::nullopt;
    }
  }
  if (!isa::decode(words)) {
    problem = "an enumerated field has an invalid value";
    return std::nullopt;
  }
  return words;
}

} // namespace

const isa::InstructionInfo *instructionOf(mlir::Operation *op) {
  return instructionNamed(op->getName().getStringRef());
}

std::optional<isa::Words> encode(mlir::Operation *op) {
  std::string problem;
  const std::optional<isa::Words> words = encodeFields(op, problem);
  if (!words)
    op->emitOpError() << problem;
  return words;
}

mlir::Operation *createInstruction(mlir::OpBuilder &builder, mlir::Location loc,
                                   const isa::Words &words, llvm::ArrayRef<int64_t> nodes) {
  const isa::InstructionInfo &info = *isa::lookup(words[0] & 15);
  mlir::OperationState state(loc, "core." + std::string(info.name));
  for (const isa::FieldInfo &field : info.fields) {
    llvm::SmallVector<int64_t, 4> values;
    for (unsigned i = 0; i < field.count; ++i)
      values.push_back(isa::getField(words, field, i));
    if (llvm::all_equal(values) && values[0] == defaultOf(field))
      continue;
    if (field.count > 1)
      state.addAttribute(field.name, builder.getDenseI64ArrayAttr(values));
    else
      state.addAttribute(field.name, builder.getI64IntegerAttr(values[0]));
  }
  if (!nodes.empty())
    state.addAttribute("nodes", builder.getDenseI64ArrayAttr(nodes));
  return builder.create(state);
}

mlir::ParseResult parseInstruction(mlir::OpAsmParser &parser, mlir::OperationState &result) {
  const isa::InstructionInfo &info = *instructionNamed(result.name.getStringRef());
  return parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::OptionalParen,
                                        [&] { return parseField(parser, info, result); });
}

void printInstruction(mlir::OpAsmPrinter &printer, mlir::Operation *op) {
  const isa::InstructionInfo &info = *instructionOf(op);
  bool first = true;
  const auto begin = [&](llvm::StringRef name) -> mlir::OpAsmPrinter & {
    printer << (first ? "(" : ", ") << name << " = ";
    first = false;
    return printer;
  };
  const auto list = [&](llvm::ArrayRef<int64_t> values) {
    printer << "[";
    llvm::interleaveComma(values, printer);
    printer << "]";
  };
  for (const isa::FieldInfo &field : info.fields) {
    const auto values = valuesOf(op, field);
    if (llvm::all_of(values, [&](int64_t value) { return value == defaultOf(field); }))
      continue;
    begin(field.name);
    if (field.count > 1)
      list(values);
    else if (field.enumName.empty())
      printer << values[0];
    else
      printer << isa::enumValueName(field.enumName, static_cast<unsigned>(values[0]));
  }
  if (const auto nodes = op->getAttrOfType<mlir::DenseI64ArrayAttr>("nodes")) {
    begin("nodes");
    list(nodes.asArrayRef());
  }
  if (!first)
    printer << ")";
}

mlir::LogicalResult verifyInstruction(mlir::Operation *op) {
  return mlir::success(encode(op).has_value());
}

} // namespace sluice::core
