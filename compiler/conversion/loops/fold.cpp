#include "compiler/conversion/loops/fold.h"

#include <algorithm>
#include <utility>

#include "compiler/conversion/rows/trees.h"
#include "hw/numerics/numerics.h"

namespace sluice::loops {
namespace {

using rows::Fold;
using rows::Row;
using rows::RowId;
using rows::RowKind;

isa::Alu operationOf(Fold fold) { return *rows::operationOf(rows::monoidOf(fold)); }

RowId add(rows::Graph &graph, Row row) {
  graph.rows.push_back(std::move(row));
  return static_cast<RowId>(graph.rows.size() - 1);
}

uint32_t nextGroup(const rows::Graph &graph) {
  uint32_t next = 0;
  for (const Row &row : graph.rows)
    next = std::max(next, row.group + 1);
  return next;
}

/// A new input port that reads a family's own rows.
std::vector<RowId> readOwn(rows::Body &body, uint32_t family, uint32_t rows) {
  const auto port = static_cast<uint32_t>(body.trip.inputs.size());
  rows::Port &made = body.trip.inputs.emplace_back();
  body.reads.push_back({family, false, {}});
  for (uint32_t row = 0; row < rows; ++row) {
    Row input;
    input.kind = RowKind::Input;
    input.input = port;
    input.inputRow = row;
    made.rows.push_back(add(body.trip, std::move(input)));
  }
  return made.rows;
}

/// Of what was made of one position and is made of several.
void forgetElements(Row &row) {
  if (!row.elements.partial)
    row.elements = {};
}

/// Behind the sums what rounding leaves of them.
void addRests(rows::Graph &trip, std::vector<RowId> &sums) {
  const size_t count = sums.size();
  for (size_t i = 0; i < count; ++i) {
    forgetElements(trip.rows[sums[i]]);
    Row rest = trip.rows[sums[i]];
    rest.step.alu1 = isa::Alu::Sub;
    rest.b = sums[i];
    sums.push_back(add(trip, std::move(rest)));
  }
}

/// A product or a copy.
bool plain(const Row &row) {
  return row.step == rows::VectorStep{} && row.a.size() <= 1 && row.b == rows::kNoRow &&
         row.c == rows::kNoRow;
}

bool isRead(const rows::Graph &trip, RowId id) {
  const auto reads = [&](const Row &row) {
    return std::ranges::find(row.a, id) != row.a.end() || row.b == id || row.c == id ||
           std::ranges::any_of(row.terms, [&](const rows::Term &term) { return term.x == id; });
  };
  return std::ranges::any_of(trip.rows, reads) ||
         std::ranges::any_of(trip.dynamic, [&](const auto &block) {
           return std::ranges::any_of(
               block.second.writes, [&](const rows::BlockWrite &write) { return write.row == id; });
         });
}

/// Rows made of themselves, as the group before has left them, and of this trip's.
void carry(rows::Body &body, size_t port, uint32_t family) {
  rows::Graph &trip = body.trip;
  const uint32_t group = nextGroup(trip);
  const auto before = readOwn(body, family, static_cast<uint32_t>(trip.outputs[port].rows.size()));
  for (size_t i = 0; i < before.size(); ++i) {
    RowId &row = trip.outputs[port].rows[i];
    Row folded = trip.rows[row]; // if nothing else is done or reads it
    if (!plain(folded) || isRead(trip, row)) {
      folded = {};
      folded.kind = RowKind::Vector;
      folded.a = {row};
      folded.nodes = trip.rows[row].nodes;
    }
    forgetElements(folded);
    folded.b = before[i];
    folded.step.alu1 = operationOf(*body.writes[port].fold);
    folded.group = group;
    row = add(trip, std::move(folded));
  }
}

/// One row of several.
RowId merged(rows::Graph &graph, Fold fold, const rows::TreeShape &trees, std::vector<RowId> rows,
             const Row &like) {
  return rows::mergeRows(std::move(rows), trees,
                         [&](const std::vector<RowId> &members, uint32_t level) {
                           Row row = like;
                           row.group += level;
                           row.a = {members[0]};
                           row.b = members[1];
                           row.step.alu1 = operationOf(fold);
                           if (members.size() == 3) {
                             row.c = members[2];
                             row.step.alu2 = operationOf(fold);
                           }
                           return add(graph, std::move(row));
                         });
}

class Folder {
public:
  Folder(rows::Program from, const Choice &choice) : program(std::move(from)), choice(choice) {}

  std::optional<rows::Program> run() {
    std::vector<rows::Body> bodies = std::exchange(program.bodies, {});
    for (rows::Body &body : bodies) {
      rows::Body parts = expand(body);
      if (failed)
        return std::nullopt;
      program.bodies.push_back(std::move(body));
      if (!parts.writes.empty())
        program.bodies.push_back(std::move(parts));
    }
    return std::move(program);
  }

private:
  rows::Program program;
  const Choice &choice;
  bool failed = false;

  /// Folds in a body; the body that makes parts of what they leave.
  rows::Body expand(rows::Body &body) {
    const Groups groups = groupsOf(program, body, choice);
    rows::Body parts;
    parts.trip.geometry = program.geometry;
    parts.trip.nodes = body.trip.nodes;
    for (size_t port = 0; port < body.writes.size(); ++port) {
      rows::Write &write = body.writes[port];
      if (!write.fold)
        continue;
      const uint32_t made = *write.family;
      rows::Family left = program.families[made];
      failed |= groups.full() < left.trips;
      parts.trips = left.trips;
      const bool sum = write.fold == Fold::Sum;
      const auto rows = static_cast<uint32_t>(body.trip.outputs[port].rows.size());
      left.rows = sum ? 2 * rows : groups.size * rows;
      const auto family = static_cast<uint32_t>(program.families.size());
      program.families.push_back(std::move(left));
      write.family = family;
      std::vector<RowId> &folded = body.trip.outputs[port].rows;
      Row like;
      like.kind = RowKind::Vector;
      like.nodes = body.trip.rows[folded.front()].nodes;
      if (sum)
        addRests(body.trip, folded);
      else
        carry(body, port, family);
      addParts(parts, *write.fold, family, made, std::move(like), sum ? 1 : groups.size);
    }
    return parts;
  }

  /// Of rows for each of so many positions one for all, sent to where the parts are read.
  void addParts(rows::Body &parts, Fold fold, uint32_t family, uint32_t made, Row like,
                uint32_t positions) {
    const auto left = readOwn(parts, family, program.families[family].rows);
    const size_t count = left.size() / positions;
    like.group = 1;
    rows::Port port;
    for (size_t row = 0; row < count; ++row) {
      std::vector<RowId> same;
      for (size_t position = 0; position < positions; ++position)
        same.push_back(left[position * count + row]);
      RowId one = merged(parts.trip, fold, choice.trees, std::move(same), like);
      if (parts.trip.rows[one].kind == RowKind::Input) {
        Row copy = like;
        copy.a = {one};
        one = add(parts.trip, std::move(copy));
      }
      port.rows.push_back(one);
    }
    parts.trip.outputs.push_back(std::move(port));
    rows::Write write;
    write.family = made;
    parts.writes.push_back(std::move(write));
  }
};

} // namespace

uint16_t firstOf(Fold fold) {
  return numerics::roundToBf16(reference::definition(rows::monoidOf(fold)).zero.value);
}

std::optional<rows::Program> withFolds(rows::Program program, const Choice &choice) {
  return Folder(std::move(program), choice).run();
}

} // namespace sluice::loops
