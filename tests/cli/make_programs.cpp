// Writes the program files that the tests of the command line use: the small
// program, one whose matrix unit waits for ever, and some for other targets.
#include <cstdio>
#include <string>

#include "runtime/format/program_file.h"
#include "tests/unit/runtime/small_program.h"

using namespace sluice;

namespace {

bool save(const std::string &path, const format::Program &program) {
  const auto problem = format::writeAtomically(path, format::write(program));
  if (problem)
    std::fprintf(stderr, "%s\n", problem->message.c_str());
  return !problem;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  const std::string folder = argv[1];
  format::Program stalling = test::smallProgram();
  isa::Mm mm = test::smallMm();
  mm.waitToken = 7;
  mm.waitCount = 2;
  stalling.cores[0].instructions[0] = test::encoded(mm);
  // Hardware that no build has.
  format::Program other = test::smallProgram();
  other.geometry.rtl = "none";
  // The hardware of c2b8 but for the sizes of memories, and but for its shape.
  format::Program larger = test::smallProgram(), smaller = larger, terms = larger, hops = larger;
  larger.geometry.inboxRows = 2048;
  larger.geometry.tables = 8;
  smaller.geometry.inboxRows /= 2;
  smaller.geometry.weightBlocks /= 2;
  terms.geometry.peTerms = 2;
  hops.geometry.stages.netHop = 4;
  const bool ok =
      save(folder + "/small.sluice", test::smallProgram()) &&
      save(folder + "/stalling.sluice", stalling) && save(folder + "/other.sluice", other) &&
      save(folder + "/larger.sluice", larger) && save(folder + "/smaller.sluice", smaller) &&
      save(folder + "/terms.sluice", terms) && save(folder + "/hops.sluice", hops);
  return ok ? 0 : 1;
}
