#include "compiler/conversion/loops/written_rows.h"

namespace sluice::loops {
namespace {

/// A row of a trip in some pass of the loop around its instruction.
rows::Elements elementsOf(const rows::Program &program, const Emitted &one, rows::RowId row,
                          uint32_t position, uint32_t pass) {
  rows::Elements elements = program.bodies[one.body + pass * one.bodyStep].trip.rows[row].elements;
  if (one.position != kNone)
    elements.first +=
        (one.position + position + pass * one.step) * static_cast<uint32_t>(elements.step);
  return elements;
}

/// Nothing is known where passes do not move the row evenly.
plan::WrittenRow writtenBy(const rows::Program &program, const Emitted &one, rows::RowId row,
                           uint32_t position, uint32_t passes) {
  const auto in = [&](uint32_t pass) { return elementsOf(program, one, row, position, pass); };
  plan::WrittenRow written{in(0)};
  if (passes > 1)
    written.perPass = static_cast<int32_t>(in(1).first - written.elements.first);
  // One body has all trips of a loop; other bodies may be other lines.
  for (uint32_t pass = 1; one.bodyStep != 0 && pass < passes; ++pass) {
    rows::Elements expected = in(pass);
    expected.first -= pass * static_cast<uint32_t>(written.perPass);
    if (expected != written.elements)
      return {};
  }
  return written;
}

} // namespace

std::vector<std::vector<format::RowRule>> rowRules(const rows::Program &program, const List &list) {
  std::vector<std::vector<format::RowRule>> rules;
  std::vector<uint32_t> passes{1};
  for (const Emitted &one : list) {
    if (const auto *loop = std::get_if<isa::Loop>(&one.instruction))
      passes.push_back(loop->count);
    else if (std::holds_alternative<isa::Endloop>(one.instruction))
      passes.pop_back();
    std::vector<plan::WrittenRow> written;
    if (one.body != kNone && !one.origins.empty())
      for (const uint32_t beat : plan::writingBeats(one.instruction)) {
        const plan::BeatOrigin &origin = one.origins[beat % one.origins.size()];
        const auto position = static_cast<uint32_t>(beat / one.origins.size());
        written.push_back(origin.row == rows::kNoRow
                              ? plan::WrittenRow()
                              : writtenBy(program, one, origin.row, position, passes.back()));
      }
    rules.push_back(plan::rulesOf(written));
  }
  return rules;
}

} // namespace sluice::loops
