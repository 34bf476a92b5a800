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
    options.target = "c2b8";
    options.check.emplace().seed = 7;
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
};

TEST_F(FaultBundle, HasWhatAReportNeeds) {
  EXPECT_FALSE(writeBundle(bundle, {*outcome.problem}, options, &outcome));
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
  EXPECT_EQ(report["flags"], Json::array({"--target", "c2b8"}));
  EXPECT_EQ(report["model"],
            Json({{"name", "model.onnx"}, {"sha256", format::hex(format::sha256(raw))}}));
  EXPECT_EQ(report["inputs"],
            Json::array({{{"step", 0}, {"input", "x"}, {"file", "step_0_input_0.npy"}},
                         {{"step", 0}, {"input", "z"}, {"file", "step_0_input_1.npy"}}}));
}

TEST_F(FaultBundle, HasTheInputsAsFiles) {
  EXPECT_FALSE(writeBundle(bundle, {*outcome.problem}, options, &outcome));
  const auto read = io::readTensors((fs::path(bundle) / "step_0_input_0.npy").string());
  const auto *tensors = std::get_if<std::vector<io::Tensor>>(&read);
  ASSERT_TRUE(tensors);
  EXPECT_EQ(tensors->front().shape, std::vector<int64_t>{2});
  EXPECT_EQ(io::values(tensors->front()), (std::vector<double>{1, -0.5}));
}

TEST_F(FaultBundle, HasNoModelFromStandardInput) {
  options.modelPath = "-";
  EXPECT_FALSE(writeBundle(bundle, {*outcome.problem}, options, &outcome));
  EXPECT_TRUE(Json::parse(content(fs::path(bundle) / "report.json"))["model"].is_null());
  EXPECT_FALSE(fs::exists(fs::path(bundle) / "model.onnx"));
}

TEST_F(FaultBundle, IsReadAsItWasWritten) {
  ASSERT_FALSE(writeBundle(bundle, {*outcome.problem}, options, &outcome));
  const auto read = readBundle(bundle);
  const auto *found = std::get_if<Bundle>(&read);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code, "E0498");
  EXPECT_EQ(found->flags, (std::vector<std::string>{"--target", "c2b8"}));
  EXPECT_EQ(found->seed, 7U);
  EXPECT_EQ(found->model, bundle + "/model.onnx");
  EXPECT_EQ(found->modelName, "model.onnx");
  ASSERT_EQ(found->samples.size(), 1U);
  ASSERT_EQ(found->samples[0].size(), 2U);
  EXPECT_EQ(found->samples[0][1].name, "z");
  EXPECT_EQ(io::values(found->samples[0][0]), (std::vector<double>{1, -0.5}));
}

TEST_F(FaultBundle, HasTheFilesThatFlagsName) {
  const io::Tensor bound{"", io::Type::Float32, {1}, std::vector<uint8_t>(4)};
  std::ofstream(folder / "x.npy", std::ios::binary) << io::writeNpy(bound);
  std::ofstream(folder / "mine.json") << "a target";
  pipeline::Binding binding;
  binding.name = "x";
  binding.spec = "x=@" + (folder / "x.npy").string();
  options.bindings = {binding};
  options.target = (folder / "mine.json").string();
  ASSERT_FALSE(writeBundle(bundle, {*outcome.problem}, options, nullptr));
  const auto read = readBundle(bundle);
  const auto *found = std::get_if<Bundle>(&read);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->flags, (std::vector<std::string>{"--target", bundle + "/target.json", "--bind",
                                                    "x=@" + bundle + "/bind_0.npy"}));
  EXPECT_EQ(content(bundle + "/target.json"), "a target");
  EXPECT_EQ(content(bundle + "/bind_0.npy"), io::writeNpy(bound));
  EXPECT_TRUE(found->samples.empty());
}

TEST_F(FaultBundle, SaysWhatIsNoBundle) {
  const auto missing = readBundle(bundle);
  ASSERT_TRUE(std::holds_alternative<Problem>(missing));
  EXPECT_EQ(std::get<Problem>(missing).code, "E0501");
  fs::create_directories(bundle);
  std::ofstream(fs::path(bundle) / "report.json") << "{}";
  const auto other = readBundle(bundle);
  ASSERT_TRUE(std::holds_alternative<Problem>(other));
  EXPECT_EQ(std::get<Problem>(other).code, "E0624");
  EXPECT_EQ(std::get<Problem>(other).message,
            fmt::format("'{}/report.json' is not a bundle: its member 'errors' is missing or has "
                        "another form",
                        bundle));
}

TEST_F(FaultBundle, SaysWhereItCannotBeMade) {
  const std::string below = options.modelPath + "/p.E0498";
  const auto wrong = writeBundle(below, {*outcome.problem}, options, &outcome);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->code, "E0516");
  EXPECT_EQ(wrong->message, fmt::format("cannot make '{}': Not a directory", below));
}

} // namespace
} // namespace sluice::cli
