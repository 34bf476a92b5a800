// The inputs and outputs of a model as declared, with the user's extents.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/emitter.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/onnx_proto.h"

namespace sluice::frontend {

struct ModelInput {
  std::string name;
  DataType type = onnx::TensorProto::FLOAT;
  Shape shape;
  HostTensorRef value; ///< if the user gave it, or there are no elements
};

/// An extent that the model fixes and the user gives otherwise. Only of the first axis
/// of an input, its batch: models that do not use the extent compute any.
struct Replaced {
  std::string input;
  size_t axis = 0;
  int64_t declared = 0;
  int64_t given = 0;

  /// "axis 0 of input 'x' is 1 in the model and given as 4".
  std::string text() const;
};

/// An input whose shape has an extent of 0.
struct EmptyInput {
  std::string name;
  Shape shape;
  std::string flag; ///< gives it elements
};

struct ResolvedInputs {
  std::vector<ModelInput> inputs;
  std::vector<Replaced> replaced;
  std::vector<EmptyInput> empty;
};

/// The inputs of the graph, which are those that are no initializers,
/// with every extent. Reports declarations that are not tensors (E0110) or of
/// types not supported (E0114), negative extents (E0110), free dimensions nobody
/// gave (E0111), and given shapes (E0112) or values (E0117) that do not fit; such inputs are
/// left out.
ResolvedInputs resolveInputs(const onnx::GraphProto &proto,
                             const std::set<std::string> &initializers,
                             const ImportOptions &options, Report &report);

/// Checks what the graph declares for an output against what it computes
/// (E0115), and that a constant of integers has bf16 numbers only (E0114). `replaced` may change
/// extents; [1] for [] and the reverse become a note, and windows that a pooling of `graph` does
/// not have though exporters count them (ceil_mode).
void checkOutput(const onnx::GraphProto &graph, const onnx::ValueInfoProto &declared,
                 const Tensor &computed, const std::vector<Replaced> &replaced, Report &report,
                 std::vector<std::string> &notes);

} // namespace sluice::frontend
