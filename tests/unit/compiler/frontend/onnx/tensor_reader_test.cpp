#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "compiler/frontend/onnx/tensor_reader.h"
#include "test_model.h"

namespace sluice::frontend::test {
namespace {

using Proto = onnx::TensorProto;

Proto tensor(int type, const Ints &shape) {
  Proto out;
  out.set_data_type(type);
  out.mutable_dims()->Add(shape.begin(), shape.end());
  return out;
}

std::string error(const Proto &proto) {
  HostTensor out;
  auto problem = readTensor(proto, "initializer 'w'", ExternalData(""), out);
  return problem ? std::string(problem->code) + ": " + problem->message : "";
}

HostTensor read(const Proto &proto) {
  HostTensor out;
  auto problem = readTensor(proto, "initializer 'w'", ExternalData(""), out);
  EXPECT_FALSE(problem) << problem->message;
  return out;
}

template <typename T> Proto raw(int type, const std::vector<T> &values) {
  Proto out = tensor(type, {static_cast<int64_t>(values.size())});
  out.set_raw_data(
      std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)));
  return out;
}

TEST(TensorReader, ReadsRawData) {
  EXPECT_EQ(read(raw<float>(Proto::FLOAT, {1.5F, -2})).floats, (Floats{1.5F, -2}));
  EXPECT_EQ(read(raw<double>(Proto::DOUBLE, {1e-50, 0.1})).floats, (Floats{0, 0.1F}));
  EXPECT_EQ(read(raw<uint16_t>(Proto::BFLOAT16, {0x3FC0, 0xC000})).floats, (Floats{1.5F, -2}));
  EXPECT_EQ(read(raw<uint16_t>(Proto::FLOAT16, {0x3E00, 0xC000, 0x0001, 0x7BFF, 0xFC00})).floats,
            (Floats{1.5F, -2, 0x1p-24F, 65504, -std::numeric_limits<float>::infinity()}));
  EXPECT_TRUE(std::isnan(read(raw<uint16_t>(Proto::FLOAT16, {0x7E00})).floats[0]));
  EXPECT_EQ(read(raw<int8_t>(Proto::INT8, {-1, 127})).ints, (Ints{-1, 127}));
  EXPECT_EQ(read(raw<uint8_t>(Proto::UINT8, {255})).ints, (Ints{255}));
  EXPECT_EQ(read(raw<int16_t>(Proto::INT16, {-2})).ints, (Ints{-2}));
  EXPECT_EQ(read(raw<uint16_t>(Proto::UINT16, {65535})).ints, (Ints{65535}));
  EXPECT_EQ(read(raw<int32_t>(Proto::INT32, {-3})).ints, (Ints{-3}));
  EXPECT_EQ(read(raw<uint32_t>(Proto::UINT32, {4294967295U})).ints, (Ints{4294967295}));
  EXPECT_EQ(read(raw<int64_t>(Proto::INT64, {-4})).ints, (Ints{-4}));
  EXPECT_EQ(read(raw<uint64_t>(Proto::UINT64, {5})).ints, (Ints{5}));
  EXPECT_EQ(read(raw<uint8_t>(Proto::BOOL, {0, 1})).ints, (Ints{0, 1}));
}

TEST(TensorReader, ReadsPairsOfFourBits) {
  Proto proto = tensor(kInt4, {3});
  proto.set_raw_data("\x8F\x07"); // -1, -8, 7
  EXPECT_EQ(read(proto).ints, (Ints{-1, -8, 7}));
  proto.clear_raw_data();
  proto.add_int32_data(0x8F);
  proto.add_int32_data(7);
  EXPECT_EQ(read(proto).ints, (Ints{-1, -8, 7}));
  proto.set_data_type(kUInt4);
  EXPECT_EQ(read(proto).ints, (Ints{15, 8, 7}));
  proto.set_int32_data(1, 256);
  EXPECT_EQ(error(proto), "E0105: initializer 'w' holds 256 in int32_data, which is not two "
                          "elements of uint4");
  proto.add_int32_data(1);
  EXPECT_EQ(error(proto),
            "E0105: initializer 'w' has 3 values in int32_data, but its shape [3] needs 2");
  proto = tensor(kInt4, {3});
  proto.set_raw_data("\x8F");
  EXPECT_EQ(error(proto),
            "E0105: initializer 'w' has 1 bytes of raw data, but int4 of shape [3] needs 2");
}

onnx::SparseTensorProto sparse(const Ints &shape, const std::vector<float> &values,
                               const Ints &indices, const Ints &indexShape) {
  onnx::SparseTensorProto out;
  *out.mutable_values() = raw<float>(Proto::FLOAT, values);
  *out.mutable_indices() = raw<int64_t>(Proto::INT64, indices);
  out.mutable_indices()->clear_dims();
  for (const int64_t extent : indexShape)
    out.mutable_indices()->add_dims(extent);
  for (const int64_t extent : shape)
    out.add_dims(extent);
  return out;
}

TEST(TensorReader, MakesSparseTensorsDense) {
  const auto dense = [](const onnx::SparseTensorProto &proto) {
    HostTensor out;
    const auto problem = readSparse(proto, "initializer 'w'", ExternalData(""), out);
    EXPECT_FALSE(problem) << problem->message;
    return out.floats;
  };
  EXPECT_EQ(dense(sparse({2, 3}, {5, 7}, {1, 5}, {2})), (Floats{0, 5, 0, 0, 0, 7}));
  EXPECT_EQ(dense(sparse({2, 3}, {5, 7}, {0, 1, 1, 2}, {2, 2})), (Floats{0, 5, 0, 0, 0, 7}));
  EXPECT_EQ(dense(sparse({2}, {}, {}, {0})), (Floats{0, 0}));
}

TEST(TensorReader, RefusesDamagedSparseTensors) {
  const auto wrong = [](const onnx::SparseTensorProto &proto) {
    HostTensor out;
    const auto problem = readSparse(proto, "initializer 'w'", ExternalData(""), out);
    return problem ? std::string(problem->code) + ": " + problem->message : "";
  };
  const char *outside = "E0105: initializer 'w' has an index, number 1, that is outside of its "
                        "shape [2 3] or does not follow the one before";
  EXPECT_EQ(wrong(sparse({2, 3}, {5, 7}, {1, 6}, {2})), outside);
  EXPECT_EQ(wrong(sparse({2, 3}, {5, 7}, {1, 1}, {2})), outside);
  EXPECT_EQ(wrong(sparse({2, 3}, {5, 7}, {0, 1, 0, 3}, {2, 2})), outside);
  EXPECT_EQ(wrong(sparse({2, 3}, {5, 7}, {1, 5, 2}, {3})),
            "E0105: initializer 'w' has values of shape [2] and int64 indices of shape [3]; "
            "expected [n], and int64 [n] or [n, 2]");
  EXPECT_EQ(wrong(sparse({int64_t{1} << 20, 1 << 20}, {}, {}, {0})),
            "E0105: initializer 'w' has shape [1048576 1048576], a negative extent or more than "
            "268435456 elements");
}

TEST(TensorReader, ReadsTypedFields) {
  Proto proto = tensor(Proto::FLOAT, {2});
  proto.add_float_data(1.5F);
  proto.add_float_data(2);
  EXPECT_EQ(read(proto).floats, (Floats{1.5F, 2}));
  proto = tensor(Proto::DOUBLE, {1});
  proto.add_double_data(0.25);
  EXPECT_EQ(read(proto).floats, (Floats{0.25F}));
  for (int type : {Proto::INT32, Proto::INT16, Proto::INT8}) {
    proto = tensor(type, {1});
    proto.add_int32_data(-7);
    EXPECT_EQ(read(proto).ints, (Ints{-7}));
  }
  for (int type : {Proto::UINT16, Proto::UINT8, Proto::BOOL}) {
    proto = tensor(type, {1});
    proto.add_int32_data(1);
    EXPECT_EQ(read(proto).ints, (Ints{1}));
  }
  proto = tensor(Proto::FLOAT16, {1});
  proto.add_int32_data(0xBC00);
  EXPECT_EQ(read(proto).floats, (Floats{-1}));
  proto = tensor(Proto::BFLOAT16, {1});
  proto.add_int32_data(0xBF80);
  EXPECT_EQ(read(proto).floats, (Floats{-1}));
  proto = tensor(Proto::INT64, {1});
  proto.add_int64_data(-8);
  EXPECT_EQ(read(proto).ints, (Ints{-8}));
  for (int type : {Proto::UINT32, Proto::UINT64}) {
    proto = tensor(type, {1});
    proto.add_uint64_data(9);
    EXPECT_EQ(read(proto).ints, (Ints{9}));
  }
}

TEST(TensorReader, ReadsScalarsAndEmptyTensors) {
  Proto scalar = tensor(Proto::FLOAT, {});
  scalar.add_float_data(3);
  EXPECT_EQ(read(scalar).floats, (Floats{3}));
  EXPECT_EQ(read(tensor(Proto::INT64, {0})).size(), 0);
}

TEST(TensorReader, RefusesSizesThatLie) {
  Proto proto = raw<float>(Proto::FLOAT, {1, 2, 3});
  proto.set_dims(0, 4);
  EXPECT_EQ(error(proto),
            "E0105: initializer 'w' has 12 bytes of raw data, but float of shape [4] needs 16");
  proto = tensor(Proto::FLOAT, {4});
  proto.add_float_data(1);
  EXPECT_EQ(error(proto),
            "E0105: initializer 'w' has 1 values in float_data, but its shape [4] needs 4");
  EXPECT_EQ(error(tensor(Proto::FLOAT, {4})), "E0105: initializer 'w' has shape [4], but no data");
  EXPECT_EQ(error(tensor(Proto::FLOAT, {2, -1})),
            "E0105: initializer 'w' has a negative extent, -1, in its shape [2 -1]");
  EXPECT_EQ(error(tensor(Proto::FLOAT, {int64_t{1} << 40, int64_t{1} << 40})),
            "E0105: initializer 'w' has shape [1099511627776 1099511627776], more than 268435456 "
            "elements");
}

TEST(TensorReader, RefusesWrongEncodings) {
  Proto proto = raw<float>(Proto::FLOAT, {1});
  proto.add_float_data(1);
  EXPECT_EQ(error(proto),
            "E0105: initializer 'w' has both float_data and raw_data; only one is allowed");
  proto = tensor(Proto::FLOAT, {1});
  proto.add_int64_data(1);
  EXPECT_EQ(error(proto), "E0105: initializer 'w' has its values in int64_data, but float must be "
                          "in raw_data or float_data");
  EXPECT_EQ(error(tensor(Proto::UNDEFINED, {})), "E0105: initializer 'w' has no data type");
  proto = tensor(Proto::FLOAT, {});
  proto.add_external_data();
  EXPECT_EQ(
      error(proto),
      "E0105: initializer 'w' refers to external data, but its data_location is not EXTERNAL");
  proto = tensor(Proto::FLOAT, {});
  proto.set_data_location(Proto::EXTERNAL);
  proto.add_float_data(1);
  EXPECT_EQ(error(proto),
            "E0105: initializer 'w' has both external data and float_data; only one is allowed");
}

TEST(TensorReader, RefusesKindsOfData) {
  EXPECT_EQ(error(tensor(Proto::STRING, {1})),
            "E0114: initializer 'w' has type string; sluice supports float, float16, bfloat16, "
            "double, bool and 4- to 64-bit integers");
  EXPECT_EQ(error(tensor(17, {1})),
            "E0114: initializer 'w' has type float8e4m3fn; sluice supports float, float16, "
            "bfloat16, double, bool and 4- to 64-bit integers");
  EXPECT_EQ(error(tensor(99, {1})),
            "E0114: initializer 'w' has type number 99; sluice supports float, float16, bfloat16, "
            "double, bool and 4- to 64-bit integers");
  Proto proto = tensor(Proto::FLOAT, {});
  proto.mutable_segment()->set_begin(0);
  EXPECT_EQ(error(proto), "E0114: initializer 'w' is stored in segments, which are not supported");
}

TEST(TensorReader, RefusesValuesOutOfRange) {
  EXPECT_EQ(error(raw<double>(Proto::DOUBLE, {1e300})),
            "E0105: initializer 'w' holds 1e+300, which is outside the range of fp32");
  EXPECT_EQ(error(raw<uint64_t>(Proto::UINT64, {uint64_t{1} << 63})),
            "E0105: initializer 'w' holds 9223372036854775808; the largest supported integer is "
            "9223372036854775807");
  EXPECT_EQ(error(raw<uint8_t>(Proto::BOOL, {2})),
            "E0105: initializer 'w' holds 2 as a bool; only 0 and 1 are allowed");
  Proto proto = tensor(Proto::INT8, {1});
  proto.add_int32_data(200);
  EXPECT_EQ(error(proto), "E0105: initializer 'w' holds 200 in int32_data, which is outside the "
                          "range of int8");
  proto = tensor(Proto::UINT32, {1});
  proto.add_uint64_data(uint64_t{1} << 32);
  EXPECT_EQ(error(proto), "E0105: initializer 'w' holds 4294967296 in uint64_data, which is "
                          "outside the range of uint32");
}

} // namespace
} // namespace sluice::frontend::test
