// Sequences and optionals. How many tensors a sequence has, and whether an optional has a value, is
// known at import, so that nothing is left of either: an operator takes and gives the tensors.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

using Proto = onnx::TensorProto;
using Tensors = std::vector<Tensor>;

/// Most tensors of a sequence that an operator makes of one tensor.
constexpr int64_t kMostElements = 4096;

int64_t lengthOf(const NodeView &node) { return static_cast<int64_t>(node.in(0).elements.size()); }

/// "input 'position' has one element, in [-length, length-1]": of the input `at`, if it is given.
Requirement positionFits(size_t at, bool pastEnd) {
  return {
      fmt::format("input 'position' must have one element, in [-length, length{}] of the sequence",
                  pastEnd ? "" : "-1"),
      [at, pastEnd](const NodeView &node) -> std::string {
        if (!node.has(at))
          return "";
        const std::vector<int64_t> &places = node.knownInts(at);
        if (places.size() != 1)
          return shapeText(node.in(at).shape);
        const int64_t length = lengthOf(node);
        return places[0] >= -length && places[0] < length + pastEnd
                   ? ""
                   : fmt::format("{} for length {}", places[0], length);
      },
      kShapes};
}

/// The place that the input names, or `otherwise`.
int64_t positionOf(const NodeView &node, size_t at, int64_t otherwise) {
  return node.has(at) ? node.axis(node.knownInts(at)[0], lengthOf(node)) : otherwise;
}

InputSpec position(Presence presence) { return {"position", Types::Integer, presence, true}; }

Operator sequenceConstruct() {
  Operator entry;
  entry.name = "SequenceConstruct";
  entry.form = "no operation: a sequence is the list of its tensors";
  entry.inputs = {{"inputs", Types::Any, Presence::Variadic}};
  entry.outputs = {{"output_sequence"}};
  entry.requirements = {sameTypes()};
  entry.build = [](NodeBuilder &node) {
    Tensors elements;
    for (size_t i = 0; i < node.inputCount(); ++i)
      elements.push_back(node.in(i));
    node.result(Tensor::sequence(node.in(0).type, std::move(elements)));
  };
  return entry;
}

Operator sequenceEmpty() {
  Operator entry;
  entry.name = "SequenceEmpty";
  entry.form = "no operation: an empty sequence";
  entry.outputs = {{"output"}};
  entry.attributes = {{"dtype", AttributeKind::Int, int64_t{Proto::FLOAT}}};
  entry.requirements = {{"attribute 'dtype' must be a float, integer or bool type",
                         [](const NodeView &node) -> std::string {
                           const int64_t type = node.integer("dtype");
                           const bool known = type >= 0 && type <= 100 &&
                                              (isFloatType(static_cast<DataType>(type)) ||
                                               isIntegerType(static_cast<DataType>(type)));
                           return known ? "" : fmt::format("{}", type);
                         }}};
  entry.build = [](NodeBuilder &node) {
    node.result(Tensor::sequence(static_cast<DataType>(node.integer("dtype")), {}));
  };
  return entry;
}

Operator sequenceInsert() {
  Operator entry;
  entry.name = "SequenceInsert";
  entry.form = "no operation: a sequence is the list of its tensors";
  entry.inputs = {
      {"input_sequence", Types::Sequence}, {"tensor", Types::Any}, position(Presence::Optional)};
  entry.outputs = {{"output_sequence"}};
  entry.requirements = {{"input 'tensor' must have the element type of the sequence",
                         [](const NodeView &node) -> std::string {
                           return node.in(0).type == node.in(1).type
                                      ? ""
                                      : fmt::format("{} for {}", dataTypeName(node.in(1).type),
                                                    dataTypeName(node.in(0).type));
                         },
                         kShapes},
                        positionFits(2, true)};
  entry.build = [](NodeBuilder &node) {
    Tensors elements = node.in(0).elements;
    elements.insert(elements.begin() + positionOf(node, 2, lengthOf(node)), node.in(1));
    node.result(Tensor::sequence(node.in(0).type, std::move(elements)));
  };
  return entry;
}

/// "the sequence has an element" (E0206).
Requirement isNotEmpty() {
  return {"the sequence must have at least one tensor",
          [](const NodeView &node) -> std::string { return lengthOf(node) > 0 ? "" : "none"; },
          kShapes};
}

Operator sequenceErase() {
  Operator entry;
  entry.name = "SequenceErase";
  entry.form = "no operation: a sequence is the list of its tensors";
  entry.inputs = {{"input_sequence", Types::Sequence}, position(Presence::Optional)};
  entry.outputs = {{"output_sequence"}};
  entry.requirements = {isNotEmpty(), positionFits(1, false)};
  entry.build = [](NodeBuilder &node) {
    Tensors elements = node.in(0).elements;
    elements.erase(elements.begin() + positionOf(node, 1, lengthOf(node) - 1));
    node.result(Tensor::sequence(node.in(0).type, std::move(elements)));
  };
  return entry;
}

Operator sequenceAt() {
  Operator entry;
  entry.name = "SequenceAt";
  entry.form = "no operation: the result is the tensor";
  entry.inputs = {{"input_sequence", Types::Sequence}, position(Presence::Required)};
  entry.outputs = {{"tensor"}};
  entry.requirements = {positionFits(1, false)};
  entry.build = [](NodeBuilder &node) { node.result(node.in(0).elements[positionOf(node, 1, 0)]); };
  return entry;
}

Operator sequenceLength() {
  Operator entry;
  entry.name = "SequenceLength";
  entry.form = "known at compile time";
  entry.inputs = {{"input_sequence", Types::Sequence}};
  entry.outputs = {{"length"}};
  entry.build = [](NodeBuilder &node) {
    node.result(Tensor::ofKnown(HostTensor::ofInts({}, {lengthOf(node)})));
  };
  return entry;
}

//===-- SplitToSequence, ConcatFromSequence ---------------------------------------------------===//

int64_t splitAxis(const NodeView &node) {
  return node.axis(node.integer("axis"), node.in(0).rank());
}

/// The extents of the parts; checked are the axis, and that one extent is above 0.
std::vector<int64_t> partsOf(const NodeView &node) {
  const int64_t extent = node.in(0).shape[splitAxis(node)];
  if (node.has(1) && node.in(1).rank() > 0)
    return node.knownInts(1);
  const int64_t part = node.has(1) ? node.knownInts(1)[0] : 1;
  std::vector<int64_t> parts;
  for (int64_t left = extent; left > 0; left -= part)
    parts.push_back(std::min(left, part));
  return parts;
}

Operator splitToSequence() {
  Operator entry;
  entry.name = "SplitToSequence";
  entry.form = "one slice per tensor of the sequence";
  entry.inputs = {{"input", Types::Any}, {"split", Types::Integer, Presence::Optional, true}};
  entry.outputs = {{"output_sequence"}};
  entry.attributes = {{"axis", AttributeKind::Int, int64_t{0}},
                      {"keepdims", AttributeKind::Int, int64_t{1}, false, {0, 1}}};
  entry.requirements = {
      axisInRange("input"),
      {fmt::format("axis 'axis' must have at most {} elements if 'split' is left out",
                   kMostElements),
       [](const NodeView &node) -> std::string {
         const int64_t extent = node.in(0).shape[splitAxis(node)];
         return (node.has(1) && node.in(1).rank() > 0) || extent <= kMostElements
                    ? ""
                    : fmt::format("{}", extent);
       }},
      {"'split' must be one extent of at least 1, or a list of extents that add up to that of "
       "'axis'",
       [](const NodeView &node) -> std::string {
         if (!node.has(1))
           return "";
         const std::vector<int64_t> &given = node.knownInts(1);
         const int64_t extent = node.in(0).shape[splitAxis(node)];
         int64_t left = extent;
         bool fits = node.in(1).rank() <= 1 && (node.in(1).rank() == 1 || given[0] >= 1);
         if (node.in(1).rank() == 1)
           for (const int64_t part : given) { // subtracting cannot overflow
             fits = fits && part >= 0 && part <= left;
             left -= fits ? part : 0;
           }
         return fits && (node.in(1).rank() == 0 || left == 0)
                    ? ""
                    : fmt::format("{} of shape {} for extent {}", shapeText(given),
                                  shapeText(node.in(1).shape), extent);
       },
       kShapes}};
  entry.build = [](NodeBuilder &node) {
    const int64_t axis = splitAxis(node);
    const bool squeezes = !node.has(1) && node.integer("keepdims") == 0;
    Tensors elements;
    int64_t start = 0;
    for (const int64_t part : partsOf(node)) {
      Tensor element = sliceAlong(node.emit, node.in(0), axis, start, part);
      elements.push_back(squeezes ? node.emit.squeeze(element, {axis}) : element);
      start += part;
    }
    node.result(Tensor::sequence(node.in(0).type, std::move(elements)));
  };
  return entry;
}

std::string elementShapes(const NodeView &node) {
  std::vector<std::string> shapes;
  for (const Tensor &element : node.in(0).elements)
    shapes.push_back(shapeText(element.shape));
  return fmt::format("{}", fmt::join(shapes, " and "));
}

Operator concatFromSequence() {
  Operator entry;
  entry.name = "ConcatFromSequence";
  entry.form = "concat; with 'new_axis' after unsqueeze";
  entry.inputs = {{"input_sequence", Types::Sequence}};
  entry.outputs = {{"concat_result"}};
  entry.attributes = {{"axis", AttributeKind::Int, std::nullopt, true},
                      {"new_axis", AttributeKind::Int, int64_t{0}, false, {0, 1}}};
  const auto rankOf = [](const NodeView &node) {
    return node.in(0).elements[0].rank() + node.integer("new_axis");
  };
  entry.requirements = {
      isNotEmpty(),
      {"attribute 'axis' must be in [-rank, rank-1] of the result",
       [rankOf](const NodeView &node) { return axesProblem({node.integer("axis")}, rankOf(node)); },
       kShapes},
      {"the tensors must have equal shapes, except along 'axis' if it is not new",
       [rankOf](const NodeView &node) -> std::string {
         const int64_t axis = node.axis(node.integer("axis"), rankOf(node));
         const Shape &first = node.in(0).elements[0].shape;
         for (const Tensor &element : node.in(0).elements) {
           Shape shape = element.shape;
           if (node.integer("new_axis") == 0 && shape.size() == first.size())
             shape[axis] = first[axis];
           if (shape != first)
             return elementShapes(node);
         }
         return "";
       },
       kShapes}};
  entry.build = [rankOf](NodeBuilder &node) {
    const int64_t axis = node.axis(node.integer("axis"), rankOf(node));
    Tensors parts = node.in(0).elements;
    if (node.integer("new_axis") != 0)
      for (Tensor &part : parts)
        part = node.emit.unsqueeze(part, {axis});
    node.result(parts.size() == 1 ? parts[0] : node.emit.concat(parts, axis));
  };
  return entry;
}

//===-- SequenceMap ---------------------------------------------------------------------------===//

/// The type of a tensor, or of those in an optional or a sequence.
DataType elementType(const onnx::TypeProto &type) {
  if (type.has_optional_type())
    return elementType(type.optional_type().elem_type());
  if (type.has_sequence_type())
    return elementType(type.sequence_type().elem_type());
  return type.tensor_type().elem_type();
}

Operator sequenceMap() {
  Operator entry;
  entry.name = "SequenceMap";
  entry.form = "one copy of the body per tensor of the sequence";
  entry.inputs = {{"input_sequence", Types::Sequence},
                  {"additional_inputs", Types::Value, Presence::AnyNumber}};
  entry.outputs = {{"out_sequence", Presence::Variadic}};
  entry.attributes = {{"body", AttributeKind::Graph, std::nullopt, true}};
  entry.requirements = {
      {"the body must have as many inputs and outputs as the node",
       [](const NodeView &node) -> std::string {
         const onnx::GraphProto &body = node.graph("body");
         return static_cast<size_t>(body.input_size()) == node.inputCount() &&
                        static_cast<size_t>(body.output_size()) == node.outputCount()
                    ? ""
                    : fmt::format("{} inputs and {} outputs; the body has {} and {}",
                                  node.inputCount(), node.outputCount(), body.input_size(),
                                  body.output_size());
       },
       kShapes},
      {"all inputs must be given, and all sequences must have the same length",
       [](const NodeView &node) -> std::string {
         for (size_t i = 0; i < node.inputCount(); ++i) {
           if (!node.has(i))
             return fmt::format("no input {}", i);
           if (node.in(i).kind == ValueKind::Sequence &&
               node.in(i).elements.size() != node.in(0).elements.size())
             return fmt::format("{} and {}", lengthOf(node), node.in(i).elements.size());
         }
         return "";
       },
       kShapes}};
  entry.build = [](NodeBuilder &node) {
    std::vector<Tensors> results(node.outputCount());
    for (size_t at = 0; at < node.in(0).elements.size(); ++at) {
      Tensors arguments;
      for (size_t i = 0; i < node.inputCount(); ++i)
        arguments.push_back(node.in(i).kind == ValueKind::Sequence ? node.in(i).elements[at]
                                                                   : node.in(i));
      const Tensors found = node.bodies.import("body", arguments);
      for (size_t i = 0; i < results.size(); ++i) {
        if (!found[i].isTensor())
          throw NodeError{kShapes, fmt::format("output {} of the body is {}; expected a tensor", i,
                                               kindText(found[i]))};
        results[i].push_back(found[i]);
      }
    }
    for (size_t i = 0; i < results.size(); ++i) {
      const auto &declared = node.graph("body").output(static_cast<int>(i)).type();
      const DataType type = results[i].empty() ? elementType(declared) : results[i][0].type;
      node.result(i, Tensor::sequence(type, std::move(results[i])));
    }
  };
  return entry;
}

//===-- Optionals -----------------------------------------------------------------------------===//

Operator optional() {
  Operator entry;
  entry.name = "Optional";
  entry.form = "no operation: the result is the value, or an empty optional";
  entry.inputs = {{"input", Types::Value, Presence::Optional}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"type", AttributeKind::Type}};
  entry.requirements = {{"either input 'input' or attribute 'type' must be given, not both",
                         [](const NodeView &node) -> std::string {
                           if (node.has(0) != node.given("type"))
                             return "";
                           return node.has(0) ? "both" : "neither";
                         },
                         kShapes}};
  entry.build = [](NodeBuilder &node) {
    node.result(node.has(0) ? node.in(0)
                            : Tensor::absent(
                                  elementType(*node.attribute<const onnx::TypeProto *>("type"))));
  };
  return entry;
}

Operator optionalHasElement(Presence presence) {
  Operator entry;
  entry.name = "OptionalHasElement";
  entry.form = "known at compile time";
  entry.inputs = {{"input", Types::Value, presence}};
  entry.outputs = {{"output"}};
  entry.build = [](NodeBuilder &node) {
    const bool has = node.has(0) && node.in(0).kind != ValueKind::Absent;
    node.result(Tensor::ofKnown({Proto::BOOL, {}, {}, {has ? 1 : 0}}));
  };
  return entry;
}

Operator optionalGetElement() {
  Operator entry;
  entry.name = "OptionalGetElement";
  entry.form = "no operation: the result is the value";
  entry.inputs = {{"input", Types::Value}};
  entry.outputs = {{"output"}};
  entry.requirements = {{"input 'input' must have a value",
                         [](const NodeView &node) -> std::string {
                           return node.in(0).kind == ValueKind::Absent ? kindText(node.in(0)) : "";
                         },
                         kShapes}};
  entry.build = [](NodeBuilder &node) { node.result(node.in(0)); };
  return entry;
}

} // namespace

void addSequences(OperatorTable &table) {
  table.add({11}, sequenceConstruct());
  table.add({11}, sequenceEmpty());
  table.add({11}, sequenceInsert());
  table.add({11}, sequenceErase());
  table.add({11}, sequenceAt());
  table.add({11}, sequenceLength());
  table.add({11, 24}, splitToSequence());
  table.add({11}, concatFromSequence());
  table.add({17}, sequenceMap());
  table.add({15}, optional());
  table.add({15}, optionalHasElement(Presence::Required));
  table.add({18}, optionalHasElement(Presence::Optional));
  table.add({15, 18}, optionalGetElement());
}

} // namespace sluice::frontend::ops
