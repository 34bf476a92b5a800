#include "compiler/conversion/plan/beats/step_form.h"

namespace sluice::plan {

isa::Vec stepForm(const rows::Row &row) {
  const rows::VectorStep &step = row.step;
  isa::Vec form;
  form.aSrc = row.kind == rows::RowKind::Linear ? isa::Source::Mxu : isa::Source::Ram;
  form.bEn = row.b != rows::kNoRow;
  form.cEn = row.c != rows::kNoRow;
  form.bBcast = step.bBroadcast;
  form.bWide = step.bWide;
  form.part = step.part;
  form.cBcast = step.cBroadcast;
  form.alu1 = step.alu1;
  form.rhs1 = step.rhs1;
  form.imm1 = std::bit_cast<uint32_t>(step.imm1);
  form.tableEn = step.table.has_value();
  form.reduce = step.reduce;
  form.alu2 = step.alu2;
  form.rhs2 = step.rhs2;
  form.imm2 = std::bit_cast<uint32_t>(step.imm2);
  form.post = step.post;
  return form;
}

} // namespace sluice::plan
