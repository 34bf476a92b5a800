#include "tools/cli/float_tensor.h"

#include <cstring>

namespace sluice::cli {

io::Tensor floatTensor(const std::string &name, const reference::Tensor &tensor) {
  io::Tensor file{name, io::Type::Float32, tensor.shape, {}};
  file.data.resize(tensor.values.size() * sizeof(float));
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    const auto value = static_cast<float>(tensor.values[i]);
    std::memcpy(file.data.data() + i * sizeof(float), &value, sizeof(float));
  }
  return file;
}

} // namespace sluice::cli
