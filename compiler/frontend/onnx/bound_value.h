// A value that the user gives for an input, before anything is known of the input.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace sluice::frontend {

struct BoundValue {
  /// Of a file. Nothing: the input's own shape, whose elements these are, or the one of all.
  std::optional<std::vector<int64_t>> shape;
  std::variant<std::vector<int64_t>, std::vector<double>> elements;
};

} // namespace sluice::frontend
