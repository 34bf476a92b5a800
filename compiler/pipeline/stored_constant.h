// A constant that lies in the local memories of cores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/format/source_map.h"

namespace sluice::pipeline {

/// A constant that a function of the vector units reads element by element.
struct StoredConstant {
  std::string name; ///< of the tensor in the model; may be empty
  std::vector<int64_t> shape;
  uint64_t rows = 0;       ///< different ones: a core stores each once
  format::SourceNode node; ///< that reads it
};

} // namespace sluice::pipeline
