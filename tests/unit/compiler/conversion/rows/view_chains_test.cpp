// Chains of selections, by counting: off the data dimension none costs an instruction, along it
// the whole chain is one selection, and what nobody reads is not computed.
#include <algorithm>
#include <numeric>
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "harness.h"
#include "tests/support/environment.h"

namespace sluice::rows::test {
namespace {

using Shape = std::vector<int64_t>;

/// A value of the function that is written, with its data dimension.
struct Value {
  std::string name;
  Shape shape;
  int64_t dim;

  [[nodiscard]] std::string type() const {
    return fmt::format("tensor<{}xbf16, #sluice.dim<{}>>", fmt::join(shape, "x"), dim);
  }
  [[nodiscard]] int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  /// Rows of 8 lanes.
  [[nodiscard]] size_t rows() const {
    size_t rows = (shape[dim] + 7) / 8;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (static_cast<int64_t>(axis) != dim)
        rows *= shape[axis];
    return rows;
  }
};

/// Writes a function of one input, a chain of atoms, and tanh of what they give.
class Chain {
public:
  Chain(uint64_t seed, bool lanes) : random(seed), lanes(lanes) {
    Value x{"%x", {pick(2, 4), pick(1, 3), 10}, 2};
    const std::string input = x.type();
    for (int64_t atoms = pick(1, 10); atoms > 0; --atoms)
      x = atom(x);
    rows = x.rows();
    text = fmt::format("func.func @main(%x: {}) -> {} {{\n{}"
                       "  %y = sluice.map (%l = {}) : ({}) -> {} {{\n"
                       "    %0 = math.tanh %l : f32\n    sluice.yield %0\n  }}\n"
                       "  return %y : {}\n}}\n",
                       input, x.type(), body, x.name, x.type(), x.type(), x.type());
  }

  std::string text;
  size_t rows;

private:
  std::mt19937_64 random;
  bool lanes; ///< atoms may move elements to other lanes
  std::string body;
  int count = 0;

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }

  Value write(const std::string &operation, const std::vector<Value> &operands,
              const std::string &attributes, Shape shape, int64_t dim) {
    Value result{fmt::format("%v{}", count++), std::move(shape), dim};
    std::vector<std::string> names, types;
    for (const Value &operand : operands) {
      names.push_back(operand.name);
      types.push_back(operand.type());
    }
    body += fmt::format("  {} = sluice.{} {} {} : ({}) -> {}\n", result.name, operation,
                        fmt::join(names, ", "), attributes, fmt::join(types, ", "), result.type());
    return result;
  }
  Value slice(const Value &x, int64_t axis, int64_t start, int64_t size, int64_t step) {
    Shape starts(x.shape.size(), 0), sizes = x.shape, steps(x.shape.size(), 1);
    starts[axis] = start;
    sizes[axis] = size;
    steps[axis] = step;
    return write("slice", {x},
                 fmt::format("starts [{}] sizes [{}] steps [{}]", fmt::join(starts, ", "),
                             fmt::join(sizes, ", "), fmt::join(steps, ", ")),
                 sizes, x.dim);
  }
  Value reversed(const Value &x, int64_t axis) {
    return slice(x, axis, x.shape[axis] - 1, x.shape[axis], -1);
  }
  Value unsqueeze(const Value &x, int64_t axis) {
    Shape shape = x.shape;
    shape.insert(shape.begin() + axis, 1);
    return write("unsqueeze", {x}, fmt::format("axes [{}]", axis), shape, x.dim + (axis <= x.dim));
  }
  Value broadcast(const Value &x, int64_t axis, int64_t extent) {
    Shape shape = x.shape;
    shape[axis] = extent;
    return write("broadcast", {x}, "", shape, x.dim);
  }
  Value concat(const std::vector<Value> &parts, int64_t axis) {
    Shape shape = parts.front().shape;
    shape[axis] = 0;
    for (const Value &part : parts)
      shape[axis] += part.shape[axis];
    return write("concat", parts, fmt::format("axis {}", axis), shape, parts.front().dim);
  }
  /// An operation with a number for each axis, but for one they are the same.
  Value listed(const std::string &operation, const std::string &name, const Value &x, int64_t axis,
               int64_t number, int64_t others, int64_t extent) {
    Shape numbers(x.shape.size(), others), shape = x.shape;
    numbers[axis] = number;
    shape[axis] = extent;
    return write(operation, {x}, fmt::format("{} [{}]", name, fmt::join(numbers, ", ")), shape,
                 x.dim);
  }
  /// Axes `axis` and the one behind it become one; neither is the data dimension.
  Value merged(const Value &x, int64_t axis) {
    Shape shape = x.shape;
    shape[axis] *= shape[axis + 1];
    shape.erase(shape.begin() + axis + 1);
    return write("reshape", {x}, "", shape, x.dim - (axis < x.dim));
  }

  Value atom(const Value &x) {
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis < x.rank(); ++axis)
      if (lanes || axis != x.dim)
        axes.push_back(axis);
    const int64_t axis = axes[pick(0, static_cast<int64_t>(axes.size()) - 1)];
    const int64_t extent = x.shape[axis];
    const bool isLane = axis == x.dim, grows = x.rows() <= 24, deep = x.rank() > 3;
    switch (pick(0, 9)) {
    case 0: {
      Shape order(x.rank()), shape;
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      for (const int64_t from : order)
        shape.push_back(x.shape[from]);
      return write("transpose", {x}, fmt::format("[{}]", fmt::join(order, ", ")), shape,
                   std::find(order.begin(), order.end(), x.dim) - order.begin());
    }
    case 1:
      return reversed(x, axis);
    case 2: {
      const int64_t first = pick(0, extent - 1), last = pick(0, extent - 1);
      const int64_t step = pick(1, 2) * (last < first ? -1 : 1);
      return slice(x, axis, first, (last - first) / step + 1, step);
    }
    case 3:
      return deep ? x : unsqueeze(x, pick(0, x.rank()));
    case 4: {
      if (isLane || x.rank() < 3)
        return x;
      const Value one = slice(x, axis, pick(0, extent - 1), 1, 1);
      Shape shape = one.shape;
      shape.erase(shape.begin() + axis);
      return write("squeeze", {one}, fmt::format("axes [{}]", axis), shape, x.dim - (axis < x.dim));
    }
    case 5:
      return isLane || !grows ? x : broadcast(slice(x, axis, 0, 1, 1), axis, pick(1, 3));
    case 6: { // rotate
      const int64_t by = pick(0, extent - 1);
      if (by == 0)
        return x;
      return concat({slice(x, axis, by, extent - by, 1), slice(x, axis, 0, by, 1)}, axis);
    }
    case 7: // the border repeated
      return isLane || !grows
                 ? x
                 : concat({slice(x, axis, 0, 1, 1), x, slice(x, axis, extent - 1, 1, 1)}, axis);
    case 8: { // repeat, tile, or interleave with its reverse
      if (!grows)
        return x;
      if (isLane || deep || pick(0, 1) == 0) {
        if (pick(0, 2) != 0)
          return listed(pick(0, 1) == 0 ? "repeat" : "tile", "counts", x, axis, 2, 1, extent * 2);
        Shape shape = x.shape;
        shape[axis] *= 2;
        return write("interleave", {x, reversed(x, axis)}, fmt::format("axis {}", axis), shape,
                     x.dim);
      }
      const Value other = reversed(x, axis);
      const Value wide = unsqueeze(x, axis + 1);
      return merged(pick(0, 1) == 0 ? broadcast(wide, axis + 1, 2)
                                    : concat({wide, unsqueeze(other, axis + 1)}, axis + 1),
                    axis);
    }
    default: { // a constant array of places
      std::vector<Value> parts;
      for (int64_t i = pick(1, 3); i > 0; --i)
        parts.push_back(slice(x, axis, pick(0, extent - 1), 1, 1));
      return concat(parts, axis);
    }
    }
  }
};

uint64_t chains() { return sluice::fixtures::fromEnvironment("SLUICE_VIEW_CHAINS", 100); }

TEST(ViewChains, OffTheDataDimensionCostNothing) {
  for (uint64_t seed = 0; seed < chains(); ++seed) {
    const Chain chain(seed, false);
    Model model(chain.text);
    ASSERT_TRUE(model.graph) << chain.text;
    ASSERT_EQ(model.computed(), chain.rows) << "seed " << seed << "\n" << chain.text;
    ASSERT_EQ(model.count(RowKind::Linear), 0U) << "seed " << seed << "\n" << chain.text;
    ASSERT_LT(model.error(), 0.005) << "seed " << seed;
  }
}

TEST(ViewChains, AlongTheDataDimensionAreOneSelection) {
  size_t selected = 0;
  for (uint64_t seed = 0; seed < chains(); ++seed) {
    const Chain chain(seed, true);
    Model model(chain.text);
    ASSERT_TRUE(model.graph) << chain.text;
    // The tanh is made of a row of x, or of the sum that selects its lanes.
    ASSERT_EQ(model.computed(), chain.rows) << "seed " << seed << "\n" << chain.text;
    selected += model.count(RowKind::Linear);
    ASSERT_LT(model.error(), 0.005) << "seed " << seed;
  }
  EXPECT_GT(selected, chains());
}

TEST(ViewChains, WhatNobodyReadsIsNotComputed) {
  // Of 6 positions one is read: one product of a block, one sum over lanes, one row of tanh.
  Model model(R"(func.func @main(%x: tensor<6x8xbf16, #sluice.dim<1>>)
      -> tensor<1x1xbf16, #sluice.dim<1>> {
    %w = sluice.constant dense<0.25> : tensor<8x8xf32>
    %h = sluice.matmul %x, %w : (tensor<6x8xbf16, #sluice.dim<1>>, tensor<8x8xf32>)
           -> tensor<6x8xbf16, #sluice.dim<1>>
    %m = sluice.map (%l = %h) : (tensor<6x8xbf16, #sluice.dim<1>>)
           -> tensor<6x8xbf16, #sluice.dim<1>> {
      %0 = math.tanh %l : f32
      sluice.yield %0
    }
    %r = sluice.reduce max %m axes [1] keepdims : (tensor<6x8xbf16, #sluice.dim<1>>)
           -> tensor<6x1xbf16, #sluice.dim<1>>
    %s = sluice.slice %r starts [4, 0] sizes [1, 1] steps [1, 1]
           : (tensor<6x1xbf16, #sluice.dim<1>>) -> tensor<1x1xbf16, #sluice.dim<1>>
    return %s : tensor<1x1xbf16, #sluice.dim<1>>
  })");
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 2U);
  EXPECT_EQ(model.count(RowKind::Linear), 1U);
  EXPECT_LT(model.error(), 0.01);
}

} // namespace
} // namespace sluice::rows::test
