// A problem of a file.
#pragma once

#include <string>
#include <vector>

namespace sluice::format {

/// A problem of a file: a code "E05xx", which `sluice explain` describes, and a message.
struct FileProblem {
  std::string code;
  std::string message;
  /// The names that could be meant by one that is unknown.
  std::vector<std::string> names = {};
};

} // namespace sluice::format
