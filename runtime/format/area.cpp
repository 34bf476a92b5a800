#include "runtime/format/area.h"

#include <bit>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hw/isa/isa.h"
#include "runtime/format/memory_area.h"

namespace sluice::format {

/// The file hw/area/unit_sizes.json (generated).
const std::vector<std::pair<std::string_view, std::string_view>> &unitSizeFiles();

namespace {

constexpr uint64_t kElement = 16;  // bits of a bf16
constexpr uint64_t kMarked = 17;   // a tensor lane: bf16 and whether it counts as zero
constexpr uint64_t kReadPorts = 4; // of the tensor RAM
/// Bits of an instruction on which the host port's instructions depend: the address registers are
/// added in front of its queue, in the places of all instructions. yosys removes the others.
constexpr uint64_t kHostBits = 262;

/// The cells of a unit, or of a share of it.
struct Cells {
  double luts = 0, lutRams = 0, flipFlops = 0, dspBlocks = 0, halfBlocks = 0, ultraRams = 0;

  friend Cells operator+(const Cells &a, const Cells &b) {
    return {a.luts + b.luts,           a.lutRams + b.lutRams,       a.flipFlops + b.flipFlops,
            a.dspBlocks + b.dspBlocks, a.halfBlocks + b.halfBlocks, a.ultraRams + b.ultraRams};
  }
  friend Cells operator*(double times, const Cells &a) {
    return {times * a.luts,      times * a.lutRams,    times * a.flipFlops,
            times * a.dspBlocks, times * a.halfBlocks, times * a.ultraRams};
  }
};

/// The sizes of one unit at some values of the field that it grows with.
using Measured = std::vector<std::pair<double, Cells>>;

Measured measured(std::string_view unit) {
  static const auto sizes = nlohmann::json::parse(unitSizeFiles().front().second);
  Measured found; // a unit test finds a name that is missing
  for (const auto &one : sizes["units"])
    if (one["unit"].get<std::string>() == unit)
      for (const auto &size : one["sizes"])
        found.push_back(
            {size["at"], {size["luts"], size["lut_rams"], size["flip_flops"], size["dsp_blocks"]}});
  return found;
}

/// Returns the cells of a unit at a value of its field: those of the polynomial through all
/// measured values, which is a line through two and a parabola through three.
Cells sizeOf(std::string_view unit, double at) {
  const Measured sizes = measured(unit);
  Cells sum;
  for (const auto &[value, cells] : sizes) {
    double weight = 1;
    for (const auto &[other, ignored] : sizes)
      if (other != value)
        weight *= (at - other) / (value - other);
    sum = sum + weight * cells;
  }
  return sum;
}

Cells cellsOf(const Memory &memory) {
  const MemoryCells found = mapMemory(memory);
  return {static_cast<double>(found.luts),       static_cast<double>(found.lutRams),
          static_cast<double>(found.flipFlops),  0,
          static_cast<double>(found.halfBlocks), static_cast<double>(found.ultraRams)};
}

/// Returns the number of elements in a column.
uint32_t elementsOf(const Geometry &g) { return g.lanes / g.peTerms; }

/// Returns the registers that delay x and the weight address for the third element of a column and
/// those behind it. The array was measured with two elements.
Cells skewOf(const Geometry &g) {
  const double elements = elementsOf(g);
  const double address = std::bit_width(g.weightBlocks - 1);
  const double delays = (elements - 1) * (elements - 2) / 2;
  return {.flipFlops = delays * (kElement * g.peTerms + address) + (elements - 2) * address};
}

/// The memories of a core.
struct Memories {
  Memory weights;              ///< of one element of a column
  Memory inbox, local;         ///< tensor rows
  std::vector<Memory> preload; ///< a quarter of each lane
  Memory heads, integers;      ///< accumulators
  Memory tables;               ///< function tables
};

Memory rowsOf(uint64_t depth, uint64_t lanes) {
  // The matrix unit does not read the marks.
  Memory memory{depth, lanes * kMarked, {lanes * kElement}};
  memory.reads.resize(kReadPorts, lanes * kMarked);
  return memory;
}

Memories memoriesOf(const Geometry &g) {
  const uint64_t lanes = g.lanes, word = kElement * g.peTerms;
  Memories found;
  found.weights = {g.weightBlocks, word, {word}, kElement};
  found.inbox = rowsOf(g.inboxRows, lanes);
  found.local = rowsOf(g.localRows, lanes);
  const uint64_t sum = isa::kAccBits + isa::kAnchorBits + 1; // and poison
  for (uint64_t quarter = 0; quarter < 4; ++quarter) {
    const uint64_t bits = lanes * std::min(kElement, sum - quarter * kElement);
    found.preload.push_back({g.preloadRows, bits, {bits}});
  }
  const uint64_t head = lanes * (isa::kAnchorBits + 1), integer = lanes * isa::kAccBits;
  found.heads = {g.accumulators, head, {head}, 0, false};
  found.integers = {g.accumulators, integer, {integer}, 0, false};
  found.tables = {std::bit_ceil(uint64_t{g.tables}) * isa::kTableEntries, kElement,
                  std::vector<uint64_t>(lanes, kElement)};
  return found;
}

/// Returns an instruction RAM, which is written in chunks of a row. Only the first bits of an
/// instruction are used, and the last one: the queue behind a sequencer stores it in the same cell
/// as the address of the instruction.
Cells instructionRamOf(uint64_t lanes, uint64_t instructions, uint64_t used) {
  const uint64_t chunk = lanes * kElement;
  Cells sum;
  for (uint64_t begin = 0; begin < isa::kInstBits; begin += chunk) {
    const uint64_t bits = begin < used ? std::min(used - begin, chunk) : 0;
    const bool last = begin + chunk >= isa::kInstBits;
    if (bits > 0 || last)
      sum = sum + cellsOf({instructions, chunk, {std::max<uint64_t>(bits, 1)}});
  }
  return sum;
}

Cells matrixUnitOf(const Geometry &g, const Memories &memories) {
  const double lanes = g.lanes, elements = elementsOf(g);
  Cells sum = lanes * (sizeOf("first element of a matrix column", g.peTerms) +
                       elements * cellsOf(memories.weights));
  if (elements > 1)
    sum = sum + lanes * (elements - 1) * sizeOf("further element of a matrix column", g.peTerms);
  for (const Memory &quarter : memories.preload)
    sum = sum + cellsOf(quarter);
  return sum + sizeOf("matrix array without columns", lanes) + skewOf(g) +
         sizeOf("accumulator", lanes) + sizeOf("accumulator, 2 lanes", g.accumulators) +
         -1 * sizeOf("accumulator, 2 lanes", 64) + cellsOf(memories.heads) +
         cellsOf(memories.integers) + sizeOf("normaliser", lanes) +
         sizeOf("matrix unit's control", lanes);
}

Cells vectorUnitOf(const Geometry &g, const Memories &memories) {
  const double lanes = g.lanes;
  return 2 * sizeOf("vector arithmetic unit", lanes) + sizeOf("function tables", lanes) +
         cellsOf(memories.tables) + sizeOf("cross-lane reduction", lanes) +
         sizeOf("output rounding", lanes) + sizeOf("vector unit's control", lanes);
}

Cells coreOf(const Geometry &g) {
  const Memories memories = memoriesOf(g);
  return matrixUnitOf(g, memories) + vectorUnitOf(g, memories) + sizeOf("sequencer", g.lanes) +
         instructionRamOf(g.lanes, g.instructions, isa::kInstBits) +
         sizeOf("core's own wiring", g.lanes) + cellsOf(memories.inbox) + cellsOf(memories.local);
}

uint64_t coreRamBits(const Geometry &g) {
  const uint64_t lanes = g.lanes, sum = isa::kAccBits + isa::kAnchorBits + 1;
  return g.weightBlocks * lanes * lanes * kElement +
         (uint64_t{g.inboxRows} + g.localRows) * lanes * kElement * kReadPorts +
         (uint64_t{g.accumulators} + g.preloadRows) * lanes * sum +
         uint64_t{g.instructions} * isa::kInstBits +
         uint64_t{g.tables} * isa::kTableEntries * lanes * kElement;
}

Area areaOf(const Cells &cells, uint64_t ramBits) {
  const auto rounded = [](double value) { return static_cast<uint64_t>(std::llround(value)); };
  return {rounded(cells.luts + cells.lutRams),
          rounded(cells.flipFlops),
          rounded(cells.dspBlocks),
          static_cast<uint64_t>(std::ceil(cells.halfBlocks / 2)),
          rounded(cells.ultraRams),
          ramBits};
}

} // namespace

Area estimateCore(const Geometry &geometry) {
  return areaOf(coreOf(geometry), coreRamBits(geometry));
}

Area estimateArea(const Geometry &geometry) {
  const double lanes = geometry.lanes, cores = geometry.cores;
  const double share = (cores - 2) / 4; // between the networks of 2 and of 6 cores
  const Cells machine =
      cores * coreOf(geometry) + (1 - share) * sizeOf("network and readback, 2 cores", lanes) +
      share * sizeOf("network and readback, 6 cores", lanes) + sizeOf("host port", lanes) +
      instructionRamOf(geometry.lanes, geometry.hostInstructions, kHostBits);
  return areaOf(machine, geometry.cores * coreRamBits(geometry) +
                             uint64_t{geometry.hostInstructions} * isa::kInstBits);
}

std::string threeDigits(uint64_t value) {
  uint64_t unit = 1;
  while (value / unit >= 1000)
    unit *= 10;
  std::string text = fmt::format("{}", (value + unit / 2) / unit * unit);
  for (size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string areaText(const Area &area) {
  return fmt::format(
      "about {} LUTs, {} flip-flops, {} DSP blocks, {} block RAMs, {} UltraRAMs (estimate)",
      threeDigits(area.luts), threeDigits(area.flipFlops), threeDigits(area.dspBlocks),
      threeDigits(area.blockRams), threeDigits(area.ultraRams));
}

} // namespace sluice::format
