// Tensors in rows: along one axis of their shape, or of that with neighbouring axes as one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/addressing/addressing.h"
#include "runtime/format/computed_rows.h"
#include "runtime/format/host_tensor.h"

namespace sluice::format {

/// How the elements of a tensor are in rows.
struct PackedRows {
  std::vector<int64_t> shape;  ///< of the tensor
  std::vector<int64_t> packed; ///< that, or with neighbouring axes as one
  uint32_t dataDim = 0;        ///< an axis of `packed`

  explicit PackedRows(const ModelTensor &tensor);
  /// Of a model of several steps: of the part that one of them has.
  PackedRows(const HostTensor &tensor, uint32_t steps);

  /// Lane l of row r is address r * lanes + l.
  [[nodiscard]] addressing::Addressing slots(int64_t lanes) const;
  [[nodiscard]] int64_t rows(int64_t lanes) const;
  /// The axis of the tensor along which neighbours in a row are; of several that are one the last.
  [[nodiscard]] uint32_t tensorDim() const;
  /// What is wrong with it, or nothing. The extents of the shape have been checked.
  [[nodiscard]] std::optional<std::string> problem() const;

private:
  PackedRows(std::vector<int64_t> shape, const std::vector<int64_t> &packed, uint32_t dataDim);
};

} // namespace sluice::format
