// Rows that are read at other positions than their own are in every inbox. If a family is longer
// than the inbox, its rows go through a ring. Rows that one position reads are there together, so
// no two of them may share a row of the ring, however the positions are divided into runs.
#include "compiler/conversion/loops/ring_bound.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace sluice::loops {
namespace {

/// Whether a ring has to hold two of the rows, which are sorted, at the same time and place. The
/// host sends all rows of an input in order, those between them too.
bool collides(const std::vector<uint32_t> &sorted, uint32_t size, bool input) {
  if (input)
    return sorted.back() - sorted.front() >= size;
  std::vector<bool> taken(size);
  return std::ranges::any_of(sorted, [&](uint32_t place) {
    const bool before = taken[place % size];
    taken[place % size] = true;
    return before;
  });
}

/// Returns how many rows the smallest ring has in which the rows of each list in `together` do not
/// collide; at most all rows of the family.
uint32_t ringRows(const rows::Program &program, uint32_t family,
                  const std::vector<std::vector<uint32_t>> &together) {
  const std::optional<uint32_t> input = program.families[family].input;
  const uint32_t total = program.families[family].total();
  // The host offers one input after the other, so only the last one goes through a ring.
  if (input && *input + 1 != program.inputs.size())
    return total;
  uint32_t size = 2;
  for (const std::vector<uint32_t> &places : together)
    while (size < total && collides(places, size, input.has_value()))
      size *= 2;
  return std::min(size, total);
}

} // namespace

RingBound ringBound(const rows::Program &program) {
  std::vector<std::vector<std::vector<uint32_t>>> together(program.families.size());
  for (const rows::Body &body : program.bodies)
    for (const rows::Read &read : body.reads)
      if (read.all && !read.places.empty()) {
        std::vector<uint32_t> &places = together[read.family].emplace_back(read.places);
        std::ranges::sort(places);
        places.erase(std::ranges::unique(places).begin(), places.end());
      }
  RingBound bound;
  for (uint32_t family = 0; family < program.families.size(); ++family) {
    const rows::Family &all = program.families[family];
    if (together[family].empty() || !all.constant.empty() ||
        all.total() <= program.geometry.inboxRows)
      continue;
    const uint32_t rows = ringRows(program, family, together[family]);
    bound.rows += rows;
    bound.largest.push_back({fmt::format("'{}'", all.name), rows});
  }
  std::ranges::sort(bound.largest, [](const plan::User &left, const plan::User &right) {
    return left.used != right.used ? left.used > right.used : left.name < right.name;
  });
  return bound;
}

} // namespace sluice::loops
