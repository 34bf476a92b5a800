#include "compiler/conversion/loops/trip_rows.h"

#include <algorithm>
#include <utility>

namespace sluice::loops {

using rows::kNoRow;
using rows::RowId;
using rows::RowKind;

rows::Graph TripRows::run() {
  graph.geometry = program.geometry;
  graph.modelName = program.modelName;
  graph.nodes = program.nodes;
  graph.tables = map.tables;
  familyRows.resize(program.families.size());
  for (uint32_t input = 0; input < program.inputs.size(); ++input)
    for (uint32_t f = 0; f < program.families.size(); ++f)
      if (program.families[f].input == input)
        addInput(f);
  for (uint32_t f = 0; f < program.families.size(); ++f)
    addConstants(f);
  uint32_t outputs = 0;
  for (const rows::Body &body : program.bodies)
    for (const rows::Write &write : body.writes)
      for (uint32_t row : write.output ? write.first : std::vector<uint32_t>())
        outputs = std::max({outputs, row + 1, row + (body.trips - 1) * write.stride + 1});
  outRows.assign(outputs, kNoRow);
  for (uint32_t b = 0; b < program.bodies.size(); ++b)
    addBody(b);
  rows::Port port;
  port.rows = outRows;
  graph.outputs.push_back(std::move(port));
  return std::move(graph);
}

RowId TripRows::add(rows::Row row) {
  graph.rows.push_back(std::move(row));
  return static_cast<RowId>(graph.rows.size() - 1);
}

void TripRows::addInput(uint32_t f) {
  rows::Port port;
  for (uint32_t place = 0; place < program.families[f].total(); ++place) {
    rows::Row row;
    row.kind = RowKind::Input;
    row.input = *program.families[f].input;
    row.inputRow = place;
    port.rows.push_back(add(std::move(row)));
  }
  familyRows[f] = port.rows;
  graph.inputs.push_back(std::move(port));
}

void TripRows::addConstants(uint32_t f) {
  const rows::Family &family = program.families[f];
  if (family.input)
    return;
  familyRows[f].assign(family.total(), kNoRow);
  const size_t lanes = program.geometry.lanes;
  // A shortened program still has all constants.
  for (size_t place = 0; !family.constant.empty() && place < family.total(); ++place) {
    rows::Row row;
    const auto from = family.constant.begin() + static_cast<std::ptrdiff_t>(place * lanes);
    row.lanes.assign(from, from + static_cast<std::ptrdiff_t>(lanes));
    familyRows[f][place] = add(std::move(row));
  }
}

void TripRows::addBody(uint32_t b) {
  const rows::Body &body = program.bodies[b];
  const BodyMap &mine = map.bodies[b];
  const rows::Graph &trip = body.trip;
  const auto firstBlock = static_cast<uint32_t>(graph.blocks.size());
  blocks.emplace_back();
  for (uint32_t i = 0; i < trip.blocks.size(); ++i) {
    blocks.back().push_back(firstBlock + i);
    graph.blocks.push_back(trip.blocks[i]);
  }
  auto &made = names.emplace_back(body.trips, std::vector<RowId>(trip.rows.size(), kNoRow));
  const std::vector<RowId> sums = sumsOf(body);
  for (uint32_t t = 0; t < body.trips; ++t)
    for (RowId row = 0; row < trip.rows.size(); ++row)
      if (std::ranges::find(sums, row) == sums.end())
        addRow(body, mine, t, row, made, firstBlock);
  for (const RowId sum : sums)
    addSum(body, mine, sum, made, firstBlock);
  for (const rows::Row &row : trip.rows)
    groups = std::max(groups, firstGroup + row.group + 1);
  firstGroup = groups; // of the next body
  for (const auto &[block, dynamic] : trip.dynamic) {
    rows::DynamicBlock copy = dynamic;
    for (rows::BlockWrite &write : copy.writes)
      write.row = made[0][write.row];
    graph.dynamic[firstBlock + block] = std::move(copy);
  }
  for (uint32_t t = 0; t < body.trips; ++t)
    for (size_t port = 0; port < trip.outputs.size(); ++port) {
      const rows::Write &write = body.writes[port];
      for (uint32_t r = 0; r < trip.outputs[port].rows.size(); ++r) {
        const RowId row = made[t][trip.outputs[port].rows[r]];
        if (write.placed())
          familyRows[*write.family][write.placeOf(r, t)] = row;
        else if (write.fold) // the last position of a place stays
          familyRows[*write.family][placeOf(body, *write.family, t) + r] = row;
        else if (write.family)
          familyRows[*write.family][t * program.families[*write.family].rows + r] = row;
        else
          outRows[write.first[r] + t * write.stride] = row;
      }
    }
}

std::vector<RowId> TripRows::sumsOf(const rows::Body &body) {
  std::vector<RowId> sums;
  for (size_t port = 0; port < body.writes.size(); ++port)
    if (body.writes[port].fold == rows::Fold::Sum)
      sums.insert(sums.end(), body.trip.outputs[port].rows.begin(),
                  body.trip.outputs[port].rows.end());
  return sums;
}

uint32_t TripRows::placeOf(const rows::Body &body, uint32_t family, uint32_t t) const {
  const Groups groups = groupsOf(program, body, choice);
  return groups.coreOf(t) * program.families[family].rows +
         t % groups.size * map.families[family].slot;
}

void TripRows::addSum(const rows::Body &body, const BodyMap &mine, RowId id,
                      std::vector<std::vector<RowId>> &made, uint32_t firstBlock) {
  const Groups groups = groupsOf(program, body, choice);
  for (uint32_t core = 0; core < groups.cores; ++core) {
    rows::Row row = body.trip.rows[id];
    row.group += firstGroup;
    row.terms.clear();
    std::vector<uint32_t> own;
    for (uint32_t g = 0; g < groups.groupsOf(core); ++g)
      for (uint32_t t = groups.first(core, g);
           t < std::min(groups.first(core, g) + groups.size, body.trips); ++t)
        own.push_back(t);
    if (own.empty())
      continue;
    for (const uint32_t t : own)
      for (const rows::Term &term : mine.work[id].terms)
        row.terms.push_back({made[t][term.x], term.block + firstBlock});
    if (row.b != kNoRow)
      row.b = made[own.front()][row.b];
    const RowId sum = add(std::move(row));
    for (const uint32_t t : own)
      made[t][id] = sum;
  }
}

RowId TripRows::constant(uint32_t address, const std::vector<uint16_t> &lanes) {
  const auto [known, added] = constants.try_emplace(address, kNoRow);
  if (added) {
    rows::Row row;
    row.lanes = lanes;
    known->second = add(std::move(row));
  }
  return known->second;
}

RowId TripRows::before(const rows::Body &body, const BodyMap &mine, uint32_t t,
                       const rows::Row &what, const std::vector<std::vector<RowId>> &made) {
  const uint32_t family = body.reads[what.input].family;
  size_t port = 0;
  while (body.writes[port].family != family)
    ++port;
  const Groups groups = groupsOf(program, body, choice);
  const uint32_t round = groups.size * groups.cores;
  if (t >= round)
    return made[t - round][body.trip.outputs[port].rows[what.inputRow]];
  rows::Row first;
  first.kind = RowKind::Vector;
  first.a = {constant(mine.firsts[port], map.constantRows[mine.firsts[port]])};
  first.group = firstGroup;
  first.nodes = body.trip.rows[body.trip.outputs[port].rows[what.inputRow]].nodes;
  return add(std::move(first));
}

void TripRows::addRow(const rows::Body &body, const BodyMap &mine, uint32_t t, RowId id,
                      std::vector<std::vector<RowId>> &made, uint32_t firstBlock) {
  const rows::Row &what = body.trip.rows[id];
  if (what.kind == RowKind::Input) {
    const rows::Read &read = body.reads[what.input];
    if (std::ranges::any_of(
            body.writes, [&](const rows::Write &write) { return write.family == read.family; })) {
      made[t][id] = before(body, mine, t, what, made);
      return;
    }
    made[t][id] =
        familyRows[read.family][read.all ? read.placeOf(what.inputRow, t)
                                         : t * program.families[read.family].rows + what.inputRow];
    return;
  }
  if (!mine.work[id].live && what.kind != RowKind::Constant)
    return;
  if (what.kind == RowKind::Constant) {
    if (mine.constants[id] != kNone)
      made[t][id] = constant(mine.constants[id], what.lanes);
    return;
  }
  if (t != 0 && !mine.varies[id]) {
    made[t][id] = made[0][id];
    return;
  }
  rows::Row row = what;
  row.group += firstGroup;
  row.terms = mine.work[id].terms; // what others multiply need not exist
  const auto rename = [&](RowId &operand) {
    if (operand != kNoRow)
      operand = made[t][operand];
  };
  for (rows::Term &term : row.terms) {
    rename(term.x);
    term.block += firstBlock;
  }
  for (RowId &operand : row.a)
    rename(operand);
  rename(row.b);
  rename(row.c);
  if (row.step.table)
    row.step.table = mine.tables[*row.step.table];
  made[t][id] = add(std::move(row));
}

} // namespace sluice::loops
