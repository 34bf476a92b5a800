// A problem of a file.
#pragma once

#include <string>

namespace sluice::format {

/// A problem of a file: a code "E05xx", which `sluice explain` describes, and a message.
struct FileProblem {
  std::string code;
  std::string message;
};

} // namespace sluice::format
