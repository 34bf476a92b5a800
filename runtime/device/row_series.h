// Series of rows of a tensor: rows that share an address one after the other, and rows that one
// instruction reads or writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device/row_names.h"

namespace sluice::device {

/// Rows of one tensor at equal distances: first, first + step, ..., `count` rows.
struct RowSeries {
  int64_t first = 0;
  int64_t step = 0, count = 1;

  /// Takes one more row, if it goes on like that.
  bool takes(int64_t row);
  [[nodiscard]] bool has(int64_t row) const;
  [[nodiscard]] int64_t last() const { return first + (count - 1) * step; }
};

/// The contents of an address: rows of a tensor, rows of partial sums for it, or a text.
struct Held {
  const RowNames *tensor = nullptr; ///< null: see `text`
  bool partial = false;
  RowSeries rows;
  std::string text;

  [[nodiscard]] std::vector<std::string> names() const;
};

/// The contents of several addresses: for each tensor, the range of its rows.
class Contents {
public:
  void add(const Held &held);
  /// Adds the contents of one address during an inference, in order.
  void addTurns(const std::vector<Held> &turns);

  [[nodiscard]] bool empty() const { return parts.empty(); }
  /// Returns `x[0, 0..7] to x[3, 0..7] and s`, with "or" if the contents are not there at the same
  /// time. If there are many, the text gives their number.
  [[nodiscard]] std::string text() const;

private:
  std::vector<Held> parts; ///< count 2: from the least to the largest
  bool takeTurns = false;

  Held &partOf(const Held &held);
};

} // namespace sluice::device
