#include "compiler/frontend/onnx/file_bytes.h"

#include <functional>
#include <limits>

#include <fmt/format.h>

#include "compiler/frontend/onnx/external_data.h"
#include "compiler/frontend/onnx/tensor_reader.h"

namespace sluice::frontend {
namespace {

/// Protobuf's limit on one message, which a file is.
constexpr uint64_t kMostBytes = std::numeric_limits<int32_t>::max();

using Visit = std::function<void(onnx::TensorProto &)>;

void forEachTensor(onnx::GraphProto &graph, const Visit &visit);

void forEachTensor(onnx::NodeProto &node, const Visit &visit) {
  for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
    if (attribute.has_t())
      visit(*attribute.mutable_t());
    for (onnx::TensorProto &tensor : *attribute.mutable_tensors())
      visit(tensor);
    if (attribute.has_g())
      forEachTensor(*attribute.mutable_g(), visit);
    for (onnx::GraphProto &graph : *attribute.mutable_graphs())
      forEachTensor(graph, visit);
  }
}

void forEachTensor(onnx::GraphProto &graph, const Visit &visit) {
  for (onnx::TensorProto &tensor : *graph.mutable_initializer())
    visit(tensor);
  for (onnx::SparseTensorProto &tensor : *graph.mutable_sparse_initializer()) {
    visit(*tensor.mutable_values());
    visit(*tensor.mutable_indices());
  }
  for (onnx::NodeProto &node : *graph.mutable_node())
    forEachTensor(node, visit);
}

void forEachTensor(onnx::ModelProto &model, const Visit &visit) {
  forEachTensor(*model.mutable_graph(), visit);
  for (onnx::FunctionProto &function : *model.mutable_functions())
    for (onnx::NodeProto &node : *function.mutable_node())
      forEachTensor(node, visit);
}

bool isExternal(const onnx::TensorProto &tensor) {
  return tensor.data_location() == onnx::TensorProto::EXTERNAL;
}

} // namespace

std::set<std::string> weightFilesOf(onnx::ModelProto &model) {
  std::set<std::string> names;
  forEachTensor(model, [&](const onnx::TensorProto &tensor) {
    if (isExternal(tensor))
      for (const onnx::StringStringEntryProto &entry : tensor.external_data())
        if (entry.key() == "location")
          names.insert(entry.value());
  });
  return names;
}

std::string bytesWithWeights(onnx::ModelProto &model, const std::string &externalData,
                             std::string_view subject, Report &report) {
  uint64_t bytes = 0;
  forEachTensor(model, [&](const onnx::TensorProto &tensor) {
    if (isExternal(tensor))
      bytes += rawBytesOf(tensor).value_or(0);
  });
  if (bytes <= kMostBytes)
    bytes += model.ByteSizeLong();
  if (bytes > kMostBytes) {
    report.add("E0103",
               fmt::format("{} {} bytes with their weights; an ONNX file can have at most {}",
                           subject, bytes, kMostBytes));
    return {};
  }
  const ExternalData external(externalData);
  forEachTensor(model, [&](onnx::TensorProto &tensor) {
    if (!isExternal(tensor))
      return;
    std::string contents;
    if (const auto wrong = external.read(tensor, rawBytesOf(tensor).value_or(0), contents)) {
      report.add("E0106", fmt::format("initializer {}: {}", inQuotes(tensor.name()), *wrong));
      return;
    }
    tensor.clear_data_location();
    tensor.clear_external_data();
    tensor.set_raw_data(std::move(contents));
  });
  return model.SerializeAsString();
}

} // namespace sluice::frontend
