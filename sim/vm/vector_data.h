// The data of the vector unit: one beat's operands to one bf16 row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/numerics/numerics.h"
#include "hw/numerics/reduction.h"
#include "sim/vm/decode.h"
#include "sim/vm/tensor_ram.h"

namespace sluice::vm {

class VectorData {
public:
  VectorData(const format::Geometry &geometry, const format::CoreImage &image);

  /// Computes a beat from the state its operands are read in. `addresses` are
  /// those of the beat, `result` the matrix result it takes or empty. Writes the
  /// row to `out` unless that is empty.
  void compute(const VectorInstruction &inst, const Addresses &addresses, bool reduceEnds,
               const TensorRam &ram, std::span<const uint32_t> result, std::span<uint16_t> out);

  /// Forgets a reduction that is under way.
  void restart() { reduction.reset(); }

private:
  using Row = std::vector<uint32_t>;

  void read(const TensorRam &ram, uint32_t address, bool broadcast, Row &to) const;
  /// Operand b of an instruction with b_wide: fp32, the upper halves in row b,
  /// the lower ones in row c.
  void readWide(const isa::Vec &op, const Addresses &addresses, const TensorRam &ram);

  uint32_t lanes;
  std::vector<numerics::Table> tables; ///< one spare at the end
  Row a, b, c, value, imm;
  numerics::Reduction reduction; ///< under way
};

} // namespace sluice::vm
