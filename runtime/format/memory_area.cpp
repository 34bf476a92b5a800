#include "runtime/format/memory_area.h"

#include <algorithm>
#include <array>

namespace sluice::format {
namespace {

enum class Kind { LutRam, HalfBlock, Block, UltraRam };

/// One shape of a memory cell, and its cost in the units of yosys's lists.
struct Shape {
  Kind kind;
  uint64_t depth, width;
  uint64_t byte; ///< bits that are written together; widths below it are
  double cost;
};

// A block RAM stores a ninth bit with every eight in the widths that are multiples of nine.
constexpr std::array<Shape, 17> kShapes = {{
    {Kind::LutRam, 32, 14, 14, 16},
    {Kind::LutRam, 64, 7, 7, 16},
    {Kind::HalfBlock, 16384, 1, 1, 129},
    {Kind::HalfBlock, 8192, 2, 2, 129},
    {Kind::HalfBlock, 4096, 4, 4, 129},
    {Kind::HalfBlock, 2048, 9, 9, 129},
    {Kind::HalfBlock, 1024, 18, 9, 129},
    {Kind::HalfBlock, 512, 36, 9, 129},
    {Kind::Block, 32768, 1, 1, 257},
    {Kind::Block, 16384, 2, 2, 257},
    {Kind::Block, 8192, 4, 4, 257},
    {Kind::Block, 4096, 9, 9, 257},
    {Kind::Block, 2048, 18, 9, 257},
    {Kind::Block, 1024, 36, 9, 257},
    {Kind::Block, 512, 72, 9, 257},
    {Kind::UltraRam, 4096, 72, 8, 1024},
    {Kind::UltraRam, 4096, 72, 9, 1024},
}};

uint64_t ceilDivide(uint64_t value, uint64_t by) { return (value + by - 1) / by; }

/// A memory in cells of one shape. `banks` cells share the words of a bit.
struct Layout {
  const Shape *shape;
  uint64_t banks;
  uint64_t stored; ///< bits of a word, with those that pad bytes
  uint64_t cells;  ///< of one copy
  double cost;
};

Layout layOut(const Memory &memory, const Shape &shape) {
  constexpr double kSelect = 0.5; // the cost of a bit of a multiplexer, or of a write enable
  const uint64_t banks = ceilDivide(memory.depth, shape.depth);
  const uint64_t enable = memory.enable == 0 ? memory.width : memory.enable;
  const uint64_t enables = memory.width / enable;
  const uint64_t stored = enables * ceilDivide(enable, shape.byte) * shape.byte;
  const uint64_t cells = ceilDivide(banks * stored, shape.width);
  const auto copies = static_cast<double>(memory.reads.size());
  // LUT RAM costs by the bit, other cells by the cell.
  const double parts = shape.kind == Kind::LutRam ? static_cast<double>(banks * memory.width) /
                                                        static_cast<double>(shape.width)
                                                  : static_cast<double>(cells);
  double cost = copies * parts * shape.cost +
                kSelect * copies * static_cast<double>((banks - 1) * memory.width);
  if (banks > 1)
    cost += kSelect * static_cast<double>(banks * enables);
  return {&shape, banks, stored, cells, cost};
}

/// Returns how many cells of a copy hold a bit that its port reads; the others are removed.
uint64_t cellsRead(const Layout &layout, uint64_t bits) {
  uint64_t count = 0;
  for (uint64_t cell = 0; cell < layout.cells; ++cell) {
    const uint64_t begin = cell * layout.shape->width, offset = begin % layout.stored;
    const uint64_t end = std::min(begin + layout.shape->width, layout.banks * layout.stored);
    // The cell begins in the bits that are read, or it reaches the first bit of the next bank.
    if (offset < bits || begin - offset + layout.stored < end)
      ++count;
  }
  return count;
}

} // namespace

MemoryCells mapMemory(const Memory &memory) {
  Layout best = layOut(memory, kShapes.front()); // LUT RAM, which holds every memory
  for (const Shape &shape : kShapes) {
    const Layout layout = layOut(memory, shape);
    if (layout.cost < best.cost)
      best = layout;
  }
  MemoryCells total;
  for (const uint64_t bits : memory.reads) {
    const uint64_t cells = cellsRead(best, bits);
    switch (best.shape->kind) {
    case Kind::LutRam:
      total.lutRams += 8 * cells;
      total.flipFlops += memory.registered ? bits : 0;
      break;
    case Kind::HalfBlock:
      total.halfBlocks += cells;
      break;
    case Kind::Block:
      total.halfBlocks += 2 * cells;
      break;
    case Kind::UltraRam:
      total.ultraRams += cells;
      break;
    }
    // A block RAM does not show what is written in the cycle of the read.
    if (best.shape->kind != Kind::LutRam && !memory.registered)
      total.flipFlops += bits;
    // A LUT of six inputs selects one of four cells.
    if (best.banks > 1)
      total.luts += bits * ceilDivide(best.banks, 4);
  }
  return total;
}

} // namespace sluice::format
