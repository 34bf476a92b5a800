// What is wrong with the small program once something in it is changed.
#pragma once

#include <functional>
#include <string>

#include "runtime/format/program_file.h"
#include "tests/unit/runtime/small_program.h"

namespace sluice::test {

/// The first problem of the small program after a change, "code message".
inline std::string problemAfter(const std::function<void(format::Program &)> &change) {
  format::Program program = smallProgram();
  change(program);
  const auto problems = format::check(program);
  return problems.empty() ? "none" : problems[0].code + " " + problems[0].message;
}
inline std::string afterMm(const std::function<void(isa::Mm &)> &change) {
  return problemAfter([&](format::Program &program) {
    isa::Mm mm = smallMm();
    change(mm);
    program.cores[0].instructions[0] = encoded(mm);
  });
}
inline std::string afterVec(const std::function<void(isa::Vec &)> &change) {
  return problemAfter([&](format::Program &program) {
    isa::Vec vec = smallVec();
    change(vec);
    program.cores[0].instructions[1] = encoded(vec);
  });
}

} // namespace sluice::test
