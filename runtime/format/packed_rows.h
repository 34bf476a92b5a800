// The layout of a tensor in rows, along one axis of its packed shape: its shape, perhaps with
// adjacent axes merged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/addressing/addressing.h"
#include "runtime/format/computed_rows.h"
#include "runtime/format/host_tensor.h"

namespace sluice::format {

/// The layout of the elements of a tensor in rows.
struct PackedRows {
  std::vector<int64_t> shape;  ///< shape of the tensor
  std::vector<int64_t> packed; ///< the shape, perhaps with adjacent axes merged
  uint32_t dataDim = 0;        ///< an axis of `packed`

  explicit PackedRows(const ModelTensor &tensor);
  /// If `steps` is above 1, the layout is that of the part in one step.
  PackedRows(const HostTensor &tensor, uint32_t steps);

  /// Returns the addressing of the elements. Lane l of row r has the address r * lanes + l.
  [[nodiscard]] addressing::Addressing slots(int64_t lanes) const;
  [[nodiscard]] int64_t rows(int64_t lanes) const;
  /// Returns the axis of the tensor that lies along the lanes; the last one of several merged axes.
  [[nodiscard]] uint32_t tensorDim() const;
  /// Returns a message if the layout is invalid. The extents of the shape must be valid.
  [[nodiscard]] std::optional<std::string> problem() const;

private:
  PackedRows(std::vector<int64_t> shape, const std::vector<int64_t> &packed, uint32_t dataDim);
};

} // namespace sluice::format
