#include "tests/ops/error_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "compiler/check/bound.h"
#include "compiler/frontend/onnx/tensor_reader.h"
#include "test_model.h"

namespace sluice::ops_test {

namespace fs = std::filesystem;
namespace onnx_test = frontend::test;

namespace {

/// The largest magnitude among finite numbers.
double magnitude(const std::vector<double> &values) {
  double most = 0;
  for (const double value : values)
    most = std::isfinite(value) ? std::max(most, std::abs(value)) : most;
  return most;
}

/// How far rounding moves each output at the element that it moves most.
std::vector<double> movedByRounding(const onnx_test::Imported &imported,
                                    std::vector<reference::Tensor> inputs,
                                    const std::vector<reference::Tensor> &expected) {
  for (reference::Tensor &tensor : inputs)
    for (double &value : tensor.values)
      value = check::nearestBf16(value);
  std::vector<double> moved(expected.size());
  for (check::Rounding rounding : check::allDirections()) {
    const auto outputs = onnx_test::evaluateRounded(
        imported, inputs, [&rounding](double value) { return rounding(value); });
    for (size_t i = 0; i < expected.size(); ++i) {
      std::vector<double> changes = outputs[i].values;
      std::ranges::transform(changes, expected[i].values, changes.begin(), std::minus<>());
      moved[i] = std::max(moved[i], magnitude(changes));
    }
  }
  return moved;
}

bool isQuantised(const onnx::ModelProto &model) {
  return std::ranges::any_of(model.graph().node(), [](const onnx::NodeProto &node) {
    return node.op_type().starts_with("Q") || node.op_type().starts_with("DynamicQ");
  });
}

/// Integers of eight bits: what quantising gives.
bool isByte(const onnx::ValueInfoProto &value) {
  const int type = value.type().tensor_type().elem_type();
  return type == onnx::TensorProto::INT8 || type == onnx::TensorProto::UINT8;
}

} // namespace

std::vector<reference::Tensor> readTensors(const fs::path &folder, const std::string &prefix) {
  std::vector<reference::Tensor> out;
  while (true) {
    const fs::path path = folder / (prefix + "_" + std::to_string(out.size()) + ".pb");
    if (!fs::exists(path))
      return out;
    onnx::TensorProto proto;
    EXPECT_TRUE(proto.ParseFromString(onnx_test::readFile(path.string()))) << path;
    frontend::HostTensor tensor;
    const auto error =
        frontend::readTensor(proto, path.string(), frontend::ExternalData(""), tensor);
    EXPECT_FALSE(error) << error->message;
    std::vector<double> values(tensor.floats.begin(), tensor.floats.end());
    values.insert(values.end(), tensor.ints.begin(), tensor.ints.end());
    out.emplace_back(tensor.shape, std::move(values));
  }
}

double Deviation::part() const {
  if (error == 0)
    return 0;
  return bound > 0 ? error / bound : std::numeric_limits<double>::infinity();
}

Expectation::Expectation(const fs::path &folder, const std::vector<reference::Tensor> &inputs)
    : expected(readTensors(folder / "test_data_set_0", "output")) {
  const std::string path = (folder / "model.onnx").string();
  for (const double moved : movedByRounding(onnx_test::importFile(path), inputs, expected))
    bounds.push_back(check::kTimesMoved * moved);
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(onnx_test::readFile(path))) << path;
  if (isQuantised(model))
    for (size_t i = 0; i < bounds.size(); ++i)
      bounds[i] += isByte(model.graph().output(static_cast<int>(i))) ? 1 : 0;
}

Deviation Expectation::check(const std::vector<std::vector<double>> &outputs) const {
  EXPECT_EQ(outputs.size(), expected.size());
  Deviation worst;
  for (size_t i = 0; i < expected.size() && i < outputs.size(); ++i) {
    const std::vector<double> &found = outputs[i], &wanted = expected[i].values;
    EXPECT_EQ(found.size(), wanted.size());
    Deviation one{magnitude(wanted), 0, bounds[i]};
    size_t wrong = 0;
    for (size_t k = 0; k < std::min(found.size(), wanted.size()); ++k) {
      if (found[k] == wanted[k] || (std::isnan(found[k]) && std::isnan(wanted[k])))
        continue;
      const double error = std::abs(found[k] - wanted[k]);
      if (!(error <= one.bound) && ++wrong <= 3)
        ADD_FAILURE() << "output " << i << " element " << k << ": " << found[k] << " for "
                      << wanted[k] << ", " << one.bound << " is allowed";
      one.error = error <= one.error ? one.error : error; // what is no number, too
    }
    EXPECT_EQ(wrong, 0U) << "of " << found.size() << " elements";
    if (i == 0 || one.part() > worst.part())
      worst = one;
  }
  return worst;
}

} // namespace sluice::ops_test
