// Opsets 1 to 6, as differences to the entries of later versions.
#include <numeric>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

/// Opset 1 names the inputs whose memory may be overwritten, which concerns no result.
Operator withConsumed(Operator entry) {
  entry.attributes.push_back({"consumed_inputs", AttributeKind::Ints});
  return entry;
}

/// The axis of input 0 that the first axis of input 1 lies on.
int64_t alignedAxis(const NodeView &node) {
  const int64_t left = node.in(0).rank(), right = node.in(1).rank();
  return node.given("axis") ? node.axis(node.integer("axis"), left) : left - right;
}

/// Up to opset 6 the second operand is repeated only where 'broadcast' is 1, and may lie on any
/// axes of the first that follow each other.
Requirement earlyBroadcast() {
  return {"the shapes must be equal, or, with 'broadcast' 1, input 1 have extents of 1 or of input "
          "0 from 'axis'",
          [](const NodeView &node) -> std::string {
            const Shape &left = node.in(0).shape, &right = node.in(1).shape;
            if (left == right)
              return "";
            const int64_t axis = alignedAxis(node), rank = node.in(1).rank();
            const bool one = elementCount(right, kMaxElements) == 1;
            bool inside = axis >= 0 && axis + rank <= node.in(0).rank();
            for (size_t i = 0; inside && i < right.size(); ++i)
              inside = right[i] == 1 || right[i] == left[axis + i];
            if (node.integer("broadcast") != 0 && (one || inside))
              return "";
            return fmt::format("{}, 'broadcast' {}{}", inputShapes(node), node.integer("broadcast"),
                               node.given("axis") ? fmt::format(", 'axis' {}", node.integer("axis"))
                                                  : "");
          },
          kShapes};
}

/// Builds `then` with input 1 in the shape that numpy's rule takes.
std::function<void(NodeBuilder &)> aligned(std::function<void(NodeBuilder &)> then) {
  return [then = std::move(then)](NodeBuilder &node) {
    const Tensor &operand = node.in(1);
    if (node.in(0).shape != operand.shape) {
      Shape shape = operand.shape;
      if (elementCount(shape, kMaxElements) == 1)
        shape.clear();
      else
        shape.resize(node.in(0).rank() - alignedAxis(node), 1);
      node.replace(1, node.emit.reshape(operand, shape));
    }
    then(node);
  };
}

Operator withEarlyBroadcast(Operator entry) {
  entry.attributes.push_back({"axis", AttributeKind::Int});
  entry.attributes.push_back({"broadcast", AttributeKind::Int, int64_t{0}, false, {0, 1}});
  for (Requirement &requirement : entry.requirements)
    if (requirement.sentence == broadcastable().sentence)
      requirement = earlyBroadcast();
  entry.build = aligned(entry.build);
  if (entry.evaluate)
    entry.evaluate = aligned(entry.evaluate);
  return entry;
}

/// Up to opset 6 the slopes are of channels (axis 1), or one.
Operator withChannelSlopes(Operator entry) {
  entry.requirements = {sameTypes(),
                        {"input 'slope' must have one element, or one per channel (axis 1)",
                         [](const NodeView &node) -> std::string {
                           const Shape &x = node.in(0).shape, &slope = node.in(1).shape;
                           const bool one = elementCount(slope, kMaxElements) == 1;
                           return one || (x.size() >= 2 && slope == Shape{x[1]})
                                      ? ""
                                      : inputShapes(node);
                         },
                         kShapes}};
  entry.build = [then = entry.build](NodeBuilder &node) {
    Shape shape;
    if (elementCount(node.in(1).shape, kMaxElements) != 1) {
      shape.assign(node.in(0).rank() - 1, 1);
      shape[0] = node.in(1).shape[0];
    }
    node.replace(1, node.emit.reshape(node.in(1), shape));
    then(node);
  };
  return entry;
}

/// Without the attribute the result would be that of training.
Operator withTestMode(Operator entry) {
  entry.attributes.push_back({"is_test", AttributeKind::Int, std::nullopt, true, {1}});
  return entry;
}

Operator withoutAttribute(Operator entry, const std::string &name) {
  std::erase_if(entry.attributes, [&](const AttributeSpec &one) { return one.name == name; });
  return entry;
}

Operator withAttribute(Operator entry, AttributeSpec attribute) {
  entry.attributes.push_back(std::move(attribute));
  return entry;
}

} // namespace

void addEarlyOpsets(OperatorTable &table) {
  const auto of = [&](const char *name, int64_t opset) { return *table.find("", name, opset); };
  for (const char *name :
       {"Abs", "Ceil",        "Clip", "Elu",        "Exp",     "Floor",
        "Log", "HardSigmoid", "Max",  "Mean",       "Min",     "InstanceNormalization",
        "Neg", "LeakyRelu",   "Relu", "Reciprocal", "Sigmoid", "Sqrt",
        "Sum", "Tanh"})
    table.add({1}, withConsumed(of(name, 6)));
  Operator selu = withConsumed(of("Selu", 6)); // with fewer digits
  for (AttributeSpec &one : selu.attributes)
    if (one.name != "consumed_inputs")
      one.byDefault = one.name == "alpha" ? 1.6732F : 1.0507F;
  table.add({1}, selu);
  for (const char *name : {"Add", "Sub", "Mul", "Div"}) {
    const Operator entry = withEarlyBroadcast(of(name, 7));
    table.add({6}, entry);
    table.add({1}, withConsumed(entry));
  }
  for (const char *name : {"And", "Or", "Xor", "Equal", "Greater", "Less", "Pow"})
    table.add({1}, withEarlyBroadcast(of(name, 7)));
  const Operator slopes = withChannelSlopes(of("PRelu", 7));
  table.add({6}, slopes);
  table.add({1}, withConsumed(slopes));
  table.add({1, 6}, withAttribute(of("Gemm", 7),
                                  {"broadcast", AttributeKind::Int, int64_t{0}, false, {0, 1}}));
  const Operator statistics = withTestMode(of("BatchNormalization", 7));
  table.add({6}, statistics);
  table.add({1}, withConsumed(statistics));
  const Operator dropped = withTestMode(of("Dropout", 7));
  table.add({6}, dropped);
  table.add({1}, withConsumed(dropped));
  for (const char *name : {"LSTM", "GRU", "RNN"}) {
    const Operator entry =
        withAttribute(of(name, 7), {"output_sequence", AttributeKind::Int, int64_t{0}});
    if (std::string_view(name) == "GRU") {
      table.add({3}, entry);
      table.add({1},
                withAttribute(withoutAttribute(entry, "linear_before_reset"),
                              {"linear_before_reset", AttributeKind::Int, int64_t{0}, false, {0}}));
    } else {
      table.add({1}, entry);
    }
  }
}

} // namespace sluice::frontend::ops
