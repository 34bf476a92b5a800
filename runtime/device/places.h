// Which elements of which tensors are in the rows of a machine: an address as its user knows it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/addressing/addressing.h"
#include "runtime/format/program.h"

namespace sluice::device {

/// What a program that has passed the loader's checks puts where. Rows of inputs and outputs are
/// named by their elements, `x[3, 8..15]`, rows between them by the nodes that they are made for,
/// `node 2 "fc1" (Gemm)`.
class Places {
public:
  explicit Places(const format::Program &program);

  /// What a tensor row of a core holds (address as in instructions), in the course of an inference:
  /// several things where rows take turns, none where nothing is.
  [[nodiscard]] std::vector<std::string> at(uint32_t core, uint32_t address) const;

  /// What an instruction of a core (or of the host port, core = number of cores) moves: `reads
  /// x[0, 0..7] to x[3, 0..7], writes y[0, 0..7]`. Empty if nothing that has a name.
  [[nodiscard]] std::string movedBy(uint32_t core, uint32_t instruction) const;

private:
  /// The tensors of one direction of the host port.
  class Port {
  public:
    Port(std::vector<format::HostTensor> tensors, uint32_t lanes, uint32_t steps);
    /// `x[3, 8..15]`, by the number of the row in the tensors' order, or by its address.
    [[nodiscard]] std::string numbered(uint32_t number) const;
    [[nodiscard]] std::string addressed(uint32_t row) const;
    [[nodiscard]] uint32_t rows() const;

  private:
    [[nodiscard]] std::string name(size_t tensor, uint32_t row) const;
    std::vector<format::HostTensor> tensors; ///< ascending first row
    std::vector<addressing::Addressing> slots;
    uint32_t lanes;
  };
  /// The least and the largest of some addresses or rows.
  struct Reach {
    uint32_t first = 0, last = 0;
  };
  struct Moved {
    std::vector<Reach> reads, sends, gives; ///< of its core's rows, of inputs', of outputs'
  };
  using Instruction = std::pair<uint32_t, uint32_t>; ///< core, index
  template <typename What> using ByAddress = std::map<uint32_t, std::vector<What>>;

  class Reader;
  void followInputs();
  void readCore(uint32_t core);
  void addRange(std::vector<std::string> &to, const std::string &first,
                const std::string &last) const;

  const format::Program &program;
  Port inputs, outputs;
  std::vector<ByAddress<uint32_t>> arrivals;   ///< by core, numbers of input rows
  std::vector<ByAddress<Instruction>> writers; ///< by core
  std::vector<std::vector<Moved>> moved;       ///< by core and instruction
};

} // namespace sluice::device
