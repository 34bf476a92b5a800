#include "runtime/format/state.h"

#include <algorithm>

namespace sluice::format {
namespace {

/// Copies what the images of a core say about `place` to `out`, which is zero.
void copyRows(const CoreImage &core, const StatePlace &place, uint32_t lanes, uint16_t *out) {
  for (const RowImage &image : core.rows) {
    const auto rows = static_cast<uint32_t>(image.lanes.size() / lanes);
    const uint32_t first = std::max(image.address, place.first);
    const uint32_t end = std::min(image.address + rows, place.first + place.rows);
    if (first < end)
      std::copy_n(&image.lanes[size_t{first - image.address} * lanes], size_t{end - first} * lanes,
                  out + size_t{first - place.first} * lanes);
  }
}

void copyPreloads(const CoreImage &core, const StatePlace &place, uint32_t lanes, uint16_t *out) {
  for (const PreloadImage &image : core.preloads) {
    if (image.row < place.first || image.row - place.first >= place.rows)
      continue;
    uint16_t *quarters = out + size_t{image.row - place.first} * 4 * lanes;
    for (uint32_t quarter = 0; quarter < 4; ++quarter)
      for (uint32_t lane = 0; lane < lanes; ++lane)
        *quarters++ = static_cast<uint16_t>(image.lanes[lane] >> (16 * quarter));
  }
}

} // namespace

size_t stateRows(const ProgramState &state) {
  size_t rows = 0;
  for (const StatePlace &place : state.places)
    rows += size_t{place.rows} * imageRows(place.memory);
  return rows;
}

uint64_t restartCycles(const Program &program) { return 1 + stateRows(program.state) + 1; }

std::vector<uint16_t> initialState(const Program &program) {
  const uint32_t lanes = program.geometry.lanes;
  std::vector<uint16_t> image(stateRows(program.state) * lanes);
  uint16_t *out = image.data();
  for (const StatePlace &place : program.state.places) {
    const CoreImage &core = program.cores[place.core];
    if (place.memory == StatePlace::Memory::Rows)
      copyRows(core, place, lanes, out);
    else
      copyPreloads(core, place, lanes, out);
    out += size_t{place.rows} * imageRows(place.memory) * lanes;
  }
  return image;
}

} // namespace sluice::format
