// Function tables of random contents, from a seeded generator.
#pragma once

#include "hw/numerics/numerics.h"
#include "tests/unit/hw/numerics/operands.h"

namespace sluice::numerics::testing {

/// Half of the windows are around 1.
inline Table::Header randomHeader(Operands &operands, Table::Mode mode) {
  const auto any = [&] { return static_cast<uint16_t>(operands.engine()); };
  Table::Header header;
  header.mode = mode;
  header.base = mode == Table::Mode::Log
                    ? isa::kTableLogBase
                    : static_cast<uint8_t>(operands.below(2) ? operands.below(256)
                                                             : 110 + operands.below(20));
  header.k = static_cast<int8_t>(static_cast<int>(operands.below(8)) - 4);
  for (Table::Rule *rule : {&header.belowPos, &header.belowNeg, &header.abovePos, &header.aboveNeg})
    *rule = {operands.below(2) != 0, any()};
  header.zeroPos = any();
  header.zeroNeg = any();
  header.nan = any();
  header.infPos = any();
  header.infNeg = any();
  return header;
}

/// Entries are any bf16; those of a logarithm, which are no bf16, any bits.
inline format::TableImage randomTable(Operands &operands, const Table::Header &header) {
  format::TableImage image;
  image.header = Table::encodeHeader(header);
  for (unsigned i = 0; i < isa::kTableEntries; ++i)
    image.entries.push_back(header.mode == Table::Mode::Log
                                ? static_cast<uint16_t>(operands.engine())
                                : operands.bf16(false));
  return image;
}

} // namespace sluice::numerics::testing
