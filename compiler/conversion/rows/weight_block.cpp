#include "compiler/conversion/rows/weight_block.h"

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
  made->hash = std::hash<std::string_view>()(
      std::string_view(reinterpret_cast<const char *>(made->elements.data()),
                       made->elements.size() * sizeof(uint16_t)));
  content = std::move(made);
}

} // namespace sluice::rows
