// Programs of bodies and families for tests, built by hand or at random.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/conversion/rows/program.h"
#include "tests/support/rows/graphs.h"

namespace sluice::loops::test {

/// How the rows of an output lie: those of a trip side by side, row r of all trips side by
/// side, or as the first, from the last trip to the first.
enum class Lie : uint8_t { ByTrip, ByRow, Falling };

/// Builds a program body by body.
class ProgramBuilder {
public:
  ProgramBuilder(const std::string &target, uint64_t seed) : random(seed), target(target) {
    program.geometry = plan::test::GraphBuilder(target, 0).graph.geometry;
    program.modelName = "test";
  }

  rows::Program program;
  std::mt19937_64 random;

  /// An input of `rows` rows in each of `trips` trips; its family.
  uint32_t input(uint32_t trips, uint32_t rows);
  /// Random constants, others in every trip; their family.
  uint32_t constants(uint32_t trips, uint32_t rows);
  /// A family that a body will make.
  uint32_t family(uint32_t trips, uint32_t rows);

  /// Begins the graph of a trip; `finish` makes it a body.
  plan::test::GraphBuilder trip() { return {target, random()}; }
  /// The rows of a family as inputs of a trip.
  std::vector<rows::RowId> read(plan::test::GraphBuilder &trip, uint32_t family, bool all = false);
  /// Rows of a family from these places on, `step` further in every trip.
  std::vector<rows::RowId> window(plan::test::GraphBuilder &trip, uint32_t family,
                                  std::vector<uint32_t> places, int32_t step);
  /// Rows of every trip side by side, from row `first` of a family with one trip, or of an output.
  void place(plan::test::GraphBuilder &trip, std::optional<uint32_t> family, uint32_t output,
             uint32_t first, std::vector<rows::RowId> rows);
  /// An output of so many rows, which several bodies write.
  uint32_t outputOf(uint32_t rows);
  /// Rows that every trip adds to a family.
  void write(plan::test::GraphBuilder &trip, uint32_t family, std::vector<rows::RowId> rows);
  /// What the rows of `trips` trips are folded to, in parts; their family. Sums are of
  /// products with weights.
  uint32_t fold(plan::test::GraphBuilder &trip, uint32_t trips, rows::Fold fold,
                std::vector<rows::RowId> rows);
  /// `count` rows folded of all parts.
  std::vector<rows::RowId> merge(plan::test::GraphBuilder &trip, uint32_t parts, rows::Fold fold,
                                 uint32_t count);
  /// Rows of every trip as a new output of the program.
  void output(plan::test::GraphBuilder &trip, uint32_t trips, std::vector<rows::RowId> rows,
              Lie lie = Lie::ByTrip);
  void finish(plan::test::GraphBuilder &trip, uint32_t trips);

private:
  /// The tensor of so many rows behind those that are there.
  [[nodiscard]] format::HostTensor
  nextTensor(const char *name, const std::vector<format::HostTensor> &before, uint32_t rows) const;

  std::string target;
  std::vector<rows::Read> reads;
  std::vector<rows::Write> writes;
};

/// What makes one row of two, for a fold that is no sum.
rows::VectorStep stepOf(rows::Fold fold);

/// A dense network over positions.
rows::Program denseNetwork(const std::string &target, uint32_t trips,
                           const std::vector<uint32_t> &widths, uint64_t seed);

/// A dense network whose rows are folded, by a sum and otherwise, and the folds that are
/// returned behind one more layer, beside rows of every position.
rows::Program poolingNetwork(const std::string &target, uint32_t trips, rows::Fold other,
                             uint64_t seed);

/// Everything that loops can do, drawn by a seed: at least 2 and at most `mostTrips`
/// trips.
rows::Program randomProgram(const std::string &target, uint64_t seed, uint32_t mostTrips = 61);

/// The rows of all trips of all bodies one by one, as the definition says: what a plan computes
/// is compared with this graph. Parts of a fold have every so many-th trip. The rows of its outputs
/// are the host's.
rows::Graph flatten(const rows::Program &program);

} // namespace sluice::loops::test
