// Numbers as files store them: all real types of NumPy and ONNX, of either byte
// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/cli/io/tensor.h"

namespace sluice::io {

struct Encoding {
  enum class Kind : uint8_t { Bool, Signed, Unsigned, Float, BFloat16 };
  Kind kind = Kind::Float;
  size_t bytes = 4;
  bool bigEndian = false;
};

/// Of NumPy's descr: "<f4", "|b1", ">i8"; empty if it is none of them.
std::optional<Encoding> encodingOf(std::string_view descr);

/// The types that encodingOf knows, for messages.
inline constexpr std::string_view kEncodings = "b1, i1 to i8, u1 to u8, f2, f4, f8, bfloat16 (V2)";

/// The type of the tensor that holds such numbers.
Type typeOf(const Encoding &encoding);

/// The elements of `data` (whole elements) as a tensor has them: little-endian.
std::vector<uint8_t> decode(std::string_view data, const Encoding &encoding);

} // namespace sluice::io
