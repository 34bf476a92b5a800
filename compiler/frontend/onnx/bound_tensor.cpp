#include "compiler/frontend/onnx/bound_tensor.h"

#include <cmath>

#include <fmt/format.h>

namespace sluice::frontend {
namespace {

/// The integer that a number is, if it is one and `type` has it.
std::optional<int64_t> integerOf(double number, DataType type) {
  constexpr double kEnd = 0x1p63;
  if (number != std::trunc(number) || number < -kEnd || number >= kEnd)
    return std::nullopt;
  const auto integer = static_cast<int64_t>(number);
  return wrapToType(integer, type) == integer ? std::optional(integer) : std::nullopt;
}

std::optional<int64_t> integerOf(int64_t number, DataType type) {
  return wrapToType(number, type) == number ? std::optional(number) : std::nullopt;
}

/// The nearest value of a floating-point type; nothing if only an infinity is.
template <typename Number> std::optional<float> floatOf(Number number, DataType type) {
  const auto exact = static_cast<double>(number);
  const float rounded = roundToType(exact, type);
  return std::isinf(rounded) && !std::isinf(exact) ? std::nullopt : std::optional(rounded);
}

} // namespace

std::variant<HostTensor, std::string> boundTensor(const std::string &name, const BoundValue &value,
                                                  DataType type, const Shape &shape) {
  return std::visit(
      [&](const auto &given) -> std::variant<HostTensor, std::string> {
        const auto count = static_cast<size_t>(elementCount(shape, kMaxElements));
        if (given.size() != count && given.size() != 1)
          return fmt::format("input {0} {1} is given {3} values; expected {2}, or 1 for all",
                             inQuotes(name), shapeText(shape), count, given.size());
        HostTensor out{type, shape, {}, {}};
        for (size_t i = 0; i < count; ++i) {
          const auto number = given[given.size() == 1 ? 0 : i];
          const auto real = out.isFloat() ? floatOf(number, type) : std::nullopt;
          const auto integer = out.isFloat() ? std::nullopt : integerOf(number, type);
          if (real)
            out.floats.push_back(*real);
          else if (integer)
            out.ints.push_back(*integer);
          else
            return fmt::format("value {2} does not fit type {1} of input {0}", inQuotes(name),
                               dataTypeName(type), number);
        }
        return out;
      },
      value.elements);
}

} // namespace sluice::frontend
