#include "compiler/conversion/loops/lines.h"

#include <algorithm>

namespace sluice::loops {

std::vector<uint32_t> waitsOf(const rows::Program &program,
                              const std::vector<FamilyHome> &families) {
  std::vector<uint32_t> made(program.families.size(), 0), waits;
  for (uint32_t b = 0; b < program.bodies.size(); ++b) {
    const rows::Body &body = program.bodies[b];
    uint32_t end = 0;
    for (const rows::Read &read : body.reads)
      end = std::max(end, made[read.family]);
    waits.push_back(end);
    for (const rows::Write &write : body.writes)
      if (write.family && !families[*write.family].local)
        made[*write.family] = b + 1;
  }
  return waits;
}

Lines::Lines(const rows::Program &program, const Choice &choice,
             const std::vector<uint32_t> &readers, const std::vector<uint32_t> &waits)
    : program(program) {
  const auto count = static_cast<uint32_t>(program.bodies.size());
  const uint32_t cores = program.geometry.cores;
  std::vector<uint32_t> parts;
  for (const rows::Body &body : program.bodies)
    parts.push_back(coresOf(program, body, choice));
  for (uint32_t b = 0; b < count; ++b) {
    const uint32_t here = waits[b];
    // A core has finished what comes before its next part behind the last it has told of.
    uint32_t finished = count;
    for (uint32_t core = 0; core < cores; ++core) {
      const auto has = [&](uint32_t body) { return (parts[body] >> core & 1) != 0; };
      uint32_t next = here;
      while (next != 0 && !(has(next - 1) && (parts[b] & ~readers[next - 1]) == 0))
        --next;
      while (next < count && !has(next))
        ++next;
      finished = std::min(finished, next);
    }
    done.push_back(finished);
  }
  for (const rows::Family &family : program.families) {
    lives.emplace_back(family.total());
    arrived.emplace_back(count, 0);
  }
  for (uint32_t b = 0; b < count; ++b) {
    for (const rows::Read &read : program.bodies[b].reads) {
      uint32_t &here = arrived[read.family][b];
      for (uint32_t trip = 0; read.all && trip < program.bodies[b].trips; ++trip)
        for (uint32_t row = 0; row < read.places.size(); ++row) {
          const uint32_t place = read.placeOf(row, trip);
          lives[read.family][place].last = b;
          here = std::max(here, place + 1);
        }
    }
    for (const rows::Write &write : program.bodies[b].writes)
      for (uint32_t trip = 0; write.placed() && trip < program.bodies[b].trips; ++trip)
        for (uint32_t row = 0; row < write.first.size(); ++row) {
          Life &life = lives[*write.family][write.placeOf(row, trip)];
          life.made = life.last = b;
        }
  }
}

bool Lines::fits(uint32_t family, uint32_t size) const {
  std::vector<std::optional<uint32_t>> needed(size); // by row of the ring, so far
  for (uint32_t place = 0; place < lives[family].size(); ++place) {
    const Life &life = lives[family][place];
    std::optional<uint32_t> &before = needed[place % size];
    if (life.made && before && *before >= done[*life.made])
      return false;
    before = std::max(before, life.last);
  }
  return true;
}

bool Lines::inputFits(uint32_t family, uint32_t size) const {
  uint32_t sent = 0;
  for (uint32_t b = 0; b < program.bodies.size(); ++b)
    for (; sent < arrived[family][b]; ++sent)
      if (sent >= size && lives[family][sent - size].last >= b)
        return false;
  return true;
}

std::optional<uint32_t> Lines::ringOf(uint32_t family) const {
  const bool input = program.families[family].input.has_value();
  for (uint32_t ring = 1; uint32_t{1} << ring < lives[family].size(); ++ring)
    if (input ? inputFits(family, uint32_t{1} << ring) : fits(family, uint32_t{1} << ring))
      return ring;
  return std::nullopt;
}

std::vector<Portion> Lines::portionsOf(uint32_t family, uint32_t ring) const {
  const uint32_t size = uint32_t{1} << ring;
  const auto total = static_cast<uint32_t>(lives[family].size());
  std::vector<Portion> portions;
  std::optional<uint32_t> behind;
  const auto add = [&](uint32_t end) {
    const uint32_t begin = portions.empty() ? 0 : portions.back().end;
    for (uint32_t place = std::max(begin, size); place < end; ++place)
      behind = std::max(behind, lives[family][place - size].last);
    portions.push_back({end, behind});
  };
  for (const uint32_t end : arrived[family])
    if (end > (portions.empty() ? 0 : portions.back().end))
      add(end);
  // The host offers what nobody reads, too.
  while (portions.back().end < total)
    add(std::min(total, portions.back().end + size));
  return portions;
}

} // namespace sluice::loops
