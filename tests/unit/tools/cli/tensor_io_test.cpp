// Tensor files that lie: whatever the bytes, the readers answer.
#include <cstring>
#include <random>

#include <gtest/gtest.h>
#include <zlib.h>

#include "tools/cli/io/tensor.h"

namespace sluice::io {
namespace {

Tensor example() {
  Tensor tensor{"x", Type::Float32, {2, 3}, std::vector<uint8_t>(24)};
  for (int i = 0; i < 6; ++i) {
    const float value = 0.5F * float(i);
    std::memcpy(tensor.data.data() + i * 4, &value, 4);
  }
  return tensor;
}

void put(std::string &out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    out += static_cast<char>(value >> (8 * i));
}

/// A ZIP archive with one stored member x.npy.
std::string exampleNpz() {
  const std::string npy = writeNpy(example());
  const auto crc = crc32(0, reinterpret_cast<const Bytef *>(npy.data()), uInt(npy.size()));
  std::string common; // version, flags, method, time, date, crc, sizes, name size
  for (int i = 0; i < 5; ++i)
    put(common, i == 0 ? 20 : 0, 2);
  put(common, crc, 4);
  put(common, npy.size(), 4);
  put(common, npy.size(), 4);
  put(common, 5, 2);
  put(common, 0, 2); // extra
  std::string zip = std::string("PK\3\4", 4) + common + "x.npy" + npy;
  const size_t directory = zip.size();
  zip += std::string("PK\1\2", 4);
  put(zip, 20, 2);
  zip += common;
  zip.append(2 + 2 + 2 + 4, '\0'); // comment, disk, attributes
  put(zip, 0, 4);                  // local header's offset, at 42
  zip += "x.npy";
  const size_t end = zip.size();
  zip += std::string("PK\5\6", 4);
  put(zip, 0, 4);
  put(zip, 1, 2);
  put(zip, 1, 2);
  put(zip, end - directory, 4);
  put(zip, directory, 4);
  put(zip, 0, 2);
  return zip;
}

TEST(TensorIo, NpyRoundTrip) {
  for (const std::vector<int64_t> &shape :
       {std::vector<int64_t>{2, 3}, std::vector<int64_t>{6}, std::vector<int64_t>{1, 6, 1}}) {
    Tensor tensor = example();
    tensor.shape = shape;
    const auto read = readNpy(writeNpy(tensor));
    ASSERT_TRUE(std::holds_alternative<Tensor>(read)) << std::get<Error>(read).message;
    EXPECT_EQ(std::get<Tensor>(read).shape, shape);
    EXPECT_EQ(std::get<Tensor>(read).data, tensor.data);
  }
  EXPECT_EQ(values(example())[5], 2.5);
}

TEST(TensorIo, NpzMember) {
  const auto read = readNpz(exampleNpz());
  ASSERT_TRUE(std::holds_alternative<std::vector<Tensor>>(read)) << std::get<Error>(read).message;
  const auto &tensors = std::get<std::vector<Tensor>>(read);
  ASSERT_EQ(tensors.size(), 1U);
  EXPECT_EQ(tensors[0].name, "x");
  EXPECT_EQ(tensors[0].data, example().data);
}

TEST(TensorIo, NpzRoundTrip) {
  Tensor other = example();
  other.name = "another tensor";
  other.shape = {6};
  const auto read = readNpz(writeNpz({example(), other}));
  const auto *found = std::get_if<std::vector<Tensor>>(&read);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[0].name, "x");
  EXPECT_EQ((*found)[0].data, example().data);
  EXPECT_EQ((*found)[1].name, "another tensor");
  EXPECT_EQ((*found)[1].shape, std::vector<int64_t>{6});
}

TEST(TensorIo, SizesThatLie) {
  EXPECT_EQ(elementCount({1 << 20, 1 << 20}), -1);
  EXPECT_EQ(elementCount({-1}), -1);
  EXPECT_EQ(elementCount({0, INT64_MAX}), -1);
  EXPECT_EQ(elementCount({0, 5}), 0);
  std::string npy = writeNpy(example());
  npy.replace(npy.find("(2, 3)"), 6, "(2,-3)");
  const auto read = readNpy(npy);
  ASSERT_TRUE(std::holds_alternative<Error>(read));
  EXPECT_EQ(std::get<Error>(read).message, "not a valid .npy file: the shape (2, -3) has a "
                                           "negative dimension or more than 2^31 elements");
}

TEST(TensorIo, MutationsNeverCrash) {
  std::mt19937 random(3);
  const std::string pb("\x08\x02\x08\x03\x10\x01\x4a\x18"
                       "abcdefghijklmnopqrstuvwx",
                       32); // dims 2 and 3, float, 24 bytes of raw data
  ASSERT_TRUE(std::holds_alternative<Tensor>(readTensorProto(pb)));
  for (const std::string &good : {writeNpy(example()), exampleNpz(), pb})
    for (int round = 0; round < 20000; ++round) {
      std::string bytes = good;
      for (unsigned i = 1 + random() % 4; i > 0; --i)
        bytes[random() % bytes.size()] = static_cast<char>(random());
      if (random() % 4 == 0)
        bytes.resize(random() % bytes.size());
      readNpy(bytes);
      readNpz(bytes);
      readTensorProto(bytes);
    }
}

} // namespace
} // namespace sluice::io
