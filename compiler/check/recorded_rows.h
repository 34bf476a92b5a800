// The tensors of a model as a program computes them, recorded while it runs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/device/written_rows.h"
#include "runtime/format/program.h"

namespace sluice::check {

/// A tensor, or those of its elements that are known.
struct RecordedTensor {
  std::vector<double> values;
  std::vector<bool> isKnown; ///< by element
};

/// Finds out which elements of which tensors are in the rows that the vector units write. The rows
/// of an engine come in the order in which every core writes them (device::Device::watchRows).
class RecordedRows {
public:
  /// `program` has one step for each inference; of others nothing is recorded.
  explicit RecordedRows(const format::Program &program);

  /// Drops what was recorded: the next rows are those of the first inference.
  void restart();
  void record(uint32_t core, std::span<const uint16_t> lanes);

  /// Returns whether the program writes rows of a tensor (an index into Program::tensors).
  [[nodiscard]] bool isWritten(uint32_t tensor) const { return written[tensor]; }
  /// Returns a tensor as an inference has computed it. Where cores compute the same rows, there is
  /// more than one.
  [[nodiscard]] std::span<const RecordedTensor> of(uint64_t inference, uint32_t tensor) const;

private:
  struct Copies {
    std::vector<RecordedTensor> tensors;
    std::vector<uint32_t> count; ///< by row: how often it was written
  };

  const format::Program &program;
  std::vector<std::vector<std::optional<device::ModelRow>>> rows; ///< by core, of an inference
  std::vector<std::vector<int64_t>> positions; ///< by tensor and slot: the element, or -1
  std::vector<bool> written;                   ///< by tensor
  std::vector<uint64_t> next;                  ///< by core: rows that were recorded
  std::vector<std::vector<Copies>> recorded;   ///< by inference and tensor
};

} // namespace sluice::check
