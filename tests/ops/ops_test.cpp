// Operators end to end: ONNX in, bits out of both engines, compared with the
// values stored beside the model. SLUICE_OPS_CASES names a folder of further cases,
// SLUICE_OPS_FIGURES a file for the errors and bounds of the cases of the ONNX package.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/pipeline/pipeline.h"
#include "compiler/reference/tensor.h"
#include "runtime/api/host_input.h"
#include "runtime/api/inference_rows.h"
#include "test_model.h"
#include "tests/ops/engines.h"
#include "tests/ops/error_bound.h"

namespace sluice::ops_test {
namespace {

namespace fs = std::filesystem;
namespace onnx_test = frontend::test;

/// What a file says of cases: a name, which may end in *, and a word in each line.
class Listed {
public:
  explicit Listed(const char *path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string name, word;
      if (words >> name >> word && name[0] != '#')
        all[name] = word;
    }
  }

  /// The word of the longest name that the case has; empty if it has none.
  [[nodiscard]] std::string of(const std::string &name) const {
    if (const auto found = all.find(name); found != all.end())
      return found->second;
    for (size_t length = name.size(); length > 0; --length)
      if (const auto found = all.find(name.substr(0, length) + '*'); found != all.end())
        return found->second;
    return "";
  }

private:
  std::map<std::string, std::string> all;
};

/// Options of a case: flags.txt has one flag a line.
pipeline::CompileOptions optionsOf(const fs::path &folder) {
  pipeline::CompileOptions options;
  options.modelPath = (folder / "model.onnx").string();
  options.target = "c2b8";
  options.measure = false;
  std::ifstream file(folder / "flags.txt");
  std::string flag, value;
  while (file >> flag) {
    if (flag == "--allow-dynamic-weights" || flag == "--rewrite-layout") {
      (flag[2] == 'a' ? options.allowDynamicWeights : options.rewriteLayout) = true;
      continue;
    }
    file >> value;
    if (flag == "--target") {
      options.target = value;
      continue;
    }
    const size_t equals = value.find('=');
    EXPECT_TRUE(flag == "--data-dim" && equals != std::string::npos) << flag << ' ' << value;
    options.dataDims.emplace_back(value.substr(0, equals), std::stoll(value.substr(equals + 1)));
  }
  return options;
}

/// The codes of a compilation's problems, each once, "+" between them; empty: it compiled.
std::string compile(const pipeline::CompileOptions &options, format::Program &program,
                    std::string &text) {
  pipeline::CompileResult result;
  Problems problems;
  pipeline::compileModel(options, result, problems);
  program = std::move(result.program);
  std::string codes;
  for (const Problem &problem : problems) {
    text += problem.code + ": " + problem.message + "\n";
    for (const Fix &fix : problem.fixes)
      text += "help: " + fix.text + "\n";
    if (codes.find(problem.code) == std::string::npos)
      codes += (codes.empty() ? "" : "+") + problem.code;
  }
  return codes;
}

/// Whether the RTL of a target is built.
bool hasModel(const std::string &target) {
  const std::string all = std::string(",") + RTL_TARGETS + ",";
  return all.find("," + target + ",") != std::string::npos;
}

struct Totals {
  size_t ran = 0, refused = 0, flagged = 0, looped = 0, withoutModel = 0;
  double worst = 0;
  std::string worstCase;
  std::ofstream figures; ///< of every case that ran: its name, largest number, error and bound
};

/// Inferences that follow each other as fast as the machine takes them see no
/// weights but their own.
void checkRepeated(const format::Program &program, const std::vector<std::vector<double>> &inputs,
                   const RunResult &first) {
  std::vector<std::vector<double>> others = inputs;
  for (std::vector<double> &tensor : others)
    for (double &value : tensor)
      value = 1.5 - value;
  const RunResult other = runOnBoth(program, others);
  ASSERT_EQ(other.problem, "");
  const std::vector<RunResult> all = runSequence(program, {inputs, others, others, inputs});
  ASSERT_EQ(all.size(), 4U);
  for (size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(all[i].problem, "");
    EXPECT_EQ(all[i].outputs, (i % 3 == 0 ? first : other).outputs) << "inference " << i;
  }
}

void check(const fs::path &folder, const Listed &refused, const Listed &tighter, Totals &totals) {
  const std::string name = folder.filename().string();
  SCOPED_TRACE(name);
  format::Program program;
  std::string text;
  pipeline::CompileOptions options = optionsOf(folder);
  if (!hasModel(options.target)) {
    ++totals.withoutModel;
    return;
  }
  std::string codes = compile(options, program, text);
  EXPECT_EQ(codes, refused.of(name)) << name << ' ' << codes << '\n' << text;
  const bool rewrite = name.starts_with("rewrite_");
  if (rewrite || codes == "E0306" || name.starts_with("dynamic_")) {
    // Refused for want of a flag: the message offers it, and it is enough.
    EXPECT_NE(codes, "");
    EXPECT_NE(text.find(rewrite ? "--rewrite-layout" : "--allow-dynamic-weights"),
              std::string::npos)
        << text;
    (rewrite ? options.rewriteLayout : options.allowDynamicWeights) = true;
    text.clear();
    codes = compile(options, program, text);
    EXPECT_EQ(codes, "") << text;
    totals.flagged += codes.empty();
  }
  if (!codes.empty()) {
    ++totals.refused;
    return;
  }
  std::vector<reference::Tensor> inputs = readTensors(folder / "test_data_set_0", "input");
  const format::Model &model = program.models[0];
  if (inputs.empty() && runtime::inputCount(model) > 0) // the model has one because it needs one
    inputs.emplace_back(runtime::hostInput(model, 0).shape);
  std::vector<std::vector<double>> arrays;
  for (const reference::Tensor &tensor : inputs)
    arrays.push_back(tensor.values);
  runtime::addDrawn(model, {}, arrays);
  const RunResult run = runOnBoth(program, arrays);
  ASSERT_EQ(run.problem, "");
  ++totals.ran;
  if (options.allowDynamicWeights)
    checkRepeated(program, arrays, run);
  const std::string part = tighter.of(name);
  Expectation expectation(folder, inputs);
  expectation.isSensitive = part.empty();
  const auto judge = [&](const RunResult &result) {
    const Deviation found = expectation.check(result.outputs);
    if (found.part() > totals.worst) {
      totals.worst = found.part();
      totals.worstCase = name;
    }
    return found;
  };
  if (!part.empty() && part != "none") {
    Expectation tight = expectation;
    tight.tighten(std::stod(part));
    tight.isSensitive = true;
    tight.check(run.outputs);
  }
  const Deviation found = judge(run);
  if (totals.figures.is_open())
    totals.figures << fmt::format("{} {:.3g} {:.3g} {:.3g}\n", name, found.largest, found.error,
                                  found.bound);
  // Small models are faster row by row; their loops are right too.
  options.onlyLoops = true;
  if (!compile(options, program, text).empty())
    return;
  SCOPED_TRACE("in loops");
  ASSERT_EQ(runtime::inputCount(program.models[0]), inputs.size());
  const RunResult looped = runOnBoth(program, arrays);
  ASSERT_EQ(looped.problem, "");
  ++totals.looped;
  judge(looped);
}

/// The share of many cases that a run takes: every `of`-th from `first` on. SLUICE_OPS_SHARE=1/3
/// says another than the first third, and 0/1 all.
struct Share {
  size_t first = 0, of = 3;
};

Share shareOfCases() {
  Share share;
  if (const char *text = std::getenv("SLUICE_OPS_SHARE"))
    if (std::sscanf(text, "%zu/%zu", &share.first, &share.of) != 2 || share.of == 0 ||
        share.first >= share.of)
      throw std::invalid_argument(std::string("SLUICE_OPS_SHARE is not FIRST/OF: ") + text);
  return share;
}

void checkAll(const char *path, size_t atLeast, const char *figures = nullptr,
              Share share = {0, 1}) {
  std::vector<fs::path> folders;
  if (fs::exists(path))
    for (const auto &entry : fs::directory_iterator(path))
      folders.push_back(entry.path());
  if (folders.empty())
    GTEST_SKIP() << "the cases are not made yet; ctest makes them";
  std::sort(folders.begin(), folders.end());
  if (share.of > 1) {
    std::vector<fs::path> taken;
    for (size_t i = share.first; i < folders.size(); i += share.of)
      taken.push_back(folders[i]);
    std::printf("share %zu/%zu: %zu of %zu cases\n", share.first, share.of, taken.size(),
                folders.size());
    folders = std::move(taken);
  }
  const Listed refused(REFUSED), tighter(TIGHTER);
  Totals totals;
  if (figures != nullptr)
    totals.figures.open(figures);
  for (const fs::path &folder : folders)
    try {
      check(folder, refused, tighter, totals);
    } catch (const std::exception &wrong) { // what follows is checked all the same
      ADD_FAILURE() << folder << ": " << wrong.what();
    }
  std::printf("%zu cases on both engines (%zu with a flag, %zu in loops too), %zu refused, "
              "%zu of a target without its RTL, worst error %.2f of what is allowed (%s)\n",
              totals.ran, totals.flagged, totals.looped, totals.refused, totals.withoutModel,
              totals.worst, totals.worstCase.c_str());
  EXPECT_GE(totals.ran, atLeast);
}

TEST(Operators, CasesOfTheOnnxPackage) {
  checkAll(ONNX_CASES, 180, std::getenv("SLUICE_OPS_FIGURES"));
}
TEST(Operators, CasesOfOurOwn) {
  const Share share = shareOfCases();
  checkAll(OWN_CASES, 750 / share.of, nullptr, share);
}

/// As many cases as there is time for, by hand.
TEST(Operators, CasesOfAGivenFolder) {
  const char *folder = std::getenv("SLUICE_OPS_CASES");
  if (folder == nullptr)
    GTEST_SKIP() << "SLUICE_OPS_CASES names no folder of cases";
  checkAll(folder, 1, std::getenv("SLUICE_OPS_FIGURES"));
}

} // namespace
} // namespace sluice::ops_test
