// The folder that a report of a wrong program needs.
#include "tools/cli/fault_bundle.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/format/sha256.h"
#include "tools/cli/commands.h"
#include "tools/cli/io/tensor.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

class FaultBundle : public testing::Test {
protected:
  FaultBundle() {
    fs::remove_all(folder);
    fs::create_directories(folder);
    std::ofstream(folder / "model.onnx") << "a model";
    options.modelPath = (folder / "model.onnx").string();
    Problem wrong;
    wrong.code = "E0498";
    wrong.message = "internal error: output 'y' is 2 at [1, 1], the model gives 2.2, allowed 0.01";
    outcome.problem = wrong;
    outcome.evidence = {"normal, deviation 1",
                        {"x", "z"},
                        {{reference::Tensor({2}, {1, -0.5}), reference::Tensor({1}, {3})}}};
    program.options = "--target c2b8";
  }
  ~FaultBundle() override { fs::remove_all(folder); }

  static std::string content(const fs::path &path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
  }

  const fs::path folder = fs::path(testing::TempDir()) / "bundles";
  const std::string bundle = (folder / "p.E0498").string();
  pipeline::CompileOptions options;
  check::Outcome outcome;
  format::Program program;
};

TEST_F(FaultBundle, HasWhatAReportNeeds) {
  EXPECT_FALSE(writeBundle(bundle, outcome, options, 7, program));
  EXPECT_EQ(content(fs::path(bundle) / "model.onnx"), "a model");
  const Json report = Json::parse(content(fs::path(bundle) / "report.json"));
  const std::string bytes = "a model";
  const std::span raw(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
  EXPECT_EQ(report["schema"], 1);
  EXPECT_EQ(report["errors"][0]["code"], "E0498");
  EXPECT_EQ(report["errors"][0]["message"], outcome.problem->message);
  EXPECT_EQ(report["version"], versionText());
  EXPECT_EQ(report["seed"], 7);
  EXPECT_EQ(report["kind"], "normal, deviation 1");
  EXPECT_EQ(report["flags"], Json(program.options));
  EXPECT_EQ(report["model"],
            Json({{"name", "model.onnx"}, {"sha256", format::hex(format::sha256(raw))}}));
  EXPECT_EQ(report["inputs"],
            Json::array({{{"step", 0}, {"input", "x"}, {"file", "step_0_input_0.npy"}},
                         {{"step", 0}, {"input", "z"}, {"file", "step_0_input_1.npy"}}}));
}

TEST_F(FaultBundle, HasTheInputsAsFiles) {
  EXPECT_FALSE(writeBundle(bundle, outcome, options, 7, program));
  const auto read = io::readTensors((fs::path(bundle) / "step_0_input_0.npy").string());
  const auto *tensors = std::get_if<std::vector<io::Tensor>>(&read);
  ASSERT_TRUE(tensors);
  EXPECT_EQ(tensors->front().shape, std::vector<int64_t>{2});
  EXPECT_EQ(io::values(tensors->front()), (std::vector<double>{1, -0.5}));
}

TEST_F(FaultBundle, HasNoModelFromStandardInput) {
  options.modelPath = "-";
  EXPECT_FALSE(writeBundle(bundle, outcome, options, 7, program));
  EXPECT_TRUE(Json::parse(content(fs::path(bundle) / "report.json"))["model"].is_null());
  EXPECT_FALSE(fs::exists(fs::path(bundle) / "model.onnx"));
}

TEST_F(FaultBundle, SaysWhereItCannotBeMade) {
  const std::string below = options.modelPath + "/p.E0498";
  const auto wrong = writeBundle(below, outcome, options, 7, program);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->code, "E0516");
  EXPECT_EQ(wrong->message, fmt::format("cannot make '{}': Not a directory", below));
}

} // namespace
} // namespace sluice::cli
