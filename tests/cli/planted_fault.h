// Plants faults in the instructions and memories of programs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <variant>

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
