#include <algorithm>
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "compiler/frontend/onnx/tensor_reader.h"
#include "compiler/reference/tensor.h"
#include "test_model.h"

namespace sluice::frontend::test {
namespace {

namespace fs = std::filesystem;

struct StoredTensor {
  reference::Tensor tensor;
  DataType type;
};

/// The evaluator computes in double and rounds to no type. What the suite stores was computed in
/// f32 and rounded to its type (bfloat16 is stored as float); an 8-bit number that lies halfway in
/// f32 may be the next one in double. Window functions take pi to five digits, and some cases are
/// written down with four.
double allowedError(const std::string &name, DataType type, double expected) {
  using Proto = onnx::TensorProto;
  if (type == Proto::UINT8 || type == Proto::INT8)
    return 1;
  const auto is = [&](const char *part) { return name.find(part) != std::string::npos; };
  const double share = is("_to_BFLOAT16")                                   ? 1.0 / 256
                       : type == Proto::FLOAT16                             ? 1.0 / 2048
                       : is("window") || is("gridsample") || is("roialign") ? 1e-4
                                                                            : 1e-5;
  return share * std::max(1.0, std::abs(expected));
}

testing::AssertionResult isNear(double found, double expected, double allowed) {
  if (found == expected || (std::isnan(found) && std::isnan(expected)) ||
      std::abs(found - expected) <= allowed)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << found << ", expected " << expected << " within " << allowed;
}

/// The tensors PREFIX_0.pb, PREFIX_1.pb, ... of a folder.
std::vector<StoredTensor> readTensors(const fs::path &folder, const std::string &prefix) {
  std::vector<StoredTensor> out;
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
    out.push_back({reference::Tensor(tensor.shape, std::move(values)), tensor.type});
  }
}

void check(const fs::path &folder) {
  const std::string name = folder.filename().string();
  SCOPED_TRACE(name);
  Imported imported = importFile((folder / "model.onnx").string());
  ASSERT_EQ(imported.messages(), "");
  fs::path data = folder / "test_data_set_0";
  std::vector<reference::Tensor> inputs;
  for (StoredTensor &input : readTensors(data, "input"))
    inputs.push_back(std::move(input.tensor));
  if (inputs.empty()) // the model has one because it needs one
    inputs.emplace_back(imported.info.inputs.at(0).shape);
  const std::vector<StoredTensor> expected = readTensors(data, "output");
  std::vector<reference::Tensor> found = evaluate(imported, inputs);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].shape, expected[i].tensor.shape);
    for (size_t k = 0; k < found[i].values.size(); ++k)
      ASSERT_TRUE(isNear(found[i].values[k], expected[i].tensor.values[k],
                         allowedError(name, expected[i].type, expected[i].tensor.values[k])))
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
