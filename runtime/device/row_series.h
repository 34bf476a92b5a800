// Rows of tensors of the model, many at a time: those that take turns at an address, and those that
// an instruction moves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device/row_names.h"

namespace sluice::device {

/// Rows of one tensor, one after the other and evenly apart.
struct RowSeries {
  int64_t first = 0;
  int64_t step = 0, count = 1;

  /// Takes one more row, if it goes on like that.
  bool takes(int64_t row);
  [[nodiscard]] bool has(int64_t row) const;
  [[nodiscard]] int64_t last() const { return first + (count - 1) * step; }
};

/// What is in an address for a while: rows of a tensor or of sums for it, or what a text says.
struct Held {
  const RowNames *tensor = nullptr; ///< nothing: see `text`
  bool partial = false;
  RowSeries rows;
  std::string text;

  [[nodiscard]] std::vector<std::string> names() const;
};

/// What is in several addresses: of each tensor its rows from the least to the largest.
class Contents {
public:
  void add(const Held &held);
  /// What is in one address in the course of an inference.
  void addTurns(const std::vector<Held> &turns);

  [[nodiscard]] bool empty() const { return parts.empty(); }
  /// `x[0, 0..7] to x[3, 0..7] and s`; with "or" where they are not there at the same time. More
  /// than a few are counted.
  [[nodiscard]] std::string text() const;

private:
  std::vector<Held> parts; ///< count 2: from the least to the largest
  bool takeTurns = false;

  Held &partOf(const Held &held);
};

} // namespace sluice::device
