// What is wrong with a file that a user names.
#pragma once

#include <string>

namespace sluice::format {

/// What is wrong with a file: "E05xx" and one sentence (docs: sluice explain).
struct FileProblem {
  std::string code;
  std::string message;
};

} // namespace sluice::format
