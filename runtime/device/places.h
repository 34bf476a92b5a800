// Maps between the rows of a machine and the elements of the tensors of the model.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/addressing/addressing.h"
#include "runtime/device/row_names.h"
#include "runtime/device/row_series.h"
#include "runtime/device/written_rows.h"
#include "runtime/format/program.h"

namespace sluice::device {

/// The contents of the rows of a program, as text. The program has passed the checks of the loader.
/// A row of a tensor of the model is `x[3, 8..15]`. A row of a partial sum is
/// `partial sum of h[3, 8..15]`. Any other row is
/// `internal to node 2 "norm" (LayerNormalization)`.
class Places {
public:
  explicit Places(const format::Program &program);
  Places(const Places &) = delete; // parts point to the names of tensors
  Places &operator=(const Places &) = delete;
  ~Places() = default;

  /// Returns the contents of a row of the tensor RAM of a core during an inference, in order. The
  /// list has several entries if the row is reused, and none if it is unused. The address is as in
  /// instructions.
  [[nodiscard]] std::vector<std::string> at(uint32_t core, uint32_t address) const;

  /// Returns the rows that an instruction reads and writes: `reads x[0, 0..7] to x[3, 0..7], writes
  /// y[0, 0..7]`, for each tensor the first and the last row. `core` is the number of cores for the
  /// host port. Returns an empty text if no row has a name.
  [[nodiscard]] std::string movedBy(uint32_t core, uint32_t instruction) const;

  /// A lane of a tensor row of a core.
  struct Spot {
    uint32_t core = 0, address = 0, lane = 0;
    auto operator<=>(const Spot &) const = default;
  };
  /// Returns all places of an element during an inference, ascending: the inverse of `at`.
  [[nodiscard]] std::vector<Spot> of(const std::string &tensor, addressing::IndicesRef index) const;

  /// A lane of an output row.
  struct OutputSpot {
    uint32_t row = 0, lane = 0;
    auto operator<=>(const OutputSpot &) const = default;
  };
  /// Returns the places of an element of an output in the output rows, ascending. There are several
  /// if the models of the program differ.
  [[nodiscard]] std::vector<OutputSpot> sentAs(const std::string &tensor,
                                               addressing::IndicesRef index) const;

private:
  /// The tensors of one direction of the host port.
  class Port {
  public:
    Port(std::vector<format::HostTensor> tensors, uint32_t lanes, uint32_t steps);
    /// A row, by its number in the tensors' order or by its address.
    [[nodiscard]] Held numbered(uint32_t number) const;
    [[nodiscard]] Held addressed(uint32_t row) const;
    [[nodiscard]] uint32_t rows() const;

    /// A lane of a tensor of the port.
    struct Slot {
      const RowNames *tensor;
      uint32_t row, address, lane;
    };
    /// The slots that have an element.
    [[nodiscard]] std::vector<Slot> slotsOf(const std::string &tensor,
                                            addressing::IndicesRef index) const;

  private:
    std::vector<format::HostTensor> tensors; ///< ascending first row
    std::vector<RowNames> names;
    uint32_t lanes;
  };
  struct Moved {
    std::vector<std::vector<uint32_t>> reads; ///< addresses, by operand
    Contents sends, gives, computes;          ///< rows of inputs, of outputs, of the model
    bool internal = false;                    ///< writes what its nodes have between them
  };
  using Instruction = std::pair<uint32_t, uint32_t>; ///< core, index
  /// Rows that an instruction writes to an address one after the other, evenly apart.
  struct Series {
    std::optional<ModelRow> begin; ///< nothing: what its nodes have between them
    RowSeries rows;

    /// Takes one more row, if it goes on like that.
    bool takes(const std::optional<ModelRow> &row);
    [[nodiscard]] bool has(const ModelRow &row) const;
  };
  template <typename What> using ByAddress = std::map<uint32_t, std::vector<What>>;

  class Reader;
  void followInputs();
  void readCore(uint32_t core);
  void addRow(const WrittenRow &row);
  [[nodiscard]] Held internalTo(const Instruction &by) const;
  [[nodiscard]] std::vector<Held> turnsAt(uint32_t core, uint32_t address) const;
  void addWritten(std::vector<Held> &to, uint32_t core, uint32_t address,
                  const Instruction &by) const;

  const format::Program &program;
  Port inputs, outputs;
  std::vector<ByAddress<Held>> arrivals;       ///< by core, input rows in their order
  std::vector<ByAddress<Instruction>> writers; ///< by core, of addresses that they may reach
  std::vector<RowNames> tensors;               ///< of the model
  /// By core, address and the instruction that writes them, in their order.
  std::vector<std::unordered_map<uint32_t, std::map<Instruction, std::vector<Series>>>> computed;
  std::vector<std::vector<Moved>> moved; ///< by core and instruction
};

} // namespace sluice::device
