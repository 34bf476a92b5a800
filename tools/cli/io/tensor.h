// A tensor from or for a file: NumPy's .npy and .npz, ONNX's TensorProto .pb.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/format/host_type.h"

namespace sluice::io {

/// Element types; the numbers are those of sluice_rt_type.
using Type = format::HostType;

/// Row-major, little-endian.
struct Tensor {
  std::string name; ///< "" if the file gives none
  Type type = Type::Float32;
  std::vector<int64_t> shape;
  std::vector<uint8_t> data; ///< product of the shape times format::elementBytes
};

/// E0604 (a type that is not supported), E0605 (malformed), E0501 (unreadable).
struct Error {
  std::string code;
  std::string message;
};

/// Elements of a shape; empty-handed (-1) if an extent is negative or there are
/// more than 2^31.
int64_t elementCount(const std::vector<int64_t> &shape);

/// All elements as double: exactly, but for integers beyond 2^53 (runtime::elementOf).
std::vector<double> values(const Tensor &tensor);

/// How files begin.
inline constexpr std::string_view kNpyMagic{"\x93NUMPY", 6};
inline constexpr std::string_view kNpzMagic{"PK", 2};

std::variant<Tensor, Error> readNpy(std::string_view bytes);
std::string writeNpy(const Tensor &tensor);

/// An archive with a member for each tensor, not compressed. The tensors together are smaller than
/// 4 GiB.
std::string writeNpz(const std::vector<Tensor> &tensors);

/// Every .npy member, by name without ".npy".
std::variant<std::vector<Tensor>, Error> readNpz(std::string_view bytes);

std::variant<Tensor, Error> readTensorProto(std::string_view bytes);

/// Reads a file by its ending (.npy, .npz, .pb); "-" is an .npy on standard
/// input. Messages begin with the file's name. Only .npz gives several.
std::variant<std::vector<Tensor>, Error> readTensors(const std::string &path);

/// The bytes of a file, "-" is standard input; E0501 if that fails. Only the first of
/// them if they do not begin with `magic`.
std::variant<std::string, Error> readAll(const std::string &path,
                                         std::span<const uint8_t> magic = {});

} // namespace sluice::io
