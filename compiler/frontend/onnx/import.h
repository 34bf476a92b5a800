// ONNX -> `sluice` dialect: reads a model file, checks it, and writes one
// function `main` whose arguments and results are the model's inputs and
// outputs. Every problem of the model is reported in one run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/onnx/bound_value.h"
#include "compiler/frontend/onnx/lookup.h"
#include "compiler/support/problem.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Value.h"
#include "runtime/format/host_tensor.h"
#include "runtime/format/source_map.h"

namespace sluice::frontend {

/// The tensors between which a model is compiled; none: the model's own inputs or outputs.
struct Cut {
  std::vector<std::string> inputs, outputs;

  [[nodiscard]] bool isEmpty() const { return inputs.empty() && outputs.empty(); }
};

struct ImportOptions {
  std::string path;         ///< model file, "-" for stdin
  std::string externalData; ///< folder of external data; empty: the model's folder
  Cut cut;
  /// Extents of inputs by ONNX name, or the one of a dimension by its own. Needed where the
  /// model leaves a dimension free. What the model fixes may be repeated, and changed along
  /// the first axis if the operators and outputs agree.
  std::map<std::string, std::vector<int64_t>> inputShapes;
  /// Values of inputs, of any type but string and complex: constants from the beginning.
  std::map<std::string, BoundValue> bindings;
  /// Inputs that are what an output was in the inference before, and zeros in the first: pairs
  /// of ONNX names, neither of which is the host's any more.
  std::vector<std::pair<std::string, std::string>> states;
  /// Random numbers without a seed are the same in every inference; otherwise the host draws new
  /// ones for each.
  bool fixedRandom = false;
  /// The model is streamed: the host cannot draw random numbers then.
  bool isStreamed = false;
};

/// An input or output as published, with the type of the model: in the IR every tensor is fp32.
struct ImportedTensor {
  std::string name;
  std::vector<int64_t> shape;
  format::HostType type = format::HostType::Float32;
  std::optional<format::Limits> limits = std::nullopt; ///< of an input of integers
  size_t array = 0; ///< of an input of the function: the number of the host's that it is made of
  ArrayLookupRef lookup = nullptr; ///< by which it is made of the array's integers
  /// The host quantises an input of the function, and restores a result of it.
  std::optional<format::Quantisation> quantised = std::nullopt;
  bool codes = false; ///< of an output: of indices, which the host decodes
  /// Of an array: the host draws its elements for every inference, and the user does not give it.
  std::optional<random::RandomNumbers> random = std::nullopt;
  /// The elements of its array that an input of the function has; nothing: all.
  std::optional<format::Selection> selection = std::nullopt;

  [[nodiscard]] bool isMade() const { return lookup != nullptr || quantised.has_value(); }
};

struct HostTensor;

/// An input of the graph or output of a node.
struct GraphTensor {
  std::string name;
  std::vector<int64_t> shape;
  mlir::Value value; ///< in the imported function; none: known at import
  int32_t type = 1;  ///< ONNX's number of the element type
  /// Known at import and small: what it is.
  std::shared_ptr<const HostTensor> known = nullptr;
};

struct ImportedModel {
  std::string name; ///< name of the ONNX graph, may be empty
  /// Inputs of the user, then arrays of random numbers; empty: those of the function.
  std::vector<ImportedTensor> arrays;
  std::vector<ImportedTensor> inputs; ///< of the function
  std::vector<ImportedTensor> outputs;
  std::vector<GraphTensor> tensors;      ///< inputs, then outputs of nodes in order of execution
  std::vector<format::SourceNode> nodes; ///< every node of the graph, in its order
  uint64_t parameters = 0;               ///< elements of the floating-point initializers
  std::vector<std::string> notes;        ///< what was accepted that may not be meant
  int64_t irVersion = 0;
  int64_t opset = 0; ///< of the default domain
};

/// Returns the options with the folder of the model as the one of external data, if they name none.
ImportOptions withDataFolder(ImportOptions options);

/// An imported model. The module is null, and there is at least one problem (E01xx: reading, E02xx:
/// operators), if anything in it is malformed or not supported.
struct Import {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ImportedModel info;
  Problems problems;
};

/// Imports the model at `options.path`. Never throws; loads the dialects it needs into `context`.
/// The arguments and results of @main carry `sluice.name`, the operations a node location
/// (compiler/dialect/sluice).
Import importModel(mlir::MLIRContext &context, const ImportOptions &options);

} // namespace sluice::frontend
