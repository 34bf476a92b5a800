// ONNX's TensorProto, as in the test data folders of ONNX models.
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/onnx_pb.h>

#include "tools/cli/io/elements.h"
#include "tools/cli/io/tensor.h"

namespace sluice::io {
namespace {

/// Appends the low bytes of every element of a protobuf list.
template <typename List> void append(std::string &data, const List &list, size_t elementBytes) {
  data.reserve(static_cast<size_t>(list.size()) * elementBytes);
  for (const auto value : list) {
    char bytes[sizeof(value)];
    std::memcpy(bytes, &value, sizeof(value));
    data.append(bytes, elementBytes);
  }
}

/// The elements of the list that ONNX has for the type.
std::string listed(const onnx::TensorProto &proto, size_t elementBytes) {
  std::string data;
  switch (proto.data_type()) {
  case onnx::TensorProto::FLOAT:
    append(data, proto.float_data(), elementBytes);
    break;
  case onnx::TensorProto::DOUBLE:
    append(data, proto.double_data(), elementBytes);
    break;
  case onnx::TensorProto::INT64:
    append(data, proto.int64_data(), elementBytes);
    break;
  case onnx::TensorProto::UINT32:
  case onnx::TensorProto::UINT64:
    append(data, proto.uint64_data(), elementBytes);
    break;
  default:
    append(data, proto.int32_data(), elementBytes);
  }
  return data;
}

std::optional<Encoding> encodingOf(int32_t type) {
  using Kind = Encoding::Kind;
  switch (type) {
  case onnx::TensorProto::FLOAT:
    return Encoding{Kind::Float, 4};
  case onnx::TensorProto::DOUBLE:
    return Encoding{Kind::Float, 8};
  case onnx::TensorProto::FLOAT16:
    return Encoding{Kind::Float, 2};
  case onnx::TensorProto::BFLOAT16:
    return Encoding{Kind::BFloat16, 2};
  case onnx::TensorProto::BOOL:
    return Encoding{Kind::Bool, 1};
  case onnx::TensorProto::INT8:
    return Encoding{Kind::Signed, 1};
  case onnx::TensorProto::INT16:
    return Encoding{Kind::Signed, 2};
  case onnx::TensorProto::INT32:
    return Encoding{Kind::Signed, 4};
  case onnx::TensorProto::INT64:
    return Encoding{Kind::Signed, 8};
  case onnx::TensorProto::UINT8:
    return Encoding{Kind::Unsigned, 1};
  case onnx::TensorProto::UINT16:
    return Encoding{Kind::Unsigned, 2};
  case onnx::TensorProto::UINT32:
    return Encoding{Kind::Unsigned, 4};
  case onnx::TensorProto::UINT64:
    return Encoding{Kind::Unsigned, 8};
  default:
    return std::nullopt;
  }
}

} // namespace

std::variant<Tensor, Error> readTensorProto(std::string_view bytes) {
  auto bad = [](const std::string &what) {
    return Error{"E0605", "not a valid .pb tensor: " + what};
  };
  if (bytes.empty() || bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    return bad(fmt::format("the file has {} bytes", bytes.size()));
  onnx::TensorProto proto;
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  if (!proto.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage())
    return bad("the file is not a TensorProto");
  Tensor tensor;
  tensor.name = proto.name();
  const std::optional<Encoding> encoding = encodingOf(proto.data_type());
  if (!encoding)
    return Error{"E0604", fmt::format("the ONNX element type is {}, allowed: float (1), uint8 (2), "
                                      "int8 (3), uint16 (4), int16 (5), int32 (6), int64 (7), "
                                      "bool (9), float16 (10), double (11), uint32 (12), "
                                      "uint64 (13), bfloat16 (16)",
                                      proto.data_type())};
  tensor.type = typeOf(*encoding);
  if (proto.data_location() == onnx::TensorProto::EXTERNAL || proto.external_data_size() > 0)
    return bad("the data is in another file, which is supported for models only");
  tensor.shape.assign(proto.dims().begin(), proto.dims().end());
  const int64_t count = elementCount(tensor.shape);
  if (count < 0)
    return bad(fmt::format("the shape [{}] has a negative dimension or more than 2^31 elements",
                           fmt::join(tensor.shape, ", ")));
  const size_t element = encoding->bytes;
  const std::string data = proto.has_raw_data() ? proto.raw_data() : listed(proto, element);
  if (data.size() != static_cast<uint64_t>(count) * element)
    return bad(fmt::format("the file has {} bytes of elements, the shape [{}] needs {}",
                           data.size(), fmt::join(tensor.shape, ", "),
                           static_cast<uint64_t>(count) * element));
  tensor.data = decode(data, *encoding);
  return tensor;
}

} // namespace sluice::io
