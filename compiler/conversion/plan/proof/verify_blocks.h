// The part of the proof that is about weight blocks written during an inference.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/conversion/plan/beats/build.h"
#include "compiler/conversion/plan/proof/verify_moment.h"

namespace sluice::plan {

/// Follows the dynamic blocks of all cores. A product reads its weights some
/// cycles after its issue, but before anything can know of that: knowledge leaves
/// the matrix unit with results, which are later.
class BlockProof {
public:
  BlockProof(const rows::Graph &graph, const MachineBeats &beats)
      : graph(graph), beats(beats), cells(beats.weights.size()) {}

  /// The matrix unit of a core reads a dynamic block; it knows that so many beats of
  /// the core's vector unit have arrived. What is wrong, or nothing.
  std::optional<std::string> read(uint32_t core, uint32_t address, Moment now,
                                  uint32_t arrivedWrites);

  /// The vector unit of a core writes `row` to `dst`; it knows that so many beats of
  /// the core's matrix unit have issued.
  std::optional<std::string> write(uint32_t core, const isa::Vec &vec, int32_t dst, rows::RowId row,
                                   Moment now, uint32_t issuedReads);

private:
  struct Cell {
    std::map<uint32_t, uint32_t> written; ///< inference of the newest write, by index
    uint32_t current = 0;                 ///< of them, those of `inference`
    uint32_t inference = 0;               ///< of the newest write
    uint32_t lastWrite = 0;               ///< beat of the vector unit
    uint32_t lastRead = 0;                ///< beat of the matrix unit
  };

  const rows::Graph &graph;
  const MachineBeats &beats;
  std::vector<std::map<uint32_t, Cell>> cells; ///< by core, by address
};

} // namespace sluice::plan
