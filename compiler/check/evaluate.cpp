#include "compiler/check/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mlir/Dialect/Math/IR/Math.h"

#include "compiler/check/bound.h"
#include "compiler/check/rounded_body.h"
#include "compiler/dialect/sluice/monoids.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/reference/ops.h"
#include "compiler/support/problem.h"
#include "hw/numerics/bf16.h"

using namespace mlir;

namespace sluice::check {
namespace {

using reference::Monoid;
using reference::Tensor;
using reference::Tensors;
using Shared = std::shared_ptr<const Tensor>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// Constants of so many elements, with their variants, are kept from one run to the next: 256 MB.
constexpr size_t kMostKept = 1 << 25;

Shared shared(Tensor tensor) { return std::make_shared<const Tensor>(std::move(tensor)); }

Magnitude magnitudeOf(const Tensor &tensor) {
  Magnitude magnitude;
  for (const double value : tensor.values) {
    const bool isFinite = std::isfinite(value);
    magnitude.isFinite &= isFinite;
    magnitude.hasZero |= value == 0;
    magnitude.largest = std::max(magnitude.largest, isFinite ? std::abs(value) : 0);
  }
  return magnitude;
}

bool isFinite(const Tensor &tensor) {
  return std::ranges::all_of(tensor.values, [](double value) { return std::isfinite(value); });
}

/// A variant with another number in the place of what is not finite. NaN: what a sum makes of it.
Shared withoutInfinities(const Spread &spread, size_t variant, double instead) {
  const Shared &tensor = spread.variants[variant];
  if (spread.magnitudes.empty() ? isFinite(*tensor) : spread.magnitudes[variant].isFinite)
    return tensor;
  Tensor copy = *tensor;
  for (double &value : copy.values)
    value = std::isfinite(value) ? value : instead;
  return shared(std::move(copy));
}

/// A tensor that somebody else owns.
Shared borrowed(const Tensor *tensor) { return {Shared(), tensor}; }

/// Elements are moved from lane to lane by sums with zeros, which an element that is not finite
/// makes NaN. Which elements lie in one row follows from the layout: one direction of rounding
/// stands for layouts in which all do, and nothing is demanded of the other elements.
bool isMixing(const Rounding &rounding) {
  return rounding.direction() == Rounding::Direction::Down;
}

void makeNaN(Tensor &tensor) { std::ranges::fill(tensor.values, kNaN); }

/// An unspecified tensor: no two variants agree about it.
Tensor unspecified(const reference::Shape &shape, const Rounding &rounding) {
  Tensor tensor(shape);
  const double value = rounding.direction() == Rounding::Direction::Up     ? kInfinity
                       : rounding.direction() == Rounding::Direction::Down ? -kInfinity
                                                                           : kNaN;
  std::ranges::fill(tensor.values, value);
  return tensor;
}

/// What an operation makes of one variant of its operands.
Tensors evaluateOne(Operation &op, const std::vector<Shared> &operands) {
  llvm::SmallVector<const Tensor *> pointers;
  for (const Shared &operand : operands)
    pointers.push_back(operand.get());
  return llvm::cast<ir::ReferenceInterface>(op).evaluate(pointers);
}

/// Whether a map rounds to integers.
bool rounds(Operation &op) {
  auto map = llvm::dyn_cast<ir::MapOp>(op);
  return map && llvm::any_of(map.getBody().front(),
                             [](Operation &step) { return llvm::isa<math::RoundEvenOp>(step); });
}

bool isConstant(Value value) { return value.getDefiningOp<ir::ConstantOp>() != nullptr; }

/// Whether weights are zero, such as those of a grouped convolution between its groups. In exact
/// arithmetic they make NaN of an infinity that the model does not multiply by anything.
bool hasZeroWeights(Operation &op, const std::vector<Spread> &operands) {
  return llvm::isa<ir::MatmulOp, ir::ContractOp>(op) &&
         llvm::any_of(llvm::zip_equal(op.getOperands(), operands), [](const auto &operand) {
           const auto &[value, spread] = operand;
           return isConstant(value) && spread.magnitude(0).hasZero;
         });
}

/// Whether a view puts a number that is rounded where its input has no element.
bool hasRoundedValue(Operation &op) {
  auto view = llvm::dyn_cast<ir::ViewInterface>(op);
  const auto outside = view && view.addsElements() ? view.pieces().outside : std::nullopt;
  return outside && nearestBf16(*outside) != *outside;
}

/// Adds to sums what the machine truncates: products that are far below the largest of a sum.
void truncate(const std::vector<Spread> &operands, size_t variant, Rounding &rounding,
              Tensor &sums) {
  double most = 0x1p-24; // of the value of 1
  for (const Spread &operand : operands)
    most *= operand.magnitude(variant).largest;
  for (double &value : sums.values)
    // Exact sums stay exact, unless they are as small as what is truncated.
    if (nearestBf16(value) != value || (value != 0 && std::abs(value) < most))
      value += rounding.choice() * most;
}

/// Adds to the rounded result of a reduction what the machine rounds within it.
void roundWithin(Monoid monoid, ir::ReduceOp op, const Shared &input, Rounding &rounding,
                 Tensor &result) {
  const auto elements = static_cast<double>(input->values.size()) /
                        static_cast<double>(std::max<size_t>(result.values.size(), 1));
  constexpr double kUnit = 0x1p-8; // of the value of 1
  const reference::Shape axes(op.getAxes().begin(), op.getAxes().end());
  if (monoid == Monoid::Product) {
    // In another order what is finite may overflow or vanish on the way.
    Tensor growing = *input, shrinking = *input;
    for (size_t i = 0; i < input->values.size(); ++i) {
      growing.values[i] = std::max(std::abs(input->values[i]), 1.0);
      shrinking.values[i] = std::min(std::abs(input->values[i]), 1.0);
    }
    const Tensor most = reference::reduce(growing, monoid, axes, op.getKeepdims()),
                 least = reference::reduce(shrinking, monoid, axes, op.getKeepdims());
    // An infinity is moved between lanes by sums, which it makes NaN.
    const bool mayOverflow =
        !llvm::all_of(most.values, [](double value) { return std::isfinite(nearestBf16(value)); });
    for (size_t i = 0; i < result.values.size(); ++i) {
      double &value = result.values[i];
      value *= 1 + rounding.choice() * (elements - 1) * kUnit / 2;
      if (mayOverflow || (value != 0 && nearestBf16(least.values[i]) == 0))
        value = kNaN;
    }
  } else if (monoid == Monoid::Mean && std::exp2(std::floor(std::log2(elements))) != elements) {
    // The machine multiplies the sum by the reciprocal of the count, in fp32.
    for (double &value : result.values)
      value *= 1 + rounding.choice() * 0x1p-23;
  } else if (monoid == Monoid::LogSumExp || monoid == Monoid::Variance) {
    const Tensor other = reference::reduce(
        *input, monoid == Monoid::Variance ? Monoid::Mean : Monoid::Max, axes, op.getKeepdims());
    for (size_t i = 0; i < result.values.size(); ++i) {
      const double by = rounding.choice() * kUnit / 2;
      if (!std::isfinite(other.values[i]) || !std::isfinite(result.values[i]))
        continue;
      if (monoid == Monoid::Variance)
        result.values[i] += by * by * other.values[i] * other.values[i] + by * result.values[i];
      else
        result.values[i] += by * (std::abs(other.values[i]) + std::log(elements));
    }
  }
}

/// The index of the largest element, in rounded variants another one whose element may be the
/// largest once it is rounded: the last one upwards, the first one downwards.
std::vector<Tensor> argMax(ir::ReduceOp op, const Spread &input, std::span<Rounding> roundings) {
  const std::vector<double> moved = input.moved(), bounds = boundsOf(moved, input.exact().values);
  const reference::Shape axes(op.getAxes().begin(), op.getAxes().end());
  // Elements beyond the range of bf16 are equally infinite.
  Tensor exact = input.exact();
  for (double &value : exact.values)
    value = std::isfinite(nearestBf16(value)) ? value : nearestBf16(value);
  Tensor low(exact.shape), high(exact.shape);
  for (size_t i = 0; i < bounds.size(); ++i) {
    low.values[i] = exact.values[i] - bounds[i];
    high.values[i] = exact.values[i] + bounds[i];
  }
  const Tensor least = reference::reduce(low, Monoid::Max, axes, true);
  const Tensor reached = reference::broadcast(least, exact.shape);
  std::vector<Tensor> results;
  results.push_back(reference::reduce(input.exact(), Monoid::ArgMax, axes, op.getKeepdims()));
  for (size_t variant = 0; variant < roundings.size(); ++variant) {
    Rounding &rounding = roundings[variant];
    Tensor rank(exact.shape); // the largest of them is chosen
    for (size_t i = 0; i < rank.values.size(); ++i) {
      const bool may = !(high.values[i] < reached.values[i]); // or nothing is known of it
      double order = input.variants[variant + 1]->values[i];
      if (rounding.direction() == Rounding::Direction::Up)
        order = static_cast<double>(i);
      else if (rounding.direction() == Rounding::Direction::Down)
        order = -static_cast<double>(i);
      else if (rounding.direction() == Rounding::Direction::Random)
        order = rounding.choice();
      rank.values[i] = std::isnan(reached.values[i]) ? kNaN : may ? order : -kInfinity;
    }
    results.push_back(reference::reduce(rank, Monoid::ArgMax, axes, op.getKeepdims()));
    // The index of a NaN depends on the layout.
    const Tensor hasNaN = reference::reduce(rank, Monoid::Max, axes, op.getKeepdims());
    for (size_t i = 0; i < hasNaN.values.size(); ++i)
      if (std::isnan(hasNaN.values[i]))
        results.back().values[i] = kNaN;
  }
  return results;
}

} // namespace

Magnitude Spread::magnitude(size_t variant) const {
  return magnitudes.empty() ? magnitudeOf(*variants[variant]) : magnitudes[variant];
}

std::vector<double> Spread::moved() const {
  const std::vector<double> &exact = variants.front()->values;
  std::vector<double> moved(exact.size());
  for (size_t variant = 1; variant < variants.size(); ++variant) {
    const std::vector<double> &rounded = variants[variant]->values;
    for (size_t i = 0; i < exact.size(); ++i) {
      const double one = std::isfinite(nearestBf16(exact[i])) ? exact[i] : nearestBf16(exact[i]);
      if (one == rounded[i] || (std::isnan(one) && std::isnan(rounded[i])))
        continue;
      const double change = std::abs(rounded[i] - one);
      moved[i] = std::max(moved[i], std::isnan(change) ? kInfinity : change);
    }
  }
  return moved;
}

std::vector<Rounding> allDirections() {
  return {Rounding(Rounding::Direction::Nearest), Rounding(Rounding::Direction::Up),
          Rounding(Rounding::Direction::Down)};
}

std::vector<Rounding> randomDirections(size_t count, uint64_t seed) {
  std::vector<Rounding> roundings;
  for (size_t i = 0; i < count; ++i)
    roundings.emplace_back(Rounding::Direction::Random, seed + i * 0xD1B54A32D192ED03);
  return roundings;
}

std::vector<Rounding> manyDirections(uint64_t seed) {
  constexpr size_t kRandom = 64;
  std::vector<Rounding> all = allDirections(), random = randomDirections(kRandom, seed);
  std::ranges::move(random, std::back_inserter(all));
  return all;
}

Evaluator::Evaluator(FunctionOpInterface function, std::vector<Rounding> roundings,
                     ProgramFacts facts)
    : function(function), roundings(std::move(roundings)), facts(std::move(facts)) {}
Evaluator::~Evaluator() = default;

/// An operand of a product that is written as weights when it is computed must be finite. The
/// layout may write an activation as weights although the other operand is a constant.
bool Evaluator::isUnspecified(Operation &op, const std::vector<Spread> &operands) const {
  if (!llvm::isa<ir::MatmulOp, ir::ContractOp>(op) ||
      (llvm::any_of(op.getOperands(), isConstant) &&
       !facts.dynamicProducts.contains(ir::nodeOf(op.getLoc()).index)))
    return false;
  // One variant is enough: an integer that stands for NaN is finite in some of them.
  return llvm::any_of(operands, [&](const Spread &operand) {
    return !llvm::all_of(llvm::seq<size_t>(variants()),
                         [&](size_t variant) { return operand.magnitude(variant).isFinite; });
  });
}

std::vector<Spread> Evaluator::run(const Tensors &arguments) {
  Block &block = function.getFunctionBody().front();
  Values values;
  for (auto [argument, tensor] : llvm::zip_equal(block.getArguments(), arguments)) {
    Tensor rounded = tensor;
    Rounding(Rounding::Direction::Nearest).round(rounded);
    const bool same = rounded.values == tensor.values;
    Spread spread;
    spread.variants.push_back(shared(tensor));
    spread.variants.resize(1 + roundings.size(),
                           same ? spread.variants.front() : shared(std::move(rounded)));
    if (!facts.exactNodes.empty())
      spread.unrounded = spread.variants;
    if (tap)
      tap(argument, spread);
    values[argument] = std::move(spread);
  }
  std::vector<Spread> results = runBlock(block, std::move(values), true);
  if (facts.movesElements)
    llvm::for_each(results, [&](Spread &result) { moveElements(result); });
  return results;
}

/// The layout may move the elements of a result before it leaves, as it does before operations.
void Evaluator::moveElements(Spread &result) const {
  for (size_t variant = 1; variant < result.variants.size(); ++variant) {
    Shared &tensor = result.variants[variant];
    if (isFinite(*tensor))
      continue;
    if (isMixing(roundings[variant - 1])) {
      Tensor mixed(tensor->shape);
      makeNaN(mixed);
      tensor = shared(std::move(mixed));
    } else if (roundings[variant - 1].direction() == Rounding::Direction::Up) {
      tensor = withoutInfinities(result, variant, 0);
    }
  }
}

Spread Evaluator::constant(Operation &op) {
  if (const auto kept = constants.find(&op); kept != constants.end())
    return kept->second;
  Spread spread;
  spread.variants.push_back(shared(ir::toTensor(llvm::cast<ir::ConstantOp>(op).getValue())));
  for (Rounding &rounding : roundings) {
    auto rounded = rounding.roundedConstant(spread.exact());
    spread.variants.push_back(rounded ? shared(std::move(*rounded)) : spread.variants.front());
  }
  std::vector<Magnitude> &known = magnitudes[&op];
  if (known.empty())
    for (const Shared &tensor : spread.variants)
      known.push_back(magnitudeOf(*tensor));
  spread.magnitudes = known;
  if (!facts.exactNodes.empty())
    spread.unrounded.assign(spread.variants.size(), spread.variants.front());
  const size_t size = spread.exact().values.size() * variants();
  if (keepsConstants && kept + size <= kMostKept) {
    kept += size;
    constants[&op] = spread;
  }
  return spread;
}

std::vector<Spread> Evaluator::runBlock(Block &block, Values values, bool isOutermost) {
  llvm::DenseMap<Value, unsigned> readers; // that are still to come
  const auto readOf = [](Operation &op) {
    return op.hasTrait<OpTrait::IsTerminator>() ? llvm::SmallVector<Value>(op.getOperands())
                                                : ir::readValues(&op);
  };
  for (Operation &op : block)
    for (Value value : readOf(op))
      ++readers[value];
  for (Operation &op : block.without_terminator()) {
    if (llvm::isa<ir::ConstantOp>(op))
      continue; // made where it is read
    const llvm::SmallVector<Value> read = readOf(op);
    std::vector<Spread> operands;
    for (Value value : read) {
      const auto known = values.find(value);
      if (known == values.end())
        values[value] = constant(*value.getDefiningOp());
      operands.push_back(values[value]);
    }
    for (Value value : read)
      if (--readers[value] == 0)
        values.erase(value);
    std::vector<Spread> results = runOperation(op, operands);
    for (auto [value, spread] : llvm::zip_equal(op.getResults(), results)) {
      if (tap && isOutermost)
        tap(value, spread);
      if (readers.lookup(value) > 0)
        values[value] = std::move(spread);
    }
  }
  std::vector<Spread> results;
  for (Value value : block.getTerminator()->getOperands()) {
    const auto known = values.find(value);
    results.push_back(known == values.end() ? constant(*value.getDefiningOp()) : known->second);
  }
  return results;
}

std::vector<Spread> Evaluator::runOperation(Operation &op, const std::vector<Spread> &operands) {
  const bool isUnrounded =
      llvm::all_of(operands, [](const Spread &operand) { return !operand.unrounded.empty(); });
  if (!isUnrounded || op.getNumResults() != 1 || op.getNumRegions() > 1 ||
      llvm::isa<ir::StateOp, ir::LoopOp>(op))
    return runRounded(op, operands);
  if (rounds(op) && facts.exactNodes.contains(ir::nodeOf(op.getLoc()).index))
    return {quantise(op, operands)};
  std::vector<Spread> results = runRounded(op, operands);
  addUnrounded(op, operands, results.front());
  return results;
}

/// A map whose result the program has exactly.
Spread Evaluator::quantise(Operation &op, const std::vector<Spread> &operands) {
  const size_t variants = 1 + roundings.size();
  Spread result;
  std::vector<Tensor> made(variants, Tensor(operands[0].exact().shape));
  std::vector<std::vector<const double *>> inputs(variants);
  std::vector<double *> outputs;
  for (size_t variant = 0; variant < variants; ++variant) {
    for (const Spread &operand : operands)
      inputs[variant].push_back(operand.unrounded[variant]->values.data());
    outputs.push_back(made[variant].values.data());
  }
  RoundedBody(llvm::cast<ir::MapOp>(op).getBody())
      .run(made[0].values.size(), inputs, roundings, outputs, /*isExact=*/true);
  for (Tensor &tensor : made)
    result.variants.push_back(!result.variants.empty() && tensor.values == result.exact().values
                                  ? result.variants.front()
                                  : shared(std::move(tensor)));
  result.unrounded = result.variants;
  return result;
}

/// Adds the variants of a result without any rounding. Where integers are rounded inexactly, the
/// program goes on with those that it has.
void Evaluator::addUnrounded(Operation &op, const std::vector<Spread> &operands, Spread &result) {
  if (rounds(op)) {
    result.unrounded = result.variants;
    return;
  }
  result.unrounded.push_back(result.variants.front());
  for (size_t variant = 1; variant < result.variants.size(); ++variant) {
    std::vector<Shared> inputs;
    bool isSame = true;
    for (const Spread &operand : operands) {
      inputs.push_back(operand.unrounded[variant]);
      isSame &= operand.unrounded[variant] == operand.unrounded.front();
    }
    result.unrounded.push_back(isSame ? result.unrounded.front()
                                      : shared(std::move(evaluateOne(op, inputs).front())));
  }
}

std::vector<Spread> Evaluator::runRounded(Operation &op, const std::vector<Spread> &operands) {
  const size_t variants = 1 + roundings.size();
  if (auto state = llvm::dyn_cast<ir::StateOp>(op)) {
    Spread &kept = states[state.getResult()];
    if (kept.variants.empty()) {
      Tensor initial = llvm::cast<ir::ReferenceInterface>(op).evaluate({}).front();
      kept.variants.push_back(shared(initial));
      Rounding(Rounding::Direction::Nearest).round(initial);
      kept.variants.resize(variants, shared(std::move(initial)));
    }
    return {kept};
  }
  if (auto keep = llvm::dyn_cast<ir::KeepOp>(op)) {
    states[keep.getState()] = operands[0];
    return {operands[0]};
  }
  if (auto loop = llvm::dyn_cast<ir::LoopOp>(op)) {
    // All variants of a tensor are carried together.
    std::vector<const Tensor *> initial, sequences;
    std::vector<reference::LoopAxis> slices, stacks;
    const size_t carried = loop.getInitial().size(), sliced = loop.getSequences().size();
    for (size_t i = 0; i < carried + sliced; ++i)
      for (const Shared &variant : operands[i].variants)
        (i < carried ? initial : sequences).push_back(variant.get());
    for (const reference::LoopAxis &axis : loop.slices())
      slices.insert(slices.end(), variants, axis);
    for (const reference::LoopAxis &axis : loop.stacks())
      stacks.insert(stacks.end(), variants, axis);
    Values around;
    for (auto [value, spread] : llvm::zip_equal(ir::readValues(&op), operands))
      around[value] = spread;
    Block &body = loop.getBody().front();
    Tensors results = reference::loop(
        static_cast<int64_t>(loop.getTrips()), initial, sequences, slices, stacks,
        [&](const std::vector<const Tensor *> &arguments) {
          Values values = around;
          for (auto [i, argument] : llvm::enumerate(body.getArguments())) {
            Spread spread;
            for (size_t variant = 0; variant < variants; ++variant)
              spread.variants.push_back(borrowed(arguments[i * variants + variant]));
            values[argument] = std::move(spread);
          }
          Tensors next;
          for (const Spread &spread : runBlock(body, std::move(values), false))
            for (const Shared &variant : spread.variants)
              next.push_back(*variant);
          return next;
        });
    std::vector<Spread> spreads(results.size() / variants);
    for (size_t i = 0; i < results.size(); ++i)
      spreads[i / variants].variants.push_back(shared(std::move(results[i])));
    return spreads;
  }
  // The direction in which zeros stand for what is not finite, where nothing is known of it: moved
  // elements are weights.
  const auto isUp = [&](size_t variant) {
    return variant > 0 && roundings[variant - 1].direction() == Rounding::Direction::Up;
  };
  Spread result;
  if (auto map = llvm::dyn_cast<ir::MapOp>(op)) {
    std::vector<Tensor> made(variants, Tensor(operands[0].exact().shape));
    std::vector<std::vector<const double *>> inputs(variants);
    std::vector<Shared> kept; // what `inputs` points into
    std::vector<double *> outputs;
    for (size_t variant = 0; variant < variants; ++variant) {
      for (const Spread &operand : operands) {
        kept.push_back(facts.movesElements && isUp(variant) ? withoutInfinities(operand, variant, 0)
                                                            : operand.variants[variant]);
        inputs[variant].push_back(kept.back()->values.data());
      }
      outputs.push_back(made[variant].values.data());
    }
    RoundedBody(map.getBody()).run(made[0].values.size(), inputs, roundings, outputs);
    for (size_t variant = 1; variant < variants; ++variant) {
      roundings[variant - 1].round(made[variant]);
      const auto isPoisoned = [&](const auto &operand) {
        return !isConstant(std::get<0>(operand)) &&
               !isFinite(*std::get<1>(operand).variants[variant]);
      };
      if (facts.movesElements && isMixing(roundings[variant - 1]) &&
          llvm::any_of(llvm::zip_equal(op.getOperands(), operands), isPoisoned))
        makeNaN(made[variant]);
    }
    for (Tensor &tensor : made)
      result.variants.push_back(shared(std::move(tensor)));
    return {result};
  }
  auto reduce = llvm::dyn_cast<ir::ReduceOp>(op);
  const std::optional<Monoid> monoid =
      reduce ? std::optional(ir::definedBy(reduce.getMonoid())) : std::nullopt;
  if (monoid == Monoid::ArgMax) {
    for (Tensor &tensor : argMax(reduce, operands[0], roundings))
      result.variants.push_back(shared(std::move(tensor)));
    return {result};
  }
  const bool sums = llvm::isa<ir::MatmulOp, ir::ContractOp>(op) || monoid == Monoid::Sum ||
                    monoid == Monoid::Mean || monoid == Monoid::Variance;
  const bool isView = llvm::isa<ir::ViewInterface>(op) && !hasRoundedValue(op);
  // What constants give to a view is selected by the compiler, not by sums.
  const auto isKnown = [&](Value operand) {
    return isConstant(operand) || viewsOfConstants.contains(operand);
  };
  if (isView && llvm::all_of(op.getOperands(), isKnown))
    viewsOfConstants.insert(op.getResult(0));
  const bool mayBeNaN = hasZeroWeights(op, operands), mayBeAnything = isUnspecified(op, operands);
  const auto operandOf = [&](const Spread &operand, size_t variant) {
    if (isUp(variant) && (facts.movesElements || (sums && mayBeNaN)))
      return withoutInfinities(operand, variant, 0);
    return variant > 0 && sums ? withoutInfinities(operand, variant, kNaN)
                               : operand.variants[variant];
  };
  for (size_t variant = 0; variant < variants; ++variant) {
    std::vector<Shared> inputs;
    for (const Spread &operand : operands)
      inputs.push_back(operandOf(operand, variant));
    const bool mixes = variant > 0 && isMixing(roundings[variant - 1]);
    // A view rounds nothing.
    const bool same = variant > 0 && isView &&
                      llvm::all_of(operands,
                                   [&](const Spread &operand) {
                                     return operand.variants[variant] == operand.variants[0];
                                   }) &&
                      (!mixes || isFinite(result.exact()));
    if (same) {
      result.variants.push_back(result.variants.front());
      continue;
    }
    if (variant == 0) {
      result.variants.push_back(shared(std::move(evaluateOne(op, inputs).front())));
      continue;
    }
    Rounding &rounding = roundings[variant - 1];
    if (mayBeAnything) {
      result.variants.push_back(shared(unspecified(result.exact().shape, rounding)));
      continue;
    }
    Tensor made = std::move(evaluateOne(op, inputs).front());
    const auto isPoisoned = [&] {
      return llvm::any_of(llvm::zip_equal(op.getOperands(), operands), [&](const auto &operand) {
        const auto &[value, spread] = operand;
        return !(isView && isKnown(value)) && !spread.magnitude(variant).isFinite;
      });
    };
    // A view makes NaN if it reads such an element. So do maxima, whose results may change lanes.
    if (mixes && isPoisoned() &&
        (sums || facts.movesElements || ((isView || reduce) && !isFinite(made))))
      makeNaN(made);
    if (sums && !llvm::all_of(op.getOperands(), isConstant))
      truncate(operands, variant, rounding, made);
    if (reduce)
      roundWithin(*monoid, reduce, inputs[0], rounding, made);
    if (!isView)
      rounding.round(made);
    result.variants.push_back(shared(std::move(made)));
  }
  return {result};
}

} // namespace sluice::check
