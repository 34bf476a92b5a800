// The graphs of one node, for its entry.
#pragma once

#include "compiler/frontend/onnx/importer.h"

namespace sluice::frontend {

class Importer::Bodies final : public BodyImporter {
public:
  Bodies(Importer &importer, const GraphNode &node) : importer(importer), node(node) {}

  std::vector<Tensor> import(const std::string &attribute,
                             const std::vector<Tensor> &arguments) override;
  std::vector<Tensor> importInPlace(const std::string &attribute) override;
  void check(const std::string &attribute) override;
  int64_t nodes() const override { return importer.importedInGraphs; }

private:
  [[nodiscard]] const onnx::GraphProto &graphOf(const std::string &attribute) const;
  std::vector<Tensor> tensorsOf(const std::string &attribute, const std::vector<Tensor> &arguments);

  Importer &importer;
  const GraphNode &node;
};

} // namespace sluice::frontend
