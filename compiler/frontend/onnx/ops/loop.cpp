// Loop: a loop of its body; or, where the body needs values that are known at import and differ
// from trip to trip, or the trips follow from what it computes, the body once for each trip.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/trips.h"

namespace sluice::frontend::ops {
namespace {

enum LoopInput : size_t { kTrips, kCondition, kFirstCarried };

/// The one value of a condition or a trip count that is given.
std::optional<int64_t> scalarOf(const NodeView &node, size_t input) {
  if (!node.has(input))
    return std::nullopt;
  return node.knownInts(input).front();
}

Tensor truth(bool value) {
  return Tensor::ofKnown({onnx::TensorProto::BOOL, {}, {}, {value ? 1 : 0}});
}

/// Whether anything in the body reads the value of this name.
bool reads(const onnx::GraphProto &body, const std::string &name) {
  bool found = false;
  const auto compare = [&](const std::string &one) { found |= one == name; };
  for (const onnx::NodeProto &node : body.node()) {
    std::for_each(node.input().begin(), node.input().end(), compare);
    forEachInnerName(node, compare);
  }
  for (const onnx::ValueInfoProto &output : body.output())
    compare(output.name());
  return found;
}

/// Thrown out of a body that turns out to need a copy for every trip.
struct TripsDiffer {};

class LoopBuilder {
public:
  explicit LoopBuilder(NodeBuilder &node)
      : node(node), most(scalarOf(node, kTrips)), goesOn(scalarOf(node, kCondition).value_or(1)) {
    for (size_t i = kFirstCarried; i < node.inputCount(); ++i)
      initial.push_back(node.in(i));
  }

  void build() {
    stacks.resize(node.graph("body").output_size() - 1 - initial.size());
    Tensors results;
    if (!goesOn || (most && *most < 1))
      results = initial;
    else if (auto loop = asOneLoop())
      results = std::move(*loop);
    else
      results = tripByTrip();
    for (size_t i = 0; i < results.size(); ++i)
      node.result(i, results[i]);
    for (size_t i = results.size(); i < node.outputCount(); ++i)
      if (node.isUsed(i))
        throw NodeError{
            kNotSupported,
            fmt::format(
                "output {} has no known shape: it stacks the results of a loop without iterations",
                i)};
  }

private:
  /// The body once, if all trips are alike.
  std::optional<Tensors> asOneLoop() {
    const onnx::GraphProto &body = node.graph("body");
    if (!most || !areFloat(initial) || reads(body, body.input(kTrips).name()))
      return std::nullopt;
    const LoopFrame frame{*most, initial, {}, std::vector<reference::LoopAxis>(stacks.size())};
    try {
      return node.emit.loop(frame, [&](const Tensors &carried) {
        Tensors next = runBody(0, carried);
        for (size_t i = 0; i < carried.size(); ++i)
          if (next[1 + i].shape != carried[i].shape || !isFloatType(next[1 + i].type))
            throw TripsDiffer();
        if (truthOf(next.front()) != true || !areFloat({next.begin() + 1, next.end()}))
          throw TripsDiffer();
        next.erase(next.begin());
        return next;
      });
    } catch (const TripsDiffer &) {
      return std::nullopt;
    }
  }

  Tensors tripByTrip() {
    Tensors carried = initial;
    TripLimit limit(node.bodies, most);
    for (int64_t trip = 0; goesOn && (!most || trip < *most); ++trip) {
      const Tensors next = runBody(trip, carried);
      limit.countTrip();
      const auto condition = truthOf(next.front());
      if (!condition)
        throw NodeError{kNotSupported,
                        fmt::format("the condition after iteration {} must be known at "
                                    "compile time, but depends on the model's inputs",
                                    trip)};
      goesOn = *condition;
      const auto split = next.begin() + 1 + static_cast<ptrdiff_t>(initial.size());
      carried.assign(next.begin() + 1, split);
      for (size_t i = 0; i < stacks.size(); ++i)
        appendRow(split[static_cast<ptrdiff_t>(i)], stacks[i]);
    }
    for (Tensors &rows : stacks) {
      for (const Tensor &row : rows)
        if (row.shape != rows.front().shape)
          throw NodeError{
              kShapes,
              fmt::format(
                  "the results of the iterations for one output have different shapes, {} and {}",
                  shapeText(rows.front().shape), shapeText(row.shape))};
      carried.push_back(stacked(node.emit, std::move(rows), {0, false}));
    }
    return carried;
  }

  Tensors runBody(int64_t trip, const Tensors &carried) {
    Tensors arguments = {Tensor::ofKnown(HostTensor::ofInts({}, {trip})), truth(true)};
    arguments.insert(arguments.end(), carried.begin(), carried.end());
    return node.bodies.import("body", arguments);
  }

  NodeBuilder &node;
  std::optional<int64_t> most; ///< trips
  bool goesOn;
  Tensors initial;
  std::vector<Tensors> stacks; ///< by output, what the trips added
};

Operator loopEntry(Presence carried) {
  Operator entry;
  entry.name = "Loop";
  entry.form = "a loop; or one copy of the body per iteration, if it reads the iteration number, "
               "carries integers, or ends before 'M' iterations";
  entry.inputs = {{"M", Types::Integer, Presence::Optional, true},
                  {"cond", Types::Any, Presence::Optional, true},
                  {"v_initial", Types::Value, carried}};
  entry.outputs = {{"v_final_and_scan_outputs", Presence::Variadic}};
  entry.attributes = {{"body", AttributeKind::Graph, std::nullopt, true}};
  entry.requirements = {
      {"inputs 'M' and 'cond' must have one element each",
       [](const NodeView &node) -> std::string {
         for (const size_t i : {kTrips, kCondition})
           if (node.has(i) && (node.in(i).known->isFloat() || node.in(i).known->size() != 1))
             return fmt::format("{} {}", dataTypeName(node.in(i).type),
                                shapeText(node.in(i).shape));
         return "";
       },
       kShapes},
      {"the body must have inputs (iteration, condition, carried) and outputs (condition, carried, "
       "stacked)",
       [](const NodeView &node) -> std::string {
         const onnx::GraphProto &body = node.graph("body");
         const size_t carried =
             node.inputCount() - std::min<size_t>(node.inputCount(), kFirstCarried);
         if (static_cast<size_t>(body.input_size()) == carried + 2 &&
             static_cast<size_t>(body.output_size()) >= carried + 1 &&
             static_cast<size_t>(body.output_size()) >= node.outputCount() + 1)
           return "";
         return fmt::format("{} carried and {} outputs; the body has {} inputs and {} outputs",
                            carried, node.outputCount(), body.input_size(), body.output_size());
       },
       kShapes},
      {"no loop-carried value may be left out",
       [](const NodeView &node) -> std::string {
         for (size_t i = kFirstCarried; i < node.inputCount(); ++i)
           if (!node.has(i))
             return fmt::format("input {}", i);
         return "";
       },
       kShapes}};
  entry.build = [](NodeBuilder &node) { LoopBuilder(node).build(); };
  return entry;
}

} // namespace

void addLoop(OperatorTable &table) {
  table.add({1}, loopEntry(Presence::Variadic));
  table.add({11, 13, 16, 19, 21, 23, 24, 25}, loopEntry(Presence::AnyNumber));
}

} // namespace sluice::frontend::ops
