// Scan: a loop of its body over sequences; or, where the body needs values that are known at
// import and differ from trip to trip, the body once for each trip.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/trips.h"

namespace sluice::frontend::ops {
namespace {

/// How the inputs and outputs of a Scan are shared out.
struct ScanCounts {
  explicit ScanCounts(const NodeView &node, size_t first = 0)
      : first(first), sequences(static_cast<size_t>(node.integer("num_scan_inputs"))),
        states(node.inputCount() - first - sequences),
        stacks(static_cast<size_t>(node.graph("body").output_size()) - states) {}

  size_t first; ///< input that is a state or a sequence
  size_t sequences, states, stacks;
};

/// A list attribute with an element for each tensor; all are 0 if it is not given.
std::vector<int64_t> perTensor(const NodeView &node, const char *attribute, size_t count) {
  return node.given(attribute) ? node.integers(attribute) : std::vector<int64_t>(count, 0);
}

/// The body's results for the whole sequences, whatever they are of.
Tensors scan(NodeBuilder &node, const LoopFrame &frame) {
  Tensors sequences;
  for (const Sequence &one : frame.sequences)
    sequences.push_back(one.tensor);
  const auto body = [&](const Tensors &arguments) { return node.bodies.import("body", arguments); };
  if (areFloat(frame.initial) && areFloat(sequences))
    return node.emit.loop(frame, body);
  Tensors carried = frame.initial;
  std::vector<Tensors> rows(frame.stacks.size());
  TripLimit limit(node.bodies, frame.trips);
  for (int64_t trip = 0; trip < frame.trips; ++trip) {
    Tensors arguments = std::move(carried);
    for (const Sequence &one : frame.sequences)
      arguments.push_back(element(node.emit, one, frame.trips, trip));
    const Tensors next = body(arguments);
    limit.countTrip();
    const auto split = next.begin() + static_cast<ptrdiff_t>(frame.initial.size());
    carried.assign(next.begin(), split);
    for (size_t i = 0; i < rows.size(); ++i)
      appendRow(split[static_cast<ptrdiff_t>(i)], rows[i]);
  }
  for (size_t i = 0; i < rows.size(); ++i)
    carried.push_back(stacked(node.emit, std::move(rows[i]), frame.stacks[i]));
  return carried;
}

/// Axes of the sequences, counted from the front.
std::vector<int64_t> sequenceAxes(const NodeView &node) {
  const ScanCounts counts(node);
  std::vector<int64_t> axes = perTensor(node, "scan_input_axes", counts.sequences);
  for (size_t i = 0; i < axes.size(); ++i)
    axes[i] = node.axis(axes[i], node.in(counts.states + i).rank());
  return axes;
}

void buildScan(NodeBuilder &node) {
  const ScanCounts counts(node);
  LoopFrame frame;
  const auto axes = sequenceAxes(node);
  const auto directions = perTensor(node, "scan_input_directions", counts.sequences);
  for (size_t i = 0; i < counts.states; ++i)
    frame.initial.push_back(node.in(i));
  for (size_t i = 0; i < counts.sequences; ++i)
    frame.sequences.push_back({node.in(counts.states + i), {axes[i], directions[i] == 1}});
  frame.trips = node.in(counts.states).shape[axes[0]];
  const auto outputAxes = perTensor(node, "scan_output_axes", counts.stacks);
  const auto outputDirections = perTensor(node, "scan_output_directions", counts.stacks);
  for (size_t i = 0; i < counts.stacks; ++i)
    frame.stacks.push_back({0, outputDirections[i] == 1});
  const Tensors results = scan(node, frame);
  for (size_t i = 0; i < results.size(); ++i) {
    Tensor result = results[i];
    if (i >= counts.states) { // the rank of a body's output is known only now
      const int64_t given = outputAxes[i - counts.states], rank = result.rank();
      if (given < -rank || given >= rank)
        throw NodeError{
            kShapes,
            fmt::format("element {} of 'scan_output_axes' is {}, but the output has rank {}",
                        i - counts.states, given, rank)};
      Shape order;
      for (int64_t axis = 1; axis < rank; ++axis)
        order.push_back(axis);
      order.insert(order.begin() + node.axis(given, rank), 0);
      if (node.axis(given, rank) != 0)
        result = node.emit.transpose(result, order);
    }
    node.result(i, result);
  }
}

/// Version 8: a batch of sequences, each scanned alone.
void buildBatchedScan(NodeBuilder &node) {
  const ScanCounts counts(node, 1);
  const auto directions = perTensor(node, "directions", counts.sequences);
  const int64_t batch = node.in(1).shape[0];
  std::vector<Tensors> results; // by output and row of the batch
  for (int64_t row = 0; row < batch; ++row) {
    const auto ofRow = [&](size_t input) {
      return element(node.emit, {node.in(input), {0, false}}, batch, row);
    };
    LoopFrame frame;
    for (size_t i = 0; i < counts.states; ++i)
      frame.initial.push_back(ofRow(1 + i));
    for (size_t i = 0; i < counts.sequences; ++i)
      frame.sequences.push_back({ofRow(1 + counts.states + i), {0, directions[i] == 1}});
    frame.trips = node.in(1 + counts.states).shape[1];
    frame.stacks.resize(counts.stacks);
    const Tensors ofThis = scan(node, frame);
    results.resize(ofThis.size());
    for (size_t i = 0; i < ofThis.size(); ++i)
      appendRow(ofThis[i], results[i]);
  }
  for (size_t i = 0; i < results.size(); ++i)
    node.result(i, stacked(node.emit, results[i], {0, false}));
}

/// "the body takes ... and gives ..." of a node whose inputs from `first` on are the body's.
Requirement scanCounts(size_t first) {
  return {"'num_scan_inputs' must be in [1, inputs], and the body must have the node's inputs, an "
          "output per state, and at least the node's outputs",
          [first](const NodeView &node) -> std::string {
            const onnx::GraphProto &body = node.graph("body");
            const auto inputs = static_cast<int64_t>(node.inputCount() - first);
            const int64_t sequences = node.integer("num_scan_inputs");
            if (sequences >= 1 && sequences <= inputs && body.input_size() == inputs &&
                body.output_size() >= inputs - sequences &&
                body.output_size() >= static_cast<int64_t>(node.outputCount()))
              return "";
            return fmt::format(
                "{} of {} inputs and {} outputs; the body has {} inputs and {} outputs", sequences,
                inputs, node.outputCount(), body.input_size(), body.output_size());
          },
          kShapes};
}

/// A list with an element for each tensor of a kind.
Requirement listOf(const char *attribute, const char *what, size_t first,
                   size_t ScanCounts::*count) {
  return {fmt::format("attribute '{}', if given, must have one element per {}", attribute, what),
          [=](const NodeView &node) -> std::string {
            const size_t wanted = ScanCounts(node, first).*count;
            return !node.given(attribute) || node.integers(attribute).size() == wanted
                       ? ""
                       : fmt::format("{} for {}", node.integers(attribute).size(), wanted);
          },
          kShapes};
}

Requirement directions(const char *attribute) {
  return {
      fmt::format("every element of attribute '{}' must be 0 (forward) or 1 (reverse)", attribute),
      [attribute](const NodeView &node) -> std::string {
        if (node.given(attribute))
          for (const int64_t one : node.integers(attribute))
            if (one != 0 && one != 1)
              return fmt::format("{}", one);
        return "";
      },
      kShapes};
}

/// "[5 2] and [4 2]": of the inputs from `first` on.
std::string shapesFrom(const NodeView &node, size_t first) {
  std::vector<std::string> shapes;
  for (size_t i = first; i < node.inputCount(); ++i)
    shapes.push_back(shapeText(node.in(i).shape));
  return fmt::format("{}", fmt::join(shapes, " and "));
}

Operator scanEntry() {
  Operator entry;
  entry.name = "Scan";
  entry.form = "a loop; or one copy of the body per iteration for integers or bools";
  entry.inputs = {{"initial_state_and_scan_inputs", Types::Any, Presence::Variadic}};
  entry.outputs = {{"final_state_and_scan_outputs", Presence::Variadic}};
  entry.attributes = {{"body", AttributeKind::Graph, std::nullopt, true},
                      {"num_scan_inputs", AttributeKind::Int, std::nullopt, true},
                      {"scan_input_axes", AttributeKind::Ints},
                      {"scan_input_directions", AttributeKind::Ints},
                      {"scan_output_axes", AttributeKind::Ints},
                      {"scan_output_directions", AttributeKind::Ints}};
  entry.requirements = {scanCounts(0),
                        listOf("scan_input_axes", "scan input", 0, &ScanCounts::sequences),
                        listOf("scan_input_directions", "scan input", 0, &ScanCounts::sequences),
                        listOf("scan_output_axes", "scan output", 0, &ScanCounts::stacks),
                        listOf("scan_output_directions", "scan output", 0, &ScanCounts::stacks),
                        directions("scan_input_directions"),
                        directions("scan_output_directions"),
                        {"'scan_input_axes' must be axes of the scan inputs",
                         [](const NodeView &node) -> std::string {
                           const ScanCounts counts(node);
                           const auto axes = perTensor(node, "scan_input_axes", counts.sequences);
                           for (size_t i = 0; i < axes.size(); ++i) {
                             const int64_t rank = node.in(counts.states + i).rank();
                             if (axes[i] < -rank || axes[i] >= rank)
                               return fmt::format("axis {} for rank {}", axes[i], rank);
                           }
                           return "";
                         },
                         kShapes},
                        {"the scan inputs must have the same extent along their axes, at least 1",
                         [](const NodeView &node) -> std::string {
                           const ScanCounts counts(node);
                           const auto axes = sequenceAxes(node);
                           const int64_t trips = node.in(counts.states).shape[axes[0]];
                           for (size_t i = 0; i < axes.size(); ++i)
                             if (trips < 1 || node.in(counts.states + i).shape[axes[i]] != trips)
                               return shapesFrom(node, counts.states);
                           return "";
                         },
                         kShapes}};
  entry.build = buildScan;
  return entry;
}

Operator batchedScan() {
  Operator entry;
  entry.name = "Scan";
  entry.form = "a loop for each batch row";
  entry.inputs = {{"sequence_lens", Types::Integer, Presence::Optional, true},
                  {"initial_state_and_scan_inputs", Types::Any, Presence::Variadic}};
  entry.outputs = {{"final_state_and_scan_outputs", Presence::Variadic}};
  entry.attributes = {{"body", AttributeKind::Graph, std::nullopt, true},
                      {"directions", AttributeKind::Ints},
                      {"num_scan_inputs", AttributeKind::Int, std::nullopt, true}};
  entry.requirements = {
      scanCounts(1),
      listOf("directions", "scan input", 1, &ScanCounts::sequences),
      directions("directions"),
      {"the inputs must have the same first extent (batch), the scan inputs the same second one, "
       "at least 1",
       [](const NodeView &node) -> std::string {
         const ScanCounts counts(node, 1);
         const Shape &like = node.in(1 + counts.states).shape;
         for (size_t i = 1; i < node.inputCount(); ++i) {
           const Shape &shape = node.in(i).shape;
           const size_t axes = i > counts.states ? 2 : 1;
           if (like.size() < 2 || shape.size() < axes || shape[0] != like[0] || shape[0] < 1 ||
               (axes == 2 && (shape[1] != like[1] || shape[1] < 1)))
             return shapesFrom(node, 1);
         }
         return "";
       },
       kShapes},
      {"every element of 'sequence_lens', if given, must be the second extent of the scan inputs",
       [](const NodeView &node) -> std::string {
         if (!node.has(0))
           return "";
         const int64_t steps = node.in(1 + ScanCounts(node, 1).states).shape[1];
         for (const int64_t length : node.knownInts(0))
           if (length != steps)
             return fmt::format("{} for {} steps", length, steps);
         return "";
       }}};
  entry.build = buildBatchedScan;
  return entry;
}

} // namespace

void addScan(OperatorTable &table) {
  table.add({8}, batchedScan());
  table.add({9, 11, 16, 19, 21, 23, 24, 25}, scanEntry());
}

} // namespace sluice::frontend::ops
