#include <map>
#include <utility>

#include "tests/support/rows/programs.h"

namespace sluice::loops::test {

using rows::kNoRow;
using rows::RowId;

namespace {

/// Copies bodies trip by trip into one graph.
class Flattener {
public:
  explicit Flattener(const rows::Program &program) : program(program) {
    graph.geometry = program.geometry;
    graph.modelName = program.modelName;
    graph.nodes = program.nodes;
  }

  rows::Graph run() {
    for (const rows::Family &family : program.families)
      families.emplace_back(family.total(), kNoRow);
    for (uint32_t input = 0; input < program.inputs.size(); ++input)
      addInput(input);
    for (size_t f = 0; f < families.size(); ++f)
      addConstants(f);
    uint32_t hostRows = 0;
    for (const format::HostTensor &tensor : program.outputs)
      hostRows += tensor.rows;
    host.assign(hostRows, kNoRow);
    for (const rows::Body &body : program.bodies) {
      firstGroup = groups;
      for (uint32_t trip = 0; trip < body.trips; ++trip)
        addTrip(body, trip);
      for (auto &[place, sum] : std::exchange(sums, {}))
        addSum(place.first, place.second, sum);
    }
    for (const format::HostTensor &tensor : program.outputs) {
      rows::Port port{tensor, {}};
      port.rows.assign(host.begin() + tensor.firstRow,
                       host.begin() + tensor.firstRow + tensor.rows);
      graph.outputs.push_back(std::move(port));
    }
    return std::move(graph);
  }

private:
  const rows::Program &program;
  rows::Graph graph;
  std::vector<std::vector<RowId>> families; ///< their rows by place
  std::vector<RowId> host;                  ///< by host row
  uint32_t firstGroup = 0, groups = 0;
  std::map<std::pair<uint32_t, uint32_t>, rows::Row> sums; ///< by family and place, so far
  std::map<rows::WeightBlock, uint32_t> blocks;            ///< those that nothing is written to

  RowId add(rows::Row row) {
    graph.rows.push_back(std::move(row));
    return static_cast<RowId>(graph.rows.size() - 1);
  }

  void addInput(uint32_t input) {
    rows::Port port{program.inputs[input], {}};
    for (uint32_t place = 0; place < port.tensor.rows; ++place) {
      rows::Row row;
      row.kind = rows::RowKind::Input;
      row.input = input;
      row.inputRow = place;
      port.rows.push_back(add(std::move(row)));
    }
    for (size_t f = 0; f < families.size(); ++f)
      if (program.families[f].input == input)
        families[f] = port.rows;
    graph.inputs.push_back(std::move(port));
  }

  void addConstants(size_t f) {
    const std::vector<uint16_t> &lanes = program.families[f].constant;
    const size_t count = graph.geometry.lanes;
    for (size_t place = 0; place < lanes.size() / count; ++place) {
      rows::Row row;
      row.lanes.assign(lanes.begin() + static_cast<ptrdiff_t>(place * count),
                       lanes.begin() + static_cast<ptrdiff_t>((place + 1) * count));
      families[f][place] = add(std::move(row));
    }
  }

  void addTrip(const rows::Body &body, uint32_t trip) {
    std::vector<RowId> made(body.trip.rows.size(), kNoRow);
    for (size_t port = 0; port < body.reads.size(); ++port) {
      const rows::Read &read = body.reads[port];
      const std::vector<RowId> &family = families[read.family];
      const std::vector<RowId> &into = body.trip.inputs[port].rows;
      for (size_t row = 0; row < into.size(); ++row)
        made[into[row]] = family[read.all ? read.placeOf(static_cast<uint32_t>(row), trip)
                                          : trip * into.size() + row];
    }
    std::map<uint32_t, uint32_t> written; ///< blocks of the trip's own
    for (RowId id = 0; id < made.size(); ++id)
      if (made[id] == kNoRow)
        made[id] = addRow(body.trip, id, made, written);
    for (size_t port = 0; port < body.writes.size(); ++port) {
      const rows::Write &write = body.writes[port];
      const std::vector<RowId> &from = body.trip.outputs[port].rows;
      for (uint32_t row = 0; row < from.size(); ++row) {
        if (write.fold)
          fold(write, trip, row, made[from[row]]);
        else if (write.placed())
          families[*write.family][write.placeOf(row, trip)] = made[from[row]];
        else if (write.family)
          families[*write.family][trip * from.size() + row] = made[from[row]];
        if (write.output)
          host[write.first[row] + trip * write.stride] = made[from[row]];
      }
    }
  }

  void fold(const rows::Write &write, uint32_t trip, uint32_t row, RowId id) {
    const rows::Family &family = program.families[*write.family];
    const uint32_t place = trip % family.trips * family.rows + row;
    if (write.fold == rows::Fold::Sum) {
      rows::Row &sum = sums.try_emplace({*write.family, place}, graph.rows[id]).first->second;
      if (trip >= family.trips)
        sum.terms.insert(sum.terms.end(), graph.rows[id].terms.begin(), graph.rows[id].terms.end());
      return;
    }
    RowId &known = families[*write.family][place];
    if (known == kNoRow) {
      known = id;
      return;
    }
    rows::Row folded;
    folded.kind = rows::RowKind::Vector;
    folded.a = {id};
    folded.b = known;
    folded.step = stepOf(*write.fold);
    folded.group = groups++;
    known = add(std::move(folded));
  }

  /// A sum as it is rounded, and what that leaves.
  void addSum(uint32_t family, uint32_t place, rows::Row sum) {
    sum.group = groups++;
    rows::Row rest = sum;
    rest.b = families[family][place] = add(std::move(sum));
    rest.step.alu1 = isa::Alu::Sub;
    rest.group = groups++;
    families[family][place + program.families[family].rows / 2] = add(std::move(rest));
  }

  RowId addRow(const rows::Graph &trip, RowId id, const std::vector<RowId> &made,
               std::map<uint32_t, uint32_t> &written) {
    rows::Row row = trip.rows[id];
    const auto rename = [&](RowId &operand) {
      operand = operand == kNoRow ? kNoRow : made[operand];
    };
    for (rows::Term &term : row.terms) {
      rename(term.x);
      const auto dynamic = trip.dynamic.find(term.block);
      term.block = dynamic == trip.dynamic.end() ? block(trip.blocks[term.block])
                                                 : writtenBlock(trip, term.block, made, written);
    }
    for (RowId &operand : row.a)
      rename(operand);
    rename(row.b);
    rename(row.c);
    row.group += firstGroup;
    groups = std::max(groups, row.group + 1);
    return add(std::move(row));
  }

  uint32_t block(const rows::WeightBlock &weights) {
    const auto [known, added] = blocks.try_emplace(weights, graph.blocks.size());
    if (added)
      graph.blocks.push_back(weights);
    return known->second;
  }

  uint32_t writtenBlock(const rows::Graph &trip, uint32_t block, const std::vector<RowId> &made,
                        std::map<uint32_t, uint32_t> &written) {
    const auto [known, added] = written.try_emplace(block, graph.blocks.size());
    if (added) {
      graph.blocks.push_back(trip.blocks[block]);
      rows::DynamicBlock copy = trip.dynamic.at(block);
      for (rows::BlockWrite &write : copy.writes)
        write.row = made[write.row];
      graph.dynamic[known->second] = std::move(copy);
    }
    return known->second;
  }
};

} // namespace

rows::Graph flatten(const rows::Program &program) { return Flattener(program).run(); }

} // namespace sluice::loops::test
