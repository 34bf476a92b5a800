#include "compiler/conversion/rows/weight_block.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include "hw/numerics/numerics.h"

namespace sluice::rows {

WeightBlock::WeightBlock(std::vector<uint16_t> elements) {
  auto made = std::make_shared<Content>();
  made->elements = std::move(elements);
  for (const uint16_t element : made->elements) {
    made->zero &= numerics::isZero(element);
    made->cleared &= element == 0;
    made->finite &= numerics::isFinite(element);
  }
  const auto lanes = static_cast<size_t>(std::sqrt(made->elements.size()));
  for (size_t first = 0; first < made->elements.size(); first += lanes) {
    uint32_t sum = 0;
    for (size_t i = first; i < first + lanes; ++i)
      if (const uint16_t element = made->elements[i]; !numerics::isZero(element))
        sum += 0x80U | (element & 0x7FU);
    made->weight = std::max(made->weight, sum);
  }
  made->hash = std::hash<std::string_view>()(
      std::string_view(reinterpret_cast<const char *>(made->elements.data()),
                       made->elements.size() * sizeof(uint16_t)));
  content = std::move(made);
}

} // namespace sluice::rows
