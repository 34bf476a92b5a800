#include "compiler/check/layer_errors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "compiler/check/machine.h"
#include "compiler/check/recorded_rows.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/frontend/onnx/border.h"

namespace sluice::check {
namespace {

using reference::Tensor;
using reference::Tensors;

constexpr uint64_t kSeed = 1;
/// Another runtime may be off by so much of the largest element: it computes in fp32.
constexpr double kErrorOfOthers = 0x1p-20;

/// Adds up what a TensorError says.
class Sums {
public:
  explicit Sums(TensorError &error) : error(error) {}

  void add(double found, double wanted) {
    ++error.elements;
    if (std::isfinite(found))
      error.magnitude = std::max(error.magnitude, std::abs(found));
    if (std::isfinite(wanted)) {
      low = std::min(low, wanted);
      high = std::max(high, wanted);
      error.range = high - low;
    }
    const double difference =
        found == wanted || (std::isnan(found) && std::isnan(wanted)) ? 0 : std::abs(found - wanted);
    error.largestError =
        std::max(error.largestError,
                 std::isfinite(difference) ? difference : std::numeric_limits<double>::infinity());
    if (!std::isfinite(found) || !std::isfinite(wanted))
      return;
    ++finite;
    sum += difference;
    signal += wanted * wanted;
    noise += difference * difference;
    error.meanError = sum / static_cast<double>(finite);
    if (noise > 0)
      error.snr = 10 * std::log10(signal / noise);
  }

  /// Elements of a moment that were judged.
  void judge(const CheckedElement &one, Moment at) {
    ++error.checked;
    if (!error.largest || one.error > error.largest->error)
      error.largest = one;
    if (!error.worst || one.shareOfBound() > error.worst->shareOfBound()) {
      error.worst = one;
      error.worstAt = at;
    }
    if (!one.isBeyond())
      return;
    if (error.beyond++ == 0 || std::tuple(at.step, at.sample) <
                                   std::tuple(error.firstBeyond.step, error.firstBeyond.sample))
      error.firstBeyond = at;
  }

private:
  TensorError &error;
  double low = std::numeric_limits<double>::infinity(),
         high = -std::numeric_limits<double>::infinity();
  double sum = 0, signal = 0, noise = 0;
  uint64_t finite = 0;
};

/// What a tensor is in one step.
struct Measured {
  size_t layer = 0;
  Moment at;
  Tensor wanted;
  std::vector<double> moved;
  std::vector<RecordedTensor> found;
  double noise = 0;

  void judge(llvm::function_ref<void(const CheckedElement &)> visit) const {
    for (const RecordedTensor &copy : found)
      forChecked(copy.values, wanted.values, moved, noise, [&](const CheckedElement &one) {
        if (copy.isKnown[one.element])
          visit(one);
      });
  }

  /// A copy that is known and that rounding may have made what it is, or null.
  [[nodiscard]] const RecordedTensor *nearCopy() const {
    const std::vector<double> bounds = boundsOf(moved, wanted.values);
    for (const RecordedTensor &copy : found) {
      bool near = true;
      for (size_t i = 0; near && i < copy.values.size(); ++i) {
        const double one = copy.values[i], other = wanted.values[i];
        near = copy.isKnown[i] && (one == other || (std::isnan(one) && std::isnan(other)) ||
                                   std::abs(one - other) <= std::max(bounds[i], noise));
      }
      if (near)
        return &copy;
    }
    return nullptr;
  }

  [[nodiscard]] bool isWrong() const {
    bool wrong = false;
    judge([&](const CheckedElement &one) { wrong |= one.isBeyond(); });
    return wrong;
  }
};

class Comparer {
public:
  Comparer(const Oracle &oracle, const format::Program &program, const LayerOptions &options)
      : oracle(oracle), program(program), options(options), machine(program), rows(program),
        evaluator(oracle.function(), allDirections(), options.facts),
        thorough(oracle.function(), manyDirections(kSeed), options.facts) {
    machine.watchRows(
        [this](uint32_t core, std::span<const uint16_t> lanes) { rows.record(core, lanes); });
    findLayers();
    for (const frontend::ImportedTensor &output : oracle.outputs())
      errors.outputs.emplace_back(output.name, nodeOf(output.name), output.shape);
    for (TensorError &layer : errors.layers)
      layerSums.emplace_back(layer);
    for (TensorError &output : errors.outputs)
      outputSums.emplace_back(output);
  }

  std::variant<LayerErrors, std::string> run() {
    for (uint64_t sample = 0; sample < options.samples.size(); ++sample)
      if (!compareSample(sample))
        return machine.stall();
    findFirstWrong();
    return std::move(errors);
  }

private:
  [[nodiscard]] NodeRef nodeOf(const std::string &tensor) const {
    for (const frontend::GraphTensor &one : oracle.tensors())
      if (one.name == tensor)
        return check::nodeOf(one);
    return {};
  }

  /// The tensors of which there are rows, and the outputs.
  void findLayers() {
    std::map<std::string, std::vector<uint32_t>> numbers;
    for (uint32_t i = 0; i < program.tensors.size(); ++i)
      if (rows.isWritten(i))
        numbers[program.tensors[i].name].push_back(i);
    for (const frontend::GraphTensor &tensor : oracle.tensors()) {
      if (!tensor.value || tensor.value.getDefiningOp() == nullptr)
        continue;
      std::vector<uint32_t> layouts;
      for (const uint32_t number : numbers[tensor.name])
        if (program.tensors[number].shape == tensor.shape)
          layouts.push_back(number);
      const auto output =
          std::ranges::find(oracle.outputs(), tensor.name, &frontend::ImportedTensor::name);
      if (layouts.empty() && output == oracle.outputs().end()) {
        errors.unseen.emplace_back(tensor.name, check::nodeOf(tensor));
        continue;
      }
      layersOf[tensor.value].push_back(errors.layers.size());
      errors.layers.emplace_back(tensor.name, check::nodeOf(tensor), tensor.shape);
      values.push_back(tensor.value);
      tensors.push_back(std::move(layouts));
      outputOf.push_back(output == oracle.outputs().end()
                             ? std::nullopt
                             : std::optional<size_t>(output - oracle.outputs().begin()));
    }
  }

  bool compareSample(uint64_t sample) {
    const auto &steps = options.samples[sample];
    rows.restart();
    machine.reset();
    std::vector<runtime::Arrays> found;
    for (const Tensors &inputs : steps) {
      runtime::Arrays arrays;
      for (const Tensor &input : inputs)
        arrays.push_back(input.values);
      auto outputs = machine.infer(arrays);
      if (!outputs)
        return false;
      found.push_back(std::move(*outputs));
    }
    machine.drain();
    std::vector<Measured> measured = measure(sample, found, evaluator);
    // What few variants do not move may be moved by others.
    if (std::ranges::any_of(measured, &Measured::isWrong))
      measured = measure(sample, found, thorough);
    std::vector<Measured> anchored;
    if (std::ranges::any_of(measured, &Measured::isWrong))
      anchored = measure(sample, found, thorough, true);
    for (size_t i = 0; i < measured.size(); ++i) {
      const Measured &one = measured[i];
      const bool mayBe = !anchored.empty() && !anchored[i].isWrong();
      for (const RecordedTensor &copy : one.found)
        for (size_t i = 0; i < copy.values.size(); ++i)
          if (copy.isKnown[i])
            layerSums[one.layer].add(copy.values[i], one.wanted.values[i]);
      one.judge([&](const CheckedElement &element) {
        if (!mayBe || !element.isBeyond())
          layerSums[one.layer].judge(element, one.at);
      });
    }
    return true;
  }

  /// If `anchored`, each tensor is evaluated from those that the program has computed, as far as
  /// rounding may have made them what they are. Where rounding moves a tensor far, what follows
  /// from it may be anything in between, but it follows from what was computed.
  std::vector<Measured> measure(uint64_t sample, const std::vector<runtime::Arrays> &found,
                                Evaluator &by, bool anchored = false) {
    std::vector<Measured> measured;
    by.reset();
    const bool isFirst = &by == &evaluator;
    for (uint64_t step = 0; step < found.size(); ++step) {
      const Moment at{sample, step};
      const Tensors &inputs = options.samples[sample][step];
      by.tap = [&](mlir::Value value, Spread &spread) {
        const size_t first = measured.size();
        for (const size_t layer : layersOf.lookup(value)) {
          measured.push_back(measuredOf(layer, at, spread, found[step], noiseOf(inputs)));
          if (anchored && outputOf[layer] && !tensors[layer].empty())
            measured.back().found.push_back(outputIn(layer, found[step]));
        }
        for (size_t i = first; anchored && i < measured.size(); ++i)
          if (const RecordedTensor *copy = measured[i].nearCopy()) {
            // What follows from other integers is as exact as before.
            const bool isOfIntegers = spread.unrounded == spread.variants;
            spread.variants.assign(spread.variants.size(), std::make_shared<const Tensor>(
                                                               spread.exact().shape, copy->values));
            spread.unrounded.clear();
            if (isOfIntegers)
              spread.unrounded = spread.variants;
          }
      };
      const std::vector<Spread> wanted = by.run(inputs);
      if (isFirst)
        compareOutputs(at, wanted, found[step]);
    }
    return measured;
  }

  [[nodiscard]] Measured measuredOf(size_t layer, Moment at, const Spread &spread,
                                    const runtime::Arrays &found, double noise) const {
    Measured one{layer, at, spread.exact(), spread.moved(), {}, noise};
    if (const Tensor *other = otherOf(errors.layers[layer].tensor, at)) {
      one.wanted = *other;
      for (const double value : other->values)
        if (std::isfinite(value))
          one.noise = std::max(one.noise, kErrorOfOthers * std::abs(value));
    }
    for (const uint32_t tensor : tensors[layer])
      std::ranges::copy(rows.of(at.step, tensor), std::back_inserter(one.found));
    if (tensors[layer].empty())
      one.found.push_back(outputIn(layer, found));
    return one;
  }

  [[nodiscard]] RecordedTensor outputIn(size_t layer, const runtime::Arrays &found) const {
    const auto &values = found[*outputOf[layer]];
    return {values, std::vector<bool>(values.size(), true)};
  }

  [[nodiscard]] const Tensor *otherOf(const std::string &tensor, Moment at) const {
    return options.other ? options.other(tensor, at) : nullptr;
  }

  void compareOutputs(Moment at, const std::vector<Spread> &wanted, const runtime::Arrays &found) {
    Tensors all, exact;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const frontend::ImportedTensor &output = oracle.outputs()[i];
      const Tensor *other = otherOf(output.name, at);
      exact.push_back(frontend::outputOf(output, other ? *other : wanted[i].exact()));
      all.push_back(frontend::outputOf(output, Tensor(exact.back().shape, found[i])));
      for (size_t k = 0; k < found[i].size(); ++k)
        outputSums[i].add(all.back().values[k], exact.back().values[k]);
    }
    if (options.outputs)
      options.outputs(at, all, exact);
  }

  void findFirstWrong() {
    for (size_t i = 0; i < errors.layers.size(); ++i)
      if (const TensorError &layer = errors.layers[i];
          layer.isWrong() &&
          (!errors.firstWrong ||
           layer.firstBeyond.step < errors.layers[*errors.firstWrong].firstBeyond.step))
        errors.firstWrong = i;
    if (errors.firstWrong)
      findBefore(values[*errors.firstWrong]);
  }

  /// Nodes whose results nobody sees but the operation that gives `wrong`.
  void findBefore(mlir::Value wrong) {
    std::map<int64_t, NodeRef> nodes;
    std::vector<mlir::Value> open{wrong};
    llvm::DenseSet<mlir::Value> done;
    while (!open.empty()) {
      const mlir::Value value = open.back();
      open.pop_back();
      mlir::Operation *op = value.getDefiningOp();
      if (op == nullptr || !done.insert(value).second ||
          (value != wrong && layersOf.contains(value)))
        continue;
      // A constant is no node that could be at fault.
      if (op->getNumOperands() > 0)
        if (const NodeRef node = ir::nodeOf(op->getLoc()); node.index >= 0)
          nodes.emplace(node.index, node);
      open.insert(open.end(), op->operand_begin(), op->operand_end());
    }
    nodes.erase(errors.layers[*errors.firstWrong].node.index);
    for (const auto &[index, node] : nodes)
      errors.before.push_back(node);
  }

  const Oracle &oracle;
  const format::Program &program;
  const LayerOptions &options;
  Machine machine;
  RecordedRows rows;
  Evaluator evaluator, thorough;
  LayerErrors errors;
  std::vector<Sums> layerSums, outputSums;
  llvm::DenseMap<mlir::Value, std::vector<size_t>> layersOf;
  std::vector<mlir::Value> values;             ///< by layer
  std::vector<std::vector<uint32_t>> tensors;  ///< by layer: of the program, one for each layout
  std::vector<std::optional<size_t>> outputOf; ///< by layer
};

} // namespace

NodeRef nodeOf(const frontend::GraphTensor &tensor) {
  mlir::Operation *op = tensor.value ? tensor.value.getDefiningOp() : nullptr;
  return op ? ir::nodeOf(op->getLoc()) : NodeRef{};
}

std::variant<LayerErrors, std::string>
compareLayers(const Oracle &oracle, const format::Program &program, const LayerOptions &options) {
  return Comparer(oracle, program, options).run();
}

} // namespace sluice::check
