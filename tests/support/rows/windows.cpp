#include "tests/support/rows/windows.h"

#include <algorithm>
#include <utility>

#include "tests/support/rows/programs.h"

namespace sluice::loops::test {
namespace {

using plan::test::GraphBuilder;
using rows::kNoRow;
using rows::RowId;

/// Rows of every position of a tensor, in a family with one trip.
struct Line {
  uint32_t family = 0, positions = 1, rows = 1;
};

class Network {
public:
  Network(const std::string &target, uint64_t seed) : builder(target, seed) {}

  rows::Program run(uint32_t mostPositions) {
    Line line{0, 3 + draw(mostPositions - 2), 1 + draw(2)};
    line.family = builder.input(1, line.positions * line.rows);
    Line before;
    const uint32_t layers = 1 + draw(4);
    for (uint32_t layer = 0; layer < layers; ++layer) {
      const Line next = addLayer(line, before, layer + 1 == layers);
      before = std::exchange(line, next);
    }
    return std::move(builder.program);
  }

private:
  ProgramBuilder builder;

  uint32_t draw(uint32_t n) { return static_cast<uint32_t>(builder.random() % n); }

  /// Elements of a window that lie inside of a line, first and one behind the last.
  using Inside = std::pair<uint32_t, uint32_t>;

  Line addLayer(const Line &line, const Line &before, bool last) {
    const uint32_t size = 1 + draw(3), apart = 1 + draw(3), stride = 1 + draw(2);
    const uint32_t span = (size - 1) * apart + 1;
    // Every position sees at least one element.
    const uint32_t border = draw(std::min(span, apart + 1));
    if (line.positions + 2 * border < span)
      return addLayer(line, before, last);
    Line made{0, (line.positions + 2 * border - span) / stride + 1, 1 + draw(3)};
    if (!last)
      made.family = builder.family(1, made.positions * made.rows);
    const bool adds = before.positions == made.positions && before.rows == made.rows && draw(2);
    const auto inside = [&](uint32_t position) {
      Inside result{size, 0};
      for (uint32_t i = 0; i < size; ++i)
        if (const int64_t at = int64_t{position} * stride + int64_t{i} * apart - border;
            at >= 0 && at < line.positions)
          result = {std::min(result.first, i), i + 1};
      return result;
    };
    if (inside(0).first >= inside(0).second ||
        inside(made.positions - 1).first >= inside(made.positions - 1).second)
      return addLayer(line, before, last);
    const uint32_t output = last ? addOutput(made.positions * made.rows) : 0;
    for (uint32_t first = 0; first < made.positions;) {
      uint32_t end = first + 1;
      while (end < made.positions && inside(end) == inside(first))
        ++end;
      GraphBuilder trip = builder.trip();
      std::vector<uint32_t> places;
      for (uint32_t i = inside(first).first; i < inside(first).second; ++i)
        for (uint32_t row = 0; row < line.rows; ++row)
          places.push_back((first * stride + i * apart - border) * line.rows + row);
      std::vector<RowId> rows =
          builder.window(trip, line.family, places, static_cast<int32_t>(stride * line.rows));
      rows = draw(4) == 0 ? most(trip, rows, made.rows)
                          : trip.dense(rows, made.rows, plan::test::relu(), draw(2) != 0);
      if (adds)
        rows = add(trip, rows, before, first);
      builder.place(trip, last ? std::nullopt : std::optional(made.family), output,
                    last ? builder.program.outputs.back().firstRow + first * made.rows
                         : first * made.rows,
                    std::move(rows));
      builder.finish(trip, end - first);
      first = end;
    }
    return made;
  }

  uint32_t addOutput(uint32_t rows) { return builder.outputOf(rows); }

  /// A pooling: the largest of all, in as many rows as wanted.
  static std::vector<RowId> most(GraphBuilder &trip, const std::vector<RowId> &rows,
                                 uint32_t count) {
    rows::VectorStep step;
    step.alu1 = isa::Alu::Max;
    std::vector<RowId> result;
    for (uint32_t i = 0; i < count; ++i) {
      RowId largest = trip.vector({rows[i % rows.size()]}, rows[0], kNoRow, step);
      for (size_t other = 1; other < rows.size(); ++other)
        largest = trip.vector({largest}, rows[other], kNoRow, step);
      result.push_back(largest);
    }
    return result;
  }

  std::vector<RowId> add(GraphBuilder &trip, const std::vector<RowId> &rows, const Line &before,
                         uint32_t first) {
    std::vector<uint32_t> places;
    for (uint32_t row = 0; row < before.rows; ++row)
      places.push_back(first * before.rows + row);
    const std::vector<RowId> others =
        builder.window(trip, before.family, places, static_cast<int32_t>(before.rows));
    rows::VectorStep step;
    step.alu1 = isa::Alu::Add;
    std::vector<RowId> sums;
    for (size_t row = 0; row < rows.size(); ++row)
      sums.push_back(trip.vector({rows[row]}, others[row], kNoRow, step));
    return sums;
  }
};

} // namespace

rows::Program windowNetwork(const std::string &target, uint64_t seed, uint32_t mostPositions) {
  return Network(target, seed).run(mostPositions);
}

} // namespace sluice::loops::test
