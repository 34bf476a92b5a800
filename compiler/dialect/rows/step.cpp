#include "compiler/dialect/rows/step.h"

#include "llvm/ADT/STLExtras.h"

#include "hw/isa/isa.h"

namespace sluice::rows {
namespace {

constexpr StepField kFields[] = {
    {"alu1", "alu"},
    {"rhs1", "rhs1"},
    {"imm1", ""},
    {"reduce", "reduce"},
    {"alu2", "alu"},
    {"rhs2", "rhs2"},
    {"imm2", ""},
    {"post", "post"},
    {"b_broadcast", "", true},
    {"c_broadcast", "", true},
    {"b_wide", "", true},
    {"part", "part"},
};

bool isValueOf(const StepField &field, mlir::Attribute value) {
  if (field.isFlag)
    return llvm::isa<mlir::UnitAttr>(value);
  if (field.enumName.empty()) {
    const auto number = llvm::dyn_cast<mlir::FloatAttr>(value);
    return number && number.getType().isF32();
  }
  const auto word = llvm::dyn_cast<mlir::StringAttr>(value);
  return word && isa::enumValue(field.enumName, word.getValue());
}

/// The word of a field, or the one that stands for nothing being said.
llvm::StringRef wordOf(mlir::DictionaryAttr step, llvm::StringRef name) {
  const auto word = step.getAs<mlir::StringAttr>(name);
  return word ? word.getValue() : "";
}

} // namespace

llvm::ArrayRef<StepField> stepFields() { return kFields; }

std::optional<std::string> stepProblem(mlir::DictionaryAttr step, bool b, bool c) {
  if (!step)
    return std::nullopt;
  for (const mlir::NamedAttribute &entry : step) {
    const auto *const field =
        llvm::find_if(kFields, [&](const StepField &one) { return entry.getName() == one.name; });
    if (field == std::end(kFields))
      return "has unknown step '" + entry.getName().str() + "'";
    if (!isValueOf(*field, entry.getValue()))
      return "has an invalid value for step '" + entry.getName().str() + "'";
  }
  // Operand b is what an arithmetic unit takes unless it is told otherwise.
  const auto needs = [&](llvm::StringRef alu, llvm::StringRef rhs, llvm::StringRef operand,
                         bool byDefault) {
    const llvm::StringRef word = wordOf(step, alu), right = wordOf(step, rhs);
    return !word.empty() && word != "pass" && (right.empty() ? byDefault : right == operand);
  };
  if (!b && (needs("alu1", "rhs1", "b", true) || needs("alu2", "rhs2", "b", false)))
    return "has a step that reads operand b, which is missing";
  if (!c && needs("alu2", "rhs2", "c", true))
    return "has a step that reads operand c, which is missing";
  const bool isWide = step.contains("b_wide");
  if (isWide && (!b || !c))
    return "has a step with b_wide, which needs operands b and c";
  if (isWide && (needs("alu2", "rhs2", "c", true) || wordOf(step, "alu1") == "select" ||
                 wordOf(step, "alu2") == "select"))
    return "has a step with b_wide that reads operand c, which holds the lower halves of b";
  return std::nullopt;
}

} // namespace sluice::rows
