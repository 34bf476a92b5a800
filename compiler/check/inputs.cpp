#include "compiler/check/inputs.h"

#include <algorithm>
#include <cmath>

#include "compiler/check/rounding.h"
#include "compiler/frontend/onnx/import.h"
#include "runtime/random/random_field.h"

namespace sluice::check {

Kind kindOf(size_t number) { return static_cast<Kind>(number % kKinds); }

std::string textOf(Kind kind) {
  switch (kind) {
  case Kind::Unit:
    return "normal, deviation 1";
  case Kind::Positive:
    return "positive, deviation 1";
  case Kind::OneHot:
    return "one-hot";
  case Kind::Large:
    return "normal, deviation 100";
  case Kind::Small:
    return "normal, deviation 0.01";
  case Kind::Constant:
    return "constant";
  case Kind::Offset:
    return "normal, offset of 64 deviations";
  }
  return "";
}

namespace {

/// An integer within the limits from a number of a kind's distribution and one of [0, 1).
double integerWithin(const format::Limits &limits, Kind kind, double value, double uniform) {
  const auto low = static_cast<double>(limits.low), high = static_cast<double>(limits.high);
  const double first = kind == Kind::Positive ? std::max(low, 0.0) : low;
  const bool isSpread = kind != Kind::OneHot && kind != Kind::Small && kind != Kind::Unit;
  const double integer =
      isSpread ? first + std::floor(uniform * (high - first + 1)) : std::round(value);
  return std::clamp(integer, low, high);
}

} // namespace

reference::Tensor randomInput(const reference::Shape &shape, Kind kind, uint64_t seed,
                              uint32_t stream, const std::optional<format::Limits> &limits) {
  constexpr double kLarge = 100, kSmall = 0.01, kOffset = 64;
  reference::Tensor tensor(shape);
  const random::RandomField field({seed, stream});
  const size_t last = shape.empty() ? 1 : static_cast<size_t>(shape.back());
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    const double normal = field.normal(i);
    double value = normal;
    switch (kind) {
    case Kind::Unit:
      break;
    case Kind::Positive:
      value = std::abs(normal);
      break;
    case Kind::OneHot: {
      const size_t row = i / last;
      value = i % last == static_cast<size_t>(field.uniform(row) * static_cast<double>(last));
      break;
    }
    case Kind::Large:
      value = kLarge * normal;
      break;
    case Kind::Small:
      value = kSmall * normal;
      break;
    case Kind::Constant:
      value = field.normal(0);
      break;
    case Kind::Offset:
      value = normal + kOffset;
      break;
    }
    tensor.values[i] =
        limits ? integerWithin(*limits, kind, value, field.uniform(kind == Kind::Constant ? 0 : i))
               : nearestBf16(value);
  }
  return tensor;
}

reference::Tensor drawnTensor(const frontend::ImportedTensor &array,
                              const runtime::DrawnInference &of) {
  reference::Tensor tensor(array.shape);
  const auto drawn = runtime::drawnArray(*array.random, array.type, tensor.values.size(), of);
  tensor.values.assign(drawn.begin(), drawn.end());
  return tensor;
}

reference::Tensors randomInputs(const std::vector<frontend::ImportedTensor> &arrays, Kind kind,
                                const runtime::DrawnInference &of, uint32_t &stream) {
  reference::Tensors tensors;
  for (const frontend::ImportedTensor &array : arrays)
    tensors.push_back(array.random
                          ? drawnTensor(array, of)
                          : randomInput(array.shape, kind, of.seed, stream++, array.limits));
  return tensors;
}

} // namespace sluice::check
