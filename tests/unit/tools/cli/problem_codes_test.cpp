// The definitions of problem codes: complete, and what the exit code of several problems is.
#include "tools/cli/problem_codes.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::cli {

const std::vector<std::pair<std::string_view, std::string_view>> &explainPages();

namespace {

Problem problem(const char *code) {
  Problem made;
  made.code = code;
  return made;
}

TEST(ProblemCodes, HaveOnePageEach) {
  std::vector<std::string_view> defined, explained;
  for (const ProblemCode &one : problemCodes())
    defined.push_back(one.code);
  for (const auto &[code, page] : explainPages())
    explained.push_back(code);
  std::ranges::sort(explained);
  EXPECT_EQ(defined, explained);
}

TEST(ProblemCodes, SayTheExitCode) {
  EXPECT_EQ(exitCodeOf({}), Ok);
  EXPECT_EQ(exitCodeOf({problem("E0302")}), Refused);
  EXPECT_EQ(exitCodeOf({problem("E0402"), problem("E0302")}), DoesNotFit);
  // A fault of sluice is more than all other problems.
  EXPECT_EQ(exitCodeOf({problem("E0402"), problem("E0499")}), Internal);
  EXPECT_EQ(exitCodeOf({problem("E0000")}), Internal);
}

TEST(ProblemCodes, SayWhatIsWrong) {
  EXPECT_EQ(nameOf(definitionOf("E0302").kind), "model");
  EXPECT_EQ(nameOf(definitionOf("E0502").kind), "program");
  EXPECT_EQ(nameOf(definitionOf("E0601").kind), "argument");
  EXPECT_EQ(nameOf(definitionOf("E0607").kind), "run");
  // What is asked for cannot be asked for: but a model with dynamic extents, or without the node of
  // a pin, is the model's fault.
  for (const ProblemCode &one : problemCodes())
    if (one.exit == Usage && one.code != "E0111" && one.code != "E0418")
      EXPECT_EQ(one.kind, ProblemKind::Argument) << one.code;
}

} // namespace
} // namespace sluice::cli
