// CumSum and CumProd: sums and products of the elements before each other.
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

void buildSums(NodeBuilder &node) {
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

/// x with every element `by` places further along `axis`, and ones where none comes from.
Tensor shifted(Emitter &emit, const Tensor &x, int64_t axis, int64_t by, bool reverse) {
  const int64_t kept = x.shape[axis] - by;
  Shape low(x.shape.size(), 0), high = low;
  (reverse ? high : low)[axis] = by;
  return emit.pad(sliceAlong(emit, x, axis, reverse ? by : 0, kept), low, high, 1);
}

/// Each step multiplies by what is twice as far away as in the one before, which has the products
/// of as many elements.
void buildProducts(NodeBuilder &node) {
  const int64_t axis = axisOf(node), extent = node.in(0).shape[axis];
  const bool reverse = node.integer("reverse") != 0, exclusive = node.integer("exclusive") != 0;
  if (node.in(0).known && node.in(0).known->size() == 0) {
    node.result(node.in(0));
    return;
  }
  if (exclusive && extent == 1) { // nothing is before the only element
    HostTensor one = HostTensor::ofFloats(Shape(node.in(0).shape.size(), 1), {1});
    one.type = node.in(0).type;
    node.result(node.emit.broadcast(Tensor::ofKnown(std::move(one)), node.in(0).shape));
    return;
  }
  Tensor products = exclusive ? shifted(node.emit, node.in(0), axis, 1, reverse) : node.in(0);
  for (int64_t by = 1; by < extent; by *= 2)
    products =
        node.emit.pointwise({products, shifted(node.emit, products, axis, by, reverse)},
                            [](const Scalars &s, mlir::ValueRange x) { return s.mul(x[0], x[1]); });
  node.result(products);
}

/// Integers that are known: in their type, where they wrap around.
void evaluateIntegers(NodeBuilder &node, uint64_t neutral,
                      uint64_t (*with)(uint64_t before, uint64_t element)) {
  HostTensor out = *node.in(0).known;
  const int64_t axis = axisOf(node), extent = out.shape[axis];
  const int64_t run = extentProduct(out.shape, axis + 1, out.shape.size());
  const bool reverse = node.integer("reverse") != 0, exclusive = node.integer("exclusive") != 0;
  for (int64_t first = 0; first < out.size(); first += extent * run)
    for (int64_t part = 0; part < run; ++part) {
      uint64_t total = neutral;
      for (int64_t i = 0; i < extent; ++i) {
        int64_t &value = out.ints[first + (reverse ? extent - 1 - i : i) * run + part];
        const uint64_t before = total;
        total = with(total, static_cast<uint64_t>(value));
        value = wrapToType(static_cast<int64_t>(exclusive ? before : total), out.type);
      }
    }
  node.result(Tensor::ofKnown(std::move(out)));
}

/// Without what computes it.
Operator cumulative(const char *name, const char *form) {
  Operator entry;
  entry.name = name;
  entry.form = form;
  entry.inputs = {{"x", Types::Numeric}, {"axis", Types::Integer, Presence::Required, true}};
  entry.outputs = {{"y"}};
  entry.attributes = {{"exclusive", AttributeKind::Int, int64_t{0}, false, {0, 1}},
                      {"reverse", AttributeKind::Int, int64_t{0}, false, {0, 1}}};
  entry.requirements = {{"input 'axis' must be one axis of 'x', in [-rank, rank-1]",
                         [](const NodeView &node) -> std::string {
                           const std::vector<int64_t> &axes = node.knownInts(1);
                           const int64_t rank = node.in(0).rank();
                           const bool fits = axes.size() == 1 && axes[0] >= -rank && axes[0] < rank;
                           return fits ? "" : fmt::format("{} for rank {}", shapeText(axes), rank);
                         },
                         kShapes}};
  return entry;
}

Operator cumSum() {
  Operator entry = cumulative("CumSum", "matmul with a triangle of ones");
  entry.requirements.push_back({fmt::format("'axis' must have at most {} elements", kMostSums),
                                [](const NodeView &node) -> std::string {
                                  const int64_t extent = node.in(0).shape[axisOf(node)];
                                  return extent <= kMostSums ? "" : fmt::format("{}", extent);
                                }});
  entry.build = buildSums;
  entry.integers = {IntegerRule::Kind::Computed, [](const NodeView &node) {
                      const IntegerRange each = joined(rangeOf(node.in(0)), {0, 0});
                      return each.times(node.in(0).shape[axisOf(node)]);
                    }};
  entry.evaluate = [](NodeBuilder &node) {
    if (node.in(0).known->isFloat())
      buildSums(node);
    else
      evaluateIntegers(node, 0, [](uint64_t before, uint64_t element) { return before + element; });
  };
  return entry;
}

Operator cumProd() {
  Operator entry =
      cumulative("CumProd", "maps that multiply by the elements 1, 2, 4, ... positions away");
  entry.build = buildProducts;
  entry.integers = {IntegerRule::Kind::Computed, [](const NodeView &node) {
                      const IntegerRange each = joined(rangeOf(node.in(0)), {1, 1});
                      return each.power(node.in(0).shape[axisOf(node)]);
                    }};
  entry.evaluate = [](NodeBuilder &node) {
    if (node.in(0).known->isFloat())
      buildProducts(node);
    else
      evaluateIntegers(node, 1, [](uint64_t before, uint64_t element) { return before * element; });
  };
  return entry;
}

} // namespace

void addCumulative(OperatorTable &table) {
  table.add({11, 14}, cumSum());
  table.add({26}, cumProd());
}

} // namespace sluice::frontend::ops
