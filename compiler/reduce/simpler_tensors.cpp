#include "compiler/reduce/simpler_tensors.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

namespace sluice::reduce {
namespace {

using Shape = std::vector<int64_t>;

/// Most elements of a tensor of integers that may be a shape.
constexpr int64_t kMostExtents = 16;

int64_t elementsOf(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

/// The positions of the elements of a tensor whose extents shrink.
std::vector<size_t> keptElements(const Shape &shape, const Shape &smaller) {
  std::vector<size_t> kept;
  Shape index(shape.size());
  const auto count = static_cast<size_t>(elementsOf(shape));
  for (size_t i = 0; i < count; ++i) {
    if (std::ranges::equal(index, smaller, std::less<>()))
      kept.push_back(i);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis])
        break;
      index[axis] = 0;
    }
  }
  return kept;
}

template <typename List> void select(List &list, const std::vector<size_t> &kept) {
  for (size_t i = 0; i < kept.size(); ++i)
    list.Set(static_cast<int>(i), list.Get(static_cast<int>(kept[i])));
  list.Truncate(static_cast<int>(kept.size()));
}

/// Leaves the first positions along each axis. False if the elements are stored in another way.
bool crop(onnx::TensorProto &tensor, const Shape &smaller) {
  const Shape shape(tensor.dims().begin(), tensor.dims().end());
  const auto count = static_cast<size_t>(elementsOf(shape));
  const std::vector<size_t> kept = keptElements(shape, smaller);
  if (tensor.has_raw_data()) {
    std::string &raw = *tensor.mutable_raw_data();
    if (count == 0 || raw.size() % count != 0 || raw.empty())
      return false;
    const size_t each = raw.size() / count;
    for (size_t i = 0; i < kept.size(); ++i)
      std::memmove(raw.data() + i * each, raw.data() + kept[i] * each, each);
    raw.resize(kept.size() * each);
  } else if (static_cast<size_t>(tensor.float_data_size()) == count) {
    select(*tensor.mutable_float_data(), kept);
  } else if (static_cast<size_t>(tensor.int32_data_size()) == count) {
    select(*tensor.mutable_int32_data(), kept);
  } else if (static_cast<size_t>(tensor.int64_data_size()) == count) {
    select(*tensor.mutable_int64_data(), kept);
  } else if (static_cast<size_t>(tensor.double_data_size()) == count) {
    select(*tensor.mutable_double_data(), kept);
  } else {
    return false;
  }
  std::ranges::copy(smaller, tensor.mutable_dims()->begin());
  return true;
}

/// Replaces an extent in a tensor that may be a shape.
void replaceElements(onnx::TensorProto &tensor, int64_t from, int64_t to) {
  const Shape shape(tensor.dims().begin(), tensor.dims().end());
  if (tensor.data_type() != onnx::TensorProto::INT64 || shape.size() != 1 ||
      shape[0] > kMostExtents)
    return;
  for (int i = 0; i < tensor.int64_data_size(); ++i)
    if (tensor.int64_data(i) == from)
      tensor.set_int64_data(i, to);
  std::string &raw = *tensor.mutable_raw_data();
  for (size_t at = 0; at + sizeof(int64_t) <= raw.size(); at += sizeof(int64_t)) {
    int64_t value = 0;
    std::memcpy(&value, raw.data() + at, sizeof value);
    if (value == from)
      std::memcpy(raw.data() + at, &to, sizeof to);
  }
  if (raw.empty())
    tensor.clear_raw_data();
}

void replaceDims(onnx::ValueInfoProto &info, int64_t from, int64_t to) {
  if (!info.type().tensor_type().has_shape())
    return;
  for (auto &dim : *info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
    if (dim.dim_value() == from)
      dim.set_dim_value(to);
}

Shape replaced(Shape shape, int64_t from, int64_t to) {
  std::ranges::replace(shape, from, to);
  return shape;
}

} // namespace

std::vector<int64_t> extentsOf(const onnx::GraphProto &graph) {
  std::set<int64_t, std::greater<>> extents;
  for (const onnx::ValueInfoProto &input : graph.input())
    for (const auto &dim : input.type().tensor_type().shape().dim())
      if (dim.dim_value() > 1)
        extents.insert(dim.dim_value());
  return {extents.begin(), extents.end()};
}

void replaceExtent(onnx::GraphProto &graph, std::vector<Sample> &samples, int64_t from,
                   int64_t to) {
  std::set<std::string> inputs;
  for (onnx::ValueInfoProto &input : *graph.mutable_input()) {
    inputs.insert(input.name());
    replaceDims(input, from, to);
  }
  for (onnx::ValueInfoProto &output : *graph.mutable_output())
    replaceDims(output, from, to);
  for (onnx::TensorProto &tensor : *graph.mutable_initializer()) {
    const Shape shape(tensor.dims().begin(), tensor.dims().end());
    if (std::ranges::find(shape, from) != shape.end())
      crop(tensor, replaced(shape, from, to));
    else
      replaceElements(tensor, from, to);
  }
  for (Sample &sample : samples)
    for (auto &[name, tensor] : sample)
      if (inputs.contains(name)) {
        const Shape smaller = replaced(tensor.shape, from, to);
        const std::vector<size_t> kept = keptElements(tensor.shape, smaller);
        for (size_t i = 0; i < kept.size(); ++i)
          tensor.values[i] = tensor.values[kept[i]];
        tensor.values.resize(kept.size());
        tensor.shape = smaller;
      }
}

void forgetOutputShapes(onnx::GraphProto &graph) {
  for (onnx::ValueInfoProto &output : *graph.mutable_output())
    if (output.type().has_tensor_type())
      output.mutable_type()->mutable_tensor_type()->clear_shape();
}

bool leaveOneElement(onnx::TensorProto &tensor) {
  const Shape shape(tensor.dims().begin(), tensor.dims().end());
  return elementsOf(shape) > 1 && crop(tensor, Shape(shape.size(), 1));
}

bool setToOne(onnx::TensorProto &tensor) {
  const Shape shape(tensor.dims().begin(), tensor.dims().end());
  const int64_t count = elementsOf(shape);
  if (tensor.data_type() != onnx::TensorProto::FLOAT || count < 1)
    return false;
  std::string ones(static_cast<size_t>(count) * sizeof(float), '\0');
  const float one = 1;
  for (size_t at = 0; at < ones.size(); at += sizeof one)
    std::memcpy(ones.data() + at, &one, sizeof one);
  if (tensor.raw_data() == ones)
    return false;
  tensor.clear_float_data();
  tensor.set_raw_data(std::move(ones));
  return true;
}

} // namespace sluice::reduce
