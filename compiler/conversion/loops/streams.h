// Where the rows of one trip are at every position of a core.
#pragma once

#include <vector>

#include "compiler/conversion/loops/map.h"
#include "hw/isa/isa.h"

namespace sluice::loops {

/// What a row of a trip is to the families and to the host.
struct PortRow {
  bool output = false;
  uint32_t port = kNone, row = 0; ///< of the trip's inputs or outputs; kNone: of neither
};

/// By row of the trip.
std::vector<PortRow> portRows(const rows::Graph &trip);

class TripStreams {
public:
  TripStreams(const rows::Program &program, const Map &map, const Choice &choice, uint32_t body,
              uint32_t core)
      : program(program), map(map), choice(choice), body(program.bodies[body]),
        mine(map.bodies[body]), core(core), groups(groupsOf(program, this->body, choice)),
        ports(portRows(this->body.trip)) {}

  [[nodiscard]] const PortRow &port(rows::RowId row) const { return ports[row]; }
  [[nodiscard]] Stream read(rows::RowId row) const;
  [[nodiscard]] Stream write(rows::RowId row) const;

private:
  const rows::Program &program;
  const Map &map;
  const Choice &choice;
  const rows::Body &body;
  const BodyMap &mine;
  const uint32_t core;
  const Groups groups;
  const std::vector<PortRow> ports;

  /// A row in trip 0 and how far every further trip moves it.
  [[nodiscard]] Stream stepping(Stream row, int32_t step) const;
};

/// Addresses of beats are as if rings had no end; `form` has where the rings are.
void wrapRings(isa::Instruction &instruction, const isa::Instruction &form);

} // namespace sluice::loops
