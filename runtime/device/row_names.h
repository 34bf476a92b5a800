// Rows of tensors by the elements in them, as a user writes them: `x[3, 8..15]`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/addressing/addressing.h"
#include "runtime/format/packed_rows.h"
#include "runtime/format/program.h"

namespace sluice::device {

class RowNames {
public:
  /// A tensor at the host port; of several steps, the part of one of them.
  RowNames(const format::HostTensor &tensor, uint32_t steps, uint32_t lanes);
  RowNames(const format::ModelTensor &tensor, uint32_t lanes);

  [[nodiscard]] const std::string &name() const { return tensor; }

  /// A row by the element in its first lane and the lanes that it uses; where several axes are
  /// one and it goes over the end of the last of them, by its first and its last element,
  /// `x[0, 6] to [2, 5]`.
  [[nodiscard]] std::string of(int64_t row) const;
  /// `count` rows that are `step` apart: those along one axis as its positions,
  /// `h[0..60 by 4, 0..7]`, two others as they are, more by the first and the last.
  [[nodiscard]] std::vector<std::string> of(int64_t first, int64_t step, int64_t count) const;

  /// Rows from one to another, `x[0, 0..7] to x[3, 0..7]`; where several axes are one by the first
  /// element of the one and the last of the other.
  [[nodiscard]] std::string between(int64_t first, int64_t last) const;

  /// Where an element is: row * lanes + lane. Nothing if there is none of that index.
  [[nodiscard]] std::optional<int64_t> slotOf(addressing::IndicesRef index) const;
  /// The element in a lane of a row; nothing if there is none.
  [[nodiscard]] std::optional<addressing::Indices> elementIn(int64_t row, uint32_t lane) const;

private:
  std::string tensor;
  addressing::Addressing slots;
  uint32_t dataDim, lanes;
  bool isPacked; ///< several axes are one
  bool ofStep;

  RowNames(std::string name, const format::PackedRows &rows, uint32_t lanes, bool ofStep);

  /// The index of a row's first element.
  [[nodiscard]] addressing::Indices begin(int64_t row) const;
  [[nodiscard]] addressing::Indices last(int64_t row) const;
  [[nodiscard]] std::string named(const std::string &index) const;
};

} // namespace sluice::device
