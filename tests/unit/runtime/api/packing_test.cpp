#include "runtime/api/packing.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

#include <gtest/gtest.h>

#include "runtime/api/element.h"
#include "runtime/format/index_code.h"

namespace sluice::runtime {
namespace {

using format::HostTensor;
using format::HostType;

/// [2, 10, 3] of small integers, packed with 8 lanes.
std::vector<uint16_t> packed(uint32_t dataDim, HostTensor &tensor) {
  tensor = {"x", {2, 10, 3}, HostType::Float32, dataDim, 0, 0};
  tensor.rows =
      static_cast<uint32_t>(60 / tensor.shape[dataDim] * ((tensor.shape[dataDim] + 7) / 8));
  std::vector<float> data(60);
  std::iota(data.begin(), data.end(), 1.0F);
  std::vector<uint16_t> rows(size_t{tensor.rows} * 8, 0xFFFF);
  pack(tensor, 8, data.data(), HostType::Float32, rows);
  return rows;
}

TEST(Packing, FollowsTheFormula) {
  for (uint32_t d = 0; d < 3; ++d) {
    HostTensor tensor;
    const std::vector<uint16_t> rows = packed(d, tensor);
    std::vector<uint16_t> expected(rows.size(), 0);
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 10; ++b)
        for (int c = 0; c < 3; ++c) {
          const int index[] = {a, b, c};
          const int others = d == 0 ? b * 3 + c : d == 1 ? a * 3 + c : a * 10 + b;
          const int perIndex = d == 1 ? 2 : 1;
          const int row = others * perIndex + index[d] / 8;
          expected[row * 8 + index[d] % 8] = bf16FromFloat(float(a * 30 + b * 3 + c + 1));
        }
    EXPECT_EQ(rows, expected) << "data dimension " << d;
  }
}

TEST(Packing, EveryHostTypeComesBack) {
  HostTensor tensor;
  const std::vector<uint16_t> rows = packed(1, tensor);
  for (HostType type : {HostType::Float32, HostType::BFloat16, HostType::Float16, HostType::Float64,
                        HostType::Int8, HostType::UInt8, HostType::Int16, HostType::UInt16,
                        HostType::Int32, HostType::UInt32, HostType::Int64, HostType::UInt64}) {
    std::vector<uint8_t> data(60 * elementBytes(type));
    unpack(tensor, 8, rows, data.data(), type);
    std::vector<uint16_t> again(rows.size());
    pack(tensor, 8, data.data(), type, again);
    EXPECT_EQ(again, rows);
  }
}

TEST(Packing, PartsOfStepsFollowEachOther) {
  // Every axis of [6, 10, 4] as that of two steps, with every data dimension.
  const std::vector<int64_t> whole{6, 10, 4};
  std::vector<float> data(240);
  std::iota(data.begin(), data.end(), 1.0F);
  for (uint32_t axis = 0; axis < 3; ++axis)
    for (uint32_t d = 0; d < 3; ++d) {
      HostTensor tensor{"x", whole, HostType::Float32, d, 0, 0, axis};
      std::vector<int64_t> shape = whole;
      shape[axis] /= 2;
      tensor.rows = static_cast<uint32_t>(120 / shape[d] * ((shape[d] + 7) / 8));
      std::vector<uint16_t> rows(size_t{tensor.rows} * 16), expected;
      pack(tensor, 8, data.data(), HostType::Float32, rows, 2);
      for (int64_t step = 0; step < 2; ++step) {
        // The part as a tensor of its own.
        std::vector<float> part;
        for (int64_t a = 0; a < whole[0]; ++a)
          for (int64_t b = 0; b < whole[1]; ++b)
            for (int64_t c = 0; c < whole[2]; ++c)
              if (const int64_t index[] = {a, b, c}; index[axis] / shape[axis] == step)
                part.push_back(data[static_cast<size_t>((a * whole[1] + b) * whole[2] + c)]);
        const HostTensor alone{"x", shape, HostType::Float32, d, 0, tensor.rows};
        std::vector<uint16_t> one(size_t{tensor.rows} * 8);
        pack(alone, 8, part.data(), HostType::Float32, one);
        expected.insert(expected.end(), one.begin(), one.end());
      }
      EXPECT_EQ(rows, expected) << "axis " << axis << ", data dimension " << d;
      std::vector<float> back(240);
      unpack(tensor, 8, rows, back.data(), HostType::Float32, 2);
      EXPECT_EQ(back, data);
      if (axis == d)
        continue;
      // All but the first two positions of a tensor that begins later.
      tensor.skipped = 2;
      tensor.shape[axis] -= 2;
      std::vector<float> later(static_cast<size_t>(240 / whole[axis] * tensor.shape[axis]));
      unpack(tensor, 8, rows, later.data(), HostType::Float32, 2);
      std::vector<float> expectedLater;
      for (int64_t a = 0; a < whole[0]; ++a)
        for (int64_t b = 0; b < whole[1]; ++b)
          for (int64_t c = 0; c < whole[2]; ++c)
            if (const int64_t index[] = {a, b, c}; index[axis] >= 2)
              expectedLater.push_back(data[static_cast<size_t>((a * whole[1] + b) * whole[2] + c)]);
      EXPECT_EQ(later, expectedLater);
    }
}

TEST(Packing, IntegersSaturate) {
  const HostTensor tensor{"x", {4}, HostType::Float32, 0, 0, 1};
  const std::array<float, 4> values{-1e20F, 1e20F, NAN, -2.5F};
  std::vector<uint16_t> rows(8);
  pack(tensor, 8, values.data(), HostType::Float32, rows);
  const auto unpacked = [&]<typename T>(HostType type, T) {
    std::vector<T> found(4);
    unpack(tensor, 8, rows, found.data(), type);
    return found;
  };
  EXPECT_EQ(unpacked(HostType::Int8, int8_t{}), (std::vector<int8_t>{-128, 127, 0, -2}));
  EXPECT_EQ(unpacked(HostType::UInt16, uint16_t{}), (std::vector<uint16_t>{0, 65535, 0, 0}));
  EXPECT_EQ(unpacked(HostType::Int64, int64_t{}),
            (std::vector<int64_t>{INT64_MIN, INT64_MAX, 0, -2}));
  EXPECT_EQ(unpacked(HostType::UInt64, uint64_t{}), (std::vector<uint64_t>{0, UINT64_MAX, 0, 0}));
  EXPECT_EQ(unpacked(HostType::Bool, uint8_t{}), (std::vector<uint8_t>{1, 1, 1, 1}));
}

TEST(Packing, LargeIntegersAreRoundedOnce) {
  const HostTensor tensor{"x", {3}, HostType::Float32, 0, 0, 1};
  // Above the middle between two bf16 numbers by one: by way of float64 it would be the middle.
  const std::array<int64_t, 3> values{(int64_t{257} << 54) + 1, -((int64_t{257} << 54) + 1),
                                      int64_t{257} << 54};
  std::vector<uint16_t> rows(8);
  pack(tensor, 8, values.data(), HostType::Int64, rows);
  EXPECT_EQ(floatFromBf16(rows[0]), 0x1.02p62F);
  EXPECT_EQ(floatFromBf16(rows[1]), -0x1.02p62F);
  EXPECT_EQ(floatFromBf16(rows[2]), 0x1p62F);
}

/// Rows of a table: negative integers count from its end.
TEST(Packing, LooksUp) {
  HostTensor tensor{"x", {3, 2}, HostType::BFloat16, 1, 0, 3};
  tensor.lookup = format::Lookup{0, 2, {}};
  for (int i = 0; i < 10; ++i)
    tensor.lookup->values.push_back(bf16FromFloat(static_cast<float>(i)));
  const std::array<int32_t, 3> ids{4, -5, -1};
  std::vector<uint16_t> rows(24);
  pack(tensor, 8, ids.data(), HostType::Int32, rows);
  const std::vector<float> wanted{8, 9, 0, 1, 8, 9};
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(floatFromBf16(rows[i / 2 * 8 + i % 2]), wanted[i]);
}

/// Every second column of two rows of an array, from the last column on.
TEST(Packing, Selects) {
  HostTensor tensor{"x", {2, 3}, HostType::Float32, 1, 0, 2};
  tensor.selection = format::Selection{12 + 5, {6, -2}};
  std::array<float, 24> array{};
  std::iota(array.begin(), array.end(), 0.0F);
  std::vector<uint16_t> rows(16);
  pack(tensor, 8, array.data(), HostType::Float32, rows);
  const std::vector<float> wanted{17, 15, 13, 23, 21, 19};
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(floatFromBf16(rows[i / 3 * 8 + i % 3]), wanted[i]);
}

TEST(Packing, Quantises) {
  HostTensor tensor{"x", {6}, HostType::Float32, 0, 0, 1};
  tensor.quantised = format::Quantisation{0.5F, 10, {0, 255}};
  // Ties go to even integers; 0.7500001 is above one, which bf16 does not know.
  const std::array<float, 6> values{0.25F, 0.75F, 0.7500001F, 1e9F, -1e9F, -INFINITY};
  std::vector<uint16_t> rows(8);
  pack(tensor, 8, values.data(), HostType::Float32, rows);
  std::vector<float> integers;
  for (size_t i = 0; i < 6; ++i)
    integers.push_back(floatFromBf16(rows[i]));
  EXPECT_EQ(integers, (std::vector<float>{10, 12, 12, 255, 0, 0}));
  std::array<float, 6> back{};
  unpack(tensor, 8, rows, back.data(), HostType::Float32);
  EXPECT_EQ(back, (std::array<float, 6>{0, 1, 1, 122.5F, -5, -5}));
}

TEST(Packing, DecodesIndices) {
  HostTensor tensor{"i", {4}, HostType::Int64, 0, 0, 1};
  tensor.codes = true;
  const std::vector<uint16_t> rows{format::codeOf(0),
                                   format::codeOf(257),
                                   format::codeOf(31615),
                                   0x7FC0,
                                   0,
                                   0,
                                   0,
                                   0}; // a NaN is no code
  std::array<int64_t, 4> indices{};
  unpack(tensor, 8, rows, indices.data(), HostType::Int64);
  EXPECT_EQ(indices, (std::array<int64_t, 4>{0, 257, 31615, 31615}));
  std::array<float, 4> floats{};
  unpack(tensor, 8, rows, floats.data(), HostType::Float32);
  EXPECT_EQ(floats, (std::array<float, 4>{0, 257, 31615, 31615}));
}

TEST(Packing, Scalar) {
  const HostTensor tensor{"s", {}, HostType::Float32, 0, 0, 1};
  EXPECT_EQ(elementCount(tensor), 1U);
  const double value = -2.5;
  std::vector<uint16_t> row(8);
  pack(tensor, 8, &value, HostType::Float64, row);
  EXPECT_EQ(row, (std::vector<uint16_t>{0xC020, 0, 0, 0, 0, 0, 0, 0}));
}

} // namespace
} // namespace sluice::runtime
