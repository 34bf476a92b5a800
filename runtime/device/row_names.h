// Names of rows by the elements of a tensor that they hold: `x[3, 8..15]`.
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
  /// Names the rows of a tensor at the host port. If `steps` is above 1, the rows are those of one
  /// step.
  RowNames(const format::HostTensor &tensor, uint32_t steps, uint32_t lanes);
  RowNames(const format::ModelTensor &tensor, uint32_t lanes);

  [[nodiscard]] const std::string &name() const { return tensor; }

  /// Returns the name of a row, by the index of its first lane and the used lanes. If several axes
  /// are merged and the row continues past the end of the last one, the name has the first and the
  /// last element: `x[0, 6] to [2, 5]`.
  [[nodiscard]] std::string of(int64_t row) const;
  /// Returns the names of `count` rows with a distance of `step`. Rows along one axis have one
  /// name, `h[0..60 by 4, 0..7]`. Of other rows, two are both named; of more, the first and the
  /// last.
  [[nodiscard]] std::vector<std::string> of(int64_t first, int64_t step, int64_t count) const;

  /// Returns the name of a range of rows, `x[0, 0..7] to x[3, 0..7]`. If several axes are merged,
  /// the name has the first element of the first row and the last element of the last row.
  [[nodiscard]] std::string between(int64_t first, int64_t last) const;

  /// Returns the place of an element as row * lanes + lane; nothing if the index is outside the
  /// tensor.
  [[nodiscard]] std::optional<int64_t> slotOf(addressing::IndicesRef index) const;
  /// Returns the index of the element in a lane of a row; nothing if the lane is unused.
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
