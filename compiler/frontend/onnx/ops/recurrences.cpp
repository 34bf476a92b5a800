// LSTM, GRU and RNN: the products with the weights of the input for all steps at once, then a
// loop of the cell for each direction.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/quantised.h"
#include "compiler/frontend/onnx/ops/recurrence.h"

namespace sluice::frontend::ops {
namespace {

using recurrent::activations;
using recurrent::Extents;
using recurrent::floatProducts;
using recurrent::Input;
using recurrent::Kind;
using recurrent::Products;
using recurrent::quantisedProducts;
using recurrent::requirements;
using recurrent::shaped;
using enum recurrent::Input;

const Kind kLstm = {"LSTM", 4, {"Sigmoid", "Tanh", "Tanh"}};
const Kind kQuantisedLstm = {"DynamicQuantizeLSTM", 4, {"Sigmoid", "Tanh", "Tanh"}, true};
const Kind kGru = {"GRU", 3, {"Sigmoid", "Tanh"}};
const Kind kRnn = {"RNN", 1, {"Tanh"}};

/// One direction of a node.
class Direction {
public:
  Direction(NodeBuilder &node, const Kind &kind, size_t index)
      : node(node), emit(node.emit), extents(node), index(static_cast<int64_t>(index)),
        reversed(index == 1 || node.attribute<std::string>("direction") == "reverse"),
        gates(kind.gates), products(kind.isQuantised ? quantisedProducts(node, this->index)
                                                     : floatProducts(node, this->index)) {
    std::string none;
    const auto all = *activations(node, kind, none);
    const size_t count = kind.activations.size();
    functions.assign(all.begin() + static_cast<ptrdiff_t>(index * count),
                     all.begin() + static_cast<ptrdiff_t>((index + 1) * count));
    if (node.given("clip"))
      clip = node.real("clip");
  }
  virtual ~Direction() = default;
  Direction(const Direction &) = delete;
  Direction &operator=(const Direction &) = delete;

  /// All states, [steps, batch, hidden], then the last ones, [batch, hidden], of h and c.
  std::vector<Tensor> run(const Tensor &x) {
    std::vector<Tensor> initial = {state(kInitialH)};
    if (carriesC())
      initial.push_back(state(kInitialC));
    std::vector<std::vector<Tensor>> parts; // by result
    for (int64_t begin = 0; begin < extents.batch;) {
      const int64_t steps = length(begin);
      int64_t end = begin + 1;
      while (end < extents.batch && length(end) == steps)
        ++end;
      std::vector<Tensor> states;
      for (const Tensor &tensor : initial)
        states.push_back(part(tensor, 0, begin, end));
      std::vector<Tensor> results = ofLength(part(x, 1, begin, end), steps, states);
      parts.resize(results.size());
      for (size_t i = 0; i < results.size(); ++i)
        parts[i].push_back(std::move(results[i]));
      begin = end;
    }
    std::vector<Tensor> results;
    for (size_t i = 0; i < parts.size(); ++i)
      results.push_back(parts[i].size() == 1 ? parts[i].front()
                                             : emit.concat(parts[i], i == 0 ? 1 : 0));
    return results;
  }

protected:
  using Tensors = std::vector<Tensor>;

  virtual bool carriesC() const { return false; }
  /// The next states from the gates' parts that come from the input, and the states.
  virtual Tensors step(const Tensors &x, const Tensors &states) = 0;
  /// What a gate adds to its product with the weights of the input.
  virtual Tensor bias(int64_t gate) const { return emit.pointwise({wb(gate), rb(gate)}, sum); }

  /// The sum of the operands, as an activation takes it.
  static mlir::Value sum(const Scalars &s, mlir::ValueRange x) {
    mlir::Value out = x[0];
    for (const mlir::Value more : x.drop_front())
      out = s.add(out, more);
    return out;
  }
  static mlir::Value times(const Scalars &s, mlir::ValueRange x) { return s.mul(x[0], x[1]); }
  mlir::Value activate(const Scalars &s, size_t function, mlir::Value x) const {
    return functions[function](s, clip ? s.clamp(x, -*clip, *clip) : x);
  }
  Tensor activated(size_t function, const Tensors &terms) const {
    return emit.pointwise(terms, [&](const Scalars &s, mlir::ValueRange x) {
      return activate(s, function, sum(s, x));
    });
  }

  /// The products of a state with the recurrence weights of gates [first, last).
  Tensors recurrent(const Tensor &state, int64_t first, int64_t last) const {
    return products->of(state, kR, first, last);
  }

  Tensor wb(int64_t gate) const { return vector(kB, gate); }
  Tensor rb(int64_t gate) const { return vector(kB, gates + gate); }
  /// [hidden] of B or P.
  Tensor vector(Input input, int64_t block) const {
    return emit.squeeze(
        emit.slice(node.in(input), {index, block * extents.hidden}, {1, extents.hidden}, {1, 1}),
        {0});
  }

  NodeBuilder &node;
  Emitter &emit;
  const Extents extents;

private:
  int64_t length(int64_t row) const {
    return node.has(kLengths) ? node.knownInts(kLengths)[row] : extents.steps;
  }

  [[nodiscard]] Tensor zeros(const Shape &shape) const {
    return Tensor::ofKnown(HostTensor{
        node.in(kX).type, shape, std::vector<float>(extentProduct(shape, 0, shape.size())), {}});
  }

  /// Rows [begin, end) of the batch, which is axis `axis`.
  Tensor part(const Tensor &tensor, size_t axis, int64_t begin, int64_t end) const {
    return end - begin == extents.batch
               ? tensor
               : sliceAlong(emit, tensor, static_cast<int64_t>(axis), begin, end - begin);
  }

  /// The state that the direction begins with, [batch, hidden].
  Tensor state(Input input) const {
    if (!node.has(input))
      return zeros({extents.batch, extents.hidden});
    const int64_t axis = extents.batchFirst ? 1 : 0;
    return emit.squeeze(sliceAlong(emit, node.in(input), axis, index, 1), {axis});
  }

  /// Rows that are all so many steps long; what lies behind them is 0.
  Tensors ofLength(const Tensor &x, int64_t steps, const Tensors &states) {
    const int64_t rows = x.shape[1];
    Tensors results;
    if (steps == 0) {
      results = states;
      results.insert(results.begin(), zeros({extents.steps, rows, extents.hidden}));
      return results;
    }
    results =
        loop(emit.slice(x, {0, 0, 0}, {steps, rows, extents.input}, {1, 1, 1}), steps, states);
    std::rotate(results.begin(), results.end() - 1, results.end()); // the stack comes first
    if (steps < extents.steps)
      results.front() =
          emit.concat({results.front(), zeros({extents.steps - steps, rows, extents.hidden})}, 0);
    return results;
  }

  Tensors loop(const Tensor &x, int64_t steps, const Tensors &states) {
    LoopFrame frame{steps, states, {}, {{0, reversed}}};
    const Tensors ofInput = products->of(x, kW, 0, gates);
    for (int64_t gate = 0; gate < gates; ++gate) {
      Tensor product = ofInput[gate];
      if (node.has(kB))
        product = emit.pointwise({product, bias(gate)}, sum);
      frame.sequences.push_back({product, {0, reversed}});
    }
    return emit.loop(frame, [&](const Tensors &arguments) {
      const auto first = arguments.begin() + static_cast<ptrdiff_t>(states.size());
      Tensors next = step({first, arguments.end()}, {arguments.begin(), first});
      next.push_back(next.front());
      return next;
    });
  }

  int64_t index;
  bool reversed;
  int64_t gates;
  std::unique_ptr<Products> products;
  std::vector<RecurrentActivation> functions;
  std::optional<float> clip;
};

class Lstm final : public Direction {
  using Direction::Direction;

  enum Gate : int64_t { kIn, kOut, kForget, kCell, kGates };
  enum Function : size_t { kF, kG, kH };

  bool carriesC() const override { return true; }

  Tensors step(const Tensors &x, const Tensors &states) override {
    const Tensor &h = states[0], &c = states[1];
    const Tensors r = recurrent(h, 0, kGates);
    const auto gate = [&](Function function, Gate which, std::optional<int64_t> peephole,
                          const Tensor &cell) {
      Tensors terms = {x[which], r[which]};
      if (peephole && node.has(kP))
        terms.push_back(emit.pointwise({cell, vector(kP, *peephole)}, times));
      return activated(function, terms);
    };
    const Tensor in = gate(kF, kIn, 0, c), candidate = gate(kG, kCell, {}, c);
    const bool coupled = node.integer("input_forget") != 0;
    const Tensor forget = coupled ? in : gate(kF, kForget, 2, c);
    const Tensor next =
        emit.pointwise({forget, c, in, candidate}, [&](const Scalars &s, mlir::ValueRange v) {
          const mlir::Value kept = coupled ? s.sub(s.constant(1), v[0]) : v[0];
          return s.add(s.mul(kept, v[1]), s.mul(v[2], v[3]));
        });
    const Tensor out = gate(kF, kOut, 1, next);
    return {emit.pointwise({out, next},
                           [&](const Scalars &s, mlir::ValueRange v) {
                             return s.mul(v[0], activate(s, kH, v[1]));
                           }),
            next};
  }
};

class Gru final : public Direction {
  using Direction::Direction;

  enum Gate : int64_t { kUpdate, kReset, kHidden, kGates };
  enum Function : size_t { kF, kG };

  bool resetsProduct() const { return node.integer("linear_before_reset") != 0; }

  /// A bias inside the product with the reset gate stays there.
  Tensor bias(int64_t gate) const override {
    return gate == kHidden && resetsProduct() ? wb(gate) : Direction::bias(gate);
  }

  Tensors step(const Tensors &x, const Tensors &states) override {
    const Tensor &h = states[0];
    const Tensors r = recurrent(h, 0, kHidden);
    const Tensor update = activated(kF, {x[kUpdate], r[kUpdate]});
    const Tensor reset = activated(kF, {x[kReset], r[kReset]});
    Tensor product;
    if (resetsProduct()) {
      product = recurrent(h, kHidden, kGates).front();
      if (node.has(kB))
        product = emit.pointwise({product, rb(kHidden)}, sum);
      product = emit.pointwise({reset, product}, times);
    } else {
      product = recurrent(emit.pointwise({reset, h}, times), kHidden, kGates).front();
    }
    const Tensor candidate = activated(kG, {x[kHidden], product});
    return {emit.pointwise({update, candidate, h}, [](const Scalars &s, mlir::ValueRange v) {
      return s.add(s.mul(s.sub(s.constant(1), v[0]), v[1]), s.mul(v[0], v[2]));
    })};
  }
};

class Rnn final : public Direction {
  using Direction::Direction;

  Tensors step(const Tensors &x, const Tensors &states) override {
    return {activated(0, {x[0], recurrent(states[0], 0, 1).front()})};
  }
};

template <typename Cell> void build(NodeBuilder &node, const Kind &kind) {
  const Extents extents(node);
  const Tensor x = extents.batchFirst ? node.emit.transpose(node.in(kX), {1, 0, 2}) : node.in(kX);
  std::vector<std::vector<Tensor>> directions;
  for (int64_t i = 0; i < extents.directions; ++i)
    directions.push_back(Cell(node, kind, i).run(x));
  for (size_t k = 0; k < directions.front().size(); ++k) {
    if (!node.isUsed(k))
      continue;
    // Y is [steps, directions, batch, hidden], or [batch, steps, directions, hidden].
    const bool all = k == 0;
    const int64_t axis = (all ? 1 : 0) + (extents.batchFirst ? 1 : 0);
    std::vector<Tensor> parts;
    for (const std::vector<Tensor> &results : directions)
      parts.push_back(node.emit.unsqueeze(
          all && extents.batchFirst ? node.emit.transpose(results[k], {1, 0, 2}) : results[k],
          {axis}));
    node.result(k, parts.size() == 1 ? parts.front() : node.emit.concat(parts, axis));
  }
}

template <typename Cell> Operator recurrence(const Kind &kind) {
  Operator entry;
  entry.name = kind.name;
  entry.form = "matmuls with the input weights, then a loop of the cell per direction; 'clip' "
               "bounds the operand of every activation";
  entry.inputs = {{"X"},
                  {"W", Types::Float, Presence::Required, true},
                  {"R", Types::Float, Presence::Required, true},
                  {"B", Types::Float, Presence::Optional},
                  {"sequence_lens", Types::Integer, Presence::Optional, true},
                  {"initial_h", Types::Float, Presence::Optional}};
  entry.outputs = {{"Y", Presence::Optional}, {"Y_h", Presence::Optional}};
  entry.attributes = {{"activation_alpha", AttributeKind::Floats},
                      {"activation_beta", AttributeKind::Floats},
                      {"activations", AttributeKind::Strings},
                      {"clip", AttributeKind::Float},
                      {"direction", AttributeKind::String, std::string("forward")},
                      {"hidden_size", AttributeKind::Int}};
  entry.requirements = requirements(kind);
  entry.build = [&kind](NodeBuilder &node) { build<Cell>(node, kind); };
  return entry;
}

Operator lstm(const Kind &kind) {
  Operator entry = recurrence<Lstm>(kind);
  entry.inputs.push_back({"initial_c", Types::Float, Presence::Optional});
  entry.inputs.push_back({"P", Types::Float, Presence::Optional});
  entry.outputs.push_back({"Y_c", Presence::Optional});
  entry.attributes.push_back({"input_forget", AttributeKind::Int, int64_t{0}, false, {0, 1}});
  entry.requirements.push_back(shaped("initial_c", kInitialC, "of the shape of 'initial_h'",
                                      [](const Extents &e) { return e.state(); }));
  entry.requirements.push_back(
      shaped("P", kP, "[directions, 3 * hidden size]",
             [](const Extents &e) { return Shape{e.directions, 3 * e.hidden}; }));
  return entry;
}

/// LSTM with weights of bytes. The input of all steps is quantised at once, the state in each step.
Operator dynamicQuantizeLstm() {
  Operator entry = lstm(kQuantisedLstm);
  entry.domain = "com.microsoft";
  entry.form =
      "as LSTM, whose products are those of integers: x and, in each step, h are quantised "
      "as by DynamicQuantizeLinear";
  for (const size_t weights : {kW, kR})
    entry.inputs[weights].types = Types::Numeric;
  for (const char *name : {"W", "R"}) {
    entry.inputs.push_back(scaleInput(fmt::format("{}_scale", name)));
    entry.inputs.push_back(zeroInput(fmt::format("{}_zero_point", name)));
  }
  return entry;
}

Operator gru() {
  Operator entry = recurrence<Gru>(kGru);
  entry.attributes.push_back(
      {"linear_before_reset", AttributeKind::Int, int64_t{0}, false, {0, 1}});
  return entry;
}

Operator withLayout(Operator entry) {
  entry.attributes.push_back({"layout", AttributeKind::Int, int64_t{0}, false, {0, 1}});
  return entry;
}

} // namespace

void addRecurrences(OperatorTable &table) {
  for (const Operator &entry : {lstm(kLstm), gru(), recurrence<Rnn>(kRnn)}) {
    table.add({7}, entry);
    table.add({14, 22}, withLayout(entry));
  }
  table.add({1}, dynamicQuantizeLstm());
}

} // namespace sluice::frontend::ops
