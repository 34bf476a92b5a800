// Every version of every operator of the table with what models should not have: in a valid model
// of the operator one thing is changed. What comes back is a module, or problems that a user can
// read. Every SLUICE_VARIANTS-th change is made (1: all, by hand).
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "test_model.h"
#include "tests/conformance/operator_variants.h"
#include "tests/support/time_limit.h"

namespace sluice::frontend::test {
namespace {

namespace fs = std::filesystem;

/// The change that is made, for one that ends the process.
std::string now;

extern "C" void tellNow(int signal) {
  [[maybe_unused]] auto written = write(STDERR_FILENO, now.data(), now.size());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

struct Found {
  onnx::ModelProto model;
  int node = 0;
};

/// A model with a node of an operator, the smallest of those there are.
std::map<OperatorTable::Key, Found> smallest(const std::vector<const char *> &folders) {
  std::map<OperatorTable::Key, Found> out;
  std::set<fs::path> paths; // in an order
  for (const char *folder : folders)
    if (fs::exists(folder))
      for (const auto &entry : fs::directory_iterator(folder))
        paths.insert(entry.path() / "model.onnx");
  for (const fs::path &path : paths) {
    Found found;
    EXPECT_TRUE(found.model.ParseFromString(readFile(path.string()))) << path;
    for (const onnx::NodeProto &node : found.model.graph().node()) {
      const OperatorTable::Key key = {node.domain() == "ai.onnx" ? "" : node.domain(),
                                      node.op_type()};
      const auto known = out.find(key);
      if (known == out.end() || found.model.ByteSizeLong() < known->second.model.ByteSizeLong())
        out[key] = found;
      ++found.node;
    }
  }
  return out;
}

void setOpset(onnx::ModelProto &model, const std::string &domain, int64_t version) {
  for (onnx::OperatorSetIdProto &opset : *model.mutable_opset_import())
    if (opset.domain() == domain || (domain.empty() && opset.domain() == "ai.onnx"))
      opset.set_version(version);
}

/// What a user reads is complete: a code, what is wrong, and the node if it is one.
void checkReadable(const Problem &problem) {
  EXPECT_TRUE(problem.code.size() == 5 && problem.code[0] == 'E' && problem.code != "E0199" &&
              problem.code != "E0499")
      << problem.code;
  ASSERT_FALSE(problem.message.empty());
  EXPECT_FALSE(problem.message.back() == '.' || problem.message.back() == ' ') << problem.message;
  EXPECT_FALSE(std::isupper(static_cast<unsigned char>(problem.message[0])) != 0 &&
               std::islower(static_cast<unsigned char>(problem.message[1])) != 0 && problem.node &&
               !problem.message.starts_with(problem.node->op))
      << problem.message;
  if (problem.code.starts_with("E02"))
    EXPECT_TRUE(problem.node) << problem.message;
}

TEST(OperatorVariants, AreTakenOrRefusedInWords) {
  const std::map<OperatorTable::Key, Found> models = smallest({ONNX_CASES, OWN_CASES});
  if (models.empty())
    GTEST_SKIP() << "the cases are not made yet; ctest makes them";
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGALRM, SIGPROF})
    std::signal(signal, tellNow);
  // What a model says is large does not become large.
  const rlimit memory = {uint64_t{4} << 30, RLIM_INFINITY};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &memory), 0);
  const char *wanted = std::getenv("SLUICE_VARIANTS");
  const unsigned step = wanted != nullptr ? std::strtoul(wanted, nullptr, 10) : 4;
  unsigned count = 0, made = 0, refused = 0;
  for (const auto &[key, versions] : operatorTable().entries()) {
    const auto found = models.find(key);
    EXPECT_NE(found, models.end()) << "no case has " << key.first << ' ' << key.second;
    if (found == models.end())
      continue;
    for (const auto &[since, entry] : versions) {
      onnx::ModelProto model = found->second.model;
      setOpset(model, key.first, since);
      forEachVariant(
          model, found->second.node, entry,
          [&](const std::string &what, Outcome outcome, const onnx::ModelProto &changed) {
            if (count++ % step != 0)
              return;
            now = key.first + ' ' + key.second + " of " + std::to_string(since) + ": " + what;
            SCOPED_TRACE(now);
            now += '\n';
            Model holder;
            holder.proto = changed;
            const Imported imported = [&] {
              const sluice::test::TimeLimit limit;
              return import(holder);
            }();
            ++made;
            refused += imported.problems.empty() ? 0 : 1;
            for (const Problem &problem : imported.problems)
              checkReadable(problem);
            if (outcome == Outcome::Refused)
              EXPECT_FALSE(imported.problems.empty());
          });
    }
  }
  std::printf("%u of %u variants of %zu operators, %u refused\n", made, count, models.size(),
              refused);
  EXPECT_GT(refused, made / 4);
  EXPECT_LT(refused, made);
}

} // namespace
} // namespace sluice::frontend::test
