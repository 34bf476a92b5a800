// Random graphs of selections, each value beside the function of coordinates that it should be.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

#include <fmt/format.h>

#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/tensors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace sluice::ir::random_selections {

using mlir::Value;
using Index = std::vector<int64_t>;
using Shape = std::vector<int64_t>;
/// What is at a place.
using Element = std::function<double(const Index &)>;

inline constexpr int64_t kMostElements = 96;

inline int64_t count(const Shape &shape) {
  int64_t result = 1;
  for (const int64_t extent : shape)
    result *= extent;
  return result;
}

/// A value, and what it should be.
struct Selection {
  Value value;
  Element element;
  [[nodiscard]] Shape shape() const { return {shapeOf(value).begin(), shapeOf(value).end()}; }
};

/// Builds a function of two arguments and up to 12 atoms.
class Graph {
public:
  Graph(mlir::MLIRContext &context, uint64_t seed)
      : random(seed), builder(&context), loc(builder.getUnknownLoc()),
        module(mlir::ModuleOp::create(loc)) {
    builder.setInsertionPointToStart(module->getBody());
    llvm::SmallVector<mlir::Type> types;
    for (int i = 0; i < 2; ++i) {
      Shape shape(pick(1, 3));
      for (int64_t &extent : shape)
        extent = pick(1, 4);
      types.push_back(mlir::RankedTensorType::get(shape, builder.getF32Type()));
    }
    auto function =
        builder.create<mlir::func::FuncOp>(loc, "f", builder.getFunctionType(types, {}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    std::vector<Selection> made;
    for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
      const Shape shape(shapeOf(argument).begin(), shapeOf(argument).end());
      reference::Tensor tensor(shape);
      for (double &value : tensor.values)
        value = static_cast<double>(pick(-99, 99));
      arguments.push_back(tensor);
      made.push_back({argument, [tensor](const Index &at) {
                        int64_t flat = 0;
                        for (size_t axis = 0; axis < at.size(); ++axis)
                          flat = flat * tensor.shape[axis] + at[axis];
                        return tensor.values[flat];
                      }});
    }
    for (int64_t atoms = pick(1, 12); atoms > 0; --atoms)
      made.push_back(atom(made[pick(0, 2) == 0 ? pick(0, size(made) - 1) : size(made) - 1], made));
    for (const Selection &one : made)
      if (one.value.getDefiningOp() && modelTensor(one.value).empty()) {
        setModelTensor(one.value, fmt::format("t{}", named.size()));
        named.push_back({one.shape(), one.element});
      }
    const Selection &last = made.back();
    builder.create<mlir::func::ReturnOp>(loc, last.value);
    function.setType(builder.getFunctionType(types, last.value.getType()));
    expected = computed(last.shape(), last.element);
  }

  /// What the tensor of a name is, `t0` and so on; every atom's result has one.
  [[nodiscard]] reference::Tensor tensor(llvm::StringRef name) const {
    size_t number = 0;
    name.drop_front().getAsInteger(10, number);
    return computed(named.at(number).shape, named[number].element);
  }
  [[nodiscard]] size_t names() const { return named.size(); }

  [[nodiscard]] mlir::FunctionOpInterface function() {
    return *module->getOps<mlir::FunctionOpInterface>().begin();
  }
  [[nodiscard]] std::string text() {
    std::string result;
    llvm::raw_string_ostream(result) << *module;
    return result;
  }
  [[nodiscard]] size_t operations() {
    return function().getFunctionBody().front().getOperations().size();
  }

  std::vector<reference::Tensor> arguments;
  reference::Tensor expected;

private:
  std::mt19937_64 random;
  mlir::OpBuilder builder;
  mlir::Location loc;

public:
  mlir::OwningOpRef<mlir::ModuleOp> module;

private:
  struct Named {
    Shape shape;
    Element element;
  };
  std::vector<Named> named;

  static reference::Tensor computed(const Shape &shape, const Element &element) {
    reference::Tensor tensor(shape);
    Index at(shape.size(), 0);
    for (double &value : tensor.values) {
      value = element(at);
      for (size_t axis = at.size(); axis-- > 0 && ++at[axis] == shape[axis];)
        at[axis] = 0;
    }
    return tensor;
  }

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  static int64_t size(const std::vector<Selection> &list) {
    return static_cast<int64_t>(list.size());
  }

  // The operations, each beside its function of coordinates.

  using Formula = Value (*)(mlir::OpBuilder &, mlir::Location, mlir::ValueRange);
  Value map(mlir::ValueRange inputs, Formula formula) {
    return builder.create<MapOp>(loc, inputs, formula);
  }

  Selection transposed(const Selection &x, const Shape &order) {
    return {builder.create<TransposeOp>(loc, x.value, order), [=](const Index &at) {
              Index from(at.size());
              for (size_t axis = 0; axis < at.size(); ++axis)
                from[order[axis]] = at[axis];
              return x.element(from);
            }};
  }
  Selection along(const Selection &x, int64_t axis, int64_t start, int64_t extent, int64_t step) {
    Shape starts(x.shape().size(), 0), sizes = x.shape(), steps(starts.size(), 1);
    starts[axis] = start;
    sizes[axis] = extent;
    steps[axis] = step;
    return {builder.create<SliceOp>(loc, x.value, starts, sizes, steps), [=](Index at) {
              at[axis] = start + at[axis] * step;
              return x.element(at);
            }};
  }
  Selection unsqueezed(const Selection &x, int64_t axis) {
    return {builder.create<UnsqueezeOp>(loc, x.value, llvm::ArrayRef<int64_t>{axis}),
            [=](Index at) {
              at.erase(at.begin() + axis);
              return x.element(at);
            }};
  }
  Selection broadcast(const Selection &x, int64_t axis, int64_t extent) {
    Shape shape = x.shape();
    shape[axis] = extent;
    return {builder.create<BroadcastOp>(loc, x.value, shape), [=](Index at) {
              at[axis] = 0;
              return x.element(at);
            }};
  }
  Selection reshaped(const Selection &x, const Shape &to) {
    const Shape from = x.shape();
    return {builder.create<ReshapeOp>(loc, x.value, to), [=](const Index &at) {
              int64_t flat = 0;
              for (size_t axis = 0; axis < to.size(); ++axis)
                flat = flat * to[axis] + at[axis];
              Index place(from.size());
              for (size_t axis = from.size(); axis-- > 0; flat /= from[axis])
                place[axis] = flat % from[axis];
              return x.element(place);
            }};
  }
  Selection joined(const std::vector<Selection> &parts, int64_t axis) {
    llvm::SmallVector<Value> values;
    Shape extents;
    for (const Selection &part : parts) {
      values.push_back(part.value);
      extents.push_back(part.shape()[axis]);
    }
    return {builder.create<ConcatOp>(loc, values, axis), [=](Index at) {
              size_t part = 0;
              while (at[axis] >= extents[part])
                at[axis] -= extents[part++];
              return parts[part].element(at);
            }};
  }

  Selection padded(const Selection &x, int64_t axis, int64_t before, int64_t after,
                   double outside) {
    const int64_t extent = x.shape()[axis];
    Shape low(x.shape().size(), 0), high = low;
    low[axis] = before;
    high[axis] = after;
    return {builder.create<PadOp>(loc, x.value, low, high, static_cast<float>(outside)),
            [=](Index at) {
              at[axis] -= before;
              return at[axis] < 0 || at[axis] >= extent ? outside : x.element(at);
            }};
  }
  /// The last axis multiplied with weights: few and small, so that every sum is exact.
  Selection multiplied(const Selection &x, int64_t features) {
    const int64_t last = static_cast<int64_t>(x.shape().size()) - 1, extent = x.shape()[last];
    reference::Tensor weights({extent, features});
    for (double &value : weights.values)
      value = static_cast<double>(pick(-2, 2));
    const Value constant =
        builder.create<ConstantOp>(loc, toElements(weights, builder.getContext()));
    return {builder.create<MatmulOp>(loc, x.value, constant), [=](Index at) {
              const int64_t feature = at[last];
              double sum = 0;
              for (at[last] = 0; at[last] < extent; ++at[last])
                sum += x.element(at) * weights.values[at[last] * features + feature];
              return sum;
            }};
  }

  /// x at places along an axis, by a constant array of them: runs of equal distances are slices.
  Selection chosen(const Selection &x, int64_t axis, const Shape &places) {
    std::vector<Selection> parts;
    for (size_t i = 0; i < places.size();) {
      const int64_t step = i + 1 < places.size() ? places[i + 1] - places[i] : 0;
      size_t end = i + 1;
      while (step != 0 && end < places.size() && places[end] - places[end - 1] == step)
        ++end;
      parts.push_back(
          along(x, axis, places[i], static_cast<int64_t>(end - i), step == 0 ? 1 : step));
      i = end;
    }
    // What it should be says the array alone.
    return {joined(parts, axis).value, [=](Index at) {
              at[axis] = places[at[axis]];
              return x.element(at);
            }};
  }
  /// Tensors of one shape in turns along an axis, by the operation or written with others.
  Selection interleaved(const std::vector<Selection> &parts, int64_t axis) {
    llvm::SmallVector<Value> values;
    std::vector<Selection> wide;
    Shape shape = parts.front().shape();
    const bool written = shape.size() < 4 && pick(0, 1) == 0;
    for (const Selection &part : parts) {
      values.push_back(part.value);
      if (written)
        wide.push_back(unsqueezed(part, axis + 1));
    }
    shape[axis] *= static_cast<int64_t>(parts.size());
    const Value whole = written ? reshaped(joined(wide, axis + 1), shape).value
                                : Value(builder.create<InterleaveOp>(loc, values, axis));
    return {whole, [=](Index at) {
              const auto n = static_cast<int64_t>(parts.size());
              const Selection &part = parts[at[axis] % n];
              at[axis] /= n;
              return part.element(at);
            }};
  }

  /// Another of the same shape, or x itself.
  Selection sibling(const Selection &x, const std::vector<Selection> &made) {
    for (const Selection &other : made)
      if (other.shape() == x.shape() && pick(0, 1) == 0)
        return other;
    return x;
  }

  Selection atom(const Selection &x, const std::vector<Selection> &made) {
    const Shape shape = x.shape();
    const auto rank = static_cast<int64_t>(shape.size());
    if (rank == 0)
      return unsqueezed(x, 0);
    const int64_t axis = pick(0, rank - 1), extent = shape[axis];
    const bool grows = count(shape) * 2 + 8 <= kMostElements;
    switch (pick(0, 19)) {
    case 0: {
      Shape order(rank);
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      return transposed(x, order);
    }
    case 1:
      return along(x, axis, extent - 1, extent, -1);
    case 2: {
      const int64_t first = pick(0, extent - 1), last = pick(0, extent - 1);
      const int64_t step = pick(1, 2) * (last < first ? -1 : 1);
      return along(x, axis, first, (last - first) / step + 1, step);
    }
    case 3:
      return rank < 4 ? unsqueezed(x, pick(0, rank)) : transposed(x, {3, 2, 1, 0});
    case 4: {
      const Selection one = along(x, axis, pick(0, extent - 1), 1, 1);
      return {builder.create<SqueezeOp>(loc, one.value, llvm::ArrayRef<int64_t>{axis}),
              [=](Index at) {
                at.insert(at.begin() + axis, 0);
                return one.element(at);
              }};
    }
    case 5: { // one axis, then another that is 1
      const Selection one = broadcast(along(x, axis, pick(0, extent - 1), 1, 1), axis, extent);
      const auto other = std::find(shape.begin(), shape.end(), 1) - shape.begin();
      return other < rank && grows ? broadcast(one, other, pick(1, 2)) : one;
    }
    case 6: {
      const int64_t all = count(shape);
      int64_t divisor = pick(1, all);
      while (all % divisor != 0)
        --divisor;
      return reshaped(x, {divisor, all / divisor});
    }
    case 7:
      return grows ? joined({x, sibling(x, made)}, axis) : along(x, axis, 0, 1, 1);
    case 8: {
      const auto outside = pick(0, 3) == 0 ? 1.0 : 0.0;
      const int64_t most = grows ? 1 : 0;
      const Selection once = padded(x, axis, pick(0, most), pick(0, most), outside);
      return pick(0, 2) == 0 && count(once.shape()) < kMostElements / 2
                 ? padded(once, pick(0, rank - 1), pick(0, most), pick(0, most), outside)
                 : once;
    }
    case 9: { // rotate
      const int64_t by = pick(0, extent - 1);
      if (by == 0)
        return x;
      return joined({along(x, axis, by, extent - by, 1), along(x, axis, 0, by, 1)}, axis);
    }
    case 10:   // repeat each
    case 11: { // repeat all
      if (!grows)
        return along(x, axis, 0, 1, 1);
      const bool each = pick(0, 1) == 0;
      const int64_t own = axis + (each ? 1 : 0);
      Shape flat = shape, counts(rank, 1);
      flat[axis] *= 2;
      counts[axis] = 2;
      const Value repeated = rank < 4 && pick(0, 1) == 0
                                 ? reshaped(broadcast(unsqueezed(x, own), own, 2), flat).value
                             : each ? Value(builder.create<RepeatOp>(loc, x.value, counts))
                                    : Value(builder.create<TileOp>(loc, x.value, counts));
      return {repeated, [=](Index at) {
                at[axis] = each ? at[axis] / 2 : at[axis] % extent;
                return x.element(at);
              }};
    }
    case 12: { // pad with its own elements
      if (!grows)
        return x;
      const int64_t mode = pick(0, 2), border = pick(1, 2);
      if (mode != 0 && extent <= border)
        return x;
      Shape places;
      for (int64_t i = -border; i < extent + border; ++i)
        places.push_back(mode == 0   ? std::clamp<int64_t>(i, 0, extent - 1)
                         : mode == 1 ? (i < 0         ? -i
                                        : i >= extent ? 2 * extent - 2 - i
                                                      : i)
                                     : (i + extent) % extent);
      return chosen(x, axis, places);
    }
    case 13: {
      Shape places(pick(1, grows ? extent + 2 : extent));
      for (int64_t &place : places)
        place = pick(0, extent - 1);
      return chosen(x, axis, places);
    }
    case 14:
      return grows ? interleaved({x, sibling(x, made)}, axis) : x;
    case 15: { // apart by phases, and together again
      const int64_t phases = pick(2, 3);
      if (extent % phases != 0)
        return x;
      std::vector<Selection> parts;
      for (int64_t phase = 0; phase < phases; ++phase)
        parts.push_back(along(x, axis, phase, extent / phases, phases));
      return interleaved(parts, axis);
    }
    case 16: {
      const Value most =
          builder.create<ReduceOp>(loc, Monoid::Max, x.value, llvm::ArrayRef<int64_t>{axis}, true);
      return {most, [=](Index at) {
                double result = -std::numeric_limits<double>::infinity();
                for (at[axis] = 0; at[axis] < extent; ++at[axis])
                  result = std::max(result, x.element(at));
                return result;
              }};
    }
    case 17:
      return shape.back() <= 4 ? multiplied(x, pick(1, 4)) : x;
    case 18: { // by a factor of each line, small so that every product is exact
      const Selection factor = along(x, axis, 0, 1, 1);
      const Value small =
          map({factor.value},
              [](mlir::OpBuilder &b, mlir::Location where, mlir::ValueRange in) -> Value {
                const Value most = b.create<mlir::arith::ConstantOp>(where, b.getF32FloatAttr(2));
                const Value sign = b.create<mlir::arith::MinimumFOp>(where, in[0], most);
                const Value least = b.create<mlir::arith::ConstantOp>(where, b.getF32FloatAttr(-2));
                return b.create<mlir::arith::MaximumFOp>(where, sign, least);
              });
      const Value wide = builder.create<BroadcastOp>(loc, small, shape);
      return {map({x.value, wide},
                  [](mlir::OpBuilder &b, mlir::Location where, mlir::ValueRange in) -> Value {
                    return b.create<mlir::arith::MulFOp>(where, in[0], in[1]);
                  }),
              [=](Index at) {
                const double value = x.element(at);
                at[axis] = 0;
                return value * std::clamp(factor.element(at), -2.0, 2.0);
              }};
    }
    default: {
      const Selection y = sibling(x, made);
      return {map({x.value, y.value},
                  [](mlir::OpBuilder &b, mlir::Location where, mlir::ValueRange in) -> Value {
                    return b.create<mlir::arith::MaximumFOp>(where, in[0], in[1]);
                  }),
              [x, y](const Index &at) { return std::max(x.element(at), y.element(at)); }};
    }
    }
  }
};

} // namespace sluice::ir::random_selections
