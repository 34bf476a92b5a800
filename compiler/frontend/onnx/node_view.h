// One node as its operator's entry sees it: inputs, attributes with their
// defaults, and what its import writes.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/emitter.h"
#include "compiler/frontend/onnx/external_data.h"
#include "compiler/frontend/onnx/model_graph.h"
#include "compiler/frontend/onnx/operator.h"

namespace sluice::frontend {

class NodeView {
public:
  /// `inputs` are null where a node leaves an input out.
  NodeView(const GraphNode &node, std::vector<const Tensor *> inputs,
           std::map<std::string, AttributeValue> attributes)
      : inputs(std::move(inputs)), node(node), attributes(std::move(attributes)) {}

  size_t inputCount() const { return inputs.size(); }
  bool has(size_t input) const { return input < inputs.size() && inputs[input]; }
  const Tensor &in(size_t input) const { return *inputs[input]; }
  /// The values of an integer input known at import.
  const std::vector<int64_t> &knownInts(size_t input) const { return in(input).known->ints; }
  bool allKnown() const;

  int64_t opset() const { return node.opset; }
  size_t outputCount() const { return node.proto->output_size(); }
  /// The name of the node's first output, which no other tensor of the model has.
  const std::string &resultName() const { return node.proto->output(0); }
  /// Whether the node names this output.
  bool wants(size_t output) const {
    return output < outputCount() && !node.proto->output(static_cast<int>(output)).empty();
  }
  /// Whether anything reads this output.
  bool isUsed(size_t output) const { return output < node.used.size() && node.used[output]; }

  bool given(const std::string &attribute) const { return attributes.count(attribute) != 0; }
  template <typename T> const T &attribute(const std::string &name) const {
    return std::get<T>(attributes.at(name));
  }
  /// Whether an attribute that is given is an int.
  bool isInteger(const std::string &name) const {
    return std::holds_alternative<int64_t>(attributes.at(name));
  }
  int64_t integer(const std::string &name) const { return attribute<int64_t>(name); }
  float real(const std::string &name) const { return attribute<float>(name); }
  const std::vector<int64_t> &integers(const std::string &name) const {
    return attribute<std::vector<int64_t>>(name);
  }
  const std::vector<float> &floats(const std::string &name) const {
    return attribute<std::vector<float>>(name);
  }
  const onnx::GraphProto &graph(const std::string &name) const {
    return *attribute<const onnx::GraphProto *>(name);
  }
  /// An axis counted from the front.
  int64_t axis(int64_t value, int64_t rank) const { return value < 0 ? value + rank : value; }

protected:
  std::vector<const Tensor *> inputs;

private:
  const GraphNode &node;
  std::map<std::string, AttributeValue> attributes;
};

/// Writes the graphs in a node's attributes where the emitter is.
class BodyImporter {
public:
  virtual ~BodyImporter() = default;
  /// What the graph gives of these arguments. What is wrong in it is reported, and thrown as
  /// a NodeError without a code.
  virtual std::vector<Tensor> import(const std::string &attribute,
                                     const std::vector<Tensor> &arguments) = 0;
  /// The same of a graph without arguments that stands once where the node is, at its depth.
  virtual std::vector<Tensor> importInPlace(const std::string &attribute) = 0;
  /// Reports what makes a graph invalid that is not imported.
  virtual void check(const std::string &attribute) = 0;
  /// Nodes of graphs that were imported so far, each as often as it was.
  virtual int64_t nodes() const = 0;
};

/// What becomes of random numbers that have no seed.
enum class Unseeded : uint8_t {
  Drawn,           ///< the host draws new ones for every inference
  Fixed,           ///< the same in every inference (--fixed-random)
  RefusedInLoop,   ///< each trip wants others
  RefusedStreamed, ///< each step wants others
};

class NodeBuilder : public NodeView {
public:
  NodeBuilder(NodeView view, Emitter &emitter, BodyImporter &bodies, Unseeded unseeded)
      : NodeView(std::move(view)), emit(emitter), bodies(bodies), unseeded(unseeded),
        results(outputCount()) {}

  Emitter &emit;
  BodyImporter &bodies;
  const Unseeded unseeded;
  std::string_view caution; ///< set by the entry: what a user may not expect of the node's results
  std::vector<std::optional<Tensor>> results;

  /// Has the entry see another tensor as an input: an old version's operand in the form of
  /// later ones.
  void replace(size_t input, Tensor tensor) {
    replaced.push_back(std::move(tensor));
    inputs[input] = &replaced.back();
  }

  void result(size_t output, Tensor tensor) {
    if (output < results.size())
      results[output] = withElementsOfItsType(std::move(tensor));
  }
  void result(Tensor tensor) { result(0, std::move(tensor)); }

private:
  std::deque<Tensor> replaced; ///< inputs point into it
};

/// Reads a node's attributes by its entry; what is missing, unknown or of
/// another type is E0203, of a tensor E0105 to E0114.
std::map<std::string, AttributeValue> readAttributes(const GraphNode &node, const Operator &entry,
                                                     const ExternalData &external, Report &report);

/// Checks the numbers of inputs and outputs (E0204).
void checkArity(const GraphNode &node, const Operator &entry, Report &report);

} // namespace sluice::frontend
