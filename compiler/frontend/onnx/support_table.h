// What `sluice ops` prints: the operator table with the very sentences the
// importer checks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::frontend {

/// Versions of an operator that require the same.
struct SupportRow {
  std::string domain; ///< "" is ONNX's own
  std::string op;
  int64_t firstOpset = 0; ///< of the range this row is about, within the supported opsets
  int64_t lastOpset = 0;
  std::string form; ///< what it becomes
  std::vector<std::string> requirements;
};

/// All rows by operator and opset, or those of one operator.
std::vector<SupportRow> supportTable(const std::string &op = "");

std::string supportMarkdown(const std::vector<SupportRow> &rows);
/// {"schema":1,"operators":[{"domain","op","opsets":[first,last],"form","requirements":[...]}]}
std::string supportJson(const std::vector<SupportRow> &rows);

} // namespace sluice::frontend
