// A tensor as the host sees it, and the rows that carry it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/format/host_type.h"

namespace sluice::format {

/// The integers that an input accepts, both ends included.
struct Limits {
  int64_t low = 0, high = 0;

  bool operator==(const Limits &) const = default;
};

/// Those of an integer type; UInt64 ends where Int64 does.
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

/// Constant rows that the host sends in the place of integers, as an embedding does: integer v
/// becomes row (v - first) mod rows of the table.
struct Lookup {
  int64_t first = 0;
  uint32_t rowElements = 1;
  std::vector<uint16_t> values; ///< bf16, row by row

  [[nodiscard]] int64_t rows() const { return static_cast<int64_t>(values.size() / rowElements); }
  /// Where the row of an integer begins.
  [[nodiscard]] size_t at(int64_t integer) const {
    const int64_t row = (integer - first) % rows();
    return static_cast<size_t>(row < 0 ? row + rows() : row) * rowElements;
  }
};

/// Integers that stand for numbers: round(number / scale) + zero, between low and high.
struct Quantisation {
  float scale = 1;
  int32_t zero = 0;
  Limits limits;

  bool operator==(const Quantisation &) const = default;

  /// In fp32, rounded to the nearest integer, ties to even.
  [[nodiscard]] double integerOf(double number) const;
  [[nodiscard]] double numberOf(double integer) const {
    return static_cast<float>(integer - zero) * scale;
  }
};

/// A tensor at the host port. The host sees a plain row-major array of `shape`;
/// the port carries rows of B bf16 lanes. Index (i0..in) of the array's packed shape, which is
/// `shape` or that with neighbouring axes as one, with data dimension d:
/// the row is first_row + flat(other indices, row-major) * ceil(packed[d]/B) +
/// i[d]/B, the lane i[d]%B. Lanes beyond the extent are zero in inputs and
/// unspecified in outputs. A rank-0 tensor
/// has an empty shape and is carried as one lane. In a model of several steps the
/// rows carry the part of one step (runtime/format/steps.h), and `shape` is that of
/// the whole.
struct HostTensor {
  std::string name;
  std::vector<int64_t> shape;
  HostType type = HostType::Float32;
  uint32_t dataDim = 0; ///< an axis of the packed shape
  uint32_t firstRow = 0;
  uint32_t rows = 0;
  /// Of a model of several steps: the axis along which every step has its own positions. None:
  /// an input that every step takes again, an output of the last step.
  std::optional<uint32_t> stepAxis = std::nullopt;
  /// Along it, of an output: positions that the first steps give ahead of position 0.
  uint32_t skipped = 0;
  /// The packed shape (of the part of a step, in a model of several); empty: the shape.
  std::vector<int64_t> packed = {};
  /// Of an input of integers or bools; bf16 has every one of them.
  std::optional<Limits> limits = std::nullopt;
  uint32_t array = 0; ///< of an input: the array of the model that it is made from, if it has some
  /// Of an input: what its elements are looked up in. The shape is that of the array with axes of
  /// the table's rows behind it.
  std::optional<Lookup> lookup = std::nullopt;
  /// The rows have integers. The host quantises an input, and restores an output.
  std::optional<Quantisation> quantised = std::nullopt;
};

/// An input as the host gives it, where several tensors are made from one, or by a lookup.
struct HostArray {
  std::string name;
  std::vector<int64_t> shape;
  HostType type = HostType::Float32;
  std::optional<Limits> limits = std::nullopt;
};

} // namespace sluice::format
