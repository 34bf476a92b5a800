#include <fmt/format.h>

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
          "E0206"};
}

std::vector<Requirement> requirements(const Kind &kind) {
  const int64_t gates = kind.gates;
  const std::string rows = gates == 1 ? "hidden size" : fmt::format("{} * hidden size", gates);
  return {
      {"all inputs except 'sequence_lens' must have the same element type",
       [](const NodeView &node) -> std::string {
         std::vector<std::string> names;
         bool same = true;
         for (size_t i = 0; i < node.inputCount(); ++i)
           if (node.has(i) && i != kLengths) {
             names.push_back(dataTypeName(node.in(i).type));
             same &= names.back() == names.front();
           }
         return same ? "" : fmt::format("{}", fmt::join(names, ", "));
       },
       "E0206"},
      {"inputs 'X', 'W' and 'R' must have rank 3 and no extent 0",
       [](const NodeView &node) -> std::string {
         for (const size_t i : {kX, kW, kR})
           if (node.in(i).rank() != 3 || elementCount(node.in(i).shape, kMaxElements) <= 0)
             return inputShapes(node);
         return "";
       },
       "E0206"},
      {"attribute 'direction' must be 'forward', 'reverse' or 'bidirectional'",
       [](const NodeView &node) -> std::string {
         const auto &direction = node.attribute<std::string>("direction");
         return direction == "forward" || direction == "reverse" || direction == "bidirectional"
                    ? ""
                    : inQuotes(direction);
       },
       "E0206"},
      {"attribute 'hidden_size', if given, must be the last extent of 'R'",
       [](const NodeView &node) -> std::string {
         return !node.given("hidden_size") ||
                        node.integer("hidden_size") == node.in(kR).shape.back()
                    ? ""
                    : fmt::format("{} for {}", node.integer("hidden_size"),
                                  shapeText(node.in(kR).shape));
       },
       "E0206"},
      shaped("W", kW, fmt::format("[directions, {}, input size]", rows),
             [gates](const Extents &e) { return Shape{e.directions, gates * e.hidden, e.input}; }),
      shaped("R", kR, fmt::format("[directions, {}, hidden size]", rows),
             [gates](const Extents &e) { return Shape{e.directions, gates * e.hidden, e.hidden}; }),
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
       "E0206"},
      shaped("initial_h", kInitialH,
             "[directions, batch size, hidden size], with the first two exchanged for 'layout' 1",
             [](const Extents &e) { return e.state(); }),
      {"attribute 'clip', if given, must be above 0",
       [](const NodeView &node) -> std::string {
         return !node.given("clip") || node.real("clip") > 0 ? ""
                                                             : fmt::format("{}", node.real("clip"));
       },
       "E0206"},
      {fmt::format("attribute 'activations' must have {} per direction, out of {}, with parameters "
                   "in 'activation_alpha' and 'activation_beta'",
                   kind.activations.size() == 1 ? "1 name"
                                                : fmt::format("{} names", kind.activations.size()),
                   recurrentActivationNames()),
       [&kind](const NodeView &node) -> std::string {
         std::string found;
         return activations(node, kind, found) ? "" : found;
       },
       "E0206"},
  };
}

} // namespace sluice::frontend::ops::recurrent
