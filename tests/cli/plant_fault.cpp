// Writes a program with a fault in the instructions or memories of one node.
//
// usage: plant_fault PROGRAM.sluice OUT.sluice FAULT NODE
//
// FAULT is weight, table or row (planted_fault.h). NODE is the position of the node in the ONNX
// graph. Ends with 1 where the node has nothing of the kind.
#include <cstdlib>

#include "tests/cli/planted_fault.h"

int main(int argc, char **argv) {
  using namespace sluice;
  if (argc != 5)
    return 2;
  format::ReadResult read = format::readFile(argv[1]);
  const int64_t node = std::atoll(argv[4]);
  if (!read.program ||
      !cli_test::plant(*read.program, argv[3], [&](const auto &one) { return one.index == node; }))
    return 1;
  return format::writeAtomically(argv[2], format::write(*read.program)) ? 1 : 0;
}
