#include "compiler/streaming/refusals.h"

#include <fmt/format.h>

#include "compiler/dialect/sluice/node.h"

namespace sluice::streaming {

Problem refusal(mlir::Location where, std::string message, std::vector<Fix> fixes) {
  Problem problem;
  problem.code = "E0207";
  problem.message = "cannot stream: " + std::move(message);
  problem.fixes = std::move(fixes);
  if (const NodeRef node = ir::nodeOf(where); node.index >= 0)
    problem.node = node;
  return problem;
}

Problem wrongOption(std::string message) {
  Problem problem;
  problem.code = "E0120";
  problem.reason = WrongOption();
  problem.message = std::move(message);
  return problem;
}

Fix fix(std::string text) {
  Fix one;
  one.text = std::move(text);
  return one;
}

Fix fixByFlag(std::string text, std::string flag) {
  Fix one = fix(fmt::format("{} ({})", text, flag));
  one.flag = std::move(flag);
  return one;
}

std::string counted(int64_t count, const char *noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

} // namespace sluice::streaming
