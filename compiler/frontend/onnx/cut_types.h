// Types and shapes of the tensors where a model is cut.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/cut_graph.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/report.h"

namespace sluice::frontend {

class CutTypes {
public:
  /// `shell` is the model without its graph `whole`. All must outlive this object.
  CutTypes(const onnx::ModelProto &shell, onnx::GraphProto &whole, const CutGraph &graph,
           const ImportOptions &options)
      : shell(shell), whole(whole), graph(graph), options(options) {}

  /// Returns the declaration of a tensor: the model's own if it has every extent, else what an
  /// import of the nodes in front of it finds, else what the model says; nothing if nobody knows.
  std::optional<onnx::ValueInfoProto> of(const std::string &name);

  /// The same of an input of the part. A tensor of an unknown type whose shape the user gives is
  /// float, which is noted. E0121 if nobody knows.
  std::optional<onnx::ValueInfoProto> ofInput(const std::string &name,
                                              std::vector<std::string> &notes, Report &report);

  /// Reports E0121: nobody knows the type and shape of a tensor.
  static Problem &reportUnknown(const std::string &name, Report &report);

  /// Returns the names of ImportOptions::inputShapes that found other shapes.
  [[nodiscard]] const std::set<std::string> &usedShapes() const { return used; }

private:
  std::optional<onnx::ValueInfoProto> imported(const std::string &name);

  const onnx::ModelProto &shell;
  onnx::GraphProto &whole; ///< only read
  const CutGraph &graph;
  const ImportOptions &options;
  std::set<std::string> used;
};

/// A declaration with a type and every extent.
onnx::ValueInfoProto declarationOf(const std::string &name, int32_t type, const Shape &shape);

/// Returns the tensors and dimensions of these inputs whose extents a user may give.
std::set<std::string> namesOfShapes(const ValueInfos &inputs);

/// Returns the ONNX type of a host's.
int32_t dataTypeOf(format::HostType type);

} // namespace sluice::frontend
