#include "tests/ops/error_bound.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include <gtest/gtest.h>

#include "compiler/check/bound.h"
#include "compiler/frontend/onnx/tensor_reader.h"
#include "test_model.h"

namespace sluice::ops_test {

namespace fs = std::filesystem;
namespace onnx_test = frontend::test;

namespace {

/// What is no error, as a part of the largest element.
constexpr double kNegligible = 0x1p-20;

/// The largest magnitude among finite numbers.
double magnitude(const std::vector<double> &values) {
  double most = 0;
  for (const double value : values)
    most = std::isfinite(value) ? std::max(most, std::abs(value)) : most;
  return most;
}

/// Returns how far rounding moves each element of each output.
std::vector<std::vector<double>> movedByRounding(const onnx_test::Imported &imported,
                                                 std::vector<reference::Tensor> inputs,
                                                 const std::vector<reference::Tensor> &expected) {
  std::vector<std::vector<double>> moved;
  for (const reference::Tensor &tensor : expected)
    moved.emplace_back(tensor.values.size());
  for (check::Rounding rounding : check::allDirections()) {
    const auto outputs = onnx_test::evaluateRounded(
        imported, inputs, [&rounding](double value) { return rounding(value); });
    for (size_t i = 0; i < expected.size(); ++i)
      for (size_t k = 0; k < moved[i].size(); ++k)
        if (const double by = std::abs(outputs[i].values[k] - expected[i].values[k]);
            std::isfinite(by))
          moved[i][k] = std::max(moved[i][k], by);
  }
  return moved;
}

/// Returns the bounds of the elements of an output that rounding moves by `moved`. Large elements
/// may move more than small ones (exp), or all alike (a sum): the usual movement of an element is
/// that of the elements that are next to it in size.
std::vector<double> boundsOf(const std::vector<double> &moved, const std::vector<double> &wanted) {
  constexpr double kTimes = 5, kTwoRoundings = 0x1p-7;
  const size_t neighbours = std::max<size_t>(4, moved.size() / 16); // smaller; as many are larger
  const auto size = [&](size_t k) { return std::isfinite(wanted[k]) ? std::abs(wanted[k]) : 0; };
  std::vector<size_t> bySize(moved.size());
  std::iota(bySize.begin(), bySize.end(), size_t{0});
  std::ranges::sort(bySize, std::less(), [&](size_t k) { return std::pair(size(k), k); });
  const double largest = magnitude(wanted), largestMove = magnitude(moved);
  std::vector<double> bounds(moved.size());
  for (size_t rank = 0; rank < bySize.size(); ++rank) {
    const size_t first = rank - std::min(rank, neighbours),
                 end = std::min(rank + neighbours + 1, bySize.size());
    double squares = 0;
    for (size_t i = first; i < end; ++i)
      squares += moved[bySize[i]] * moved[bySize[i]];
    const size_t k = bySize[rank];
    const double usual = std::sqrt(squares / static_cast<double>(end - first));
    bounds[k] = kTimes * std::max(moved[k], usual);
    if (largestMove > 0)
      bounds[k] = std::max({bounds[k], kTwoRoundings * size(k), kNegligible * largest});
  }
  return bounds;
}

/// Whether the program quantises its input, rounded to bf16, by scales along an axis. The host does
/// what one scale does.
bool quantisesByAxis(const onnx::ModelProto &model) {
  return std::ranges::any_of(model.graph().node(), [&](const onnx::NodeProto &node) {
    return node.op_type() == "QuantizeLinear" &&
           std::ranges::any_of(model.graph().initializer(), [&](const onnx::TensorProto &one) {
             return one.dims_size() > 0 && std::ranges::count(node.input(), one.name()) > 0;
           });
  });
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
  const auto moved = movedByRounding(onnx_test::importFile(path), inputs, expected);
  for (size_t i = 0; i < expected.size(); ++i)
    bounds.push_back(boundsOf(moved[i], expected[i].values));
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(onnx_test::readFile(path))) << path;
  if (quantisesByAxis(model))
    for (std::vector<double> &all : bounds)
      for (double &bound : all)
        bound += 1;
}

void Expectation::tighten(double part) {
  for (size_t i = 0; i < expected.size(); ++i)
    for (size_t k = 0; k < bounds[i].size(); ++k)
      bounds[i][k] = std::min(bounds[i][k], part * std::abs(expected[i].values[k]) +
                                                0x1p-30 * magnitude(expected[i].values));
}

Deviation Expectation::check(const std::vector<std::vector<double>> &outputs) const {
  EXPECT_EQ(outputs.size(), expected.size());
  Deviation worst;
  for (size_t i = 0; i < expected.size() && i < outputs.size(); ++i) {
    const std::vector<double> &found = outputs[i], &wanted = expected[i].values;
    EXPECT_EQ(found.size(), wanted.size());
    Deviation one{magnitude(wanted), 0, 0};
    size_t wrong = 0, values = 0, blind = 0;
    for (size_t k = 0; k < std::min(found.size(), wanted.size()); ++k) {
      const double bound = bounds[i][k];
      values += wanted[k] != 0 && std::isfinite(wanted[k]);
      blind += wanted[k] != 0 && std::abs(wanted[k]) <= bound;
      if (found[k] == wanted[k] || (std::isnan(found[k]) && std::isnan(wanted[k])))
        continue;
      const double error = std::abs(found[k] - wanted[k]);
      if (!(error <= bound) && ++wrong <= 3)
        ADD_FAILURE() << "output " << i << " element " << k << ": " << found[k] << " for "
                      << wanted[k] << ", " << bound << " is allowed";
      const Deviation here{one.largest, error, bound};
      if (!(here.part() <= one.part())) // what is no number, too
        one = here;
    }
    if (isSensitive)
      EXPECT_LE(2 * blind, values)
          << "output " << i << " could be zero: its bounds are wider than it";
    EXPECT_EQ(wrong, 0U) << "of " << found.size() << " elements";
    if (i == 0 || one.part() > worst.part())
      worst = one;
  }
  return worst;
}

} // namespace sluice::ops_test
