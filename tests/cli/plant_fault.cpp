// Writes a program with a fault in the instructions or memories of one node.
//
// usage: plant_fault PROGRAM.sluice OUT.sluice FAULT NODE [PLACE SIZE]
//
// FAULT is weight, table or row (planted_fault.h). NODE is the position of the node in the ONNX
// graph. With PLACE, the fault is in one place and of a size. Ends with 1 where the node has
// nothing of the kind.
#include <cstdlib>

#include "tests/cli/planted_fault.h"

int main(int argc, char **argv) {
  using namespace sluice;
  if (argc != 5 && argc != 7)
    return 2;
  format::ReadResult read = format::readFile(argv[1]);
  const int64_t node = std::atoll(argv[4]);
  if (!read.program)
    return 1;
  const bool isPlanted =
      argc == 7 ? cli_test::plantAt(*read.program, argv[3], node,
                                    std::strtoull(argv[5], nullptr, 10), std::atof(argv[6]))
                : cli_test::plant(*read.program, argv[3],
                                  [&](const auto &one) { return one.index == node; });
  if (!isPlanted)
    return 1;
  return format::writeAtomically(argv[2], format::write(*read.program)) ? 1 : 0;
}
