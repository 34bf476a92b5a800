// MaxPool, AveragePool, LpPool and their global forms.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "compiler/dialect/sluice/attributes.h"
#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/pooling.h"
#include "compiler/frontend/onnx/ops/selecting.h"
#include "compiler/frontend/onnx/ops/window.h"

namespace sluice::frontend::ops {
namespace {

/// Most positions of an average, each of which may have a divisor of its own.
constexpr int64_t kMaxPositions = int64_t{1} << 24;

bool isSet(const NodeView &node, const char *attribute) {
  return node.given(attribute) && node.integer(attribute) != 0;
}

std::vector<WindowAxis> windowsOf(const NodeView &node) {
  return windowAxes(node, node.integers("kernel_shape"), isSet(node, "ceil_mode"), /*crops=*/true);
}

/// The merge of what a window sees, whose elements are the axes behind those of `x`.
Tensor pooled(Emitter &emit, ir::Monoid monoid, const Tensor &x,
              const std::vector<WindowAxis> &windows, float outside) {
  int64_t count = 1;
  for (const WindowAxis &axis : windows)
    count *= axis.size;
  if (auto exact =
          emit.mergedIntegers(monoid, x, count, [&](ir::Monoid of, const Tensor &integers) {
            return pooled(emit, of, integers, windows, outside);
          }))
    return *exact;
  const Tensor view = seen(emit, x, windows, outside);
  Shape axes(view.rank() - x.rank());
  std::iota(axes.begin(), axes.end(), x.rank());
  return axes.empty() ? view : emit.reduce(monoid, view, axes, false);
}

/// How many elements of a window are in [from, to) at each position.
Shape elementsIn(const WindowAxis &axis, int64_t from, int64_t to) {
  Shape out;
  for (int64_t i = 0; i < axis.count; ++i) {
    const int64_t start = i * axis.stride - axis.low;
    // The first element at `from` or behind it, and the first at `to` or behind it.
    const auto firstFrom = [&](int64_t place) {
      return place <= start ? 0 : std::min(axis.size, (place - start - 1) / axis.dilation + 1);
    };
    out.push_back(firstFrom(to) - firstFrom(from));
  }
  return out;
}

/// By axis and position, how many elements an average divides by.
std::vector<Shape> divisors(const NodeView &node) {
  const bool pads = isSet(node, "count_include_pad");
  std::vector<Shape> out;
  for (const WindowAxis &axis : windowsOf(node))
    out.push_back(elementsIn(axis, pads ? -axis.low : 0, axis.extent + (pads ? axis.high : 0)));
  return out;
}

/// The reciprocals of the divisors, one number if all are equal.
Tensor reciprocals(const NodeView &node) {
  const std::vector<Shape> counts = divisors(node);
  Shape positions;
  for (const Shape &axis : counts)
    positions.push_back(static_cast<int64_t>(axis.size()));
  const int64_t elements = elementCount(positions, kMaxPositions);
  std::vector<float> factors(elements);
  for (int64_t flat = 0; flat < elements; ++flat) {
    int64_t rest = flat;
    double count = 1;
    for (size_t i = positions.size(); i-- > 0; rest /= positions[i])
      count *= static_cast<double>(counts[i][rest % positions[i]]);
    factors[flat] = static_cast<float>(1 / count);
  }
  if (std::equal(factors.begin() + 1, factors.end(), factors.begin())) {
    factors.resize(1);
    positions.clear();
  }
  return Tensor::ofKnown(HostTensor::ofFloats(std::move(positions), std::move(factors)));
}

/// The sum of what the window sees over the number of elements, which is smaller at the border.
void buildAverage(NodeBuilder &node) {
  const std::vector<WindowAxis> windows = windowsOf(node);
  const std::vector<Shape> counts = divisors(node);
  bool full = true;
  for (size_t i = 0; i < windows.size(); ++i)
    full &= std::all_of(counts[i].begin(), counts[i].end(),
                        [&](int64_t count) { return count == windows[i].size; });
  if (full) {
    node.result(pooled(node.emit, ir::Monoid::Mean, node.in(0), windows, 0));
    return;
  }
  const auto [sums, factors] = windowSums(node, node.in(0));
  node.result(node.emit.pointwise(
      {sums, factors}, [](const Scalars &s, mlir::ValueRange x) { return s.mul(x[0], x[1]); }));
}

/// A float in opset 1, an int later.
float normOf(const NodeView &node) {
  return node.opset() == 1 ? node.real("p") : static_cast<float>(node.integer("p"));
}

/// The p-norm, p = 1 or 2: what is outside adds nothing.
void buildNorm(NodeBuilder &node, const std::function<Tensor(const Tensor &)> &sum) {
  const bool squares = normOf(node) == 2;
  const Tensor x =
      node.emit.pointwise({node.in(0)}, [squares](const Scalars &s, mlir::ValueRange v) {
        return squares ? s.mul(v[0], v[0]) : s.make<mlir::math::AbsFOp>(v[0]);
      });
  const Tensor total = sum(x);
  node.result(squares ? node.emit.pointwise({total},
                                            [](const Scalars &s, mlir::ValueRange v) {
                                              return s.make<mlir::math::SqrtOp>(v[0]);
                                            })
                      : total);
}

/// What a pooling has in one of its versions.
struct Version {
  bool rounding = false; ///< ceil_mode
  bool dilations = false;
  bool indices = false;  ///< a second output, and its storage_order
  bool padCount = false; ///< count_include_pad
};

Operator pooling(const char *name, const char *form, const Version &version) {
  Operator entry;
  entry.name = name;
  entry.form = form;
  entry.inputs = {{"X"}};
  entry.outputs = {{"Y"}};
  entry.attributes = windowAttributes(version.dilations);
  for (AttributeSpec &spec : entry.attributes)
    spec.required = spec.name == "kernel_shape";
  if (version.rounding)
    entry.attributes.push_back({"ceil_mode", AttributeKind::Int, int64_t{0}, false, {0, 1}});
  if (version.indices) {
    entry.outputs.push_back({"Indices", Presence::Optional});
    entry.attributes.push_back({"storage_order", AttributeKind::Int, int64_t{0}, false, {0, 1}});
  }
  if (version.padCount)
    entry.attributes.push_back(
        {"count_include_pad", AttributeKind::Int, int64_t{0}, false, {0, 1}});
  entry.requirements = {hasSpatialAxes(), perSpatialAxis("kernel_shape"),
                        perSpatialAxis("strides")};
  if (version.dilations)
    entry.requirements.push_back(perSpatialAxis("dilations"));
  for (Requirement &one : padRequirements())
    entry.requirements.push_back(std::move(one));
  const auto sizes = [](const NodeView &node) { return node.integers("kernel_shape"); };
  entry.requirements.push_back(windowFits(sizes));
  entry.requirements.push_back(
      {"the pads of an axis must be smaller than the window",
       [](const NodeView &node) -> std::string {
         const std::vector<WindowAxis> windows = windowsOf(node);
         for (size_t i = 0; i < windows.size(); ++i)
           if (std::max(windows[i].low, windows[i].high) >= windows[i].reach())
             return fmt::format("pads {} and {} for a window over {} elements of axis {}",
                                windows[i].low, windows[i].high, windows[i].reach(),
                                firstSpatialAxis(node) + i);
         return "";
       },
       kShapes});
  return entry;
}

/// Elements up to which bf16 has the index of every one.
constexpr int64_t kMostIndices = 256;

/// Which element of the input every one of a window is, [positions..., elements of the window];
/// `strides` are those of the spatial axes. 0 outside.
std::vector<float> elementsSeen(const std::vector<WindowAxis> &windows, const Shape &strides) {
  std::vector<float> out = {0};
  const auto spread = [&](int64_t count) {
    std::vector<float> wide;
    for (const float one : out)
      wide.insert(wide.end(), count, one);
    out = std::move(wide);
  };
  Shape extents; // positions, then elements
  for (const WindowAxis &axis : windows)
    extents.push_back(axis.count);
  for (const WindowAxis &axis : windows)
    extents.push_back(axis.size);
  for (const int64_t extent : extents)
    spread(extent);
  const Shape steps = stridesOf(extents);
  for (size_t flat = 0; flat < out.size(); ++flat)
    for (size_t i = 0; i < windows.size(); ++i) {
      const WindowAxis &axis = windows[i];
      const int64_t position = static_cast<int64_t>(flat) / steps[i] % axis.count;
      const int64_t element = static_cast<int64_t>(flat) / steps[windows.size() + i] % axis.size;
      const int64_t place = position * axis.stride + element * axis.dilation - axis.low;
      out[flat] += static_cast<float>(std::clamp<int64_t>(place, 0, axis.extent - 1) * strides[i]);
    }
  return out;
}

/// The index of the first greatest element that each window sees, in the whole input.
Tensor indicesOfGreatest(NodeBuilder &node, const std::vector<WindowAxis> &windows) {
  Emitter &emit = node.emit;
  const Tensor &x = node.in(0);
  const Tensor view = seen(emit, x, windows, kLowest);
  Shape shape(view.shape.begin(), view.shape.begin() + x.rank());
  shape.push_back(extentProduct(view.shape, x.rank(), view.shape.size()));
  const int64_t last = x.rank();
  const Tensor place = emit.reduce(ir::Monoid::ArgMax, emit.reshape(view, shape), {last}, true);
  const Tensor chosen = emit.pointwise(
      {countAlong(last, last + 1, shape.back()), place}, [](const Scalars &s, mlir::ValueRange v) {
        return s.make<mlir::arith::SelectOp>(
            s.make<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::OEQ, v[0], v[1]), s.constant(1),
            s.constant(0));
      });
  Shape strides = stridesOf(x.shape);
  const int64_t plane = strides[1];
  if (node.integer("storage_order") != 0) { // the first spatial axis is the fastest
    int64_t step = 1;
    for (size_t axis = 2; axis < strides.size(); step *= x.shape[axis++])
      strides[axis] = step;
  }
  Shape around = shape;
  around[0] = around[1] = 1;
  const Tensor elements = Tensor::ofKnown(
      HostTensor::ofFloats(around, elementsSeen(windows, {strides.begin() + 2, strides.end()})));
  std::vector<float> firsts(x.shape[0] * x.shape[1]);
  for (size_t i = 0; i < firsts.size(); ++i)
    firsts[i] = static_cast<float>(static_cast<int64_t>(i) * plane);
  Shape planes(x.rank(), 1);
  planes[0] = x.shape[0];
  planes[1] = x.shape[1];
  const Tensor first = Tensor::ofKnown(HostTensor::ofFloats(planes, std::move(firsts)));
  Tensor indices =
      emit.pointwise({chosenAlong(emit, chosen, elements, last), first},
                     [](const Scalars &s, mlir::ValueRange v) { return s.add(v[0], v[1]); });
  indices.type = onnx::TensorProto::INT64;
  return indices;
}

Operator maxPool(const Version &version) {
  Operator entry =
      pooling("MaxPool",
              version.indices ? "window, then reduce max; indices: reduce argmax, map, "
                                "reduce max"
                              : "window, then reduce max",
              version);
  if (version.indices)
    entry.requirements.push_back({fmt::format("with output 'Indices', 'X' must have at most {} "
                                              "elements, the range of exact bf16 integers",
                                              kMostIndices),
                                  [](const NodeView &node) -> std::string {
                                    return !node.isUsed(1) ||
                                                   elementCount(node.in(0).shape, kMostIndices) >= 0
                                               ? ""
                                               : shapeText(node.in(0).shape);
                                  }});
  entry.build = [](NodeBuilder &node) {
    const std::vector<WindowAxis> windows = windowsOf(node);
    const DataType type = node.in(0).type;
    node.replace(0, asFloats(node.in(0))); // a bf16 number is every 8-bit integer
    Tensor y = pooled(node.emit, ir::Monoid::Max, node.in(0), windows, kLowest);
    y.type = type;
    node.result(std::move(y));
    if (node.isUsed(1))
      node.result(1, indicesOfGreatest(node, windows));
  };
  return entry;
}

Operator ofBytesToo(Operator entry) {
  entry.inputs[0].types = Types::Numeric;
  entry.requirements.insert(entry.requirements.begin(),
                            {"integers must be int8 or uint8",
                             [](const NodeView &node) -> std::string {
                               const DataType type = node.in(0).type;
                               return isFloatType(type) || type == onnx::TensorProto::INT8 ||
                                              type == onnx::TensorProto::UINT8
                                          ? ""
                                          : dataTypeName(type);
                             },
                             kShapes});
  return entry;
}

Operator averagePool(const Version &version) {
  Operator entry = pooling("AveragePool",
                           "window, then reduce mean; reduce sum and map: * 1 / elements where the "
                           "window crosses the border",
                           version);
  entry.requirements.push_back(
      {fmt::format("the window must have at most {} positions", kMaxPositions),
       [](const NodeView &node) -> std::string {
         Shape positions;
         for (const WindowAxis &axis : windowsOf(node))
           positions.push_back(axis.count);
         return elementCount(positions, kMaxPositions) >= 0 ? "" : shapeText(positions);
       }});
  if (version.dilations)
    entry.requirements.push_back(
        {"the average must include at least one element at every position",
         [](const NodeView &node) -> std::string {
           const std::vector<Shape> counts = divisors(node);
           for (size_t axis = 0; axis < counts.size(); ++axis) {
             const auto none = std::find(counts[axis].begin(), counts[axis].end(), 0);
             if (none != counts[axis].end())
               return fmt::format("none at position {} along axis {}", none - counts[axis].begin(),
                                  firstSpatialAxis(node) + axis);
           }
           return "";
         },
         kShapes});
  entry.build = buildAverage;
  return entry;
}

/// The attribute 'p' of a norm: a float in opset 1, an int later.
Operator withNorm(Operator entry, bool first = false) {
  entry.attributes.push_back(first ? AttributeSpec{"p", AttributeKind::Float, 2.0F}
                                   : AttributeSpec{"p", AttributeKind::Int, int64_t{2}});
  entry.requirements.push_back(
      {"attribute 'p' must be 1 or 2", [](const NodeView &node) -> std::string {
         const float p = normOf(node);
         return p == 1 || p == 2 ? "" : fmt::format("{}", p);
       }});
  return entry;
}

Operator lpPool(const Version &version) {
  Operator entry = pooling("LpPool", "map |x| or x * x, window, reduce sum, map sqrt", version);
  entry.build = [](NodeBuilder &node) {
    buildNorm(node, [&](const Tensor &x) {
      return pooled(node.emit, ir::Monoid::Sum, x, windowsOf(node), 0);
    });
  };
  return entry;
}

Shape spatialAxesOf(const Tensor &x) {
  Shape axes(x.rank() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

Operator global(const char *name, const char *form, std::function<void(NodeBuilder &)> build) {
  Operator entry;
  entry.name = name;
  entry.form = form;
  entry.inputs = {{"X"}};
  entry.outputs = {{"Y"}};
  entry.requirements = {hasSpatialAxes()};
  entry.build = std::move(build);
  return entry;
}

Operator globalFold(const char *name, const char *form, ir::Monoid monoid) {
  return global(name, form, [monoid](NodeBuilder &node) {
    node.result(node.emit.reduce(monoid, node.in(0), spatialAxesOf(node.in(0)), true));
  });
}

} // namespace

WindowSums windowSums(NodeBuilder &node, const Tensor &x) {
  return {pooled(node.emit, ir::Monoid::Sum, x, windowsOf(node), 0), reciprocals(node)};
}

void addPooling(OperatorTable &table) {
  table.add({1}, maxPool({}));
  table.add({8}, maxPool({.indices = true}));
  table.add({10, 11}, maxPool({.rounding = true, .dilations = true, .indices = true}));
  table.add({12, 22}, ofBytesToo(maxPool({.rounding = true, .dilations = true, .indices = true})));
  table.add({1}, averagePool({}));
  table.add({7}, averagePool({.padCount = true}));
  table.add({10, 11}, averagePool({.rounding = true, .padCount = true}));
  table.add({19, 22}, averagePool({.rounding = true, .dilations = true, .padCount = true}));
  table.add({1}, withNorm(lpPool({}), true));
  table.add({2, 11}, withNorm(lpPool({})));
  table.add({18, 22}, withNorm(lpPool({.rounding = true, .dilations = true})));
  table.add({1, 22}, globalFold("GlobalMaxPool", "reduce max", ir::Monoid::Max));
  table.add({1, 22}, globalFold("GlobalAveragePool", "reduce mean", ir::Monoid::Mean));
  Operator norm =
      global("GlobalLpPool", "map |x| or x * x, reduce sum, map sqrt", [](NodeBuilder &node) {
        buildNorm(node, [&](const Tensor &x) {
          return node.emit.reduce(ir::Monoid::Sum, x, spatialAxesOf(x), true);
        });
      });
  table.add({1}, withNorm(norm, true));
  table.add({2, 22}, withNorm(norm));
}

} // namespace sluice::frontend::ops
