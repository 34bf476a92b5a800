// Both directions against tables of every element, made by coordinates.
#include "runtime/addressing/addressing.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/rng.h"

namespace sluice::addressing {
namespace {

using fixtures::Rng;

/// The address of every element, one by one.
struct Table {
  Indices shape;
  std::map<Indices, int64_t> addresses;
};

/// All indices of a shape in row-major order.
std::vector<Indices> indicesOf(const Indices &shape) {
  std::vector<Indices> all{{}};
  for (const int64_t extent : shape) {
    std::vector<Indices> longer;
    for (const Indices &one : all)
      for (int64_t i = 0; i < extent; ++i) {
        longer.push_back(one);
        longer.back().push_back(i);
      }
    all = std::move(longer);
  }
  return all;
}

/// A table whose elements are those of another one at other indices.
Table select(const Table &from, const Indices &shape,
             const std::function<Indices(const Indices &)> &source) {
  Table table{shape, {}};
  for (const Indices &index : indicesOf(shape))
    table.addresses[index] = from.addresses.at(source(index));
  return table;
}

/// A random factorisation into up to four extents.
Indices factors(Rng &rng, int64_t elements) {
  Indices shape;
  while (elements > 1 && shape.size() < 3) {
    int64_t factor = rng.range(1, elements);
    while (elements % factor != 0)
      ++factor;
    shape.push_back(factor);
    elements /= factor;
  }
  shape.push_back(elements);
  return shape;
}

/// One random view, of both.
std::string step(Rng &rng, Addressing &object, Table &table) {
  const Indices shape = table.shape;
  const auto axis = static_cast<size_t>(rng.range(0, static_cast<int64_t>(shape.size()) - 1));
  switch (rng.range(0, 6)) {
  case 0: {
    Indices order(shape.size()), permuted(shape.size());
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size(); i-- > 1;)
      std::swap(order[i], order[static_cast<size_t>(rng.range(0, static_cast<int64_t>(i)))]);
    for (size_t i = 0; i < order.size(); ++i)
      permuted[i] = shape[static_cast<size_t>(order[i])];
    object = object.permuted(order);
    table = select(table, permuted, [&](const Indices &index) {
      Indices source(index.size());
      for (size_t i = 0; i < index.size(); ++i)
        source[static_cast<size_t>(order[i])] = index[i];
      return source;
    });
    return "permuted";
  }
  case 1:
    object = object.reversed(Indices{static_cast<int64_t>(axis)});
    table = select(table, shape, [&](Indices index) {
      index[axis] = shape[axis] - 1 - index[axis];
      return index;
    });
    return "reversed";
  case 2: {
    Indices starts(shape.size(), 0), sizes = shape, steps(shape.size(), 1);
    const int64_t first = rng.range(0, shape[axis] - 1), last = rng.range(0, shape[axis] - 1),
                  by = rng.range(1, 3);
    starts[axis] = first;
    sizes[axis] = (first > last ? first - last : last - first) / by + 1;
    steps[axis] = first > last ? -by : by;
    object = object.sliced(starts, sizes, steps);
    table = select(table, sizes, [&](Indices index) {
      index[axis] = first + index[axis] * steps[axis];
      return index;
    });
    return "sliced";
  }
  case 3: {
    if (shape[axis] != 1 || object.elements() > 200)
      return "";
    Indices larger = shape;
    larger[axis] = rng.range(1, 4);
    object = object.broadcast(larger);
    table = select(table, larger, [&](Indices index) {
      index[axis] = 0;
      return index;
    });
    return "broadcast";
  }
  case 4: {
    const int64_t by = rng.range(-5, 5);
    object = object.rotated(axis, by);
    table = select(table, shape, [&](Indices index) {
      index[axis] = (index[axis] + by + 10 * shape[axis]) % shape[axis];
      return index;
    });
    return "rotated";
  }
  case 5: {
    if (object.elements() > 200)
      return "";
    Indices larger = shape;
    larger[axis] *= rng.range(1, 3);
    object = object.tiled(axis, larger[axis] / shape[axis]);
    table = select(table, larger, [&](Indices index) {
      index[axis] %= shape[axis];
      return index;
    });
    return "tiled";
  }
  default: {
    const Indices other = factors(rng, object.elements());
    object = object.reshaped(other);
    const std::vector<Indices> from = indicesOf(shape);
    Table reshaped{other, {}};
    size_t position = 0;
    for (const Indices &index : indicesOf(other))
      reshaped.addresses[index] = table.addresses.at(from[position++]);
    table = std::move(reshaped);
    return "reshaped";
  }
  }
}

void compare(const Addressing &object, const Table &table, const std::string &what) {
  ASSERT_EQ(object.shape(), table.shape) << what;
  std::map<int64_t, std::vector<int64_t>> inverse;
  std::vector<int64_t> inOrder;
  for (const Indices &index : indicesOf(table.shape)) {
    const auto position = static_cast<int64_t>(inOrder.size());
    const int64_t address = table.addresses.at(index);
    ASSERT_EQ(object.at(index), address) << what;
    ASSERT_EQ(object.at(position), address) << what;
    ASSERT_EQ(object.indexOf(position), index) << what;
    ASSERT_EQ(object.positionOf(index), position) << what;
    inverse[address].push_back(position);
    inOrder.push_back(address);
  }
  std::vector<int64_t> visited;
  object.forEach([&](int64_t position, int64_t address) {
    ASSERT_EQ(position, static_cast<int64_t>(visited.size())) << what;
    visited.push_back(address);
  });
  ASSERT_EQ(visited, inOrder) << what;
  const int64_t low = inverse.begin()->first, high = inverse.rbegin()->first;
  for (int64_t address = low - 3; address <= high + 3; ++address) {
    const auto found = inverse.find(address);
    ASSERT_EQ(object.positionsAt(address),
              found == inverse.end() ? std::vector<int64_t>() : found->second)
        << what << ", address " << address;
    ASSERT_EQ(object.positionAt(address),
              found == inverse.end() ? std::nullopt : std::optional(found->second.front()))
        << what << ", address " << address;
  }
}

TEST(Addressing, RandomChainsBothWays) {
  size_t oneMap = 0, chains = 2000;
  for (uint64_t seed = 0; seed < chains; ++seed) {
    Rng rng(seed);
    Indices shape;
    for (int64_t rank = rng.range(1, 4); rank > 0; --rank)
      shape.push_back(rng.range(1, 5));
    const auto dim = static_cast<size_t>(rng.range(0, static_cast<int64_t>(shape.size()) - 1));
    // Rows of lanes, or strides of any kind, so that elements may share an address.
    Indices strides = rowStrides(shape, dim, 4);
    const bool rows = rng.percent(50);
    for (int64_t &stride : strides)
      stride = rows ? stride : rng.range(-12, 12);
    const int64_t base = rng.range(-20, 20);
    Addressing object = Addressing::strided(shape, strides, base);
    Table table{shape, {}};
    for (const Indices &index : indicesOf(shape))
      table.addresses[index] =
          base + std::inner_product(index.begin(), index.end(), strides.begin(), int64_t{0});
    std::string what = "seed " + std::to_string(seed);
    for (int64_t steps = rng.range(0, 6); steps > 0; --steps)
      what += " " + step(rng, object, table);
    compare(object, table, what);
    if (HasFatalFailure())
      return;
    oneMap += object.isOneMap() ? 1 : 0;
  }
  // Both kinds, many times.
  EXPECT_GT(oneMap, chains / 2);
  EXPECT_LT(oneMap, chains - chains / 20);
}

TEST(Addressing, CompositionIsOneAfterTheOther) {
  size_t fused = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Rng rng(seed);
    const auto random = [&](int64_t elements) {
      Addressing object(factors(rng, elements));
      Table table{object.shape(), {}};
      for (const Indices &index : indicesOf(object.shape()))
        table.addresses[index] = object.at(index);
      for (int64_t steps = rng.range(0, 3); steps > 0; --steps)
        step(rng, object, table);
      return object;
    };
    const Addressing second = random(rng.pick({12, 24, 36, 60}));
    // Its positions are those of the second.
    const Addressing first = random(second.elements());
    const Addressing both = first.then(second);
    for (int64_t position = 0; position < first.elements(); ++position)
      ASSERT_EQ(both.at(position), second.at(first.at(position))) << "seed " << seed;
    EXPECT_EQ(both.shape(), first.shape());
    fused += first.isOneMap() && second.isOneMap() && both.isOneMap() ? 1 : 0;
  }
  EXPECT_GT(fused, 500U);
}

TEST(Addressing, ViewsOfARowMajorTensorAreOneMap) {
  // Whatever moves along axes, in any order.
  const Addressing view = Addressing({4, 6, 8})
                              .permuted(Indices{2, 0, 1})
                              .sliced(Indices{7, 0, 1}, Indices{4, 4, 5}, Indices{-2, 1, 1})
                              .reversed(Indices{1})
                              .reshaped({4, 4, 5, 1})
                              .broadcast(Indices{4, 4, 5, 3})
                              .reshaped({16, 15});
  EXPECT_TRUE(view.isOneMap());
  // [i, j] of [16, 15] is [a, b, c, *], so [7 - 2a, 3 - b, 1 + c] of the permuted one.
  EXPECT_EQ(view.at(Indices{6, 7}), (3 - 2) * 48 + (1 + 2) * 8 + (7 - 2 * 1));
  EXPECT_EQ(view.indexOf(*view.positionAt(29)), (Indices{7, 6}));
}

TEST(Addressing, Rings) {
  // A family of ten rows in a ring of four.
  const Addressing ring = Addressing::ring(10, 4);
  EXPECT_EQ(ring.at(3), 3);
  EXPECT_EQ(ring.at(9), 1);
  EXPECT_EQ(ring.positionsAt(1), (std::vector<int64_t>{1, 5, 9}));
  EXPECT_EQ(ring.positionsAt(4), (std::vector<int64_t>()));
  // Rows 6 to 8 of it go round once.
  const Addressing some = ring.sliced(Indices{6}, Indices{3}, Indices{1});
  EXPECT_TRUE(some.isOneMap());
  EXPECT_EQ(some.at(0), 2);
  EXPECT_EQ(some.at(2), 0);
  // Two of them do not.
  EXPECT_EQ(ring.sliced(Indices{6}, Indices{2}, Indices{1}).positionsAt(0),
            (std::vector<int64_t>()));
}

TEST(Addressing, RowsOfLanes) {
  EXPECT_EQ(rowStrides(Indices{2, 10, 3}, 1, 8), (Indices{48, 1, 16}));
  EXPECT_EQ(rowsOf(Indices{2, 10, 3}, 1, 8), 12);
  EXPECT_EQ(rowStrides(Indices{}, 0, 8), Indices{});
  EXPECT_EQ(rowsOf(Indices{}, 0, 8), 1);
  const Addressing rows = Addressing::strided({2, 10, 3}, rowStrides(Indices{2, 10, 3}, 1, 8));
  EXPECT_EQ(rows.positionAt(48 + 16 + 9), rows.positionOf(Indices{1, 9, 1}));
  EXPECT_EQ(rows.positionAt(48 + 16 + 10), std::nullopt); // a lane beyond the extent
  EXPECT_EQ(rows.positionAt(96), std::nullopt);
  EXPECT_EQ(rows.positionAt(-1), std::nullopt);
}

TEST(Addressing, Scalar) {
  const Addressing scalar;
  EXPECT_EQ(scalar.elements(), 1);
  EXPECT_EQ(scalar.at(0), 0);
  EXPECT_EQ(scalar.positionAt(0), 0);
  EXPECT_EQ(scalar.positionAt(1), std::nullopt);
}

} // namespace
} // namespace sluice::addressing
