// Plants faults in the instructions and memories of programs.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hw/isa/isa.h"
#include "runtime/format/program_file.h"

namespace sluice::cli_test {

inline constexpr uint16_t kSign = 0x8000;

/// In the block that the instruction multiplies by, the largest weight of every output changes its
/// sign.
inline bool negateWeights(format::CoreImage &core, uint32_t lanes,
                          const isa::Instruction &instruction) {
  const auto *mm = std::get_if<isa::Mm>(&instruction);
  if (mm == nullptr || mm->skip != 0)
    return false;
  bool isChanged = false;
  for (format::WeightImage &weights : core.weights)
    for (uint32_t lane = 0; weights.block == mm->w && lane < lanes; ++lane) {
      const auto row = std::span(weights.elements).subspan(size_t{lane} * lanes, lanes);
      const auto magnitude = [](uint16_t one) { return one & ~kSign; };
      const auto largest = std::ranges::max_element(row, {}, magnitude);
      if (magnitude(*largest) == 0)
        continue;
      *largest ^= kSign;
      isChanged = true;
    }
  return isChanged;
}

/// Every eighth entry of the function table that the instruction looks up changes its sign.
inline bool negateEntries(format::CoreImage &core, const isa::Instruction &instruction) {
  constexpr size_t kEvery = 8;
  const auto *vec = std::get_if<isa::Vec>(&instruction);
  if (vec == nullptr || vec->tableEn == 0)
    return false;
  for (format::TableImage &table : core.tables)
    if (table.table == vec->tableId) {
      for (size_t i = 0; i < table.entries.size(); i += kEvery)
        table.entries[i] ^= kSign;
      return true;
    }
  return false;
}

/// The instruction reads one row further on.
inline bool shiftRow(format::InstructionWords &words, isa::Instruction instruction) {
  if (auto *mm = std::get_if<isa::Mm>(&instruction); mm != nullptr && mm->skip == 0)
    ++mm->x;
  else if (auto *vec = std::get_if<isa::Vec>(&instruction);
           vec != nullptr && vec->aSrc == isa::Source::Ram)
    ++vec->a;
  else
    return false;
  words = isa::encode(instruction).value();
  return true;
}

/// `value`, a bf16, by a factor of 1 + size. Nothing if that is the same.
inline bool enlarge(uint16_t &value, double size) {
  const auto larger = std::bit_cast<float>(uint32_t{value} << 16) * static_cast<float>(1 + size);
  const uint32_t bits = std::bit_cast<uint32_t>(larger);
  const auto rounded = static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
  return std::isfinite(larger) && std::exchange(value, rounded) != rounded;
}

/// In the block that the instruction multiplies by, one weight becomes larger.
inline bool enlargeWeight(format::CoreImage &core, const isa::Instruction &instruction,
                          uint64_t place, double size) {
  const auto *mm = std::get_if<isa::Mm>(&instruction);
  if (mm == nullptr || mm->skip != 0)
    return false;
  const auto weights = std::ranges::find(core.weights, mm->w, &format::WeightImage::block);
  return weights != core.weights.end() &&
         enlarge(weights->elements[place % weights->elements.size()], size);
}

/// In the function table that the instruction looks up, one entry becomes larger. It is that of an
/// argument whose magnitude is from 1/4 to 2.
inline bool enlargeEntry(format::CoreImage &core, const isa::Instruction &instruction,
                         uint64_t place, double size) {
  const auto *vec = std::get_if<isa::Vec>(&instruction);
  if (vec == nullptr || vec->tableEn == 0)
    return false;
  const auto table = std::ranges::find(core.tables, vec->tableId, &format::TableImage::table);
  constexpr uint64_t kScaled = 1, kLogarithm = 2, kMantissas = 128, kLeastExponent = 125;
  const uint64_t mode = table == core.tables.end() ? kLogarithm : table->header[0] & 3;
  if (mode == kLogarithm)
    return false;
  const uint64_t sign = place % 2, mantissa = place / 2 % kMantissas;
  const uint64_t exponent = kLeastExponent + place / 2 / kMantissas % 3;
  const uint64_t row =
      mode == kScaled ? (exponent + 1) % 2 : exponent - (table->header[0] >> 8 & 0xFF);
  const uint64_t entry = (sign * 16 + row) * kMantissas + mantissa;
  return row < 16 && entry < table->entries.size() && enlarge(table->entries[entry], size);
}

/// Plants a fault of a size in one place of a node: `weight` and `table` by a factor of 1 + size,
/// `row` in the instruction number `place` of those that read rows. Returns false if there is no
/// such place.
inline bool plantAt(format::Program &program, const std::string &fault, int64_t node,
                    uint64_t place, double size) {
  std::vector<const format::SourceEntry *> entries;
  for (const format::SourceEntry &entry : program.sourceMap)
    if (entry.core < program.cores.size() &&
        std::ranges::any_of(
            entry.nodes, [&](uint32_t one) { return program.nodes[one].index == node; }))
      entries.push_back(&entry);
  uint64_t rows = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    const format::SourceEntry &entry =
        *entries[(i + (fault == "row" ? 0 : place)) % entries.size()];
    format::Program other = program;
    format::CoreImage &core = other.cores[entry.core];
    format::InstructionWords &words = core.instructions[entry.instruction];
    const isa::Instruction instruction = isa::decode(words).value();
    const bool isPlanted = fault == "weight"  ? enlargeWeight(core, instruction, place, size)
                           : fault == "table" ? enlargeEntry(core, instruction, place, size)
                           : fault == "row"   ? shiftRow(words, instruction) && rows++ == place
                                              : false;
    if (!isPlanted || !format::check(other).empty())
      continue;
    program = std::move(other);
    return true;
  }
  return false;
}

/// Plants the fault `weight`, `table` or `row` in an instruction of a node. Returns false where no
/// such node has anything of the kind.
inline bool plant(format::Program &program, const std::string &fault,
                  const std::function<bool(const format::SourceNode &)> &isOfNode) {
  for (const format::SourceEntry &entry : program.sourceMap) {
    if (entry.core >= program.cores.size() || std::ranges::none_of(entry.nodes, [&](uint32_t one) {
          return isOfNode(program.nodes[one]);
        }))
      continue;
    format::Program changed = program;
    format::CoreImage &core = changed.cores[entry.core];
    format::InstructionWords &words = core.instructions[entry.instruction];
    const isa::Instruction instruction = isa::decode(words).value();
    const bool isPlanted = fault == "weight"
                               ? negateWeights(core, program.geometry.lanes, instruction)
                           : fault == "table" ? negateEntries(core, instruction)
                           : fault == "row"   ? shiftRow(words, instruction)
                                              : false;
    if (!isPlanted || !format::check(changed).empty())
      continue;
    program = std::move(changed);
    return true;
  }
  return false;
}

} // namespace sluice::cli_test
