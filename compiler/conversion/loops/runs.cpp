#include "compiler/conversion/loops/runs.h"

#include <algorithm>
#include <ranges>

namespace sluice::loops {
namespace {

class Runs {
public:
  Runs(const rows::Program &program, uint32_t runs, uint32_t lines)
      : program(program), runs(runs), lines(lines), outputLines(program.outputs.size(), 0),
        familyLines(program.families.size(), 0) {
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
    runOf.resize(program.bodies.size());
    for (size_t b = program.bodies.size(); b-- > 0;)
      visit(program.bodies[b], runOf[b]);
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

private:
  const rows::Program &program;
  const uint32_t runs, lines;
  std::vector<uint32_t> outputLines, familyLines; ///< rows of a line
  std::vector<std::vector<uint32_t>> needed; ///< by family and place: the first run that reads it
  std::vector<std::vector<uint32_t>> runOf;  ///< by body and trip

  /// Of so many rows in order, the run that makes one of them.
  [[nodiscard]] uint32_t shareOf(uint32_t place, uint32_t total, uint32_t line) const {
    if (lines != 0 && line != 0)
      return std::min(place / (lines * line), runs - 1);
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

} // namespace

rows::Program inRuns(const rows::Program &program, uint32_t runs, uint32_t lines) {
  return runs > 1 && canCut(program) ? Runs(program, runs, lines).run() : program;
}

uint32_t runsOf(const rows::Program &program, uint32_t lines) {
  uint32_t most = 1;
  for (const rows::Body &body : program.bodies)
    for (const rows::Write &write : body.writes)
      if (write.output && body.trips > 1 && write.stride != 0) {
        const uint32_t share = lines * write.stride;
        most = std::max(most, (program.outputs[*write.output].rows + share - 1) / share);
      }
  return most;
}

} // namespace sluice::loops
