// A model on its way into the sluice dialect: what is defined so far, and what is said about it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/frontend/onnx/emitter.h"
#include "compiler/frontend/onnx/external_data.h"
#include "compiler/frontend/onnx/functions.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/model_graph.h"
#include "compiler/frontend/onnx/model_io.h"
#include "compiler/frontend/onnx/node_view.h"
#include "compiler/frontend/onnx/operator.h"
#include "compiler/frontend/onnx/report.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sluice::frontend {

class Importer {
public:
  /// `ranges` are those of integer inputs that an earlier import wanted.
  Importer(mlir::MLIRContext &context, const ImportOptions &options, ImportedModel &info,
           Problems &problems, const std::map<std::string, IntegerRange> &ranges)
      : context(context), options(options), info(info), problems(problems), report(problems),
        external(options.externalData), builder(&context), emitter(builder), arrays(ranges) {}

  /// Returns the ranges of integer inputs that another import needs, if they differ from these.
  [[nodiscard]] const std::map<std::string, IntegerRange> &wantedRanges() const {
    return arrays.wanted();
  }

  /// Null if there are problems.
  mlir::OwningOpRef<mlir::ModuleOp> run(const onnx::ModelProto &model);

private:
  class Bodies;

  /// A graph of the model as far as it is read: once, though a body may be imported often.
  struct ReadGraph {
    std::optional<std::vector<Tensor>> initializers;
    std::optional<ModelGraph> nodes; ///< of a body
    bool isChecked = false;          ///< without being imported
  };

  // Initializers and inputs (importer.cpp).

  /// Defines the initializers of a graph; their names.
  std::set<std::string> readInitializers(const onnx::GraphProto &graph);
  /// `sparse`, if given, has the tensor as its values.
  void readInitializer(const onnx::TensorProto &tensor, const onnx::SparseTensorProto *sparse,
                       std::vector<Tensor> &to);
  void addInputs(const std::vector<ModelInput> &inputs, mlir::func::FuncOp function);
  /// Inputs without elements are constants: nothing of them is sent.
  void noteEmpty(const std::vector<EmptyInput> &inputs);
  mlir::Value addInput(mlir::func::FuncOp function, ImportedTensor input);
  /// Extends the name of a new input that is in use already.
  void setUnique(std::string &name) const;
  /// Erases what was emitted and then not read: views that were undone, tables that were looked up.
  void eraseUnread(mlir::func::FuncOp function);
  /// Computes a reduction once that is read with the reduced axes and without.
  void shareReductions(mlir::func::FuncOp function);
  /// Leaves out inputs of the function that nothing reads beside those that are looked up.
  void finishArrays(mlir::func::FuncOp function);
  [[nodiscard]] bool isState(const std::string &input) const;
  mlir::NamedAttribute nameAttribute(const std::string &name);

  // Nodes (importer_nodes.cpp).

  /// Imports one node. If it cannot be, its outputs stay undefined, and the
  /// nodes that need them are only checked as far as that goes.
  void importNode(const GraphNode &node);
  void offerValues(const NodeView &node, Problem &problem) const;
  void build(const GraphNode &node, const Operator &entry, NodeView view);
  void define(const std::string &output, Tensor tensor);
  const Operator *findOperator(const GraphNode &node);
  const std::vector<Requirement> &requirementsOf(const Operator &entry);

  // Graphs in attributes (importer_bodies.cpp).

  /// Imports the nodes of a graph in an attribute of `node`, whose inputs are the arguments.
  /// By output, what could be imported.
  std::vector<std::optional<Tensor>> importGraph(const GraphNode &node,
                                                 const onnx::GraphProto &graph,
                                                 std::string_view attribute,
                                                 const std::vector<Tensor> &arguments);

  // Graphs in attributes that are not imported (importer_unread.cpp).

  /// Reports what makes the graph in an attribute of `node` invalid, once.
  void checkUnread(const GraphNode &node, const onnx::GraphProto &graph,
                   std::string_view attribute);
  /// The same of a node of such a graph, and of the graphs in it.
  void checkUnread(const GraphNode &node);
  /// Reports a name that nothing has defined yet in the graph of `attribute`, or around it.
  void checkUse(const std::string &name, const NodeRef &user, std::string_view attribute);
  /// The same of an output of such a graph, which needs a name too.
  void checkResult(const onnx::GraphProto &graph, int number, const NodeRef &node,
                   std::string_view attribute);

  // States and outputs (importer_outputs.cpp).

  /// Whether the pairs of --state name an input and an output each, and none twice.
  void checkStates(const onnx::GraphProto &graph);
  /// Whether an output without elements is left out: a state, or others have some.
  bool leavesOut(const onnx::GraphProto &graph, const std::string &output, const Tensor &tensor);
  /// Keeps the output as a state if it is one.
  bool keep(const std::string &output, const Tensor &tensor);
  void addOutputs(const onnx::GraphProto &graph, const std::vector<Replaced> &replaced,
                  mlir::func::FuncOp function);

  // What is said of the whole model (importer_notes.cpp).

  /// Once, though bodies are imported for every trip.
  void noteCaution(std::string_view caution, const std::string &node);
  void noteCautions();
  /// Extents that the user replaced are noted; what contradicts itself with them, from
  /// problem `before` on, is a problem of theirs.
  void blameReplaced(const std::vector<Replaced> &replaced, size_t before);

  mlir::MLIRContext &context;
  const ImportOptions &options;
  ImportedModel &info;
  Problems &problems;
  Report report;
  ExternalData external;
  Opsets opsets; ///< of the model
  std::optional<FunctionInliner> inliner;
  mlir::OpBuilder builder;
  Emitter emitter;
  Arrays arrays;
  std::unordered_map<std::string, Tensor> tensors; ///< by ONNX name
  std::map<std::string, mlir::Value> states;       ///< by name of the input
  /// What the graph, and the one in an attribute that is imported, define; of it, `tensors` lacks
  /// what could not be imported.
  std::set<std::string> names;
  std::map<const Operator *, std::vector<Requirement>> requirements;
  std::map<const onnx::GraphProto *, ReadGraph> read;
  /// What a user may not expect, and the nodes.
  std::map<std::string, std::vector<std::string>, std::less<>> cautions;
  std::set<const HostTensor *> counted; ///< in computedElements
  int64_t computedElements = 0;         ///< of the tensors that nodes gave
  int64_t importedInGraphs = 0;         ///< nodes of bodies and branches
  int64_t depth = 0;                    ///< of bodies around the node that is imported
};

} // namespace sluice::frontend
