// The inputs and outputs of a model at the host port, and their rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/format/host_type.h"
#include "runtime/random/random_numbers.h"

namespace sluice::format {

/// The range of integers that an input accepts, inclusive.
struct Limits {
  int64_t low = 0, high = 0;

  bool operator==(const Limits &) const = default;
};

/// Returns the range of an integer type. The range of UInt64 ends at the maximum of Int64.
constexpr Limits limitsOf(HostType type) {
  if (type == HostType::Bool)
    return {0, 1};
  const size_t bits = 8 * elementBytes(type);
  const bool isUnsigned = type == HostType::UInt8 || type == HostType::UInt16 ||
                          type == HostType::UInt32 || type == HostType::UInt64;
  if (bits == 64)
    return {isUnsigned ? 0 : INT64_MIN, INT64_MAX};
  const int64_t span = int64_t{1} << bits;
  return isUnsigned ? Limits{0, span - 1} : Limits{-span / 2, span / 2 - 1};
}

/// A table that the host looks integers up in, like an embedding: instead of the integer v, it
/// sends row (v - first) mod rows() of the table.
struct Lookup {
  int64_t first = 0;
  uint32_t rowElements = 1;
  std::vector<uint16_t> values; ///< bf16, row by row

  [[nodiscard]] int64_t rows() const { return static_cast<int64_t>(values.size() / rowElements); }
  /// Returns the index in `values` of the first element of the row for an integer.
  [[nodiscard]] size_t at(int64_t integer) const {
    const int64_t row = (integer - first) % rows();
    return static_cast<size_t>(row < 0 ? row + rows() : row) * rowElements;
  }
};

/// A quantisation: the integer for a number is round(number / scale) + zero, clamped to `limits`.
struct Quantisation {
  float scale = 1;
  int32_t zero = 0;
  Limits limits;

  bool operator==(const Quantisation &) const = default;

  /// Returns the integer for a number, computed in fp32; ties round to even.
  [[nodiscard]] double integerOf(double number) const;
  [[nodiscard]] double numberOf(double integer) const {
    return static_cast<float>(integer - zero) * scale;
  }
};

/// The elements of an array that an input has: element (i0, i1, ...) of the input is element
/// first + i0 * strides[0] + i1 * strides[1] + ... of the array, counted row-major.
struct Selection {
  int64_t first = 0;
  std::vector<int64_t> strides;

  bool operator==(const Selection &) const = default;

  /// Returns the element of the array for a row-major element of an input of this shape.
  [[nodiscard]] int64_t at(int64_t element, const std::vector<int64_t> &shape) const {
    int64_t found = first;
    for (size_t axis = shape.size(); axis-- > 0; element /= shape[axis])
      found += element % shape[axis] * strides[axis];
    return found;
  }
};

/// A tensor at the host port. The host has a row-major array of shape `shape`; the port transfers
/// rows of B lanes in bf16. The packed shape is `shape`, perhaps with adjacent axes merged. With
/// data dimension d, the element (i0..in) of the packed shape is in
///   row  firstRow + flat(other indices, row-major) * ceil(packed[d] / B) + i[d] / B,
///   lane i[d] % B.
/// Lanes beyond the extent are 0 in inputs and unspecified in outputs. A tensor of rank 0 has an
/// empty shape and uses one lane. If an inference has several steps, the rows are those of one step
/// (runtime/format/steps.h), and `shape` is the shape of the whole tensor.
struct HostTensor {
  std::string name;
  std::vector<int64_t> shape;
  HostType type = HostType::Float32;
  uint32_t dataDim = 0; ///< an axis of the packed shape
  uint32_t firstRow = 0;
  uint32_t rows = 0;
  /// If an inference has several steps: the axis along which each step has its own positions.
  /// Nothing for an input that every step reads whole, and for an output of the last step.
  std::optional<uint32_t> stepAxis = std::nullopt;
  /// For an output with a step axis: the number of positions before position 0 that the first steps
  /// compute.
  uint32_t skipped = 0;
  /// The packed shape, of one step if there are several; empty if it equals the shape.
  std::vector<int64_t> packed = {};
  /// For an input of integers or bools: the accepted range. bf16 represents all of them exactly.
  std::optional<Limits> limits = std::nullopt;
  uint32_t array = 0; ///< for an input: its index in Model::arrays, if these are not empty
  /// For an input: the table in which the host looks its elements up. `shape` is the shape of the
  /// array, followed by the axes of a row of the table.
  std::optional<Lookup> lookup = std::nullopt;
  /// For an input: the elements of its array that it has. Nothing: `shape` begins with the shape of
  /// the array, and it has all of them.
  std::optional<Selection> selection = std::nullopt;
  /// If the rows hold quantised integers: the host quantises an input and dequantises an output.
  std::optional<Quantisation> quantised = std::nullopt;
  /// For an output: the rows hold codes of indices, which the host decodes (index_code.h).
  bool codes = false;
};

/// An input of the user, from which the host computes inputs of the program: several, one that is
/// looked up, or one that is a part of it. If nothing reads it, there is no input that it makes.
/// The host fills an array of random numbers anew for every inference; the user does not give it.
struct HostArray {
  std::string name;
  std::vector<int64_t> shape;
  HostType type = HostType::Float32;
  std::optional<Limits> limits = std::nullopt;
  std::optional<random::RandomNumbers> random = std::nullopt;
};

} // namespace sluice::format
