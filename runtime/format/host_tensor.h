// A tensor as the host sees it, and the rows that carry it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice::format {

/// Element type of a tensor as the host sees it.
enum class HostType : uint8_t { Float32 = 1, BFloat16 = 2, Float16 = 3, Float64 = 4 };

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
};

} // namespace sluice::format
