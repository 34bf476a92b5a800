// Builds ONNX models in code, imports them, and evaluates the result with the
// reference semantics of the dialect.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/import_proto.h"
#include "compiler/reference/tensor.h"
#include "mlir/IR/MLIRContext.h"

namespace sluice::frontend::test {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Names = std::vector<std::string>;

/// A node under construction.
class Node {
public:
  explicit Node(onnx::NodeProto *proto) : proto(proto) {}
  Node &name(const std::string &name);
  Node &attribute(const std::string &name, int64_t value);
  Node &attribute(const std::string &name, float value);
  Node &attribute(const std::string &name, const Ints &values);
  Node &attribute(const std::string &name, const Floats &values);
  Node &attribute(const std::string &name, const std::string &value);
  Node &attribute(const std::string &name, const std::vector<std::string> &values);
  onnx::AttributeProto &attribute(const std::string &name);
  onnx::NodeProto *proto;
};

/// Adds a node to a graph or a function.
template <class Owner>
Node addNode(Owner &owner, const std::string &op, const Names &inputs, const Names &outputs) {
  onnx::NodeProto *node = owner.add_node();
  node->set_op_type(op);
  for (const std::string &name : inputs)
    node->add_input(name);
  for (const std::string &name : outputs)
    node->add_output(name);
  return Node(node);
}

class Model {
public:
  explicit Model(int64_t opset = 13, int64_t irVersion = 8);

  Model &input(const std::string &name, const Ints &shape, int type = onnx::TensorProto::FLOAT);
  Model &output(const std::string &name);
  Model &output(const std::string &name, const Ints &shape, int type = onnx::TensorProto::FLOAT);
  Model &floats(const std::string &name, const Ints &shape, const Floats &values);
  Model &ints(const std::string &name, const Ints &shape, const Ints &values);
  Node node(const std::string &op, const Names &inputs, const Names &outputs) {
    return addNode(graph(), op, inputs, outputs);
  }
  onnx::GraphProto &graph() { return *proto.mutable_graph(); }

  onnx::ModelProto proto;
};

/// Makes `sparse` a vector of `extent` floats, which are zero but for a 5 at index 1.
void setFiveAtOne(onnx::SparseTensorProto &sparse, int64_t extent);

/// The result of an import.
struct Context {
  std::unique_ptr<mlir::MLIRContext> context =
      std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
};

/// An import with its context, which ends after it.
struct Imported : Context, Import {

  std::string text() const;     ///< the module as printed
  std::string messages() const; ///< one line per problem, see lineOf
};

/// "E0205 node 0 '' (Add): message", or without a node "E0104: message".
std::string lineOf(const Problem &problem);
std::string linesOf(const Problems &problems);

Imported import(const Model &model, const ImportOptions &options = {});
Imported importFile(const std::string &path, const ImportOptions &options = {});

/// Evaluates @main of an import on its inputs; one tensor per output.
std::vector<reference::Tensor> evaluate(const Imported &imported,
                                        const std::vector<reference::Tensor> &inputs);

/// The same with arguments of the function rounded to bf16, and with every value on the way, those
/// of constants too, as `round` makes it.
std::vector<reference::Tensor> evaluateRounded(const Imported &imported,
                                               std::vector<reference::Tensor> inputs,
                                               const std::function<double(double)> &round);

/// Imports a model of one node with run-time inputs x0, x1, ... of the given
/// values and further known inputs, evaluates it, and expects no problem.
reference::Tensor evaluateModel(const Model &model, const std::vector<reference::Tensor> &inputs);

/// 0, 1, 2, ... in a shape.
reference::Tensor counting(const Ints &shape);

/// An empty folder that is removed at the end.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string file(const std::string &name) const { return (path / name).string(); }
  std::filesystem::path path;
};

void writeFile(const std::string &path, const std::string &bytes);
std::string readFile(const std::string &path);

} // namespace sluice::frontend::test
