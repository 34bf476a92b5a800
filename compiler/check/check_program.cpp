#include "compiler/check/check_program.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/check/bound.h"
#include "compiler/check/cost.h"
#include "compiler/check/inputs.h"
#include "compiler/check/layer_errors.h"
#include "compiler/check/machine.h"
#include "compiler/frontend/onnx/border.h"
#include "compiler/reference/ops.h"

namespace sluice::check {
namespace {

using reference::Shape;
using reference::Tensor;
using reference::Tensors;

constexpr uint64_t kSteps = 8; ///< of a sequence
/// A sequence that is no longer is run as a whole where an output is known at its end only.
constexpr int64_t kWholeSteps = 64;

runtime::Arrays arraysOf(const Tensors &tensors) {
  runtime::Arrays arrays;
  for (const Tensor &tensor : tensors)
    arrays.push_back(tensor.values);
  return arrays;
}

std::string indexText(size_t element, const Shape &shape) {
  Shape index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; element /= static_cast<size_t>(shape[axis]))
    index[axis] = static_cast<int64_t>(element % static_cast<size_t>(shape[axis]));
  return fmt::format("[{}]", fmt::join(index, ", "));
}

/// `count` positions of a tensor along an axis.
Tensor positions(const Tensor &tensor, int64_t axis, int64_t first, int64_t count) {
  Shape starts(tensor.shape.size(), 0), sizes = tensor.shape;
  const Shape steps(tensor.shape.size(), 1);
  starts[axis] = first;
  sizes[axis] = count;
  return reference::slice(tensor, starts, sizes, steps);
}

/// An output as the machine gives it and as the graph has it.
struct Compared {
  size_t output = 0;
  uint64_t step = 0;
  Tensor found;
  Spread wanted;
};

class Checker {
public:
  Checker(const Oracle &oracle, const format::Program &program, const Streamed *streamed,
          const Options &options)
      : oracle(oracle), program(program), streamed(streamed), options(options), machine(program),
        evaluator(oracle.function(), allDirections(), options.facts) {
    // A graph with states says nothing of a sequence in the middle of which they change.
    if (streamed == nullptr && oracle.hasState())
      outcome.steps = kSteps;
    if (streamed != nullptr)
      outcome.steps = static_cast<uint64_t>(inferences());
  }

  Outcome run() {
    const uint64_t count = inputCount();
    // A streamed model is evaluated for the whole sequence at once.
    evaluator.keepsConstants = count > 1 || (isSequence() && streamed == nullptr);
    while (outcome.inputs < count && !outcome.problem)
      checkNext();
    return std::move(outcome);
  }

private:
  using Steps = std::vector<Tensors>;

  [[nodiscard]] bool isSequence() const { return outcome.steps > 0; }

  [[nodiscard]] uint64_t inputCount() const {
    if (options.inputs)
      return *options.inputs;
    const uint64_t each =
        std::max<uint64_t>(costOf(oracle, evaluator.variants()) *
                               (streamed ? 1 : std::max<uint64_t>(outcome.steps, 1)),
                           1);
    return std::max<uint64_t>(std::clamp<uint64_t>(options.work / each, 1, kKinds),
                              options.given.size());
  }

  /// Inferences of a streamed model that are compared.
  [[nodiscard]] int64_t inferences() const {
    const streaming::StreamedInput &first = streamed->inputs.front();
    int64_t all = kSteps;
    for (const frontend::ImportedTensor &input : oracle.inputs())
      if (input.name == first.name)
        all = input.shape[first.axis] / first.steps;
    int64_t wanted = kSteps;
    for (size_t i = 0; i < streamed->outputs.size(); ++i) {
      const streaming::OutputPart &part = streamed->outputs[i];
      if (!part.axis)
        wanted = std::max(wanted, all <= kWholeSteps ? all : 0);
      else
        wanted = std::max<int64_t>(wanted, kSteps + part.skipped / perInference(i));
    }
    return std::min(all, wanted);
  }

  /// Positions of an output that an inference gives.
  [[nodiscard]] int64_t perInference(size_t output) const {
    return program.models.front().outputs[output].shape[*streamed->outputs[output].axis];
  }

  /// The inputs of the model, as the graph takes them.
  Steps nextInputs() {
    evidence.names.clear();
    for (const frontend::ImportedTensor &input : oracle.inputs())
      evidence.names.push_back(input.name);
    const uint64_t number = outcome.inputs;
    const uint64_t count = streamed == nullptr && isSequence() ? outcome.steps : 1;
    Steps steps;
    if (number < options.given.size()) {
      evidence.inputs = fmt::format("data set {}", number);
      for (uint64_t step = 0; step < count; ++step)
        steps.push_back(options.given[number]);
      return steps;
    }
    const Kind kind = kindOf(number - options.given.size());
    evidence.inputs = textOf(kind);
    for (uint64_t step = 0; step < count; ++step) {
      const Tensors arrays =
          randomInputs(oracle.arrays(), kind, {options.seed + number, step}, stream);
      steps.push_back(frontend::argumentsOf(oracle.inputs(), arrays));
    }
    return steps;
  }

  void checkNext() {
    const Steps steps = nextInputs();
    if (outcome.inputs > 0 && isSequence())
      machine.reset();
    ++outcome.inputs;
    evidence.steps = steps;
    std::vector<runtime::Arrays> found;
    for (const Tensors &inputs : streamed != nullptr ? cut(steps.front()) : steps) {
      auto outputs = machine.infer(arraysOf(inputs));
      if (!outputs)
        return fail(fmt::format("the program stalls: {}", machine.stall()), std::nullopt);
      found.push_back(std::move(*outputs));
    }
    if (outcome.inputs == 1 && isSequence() && !startsAnew(steps, found.front()))
      return;
    bool isWrong = false;
    for (const Compared &one : compare(steps, found, evaluator)) {
      const Judgement judgement = judge(one.found.values, one.wanted, noise(steps));
      isWrong |= judgement.beyond > 0;
      outcome.elements += judgement.elements;
      outcome.unchecked += judgement.unchecked;
      outcome.largestError = std::max(outcome.largestError, judgement.largestError);
    }
    if (isWrong)
      confirm(steps, found);
  }

  static double noise(const Steps &steps) {
    double most = 0;
    for (const Tensors &inputs : steps)
      most = std::max(most, noiseOf(inputs));
    return most;
  }

  /// The inputs of the inferences of a streamed model.
  [[nodiscard]] Steps cut(const Tensors &whole) const {
    Steps steps(outcome.steps);
    for (size_t step = 0; step < steps.size(); ++step)
      for (size_t i = 0; i < whole.size(); ++i) {
        const auto taken = std::ranges::find(streamed->inputs, oracle.inputs()[i].name,
                                             &streaming::StreamedInput::name);
        steps[step].push_back(taken == streamed->inputs.end()
                                  ? whole[i]
                                  : positions(whole[i], taken->axis,
                                              static_cast<int64_t>(step) * taken->steps,
                                              taken->steps));
      }
    return steps;
  }

  /// Whether the machine gives the same outputs again behind a reset.
  bool startsAnew(const Steps &steps, const runtime::Arrays &first) {
    machine.reset();
    const Tensors inputs = streamed != nullptr ? cut(steps.front()).front() : steps.front();
    const auto again = machine.infer(arraysOf(inputs));
    const auto same = [](double one, double other) {
      return one == other || (std::isnan(one) && std::isnan(other));
    };
    for (size_t i = 0; again && i < first.size(); ++i)
      if (const auto differs = std::ranges::mismatch(first[i], (*again)[i], same);
          differs.in1 != first[i].end()) {
        const auto element = static_cast<size_t>(differs.in1 - first[i].begin());
        fail(fmt::format("output '{}' is {:.6g} at {} behind a reset, and {:.6g} at first",
                         oracle.outputs()[i].name, *differs.in2,
                         indexText(element, program.models.front().outputs[i].shape), *differs.in1),
             i, layerErrors({steps, {inputs}}));
        return false;
      }
    return true;
  }

  std::vector<Compared> compare(const Steps &steps, const std::vector<runtime::Arrays> &found,
                                Evaluator &by) const {
    std::vector<Compared> compared;
    by.reset();
    if (streamed != nullptr) {
      compareSequence(by.run(steps.front()), found, compared);
      return compared;
    }
    for (size_t step = 0; step < steps.size(); ++step) {
      std::vector<Spread> wanted = by.run(steps[step]);
      for (size_t i = 0; i < wanted.size(); ++i)
        compared.push_back(
            {i, step, Tensor(wanted[i].exact().shape, found[step][i]), std::move(wanted[i])});
    }
    return compared;
  }

  /// The positions of outputs that have come.
  void compareSequence(const std::vector<Spread> &whole, const std::vector<runtime::Arrays> &found,
                       std::vector<Compared> &compared) const {
    const auto count = static_cast<int64_t>(found.size());
    for (size_t i = 0; i < whole.size(); ++i) {
      const streaming::OutputPart &part = streamed->outputs[i];
      if (!part.axis) {
        if (isWhole() && streamed->late == 0)
          compared.push_back(
              {i, outcome.steps - 1, Tensor(whole[i].exact().shape, found.back()[i]), whole[i]});
        continue;
      }
      const int64_t axis = *part.axis, each = perInference(i);
      Tensors parts;
      std::vector<const Tensor *> pointers;
      for (const runtime::Arrays &outputs : found) {
        const auto &shape = program.models.front().outputs[i].shape;
        parts.emplace_back(Shape(shape.begin(), shape.end()), outputs[i]);
      }
      for (const Tensor &one : parts)
        pointers.push_back(&one);
      const int64_t length = std::min(count * each - part.skipped, whole[i].exact().shape[axis]);
      if (length < 1)
        continue;
      Compared one{i,
                   outcome.steps - 1,
                   positions(reference::concat(pointers, axis), axis, part.skipped, length),
                   {}};
      for (const auto &variant : whole[i].variants)
        one.wanted.variants.push_back(
            std::make_shared<const Tensor>(positions(*variant, axis, 0, length)));
      compared.push_back(std::move(one));
    }
  }

  /// Whether the whole sequence is run.
  [[nodiscard]] bool isWhole() const {
    const streaming::StreamedInput &first = streamed->inputs.front();
    return std::ranges::all_of(oracle.inputs(), [&](const frontend::ImportedTensor &input) {
      return input.name != first.name ||
             input.shape[first.axis] == static_cast<int64_t>(outcome.steps) * first.steps;
    });
  }

  /// Looks at the outputs again with further variants of rounding: what few variants do not move
  /// may be moved by others. Then at each tensor as it follows from those before it.
  void confirm(const Steps &steps, const std::vector<runtime::Arrays> &found) {
    Evaluator more(oracle.function(), manyDirections(options.seed), options.facts);
    std::optional<LayerErrors> layers;
    for (const Compared &one : compare(steps, found, more)) {
      const Judgement judgement = judge(one.found.values, one.wanted, noise(steps));
      if (!judgement.worst) {
        outcome.largestError = std::max(outcome.largestError, judgement.largestError);
        continue;
      }
      if (!layers)
        layers = layerErrors({evidence.steps});
      if (layers && isRight(*layers, oracle.outputs()[one.output].name))
        continue;
      const Wrong &worst = *judgement.worst;
      fail(fmt::format("output '{}' is {:.6g} at {}, the model gives {:.6g}, allowed {:.3g}",
                       oracle.outputs()[one.output].name, worst.found,
                       indexText(worst.element, one.found.shape), worst.wanted, worst.bound),
           one.output, layers);
      outcome.problem->notes.push_back(
          fmt::format("{} of {} elements of the output are beyond their bounds", judgement.beyond,
                      judgement.elements));
      if (isSequence())
        outcome.problem->notes.push_back(fmt::format("in step {}", one.step));
      return;
    }
  }

  static bool isRight(const LayerErrors &layers, const std::string &output) {
    const auto layer = std::ranges::find(layers.layers, output, &TensorError::tensor);
    return layer != layers.layers.end() && !layer->isWrong();
  }

  void fail(const std::string &what, std::optional<size_t> output,
            const std::optional<LayerErrors> &layers = std::nullopt) {
    Problem problem;
    problem.code = "E0498";
    problem.reason = WrongProgram();
    problem.message = "internal error: " + what;
    if (layers && layers->firstWrong) {
      const TensorError &first = layers->layers[*layers->firstWrong];
      problem.node = first.node;
      if (first.tensor != oracle.outputs()[*output].name)
        problem.notes.push_back(fmt::format("the first tensor that differs is '{}'", first.tensor));
    } else if (output) {
      const std::string &name = oracle.outputs()[*output].name;
      for (const frontend::GraphTensor &tensor : oracle.tensors())
        if (tensor.name == name)
          problem.node = nodeOf(tensor);
    }
    if (problem.node && problem.node->index < 0)
      problem.node.reset();
    problem.notes.push_back(fmt::format("with inputs: {}", evidence.inputs));
    outcome.problem = std::move(problem);
    outcome.evidence = evidence;
  }

  /// Returns the errors of all tensors with these inputs, behind a reset each; nothing of a
  /// streamed model.
  [[nodiscard]] std::optional<LayerErrors> layerErrors(std::vector<Steps> samples) const {
    if (streamed != nullptr)
      return std::nullopt;
    LayerOptions layers;
    layers.facts = options.facts;
    layers.samples = std::move(samples);
    auto compared = compareLayers(oracle, program, layers);
    auto *errors = std::get_if<LayerErrors>(&compared);
    return errors ? std::optional(std::move(*errors)) : std::nullopt;
  }

  const Oracle &oracle;
  const format::Program &program;
  const Streamed *streamed;
  const Options &options;
  Machine machine;
  Evaluator evaluator;
  Outcome outcome;
  Evidence evidence;
  uint32_t stream = 0; ///< of the next random tensor
};

} // namespace

Outcome checkProgram(const Oracle &oracle, const format::Program &program, const Streamed *streamed,
                     const Options &options, Progress *progress) {
  if (progress != nullptr)
    progress->stage("checking");
  return Checker(oracle, program, streamed, options).run();
}

} // namespace sluice::check
