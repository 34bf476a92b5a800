#include "compiler/conversion/loops/streams.h"

#include <variant>

namespace sluice::loops {

std::vector<PortRow> portRows(const rows::Graph &trip) {
  std::vector<PortRow> result(trip.rows.size());
  for (size_t port = 0; port < trip.inputs.size(); ++port)
    for (uint32_t row = 0; row < trip.inputs[port].rows.size(); ++row)
      result[trip.inputs[port].rows[row]] = {false, static_cast<uint32_t>(port), row};
  for (size_t port = 0; port < trip.outputs.size(); ++port)
    for (uint32_t row = 0; row < trip.outputs[port].rows.size(); ++row)
      result[trip.outputs[port].rows[row]] = {true, static_cast<uint32_t>(port), row};
  return result;
}

Stream TripStreams::read(rows::RowId row) const {
  const PortRow &port = ports[row];
  if (port.port != kNone && !port.output) {
    const rows::Read &read = body.reads[port.port];
    const Stream first = streamOf(program, map, choice, read.family, core, read.all,
                                  read.all ? read.places[port.row] : port.row);
    return read.all ? stepping(first, read.step) : first;
  }
  if (body.trip.rows[row].kind == rows::RowKind::Constant)
    return {mine.constants[row] + isa::kLocalBase, 0, 0, 0};
  if (port.output) // a family that is read where it is written
    return write(row);
  if (!mine.varies[row])
    return {mine.offset[row] + isa::kLocalBase, 0, 0, 0};
  return {mine.frame + mine.offset[row] + isa::kLocalBase, static_cast<int32_t>(mine.frameRows), 0,
          0};
}

Stream TripStreams::stepping(Stream row, int32_t step) const {
  const auto round = static_cast<int32_t>(groups.size * groups.cores);
  row.base += groups.turn(core) * groups.size * static_cast<uint32_t>(step);
  row.perPosition = step;
  row.perGroup = step * round;
  return row;
}

Stream TripStreams::write(rows::RowId row) const {
  const PortRow &port = ports[row];
  if (!port.output)
    return read(row);
  const rows::Write &write = body.writes[port.port];
  if (write.placed())
    return stepping(
        streamOf(program, map, choice, *write.family, core, true, write.first[port.row]),
        static_cast<int32_t>(write.stride));
  if (write.family) {
    const bool once = !inLoop(body);
    return streamOf(program, map, choice, *write.family, core, once, port.row);
  }
  return stepping({write.first[port.row], 0, 0, 0}, static_cast<int32_t>(write.stride));
}

void wrapRings(isa::Instruction &instruction, const isa::Instruction &form) {
  const auto within = [](uint32_t &address, uint32_t ring, uint32_t region) {
    if (ring != 0)
      address = region + ((address - region) & ((1U << ring) - 1));
  };
  if (auto *mm = std::get_if<isa::Mm>(&instruction)) {
    within(mm->x, mm->xRing, std::get<isa::Mm>(form).x);
  } else if (auto *vec = std::get_if<isa::Vec>(&instruction)) {
    const auto &where = std::get<isa::Vec>(form);
    within(vec->a, vec->aRing, where.a);
    within(vec->b, vec->bRing, where.b);
    within(vec->c, vec->cRing, where.c);
    within(vec->dst, vec->dstRing, where.dst);
  }
}

} // namespace sluice::loops
