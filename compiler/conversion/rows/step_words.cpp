#include "compiler/conversion/rows/step_words.h"

#include "mlir/IR/Builders.h"

#include "compiler/dialect/rows/step.h"

namespace sluice::rows {
namespace {

/// Calls `visit(field, value)` for every entry of a step, in the order of stepFields().
template <typename Step, typename Visit> void visitFields(Step &step, Visit &&visit) {
  const llvm::ArrayRef<StepField> fields = stepFields();
  visit(fields[0], step.alu1);
  visit(fields[1], step.rhs1);
  visit(fields[2], step.imm1);
  visit(fields[3], step.reduce);
  visit(fields[4], step.alu2);
  visit(fields[5], step.rhs2);
  visit(fields[6], step.imm2);
  visit(fields[7], step.post);
  visit(fields[8], step.bBroadcast);
  visit(fields[9], step.cBroadcast);
  visit(fields[10], step.bWide);
  visit(fields[11], step.part);
}

struct ToWords {
  mlir::Builder builder;
  llvm::SmallVector<mlir::NamedAttribute> words;

  void operator()(const StepField &field, float value) {
    if (std::bit_cast<uint32_t>(value) != 0)
      words.push_back(builder.getNamedAttr(field.name, builder.getF32FloatAttr(value)));
  }
  void operator()(const StepField &field, bool value) {
    if (value)
      words.push_back(builder.getNamedAttr(field.name, builder.getUnitAttr()));
  }
  template <typename Enum> void operator()(const StepField &field, Enum value) {
    if (value == Enum{})
      return;
    const std::string_view word = isa::enumValueName(field.enumName, static_cast<unsigned>(value));
    words.push_back(builder.getNamedAttr(
        field.name, builder.getStringAttr(llvm::StringRef(word.data(), word.size()))));
  }
};

struct FromWords {
  mlir::DictionaryAttr words;

  void operator()(const StepField &field, float &value) const {
    if (const auto number = words.getAs<mlir::FloatAttr>(field.name))
      value = number.getValue().convertToFloat();
  }
  void operator()(const StepField &field, bool &value) const { value = words.contains(field.name); }
  template <typename Enum> void operator()(const StepField &field, Enum &value) const {
    if (const auto word = words.getAs<mlir::StringAttr>(field.name))
      value = static_cast<Enum>(*isa::enumValue(field.enumName, {word.data(), word.size()}));
  }
};

} // namespace

mlir::DictionaryAttr stepWords(mlir::MLIRContext *context, const VectorStep &step) {
  ToWords to{mlir::Builder(context), {}};
  visitFields(step, to);
  return to.words.empty() ? mlir::DictionaryAttr() : to.builder.getDictionaryAttr(to.words);
}

VectorStep stepOf(mlir::DictionaryAttr words) {
  VectorStep step;
  if (words)
    visitFields(step, FromWords{words});
  return step;
}

} // namespace sluice::rows
