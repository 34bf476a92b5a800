#include <algorithm>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/quantised.h"
#include "compiler/frontend/onnx/ops/recurrence.h"

namespace sluice::frontend::ops::recurrent {

std::optional<std::vector<RecurrentActivation>> activations(const NodeView &node, const Kind &kind,
                                                            std::string &found) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < Extents(node).directions; ++i)
    names.insert(names.end(), kind.activations.begin(), kind.activations.end());
  if (node.given("activations")) {
    const auto &given = node.attribute<std::vector<std::string>>("activations");
    if (given.size() != names.size()) {
      found = fmt::format("{} names, expected {}", given.size(), names.size());
      return std::nullopt;
    }
    names = given;
  }
  const auto numbers = [&](const char *attribute) {
    return node.given(attribute) ? node.attribute<std::vector<float>>(attribute)
                                 : std::vector<float>();
  };
  return recurrentActivations(names, numbers("activation_alpha"), numbers("activation_beta"),
                              found);
}

Requirement shaped(const char *name, size_t input, const std::string &form,
                   std::function<Shape(const Extents &)> shape) {
  return {fmt::format("input '{}' must be {}", name, form),
          [input, shape = std::move(shape)](const NodeView &node) -> std::string {
            if (!node.has(input))
              return "";
            const Shape wanted = shape(Extents(node));
            return node.in(input).shape == wanted
                       ? ""
                       : fmt::format("{}, expected {}", shapeText(node.in(input).shape),
                                     shapeText(wanted));
          },
          kShapes};
}

namespace {

/// Requires the inputs that are floats to have one type.
Requirement oneType(const Kind &kind) {
  std::vector<size_t> others = {kLengths};
  if (kind.isQuantised)
    others.insert(others.end(), {kW, kR, kWZero, kRZero});
  return {fmt::format("all inputs except 'sequence_lens'{} must have the same element type",
                      kind.isQuantised ? ", weights and zero points" : ""),
          [others](const NodeView &node) -> std::string {
            std::vector<std::string> names;
            bool same = true;
            for (size_t i = 0; i < node.inputCount(); ++i)
              if (node.has(i) && std::ranges::find(others, i) == others.end()) {
                names.push_back(dataTypeName(node.in(i).type));
                same &= names.back() == names.front();
              }
            return same ? "" : fmt::format("{}", fmt::join(names, ", "));
          },
          kShapes};
}

/// What holds of the shapes of the weights.
std::vector<Requirement> weightShapes(const Kind &kind) {
  const int64_t gates = kind.gates;
  const std::string rows = gates == 1 ? "hidden size" : fmt::format("{} * hidden size", gates);
  const auto form = [&](const char *columns) {
    return kind.isQuantised ? fmt::format("[directions, {}, {}]", columns, rows)
                            : fmt::format("[directions, {}, {}]", rows, columns);
  };
  const auto shape = [&kind](const Extents &e, int64_t columns) {
    const int64_t all = kind.gates * e.hidden;
    return kind.isQuantised ? Shape{e.directions, columns, all} : Shape{e.directions, all, columns};
  };
  return {
      {fmt::format("attribute 'hidden_size', if given, must be {} of 'R'",
                   kind.isQuantised ? "extent 1" : "the last extent"),
       [](const NodeView &node) -> std::string {
         return !node.given("hidden_size") || node.integer("hidden_size") == Extents(node).hidden
                    ? ""
                    : fmt::format("{} for {}", node.integer("hidden_size"),
                                  shapeText(node.in(kR).shape));
       },
       kShapes},
      shaped("W", kW, form("input size"), [shape](const Extents &e) { return shape(e, e.input); }),
      shaped("R", kR, form("hidden size"),
             [shape](const Extents &e) { return shape(e, e.hidden); })};
}

/// Requires scales and zero points of weights to have one element per direction, or one per row of
/// each direction, and zero points to have the type of the weights.
Requirement quantisationFits(const Kind &kind) {
  return {fmt::format("scales and zero points must be [directions] or [directions, {} * hidden "
                      "size], zero points of the type of their weights, int8 or uint8",
                      kind.gates),
          [gates = kind.gates](const NodeView &node) -> std::string {
            const Extents e(node);
            for (const size_t weights : {kW, kR})
              for (const size_t i :
                   {weights == kW ? kWScale : kRScale, weights == kW ? kWZero : kRZero}) {
                const Tensor &input = node.in(i);
                const bool fits = input.shape == Shape{e.directions} ||
                                  input.shape == Shape{e.directions, gates * e.hidden};
                const DataType type = node.in(weights).type;
                if (!fits || !isByte(type) || (!isFloatType(input.type) && input.type != type))
                  return fmt::format("{} {} for {} {}", dataTypeName(input.type),
                                     shapeText(input.shape), dataTypeName(type),
                                     shapeText(node.in(weights).shape));
              }
            return "";
          },
          kShapes};
}

/// Integers are those of the range of all sequences, so that these must have one length.
Requirement lengthsAreEqual() {
  return {"every element of input 'sequence_lens' must be the number of steps",
          [](const NodeView &node) -> std::string {
            if (!node.has(kLengths))
              return "";
            const int64_t steps = Extents(node).steps;
            for (const int64_t length : node.knownInts(kLengths))
              if (length != steps)
                return fmt::format("{} for {} steps", length, steps);
            return "";
          }};
}

} // namespace

std::vector<Requirement> requirements(const Kind &kind) {
  const int64_t gates = kind.gates;
  std::vector<Requirement> out = {
      oneType(kind),
      {"inputs 'X', 'W' and 'R' must have rank 3 and no extent 0",
       [](const NodeView &node) -> std::string {
         for (const size_t i : {kX, kW, kR})
           if (node.in(i).rank() != 3 || elementCount(node.in(i).shape, kMaxElements) <= 0)
             return inputShapes(node);
         return "";
       },
       kShapes},
      {"attribute 'direction' must be 'forward', 'reverse' or 'bidirectional'",
       [](const NodeView &node) -> std::string {
         const auto &direction = node.attribute<std::string>("direction");
         return direction == "forward" || direction == "reverse" || direction == "bidirectional"
                    ? ""
                    : inQuotes(direction);
       },
       kShapes},
  };
  for (Requirement &one : weightShapes(kind))
    out.push_back(std::move(one));
  if (kind.isQuantised) {
    out.push_back(quantisationFits(kind));
    out.push_back(positive(kWScale, "W_scale"));
    out.push_back(positive(kRScale, "R_scale"));
  }
  const std::vector<Requirement> others = {
      shaped("B", kB, fmt::format("[directions, {} * hidden size]", 2 * gates),
             [gates](const Extents &e) { return Shape{e.directions, 2 * gates * e.hidden}; }),
      shaped("sequence_lens", kLengths, "[batch size]",
             [](const Extents &e) { return Shape{e.batch}; }),
      {"every element of input 'sequence_lens' must be in [0, steps]",
       [](const NodeView &node) -> std::string {
         if (!node.has(kLengths))
           return "";
         const int64_t steps = Extents(node).steps;
         for (const int64_t length : node.knownInts(kLengths))
           if (length < 0 || length > steps)
             return fmt::format("{} for {} steps", length, steps);
         return "";
       },
       kShapes},
      shaped("initial_h", kInitialH,
             "[directions, batch size, hidden size], with the first two exchanged for 'layout' 1",
             [](const Extents &e) { return e.state(); }),
      {"attribute 'clip', if given, must be above 0",
       [](const NodeView &node) -> std::string {
         return !node.given("clip") || node.real("clip") > 0 ? ""
                                                             : fmt::format("{}", node.real("clip"));
       },
       kShapes},
      {fmt::format("attribute 'activations' must have {} per direction, out of {}, with parameters "
                   "in 'activation_alpha' and 'activation_beta'",
                   kind.activations.size() == 1 ? "1 name"
                                                : fmt::format("{} names", kind.activations.size()),
                   recurrentActivationNames()),
       [&kind](const NodeView &node) -> std::string {
         std::string found;
         return activations(node, kind, found) ? "" : found;
       },
       kShapes},
  };
  out.insert(out.end(), others.begin(), others.end());
  if (kind.isQuantised)
    out.push_back(lengthsAreEqual());
  return out;
}

} // namespace sluice::frontend::ops::recurrent
