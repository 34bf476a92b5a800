// CumSum: a product with a triangle of ones.
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

/// The triangle has the square of it.
constexpr int64_t kMostSums = 4096;

int64_t axisOf(const NodeView &node) { return node.axis(node.knownInts(1)[0], node.in(0).rank()); }

/// Element (i, j) is 1 if element i is in sum j.
HostTensor triangle(int64_t extent, bool reverse, bool exclusive) {
  std::vector<float> ones;
  for (int64_t i = 0; i < extent; ++i)
    for (int64_t j = 0; j < extent; ++j)
      ones.push_back((reverse ? i > j : i < j) || (i == j && !exclusive) ? 1.0F : 0.0F);
  return HostTensor::ofFloats({extent, extent}, std::move(ones));
}

void build(NodeBuilder &node) {
  const Tensor &x = node.in(0);
  const int64_t axis = axisOf(node);
  Tensor sums = Tensor::ofKnown(
      triangle(x.shape[axis], node.integer("reverse") != 0, node.integer("exclusive") != 0));
  sums.type = x.type;
  Shape toLast(x.rank());
  std::iota(toLast.begin(), toLast.end(), 0);
  std::swap(toLast[axis], toLast.back()); // is its own inverse
  const bool last = axis + 1 == x.rank();
  const Tensor result = node.emit.matmul(last ? x : node.emit.transpose(x, toLast), sums);
  node.result(last ? result : node.emit.transpose(result, toLast));
}

/// Integers that are known: in their type, where they wrap around.
void evaluateIntegers(NodeBuilder &node) {
  HostTensor out = *node.in(0).known;
  const int64_t axis = axisOf(node), extent = out.shape[axis];
  const int64_t run = extentProduct(out.shape, axis + 1, out.shape.size());
  const bool reverse = node.integer("reverse") != 0, exclusive = node.integer("exclusive") != 0;
  for (int64_t first = 0; first < out.size(); first += extent * run)
    for (int64_t part = 0; part < run; ++part) {
      uint64_t sum = 0;
      for (int64_t i = 0; i < extent; ++i) {
        int64_t &value = out.ints[first + (reverse ? extent - 1 - i : i) * run + part];
        const uint64_t before = sum;
        sum += static_cast<uint64_t>(value);
        value = wrapToType(static_cast<int64_t>(exclusive ? before : sum), out.type);
      }
    }
  node.result(Tensor::ofKnown(std::move(out)));
}

} // namespace

void addCumSum(OperatorTable &table) {
  Operator entry;
  entry.name = "CumSum";
  entry.form = "matmul by a triangle of ones";
  entry.inputs = {{"x", Types::Numeric}, {"axis", Types::Integer, Presence::Required, true}};
  entry.outputs = {{"y"}};
  entry.attributes = {{"exclusive", AttributeKind::Int, int64_t{0}, false, {0, 1}},
                      {"reverse", AttributeKind::Int, int64_t{0}, false, {0, 1}}};
  entry.requirements = {{"input 'axis' is one axis of 'x', in [-rank, rank-1]",
                         [](const NodeView &node) -> std::string {
                           const std::vector<int64_t> &axes = node.knownInts(1);
                           const int64_t rank = node.in(0).rank();
                           const bool fits = axes.size() == 1 && axes[0] >= -rank && axes[0] < rank;
                           return fits ? "" : fmt::format("{} at rank {}", shapeText(axes), rank);
                         },
                         "E0206"},
                        {fmt::format("'axis' has at most {} elements", kMostSums),
                         [](const NodeView &node) -> std::string {
                           const int64_t extent = node.in(0).shape[axisOf(node)];
                           return extent <= kMostSums ? "" : fmt::format("{}", extent);
                         }}};
  entry.build = build;
  entry.evaluate = [](NodeBuilder &node) {
    if (node.in(0).known->isFloat())
      build(node);
    else
      evaluateIntegers(node);
  };
  table.add({11, 14}, std::move(entry));
}

} // namespace sluice::frontend::ops
