// Writes a program with a fault in the instructions or memories of one node.
//
// usage: plant_fault PROGRAM.sluice OUT.sluice FAULT NODE
//
//   weight   in a block that the node multiplies by, the largest weight of every output changes its
//            sign
//   table    every eighth entry of a function table that the node looks up changes its sign
//   row      an instruction of the node reads one row further on
//
// NODE is the position of the node in the ONNX graph. Ends with 1 where the node has nothing of
// the kind.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "hw/isa/isa.h"
#include "runtime/format/program_file.h"

using namespace sluice;

namespace {

constexpr uint16_t kSign = 0x8000;

bool negateWeights(format::CoreImage &core, uint32_t lanes, const isa::Instruction &instruction) {
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

bool negateEntries(format::CoreImage &core, const isa::Instruction &instruction) {
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

bool shiftRow(format::InstructionWords &words, isa::Instruction instruction) {
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

bool plant(format::Program &program, const std::string &fault, int64_t node) {
  for (const format::SourceEntry &entry : program.sourceMap) {
    const bool isOfNode = std::ranges::any_of(
        entry.nodes, [&](uint32_t one) { return program.nodes[one].index == node; });
    if (!isOfNode || entry.core >= program.cores.size())
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

} // namespace

int main(int argc, char **argv) {
  if (argc != 5)
    return 2;
  format::ReadResult read = format::readFile(argv[1]);
  if (!read.program || !plant(*read.program, argv[3], std::atoll(argv[4])))
    return 1;
  return format::writeAtomically(argv[2], format::write(*read.program)) ? 1 : 0;
}
