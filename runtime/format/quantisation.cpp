#include <algorithm>
#include <cmath>

#include "runtime/format/host_tensor.h"

namespace sluice::format {

double Quantisation::integerOf(double number) const {
  const float quotient = static_cast<float>(number) / scale;
  if (std::isnan(quotient))
    return static_cast<double>(std::clamp<int64_t>(zero, limits.low, limits.high));
  return std::clamp(static_cast<double>(std::nearbyint(quotient)) + zero,
                    static_cast<double>(limits.low), static_cast<double>(limits.high));
}

} // namespace sluice::format
