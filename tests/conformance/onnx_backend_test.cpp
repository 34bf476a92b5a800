#include <algorithm>
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "compiler/frontend/onnx/tensor_reader.h"
#include "test_model.h"

namespace sluice::frontend::test {
namespace {

namespace fs = std::filesystem;

/// The tensors PREFIX_0.pb, PREFIX_1.pb, ... of a folder.
std::vector<reference::Tensor> readTensors(const fs::path &folder, const std::string &prefix) {
  std::vector<reference::Tensor> out;
  while (true) {
    fs::path path = folder / (prefix + "_" + std::to_string(out.size()) + ".pb");
    if (!fs::exists(path))
      return out;
    onnx::TensorProto proto;
    EXPECT_TRUE(proto.ParseFromString(readFile(path.string()))) << path;
    HostTensor tensor;
    auto error = readTensor(proto, path.string(), ExternalData(""), tensor);
    EXPECT_FALSE(error) << error->message;
    std::vector<double> values(tensor.floats.begin(), tensor.floats.end());
    values.insert(values.end(), tensor.ints.begin(), tensor.ints.end());
    out.emplace_back(tensor.shape, std::move(values));
  }
}

void check(const fs::path &folder) {
  SCOPED_TRACE(folder.filename().string());
  Imported imported = importFile((folder / "model.onnx").string());
  ASSERT_EQ(imported.messages(), "");
  fs::path data = folder / "test_data_set_0";
  std::vector<reference::Tensor> inputs = readTensors(data, "input");
  if (inputs.empty()) // the model has one because it needs one
    inputs.emplace_back(imported.info.inputs.at(0).shape);
  std::vector<reference::Tensor> expected = readTensors(data, "output");
  std::vector<reference::Tensor> found = evaluate(imported, inputs);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].shape, expected[i].shape);
    for (size_t k = 0; k < found[i].values.size(); ++k)
      ASSERT_NEAR(found[i].values[k], expected[i].values[k],
                  1e-5 * std::max(1.0, std::abs(expected[i].values[k])))
          << "element " << k;
  }
}

TEST(OnnxBackend, NodeCases) {
  std::vector<fs::path> folders;
  if (fs::exists(ONNX_CASES))
    for (const auto &entry : fs::directory_iterator(ONNX_CASES))
      folders.push_back(entry.path());
  if (folders.empty())
    GTEST_SKIP() << "run make_onnx_cases.py first; ctest does";
  std::sort(folders.begin(), folders.end());
  for (const fs::path &folder : folders)
    check(folder);
  EXPECT_GE(folders.size(), 100U);
}

} // namespace
} // namespace sluice::frontend::test
