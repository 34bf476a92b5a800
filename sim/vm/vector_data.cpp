#include "sim/vm/vector_data.h"

#include <algorithm>

namespace sluice::vm {

VectorData::VectorData(const format::Geometry &geometry, const format::CoreImage &image)
    : lanes(geometry.lanes), // memories that the program does not write hold zeros
      tables(geometry.tables + 1, numerics::Table(format::TableImage{})), a(lanes), b(lanes),
      c(lanes), value(lanes), imm(lanes) {
  for (const format::TableImage &one : image.tables)
    tables[std::min(one.table, geometry.tables)] = numerics::Table(one);
}

void VectorData::read(const TensorRam &ram, uint32_t address, bool broadcast, Row &to) const {
  const std::span<const uint16_t> row = ram.row(address & isa::kMostA);
  if (broadcast)
    std::ranges::fill(to, numerics::widen(row[0]));
  else
    std::ranges::transform(row, to.begin(), numerics::widen);
}

void VectorData::readWide(const isa::Vec &op, const Addresses &addresses, const TensorRam &ram) {
  const std::span<const uint16_t> high = ram.row(addresses[StreamB] & isa::kMostB);
  const std::span<const uint16_t> low = ram.row(addresses[StreamC] & isa::kMostC);
  for (uint32_t i = 0; i < lanes; ++i)
    b[i] = uint32_t{high[op.bBcast ? 0 : i]} << 16 | low[op.cBcast ? 0 : i];
}

void VectorData::compute(const VectorInstruction &inst, const Addresses &addresses, bool reduceEnds,
                         const TensorRam &ram, std::span<const uint32_t> result,
                         std::span<uint16_t> out) {
  const isa::Vec &op = inst.op;
  const bool reduces = op.reduce != isa::Reduce::None;
  if (out.empty() && !reduces)
    return;

  // Operands that are not read are zero.
  if (op.aSrc == isa::Source::Ram)
    read(ram, addresses[StreamA], false, a);
  else if (inst.takesResult)
    std::ranges::copy(result, a.begin());
  else
    std::ranges::fill(a, 0);
  if (op.bWide)
    readWide(op, addresses, ram);
  else if (op.bEn)
    read(ram, addresses[StreamB], op.bBcast != 0, b);
  else
    std::ranges::fill(b, 0);
  if (op.cEn && !op.bWide)
    read(ram, addresses[StreamC], op.cBcast != 0, c);
  else
    std::ranges::fill(c, 0);

  value = a;
  if (op.alu1 != isa::Alu::Pass) {
    const Row *right = &b;
    if (op.rhs1 == isa::Rhs1::A) {
      right = &a;
    } else if (op.rhs1 == isa::Rhs1::Imm) {
      std::ranges::fill(imm, op.imm1);
      right = &imm;
    }
    numerics::aluRow(op.alu1, value, *right, b, c, value);
  }
  if (op.tableEn)
    tables[std::min<size_t>(op.tableId, tables.size() - 1)].row(value, value);
  if (reduces) {
    std::ranges::fill(value, reduction.add(op.reduce, value));
    if (reduceEnds)
      reduction.reset();
  }
  if (out.empty())
    return;
  if (op.alu2 != isa::Alu::Pass) {
    const Row *right = &c;
    if (op.rhs2 == isa::Rhs2::A) {
      right = &a;
    } else if (op.rhs2 == isa::Rhs2::B) {
      right = &b;
    } else if (op.rhs2 == isa::Rhs2::Imm) {
      std::ranges::fill(imm, op.imm2);
      right = &imm;
    }
    numerics::aluRow(op.alu2, value, *right, b, c, value);
  }
  std::ranges::transform(value, out.begin(),
                         [&](uint32_t one) { return numerics::finish(op.post, one, op.part); });
}

} // namespace sluice::vm
