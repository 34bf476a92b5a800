#include "compiler/conversion/rows/bias.h"

#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include "hw/numerics/numerics.h"

namespace sluice::rows {

Bias::Bias(std::vector<float> lanes) {
  if (lanes.empty())
    return;
  auto made = std::make_shared<Content>();
  made->lanes = std::move(lanes);
  for (const float lane : made->lanes) {
    made->zero &= lane == 0;
    made->finite &= std::isfinite(lane);
    made->uniform &= lane == made->lanes.front();
  }
  made->hash = std::hash<std::string_view>()(std::string_view(
      reinterpret_cast<const char *>(made->lanes.data()), made->lanes.size() * sizeof(float)));
  content = std::move(made);
}

bool Bias::operator==(const Bias &other) const {
  return content == other.content ||
         (content->hash == other.content->hash && numerics::sameBits(lanes(), other.lanes()));
}

const std::shared_ptr<const Bias::Content> &Bias::none() {
  static const std::shared_ptr<const Content> content = std::make_shared<Content>();
  return content;
}

} // namespace sluice::rows
