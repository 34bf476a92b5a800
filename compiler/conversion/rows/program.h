// A model as bodies and families. A body is a loop with a trip count; what one trip
// computes is a row graph. A family is the rows that a statement makes, the same
// number in every trip: row r of trip t. Bodies run one after the other as far as
// one reads what another writes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/conversion/row_graph.h"
#include "compiler/reference/monoid.h"

namespace sluice::rows {

/// Trips of a loop of the sequencer.
inline constexpr uint32_t kMostTrips = isa::kMostCount;

struct Family {
  std::string name;
  uint32_t trips = 1;
  uint32_t rows = 1;              ///< of one trip
  std::optional<uint32_t> input;  ///< the model's input that it is
  std::vector<uint16_t> constant; ///< else: B lanes a row, trip by trip, if known
  /// The planner's, not part of the text: mask of the cores that its trips are dealt out to.
  uint32_t cores = ~uint32_t{0};
  [[nodiscard]] uint32_t total() const { return trips * rows; }
};

/// What an input port of a trip stands for: the rows of a family that belong to
/// this trip, or from all over it.
struct Read {
  uint32_t family = 0;
  bool all = false;
  /// With `all`: by row of the port, its place in the family, trip * rows + row, in trip 0.
  std::vector<uint32_t> places;
  /// With `all`: how far every further trip moves the places: what windows see overlaps.
  int32_t step = 0;

  [[nodiscard]] uint32_t placeOf(uint32_t row, uint32_t trip) const {
    return places[row] + trip * static_cast<uint32_t>(step);
  }
};

/// How rows of several trips become one. A sum is rounded where it ends, not before; the
/// others are the vector unit's operation of the same name, two rows at a time.
enum class Fold : uint8_t { Sum, Max, Min, Product };

/// What an output port of a trip stands for: rows of this trip of a family, or rows of a host
/// tensor or of a family that has one trip: row r of trip t is row first[r] + t * stride of those
/// (modulo 2^32: it may fall).
struct Write {
  std::optional<uint32_t> family;
  /// With `family`: its trips are parts of all trips, which of them is free (at most a core's
  /// own), and its rows those of the trips of a part, folded. Of a sum there are twice as many:
  /// after the rounded rows what rounding has left of each. The rows that are summed are Linear,
  /// without bias or step, and nothing else reads them.
  std::optional<Fold> fold;
  std::optional<uint32_t> output;
  std::vector<uint32_t> first;
  uint32_t stride = 0;

  /// Rows of a family that several bodies may write.
  [[nodiscard]] bool placed() const { return family && !first.empty(); }
  [[nodiscard]] uint32_t placeOf(uint32_t row, uint32_t trip) const {
    return first[row] + trip * stride;
  }
};

struct Body {
  uint32_t trips = 1;
  Graph trip;                ///< ports: Body::reads and Body::writes
  std::vector<Read> reads;   ///< by input port of `trip`
  std::vector<Write> writes; ///< by output port of `trip`
  // The planner's, not part of the text.
  uint32_t cores = ~uint32_t{0}; ///< mask of those that its trips are dealt out to
  uint32_t firstCore = 0;        ///< that has its first trips, of those
  uint32_t run = 0;              ///< of lines that it is a part of
};

struct Program {
  format::Geometry geometry;
  std::string modelName;
  std::vector<format::HostTensor> inputs, outputs; ///< firstRow and rows are set
  std::vector<Family> families;
  std::vector<Body> bodies;
  std::vector<format::SourceNode> nodes;
  std::vector<format::ModelTensor> tensors;
  uint64_t macs = 0;
  uint64_t parameters = 0;
  /// Not empty: the program before it among the forms of a model, with other trees of merges or its
  /// rows in another order, as this says.
  std::string variant;

  /// Whether bodies read or write families in other ways than trip by trip.
  [[nodiscard]] bool hasWindows() const {
    return std::ranges::any_of(bodies, [](const Body &body) {
      return std::ranges::any_of(body.writes, [](const Write &write) { return write.placed(); }) ||
             std::ranges::any_of(body.reads, [](const Read &read) { return read.step != 0; });
    });
  }
  /// One body with one trip that reads every input: its graph is all there is.
  [[nodiscard]] bool isStraightLine() const {
    return bodies.size() == 1 && bodies[0].trips == 1 &&
           bodies[0].trip.inputs.size() == inputs.size();
  }
};

/// What is merged.
reference::Monoid monoidOf(Fold fold);
/// "sum", "max", "min", "product".
const char *wordOf(Fold fold);
std::optional<Fold> foldOf(std::string_view word);

/// A model without loops as the only trip of one body.
Program straightLine(Graph graph);

} // namespace sluice::rows
