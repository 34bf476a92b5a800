#include "compiler/conversion/loops/runs.h"

#include <algorithm>
#include <array>
#include <ranges>

namespace sluice::loops {
namespace {

/// How lines of the last layer are shared out: equally, or so many in each run, but in the first.
struct Shares {
  uint32_t runs = 1;
  uint32_t lines = 0; ///< 0: equal shares
  uint32_t first = 0; ///< lines of the first run
};

class Runs {
public:
  Runs(const rows::Program &program, const Shares &shares)
      : program(program), runs(shares.runs), lines(shares.lines), firstLines(shares.first),
        outputLines(program.outputs.size(), 0), familyLines(program.families.size(), 0) {
    for (const rows::Body &body : program.bodies)
      for (const rows::Write &write : body.writes)
        if (body.trips > 1 && (write.output || write.placed())) {
          uint32_t &rows = write.family ? familyLines[*write.family] : outputLines[*write.output];
          rows = std::max(rows, write.stride);
        }
    for (const rows::Family &family : program.families)
      needed.emplace_back(family.total(), runs - 1);
  }

  rows::Program run() {
    divide();
    rows::Program result = program;
    result.bodies.clear();
    for (uint32_t run = 0; run < runs; ++run)
      for (size_t b = 0; b < program.bodies.size(); ++b) {
        const auto [first, end] = std::ranges::equal_range(runOf[b], run);
        if (first != end)
          addPart(result, program.bodies[b], static_cast<uint32_t>(first - runOf[b].begin()),
                  static_cast<uint32_t>(end - first), run);
      }
    return result;
  }

  /// So many lines of the last layer does the first run make more of some layer than the second:
  /// what windows reach ahead of them.
  uint32_t ahead() {
    divide();
    std::vector<std::array<uint64_t, 2>> trips(program.families.size(), {0, 0}); // of both runs
    for (size_t b = 0; b < program.bodies.size(); ++b)
      for (const rows::Write &write : program.bodies[b].writes)
        for (uint32_t run = 0; write.family && run < 2; ++run)
          trips[*write.family][run] += static_cast<uint64_t>(std::ranges::count(runOf[b], run));
    uint64_t most = 0;
    for (const auto &[first, second] : trips)
      if (first > second && second != 0)
        most = std::max(most, ((first - second) * lines + second - 1) / second);
    return static_cast<uint32_t>(most);
  }

private:
  const rows::Program &program;
  const uint32_t runs, lines, firstLines;
  std::vector<uint32_t> outputLines, familyLines; ///< rows of a line
  std::vector<std::vector<uint32_t>> needed; ///< by family and place: the first run that reads it
  std::vector<std::vector<uint32_t>> runOf;  ///< by body and trip

  /// Sets runOf.
  void divide() {
    runOf.resize(program.bodies.size());
    for (size_t b = program.bodies.size(); b-- > 0;)
      visit(program.bodies[b], runOf[b]);
  }

  /// Of so many rows in order, the run that makes one of them.
  [[nodiscard]] uint32_t shareOf(uint32_t place, uint32_t total, uint32_t line) const {
    if (lines != 0 && line != 0) {
      const uint32_t first = firstLines * line;
      return place < first ? 0 : std::min(1 + (place - first) / (lines * line), runs - 1);
    }
    return static_cast<uint32_t>((uint64_t{place} * runs + runs - 1) / total);
  }

  /// A family that somebody reads at once is made in equal shares up to there.
  void spread(std::vector<uint32_t> &places, uint32_t line) const {
    if (std::ranges::adjacent_find(places, std::ranges::not_equal_to()) == places.end())
      for (uint32_t place = 0; place < places.size(); ++place)
        places[place] =
            std::min(places[place], shareOf(place, static_cast<uint32_t>(places.size()), line));
  }

  /// The runs of a body's trips, all of whose readers have theirs.
  void visit(const rows::Body &body, std::vector<uint32_t> &own) {
    own.assign(body.trips, runs - 1);
    for (const rows::Write &write : body.writes) {
      if (write.family)
        spread(needed[*write.family], familyLines[*write.family]);
      for (uint32_t trip = 0; trip < body.trips; ++trip)
        for (uint32_t row = 0; row < write.first.size(); ++row)
          own[trip] = std::min(own[trip], runOfRow(write, write.placeOf(row, trip)));
    }
    // Trips keep their order.
    for (size_t trip = body.trips - 1; trip-- > 0;)
      own[trip] = std::min(own[trip], own[trip + 1]);
    for (const rows::Read &read : body.reads)
      for (uint32_t trip = 0; read.all && trip < body.trips; ++trip)
        for (uint32_t row = 0; row < read.places.size(); ++row) {
          uint32_t &first = needed[read.family][read.placeOf(row, trip)];
          first = std::min(first, own[trip]);
        }
  }

  [[nodiscard]] uint32_t runOfRow(const rows::Write &write, uint32_t row) const {
    if (write.family)
      return needed[*write.family][row];
    const format::HostTensor &output = program.outputs[*write.output];
    return shareOf(row - output.firstRow, output.rows, outputLines[*write.output]);
  }

  /// Trips from `first` on as a body of their own.
  void addPart(rows::Program &result, const rows::Body &body, uint32_t first, uint32_t trips,
               uint32_t run) const {
    rows::Body part = body;
    part.run = run;
    part.trips = trips;
    for (rows::Row &row : part.trip.rows)
      row.elements.first += first * static_cast<uint32_t>(row.elements.step);
    for (rows::Read &read : part.reads) {
      for (uint32_t &place : read.places)
        place += first * static_cast<uint32_t>(read.step);
      if (!read.all && trips != body.trips)
        read.family = addConstants(result, read.family, first, trips);
    }
    for (rows::Write &write : part.writes)
      for (uint32_t &place : write.first)
        place += first * write.stride;
    result.bodies.push_back(std::move(part));
  }

  /// The constants of these trips as a family of their own; one body reads them.
  uint32_t addConstants(rows::Program &result, uint32_t family, uint32_t first,
                        uint32_t trips) const {
    const rows::Family &all = program.families[family];
    rows::Family some = all;
    some.trips = trips;
    const auto size = static_cast<std::ptrdiff_t>(all.rows) * program.geometry.lanes;
    const auto from = all.constant.begin() + first * size;
    some.constant.assign(from, from + trips * size);
    if (first != 0) {
      result.families.push_back(std::move(some));
      return static_cast<uint32_t>(result.families.size() - 1);
    }
    result.families[family] = std::move(some);
    return family;
  }
};

/// Whether every family is written and read at places, but for constants.
bool canCut(const rows::Program &program) {
  return program.hasWindows() && std::ranges::all_of(program.bodies, [&](const rows::Body &body) {
           return std::ranges::all_of(body.reads,
                                      [&](const rows::Read &read) {
                                        return read.all ||
                                               !program.families[read.family].constant.empty();
                                      }) &&
                  std::ranges::all_of(body.writes, [](const rows::Write &write) {
                    return !write.fold && (write.output || write.placed());
                  });
         });
}

/// Lines of the last layer, the most of any output.
uint32_t linesOf(const rows::Program &program) {
  uint32_t most = 1;
  for (const rows::Body &body : program.bodies)
    for (const rows::Write &write : body.writes)
      if (write.output && body.trips > 1 && write.stride != 0)
        most =
            std::max(most, (program.outputs[*write.output].rows + write.stride - 1) / write.stride);
  return most;
}

/// Runs of so many lines. The first one makes fewer of the last layer, so that it makes no more of
/// the others than the runs that follow, and rings need not be larger for its sake.
Shares sharesOf(const rows::Program &program, uint32_t lines) {
  const uint32_t all = linesOf(program);
  Shares shares{(all + lines - 1) / lines, lines, lines};
  if (shares.runs > 2 && canCut(program))
    if (const uint32_t ahead = Runs(program, shares).ahead(); ahead < lines)
      shares.first -= ahead;
  shares.runs = 1 + (all - std::min(all, shares.first) + lines - 1) / lines;
  return shares;
}

} // namespace

rows::Program inRuns(const rows::Program &program, uint32_t runs, uint32_t lines) {
  if (runs <= 1 || !canCut(program))
    return program;
  return Runs(program, lines == 0 ? Shares{runs} : sharesOf(program, lines)).run();
}

uint32_t runsOf(const rows::Program &program, uint32_t lines) {
  return sharesOf(program, lines).runs;
}

} // namespace sluice::loops
