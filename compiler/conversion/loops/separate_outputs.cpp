#include "compiler/conversion/loops/separate_outputs.h"

#include <algorithm>
#include <utility>

namespace sluice::loops {

using rows::kNoRow;
using rows::RowId;
using rows::RowKind;

rows::Program separateOutputs(rows::Program program) {
  std::vector<bool> everywhere(program.families.size(), false);
  for (const rows::Body &body : program.bodies)
    for (const rows::Read &read : body.reads)
      everywhere[read.family] = everywhere[read.family] || read.all;
  for (rows::Body &body : program.bodies) {
    std::vector<bool> read(body.trip.rows.size(), false);
    for (const rows::Row &row : body.trip.rows) {
      for (const rows::Term &term : row.terms)
        read[term.x] = true;
      for (RowId operand : row.a)
        read[operand] = true;
      for (RowId operand : {row.b, row.c})
        if (operand != kNoRow)
          read[operand] = true;
    }
    for (const auto &[block, dynamic] : body.trip.dynamic)
      for (const rows::BlockWrite &write : dynamic.writes)
        read[write.row] = true;
    for (size_t port = 0; port < body.trip.outputs.size(); ++port) {
      const rows::Write &write = body.writes[port];
      if (write.fold || (write.family && !everywhere[*write.family]))
        continue; // stays where it is read
      uint32_t group = 0;
      for (const rows::Row &row : body.trip.rows)
        group = std::max(group, row.group + 1);
      for (RowId &row : body.trip.outputs[port].rows) {
        if (!read[row])
          continue;
        rows::Row copy;
        copy.kind = RowKind::Vector;
        copy.a = {row};
        copy.group = group;
        copy.nodes = body.trip.rows[row].nodes;
        copy.elements = body.trip.rows[row].elements;
        row = static_cast<RowId>(body.trip.rows.size());
        body.trip.rows.push_back(std::move(copy));
      }
    }
  }
  return program;
}

} // namespace sluice::loops
