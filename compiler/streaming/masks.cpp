// Masks of pairs: which band of them is left, and what is outside of it.
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "compiler/streaming/steps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sluice::streaming {
namespace {

using reference::Tensor;
using space::IndexSpace;
using space::LoopKind;
using space::Projection;

/// Values that scores and sums are taken to have when a mask is recognised. None is 0, by which a
/// softmax never divides.
constexpr std::array kSamples{-100.0, -0.5, 1.0, 100.0};
/// Most elements whose masks are looked at.
constexpr int64_t kMostPairs = int64_t{1} << 24;

/// What an operation gives for each of the samples: `operand` says what an operand is then.
std::vector<Tensor> evaluated(Operation *op, llvm::function_ref<Tensor(unsigned, double)> operand) {
  std::vector<Tensor> results;
  auto computed = llvm::dyn_cast<ir::ReferenceInterface>(op);
  if (!computed || op->getNumRegions() > 1)
    return results;
  for (const double sample : kSamples) {
    std::vector<Tensor> operands;
    for (const unsigned i : llvm::seq(0U, op->getNumOperands()))
      operands.push_back(operand(i, sample));
    const auto pointers = llvm::map_to_vector(operands, [](const Tensor &one) { return &one; });
    results.push_back(computed.evaluate(pointers).front());
  }
  return results;
}

/// Whether what follows merges pairs along an axis, and not along the other one: then its positions
/// are those that the other ones read.
bool isMergedAlong(Value first, unsigned firstAxis, unsigned firstOther) {
  using Place = std::tuple<Value, unsigned, unsigned>; // value, axis, other axis
  std::vector<Place> pending{{first, firstAxis, firstOther}};
  llvm::DenseSet<Place> seen{pending.front()};
  while (!pending.empty()) {
    const auto [value, axis, other] = pending.back();
    pending.pop_back();
    for (OpOperand &use : value.getUses()) {
      auto user = llvm::dyn_cast<ir::IndexSpaceInterface>(use.getOwner());
      if (!user)
        continue;
      const IndexSpace space = user.indexSpace();
      const Projection &read = space.operands[use.getOperandNumber()];
      const auto along = read.loopAlong(axis), across = read.loopAlong(other);
      if (!along || !across)
        continue;
      if (space.loops[*along].kind == LoopKind::Reduced)
        return true;
      const auto next = space.results.front().axisAlong(*along),
                 nextOther = space.results.front().axisAlong(*across);
      if (!next || !nextOther)
        continue;
      const Place place{user->getResult(0), *next, *nextOther};
      if (seen.insert(place).second)
        pending.push_back(place);
    }
  }
  return false;
}

} // namespace

std::optional<Band> Steps::maskOf(ir::IndexSpaceInterface op, const IndexSpace &space,
                                  const Pairing &loops) {
  const auto isMask = [&](unsigned operand) {
    return timing(op->getOperand(operand)).kind == Timing::Fixed &&
           space.operands[operand].moves(loops.along) &&
           space.operands[operand].moves(loops.across);
  };
  if (llvm::none_of(llvm::seq(0U, op->getNumOperands()), isMask))
    return std::nullopt;
  if (const auto shape = ir::shapeOf(op->getResult(0));
      reference::elements({shape.begin(), shape.end()}) > kMostPairs) {
    refuse(op->getLoc(),
           fmt::format("the mask has more than {} elements, the limit of the analysis", kMostPairs),
           {fix("export the model with fewer positions; the streamed network takes any number")});
    return std::nullopt;
  }
  std::map<unsigned, Tensor> constants;
  for (const unsigned i : llvm::seq(0U, op->getNumOperands())) {
    if (!isMask(i))
      continue;
    auto constant = ir::constantValue(op->getOperand(i));
    if (!constant) {
      refuse(op->getLoc(), "the mask is an input, so its window is unknown",
             {fix("make the mask a constant (--bind NAME=@FILE.npy)")});
      return std::nullopt;
    }
    constants.emplace(i, std::move(*constant));
  }
  const auto results = evaluated(op, [&](unsigned operand, double sample) {
    const auto constant = constants.find(operand);
    return constant != constants.end() ? constant->second
                                       : filled(ir::shapeOf(op->getOperand(operand)), sample);
  });
  if (results.empty())
    return std::nullopt;
  // What is masked does not depend on the samples.
  const std::vector<double> constant = sameInAll(results);
  const auto isMasked = [](double value) { return !std::isnan(value); };
  const auto outside = llvm::find_if(constant, isMasked);
  if (outside == constant.end())
    return std::nullopt;
  const auto along = space.results.front().axisAlong(loops.along),
             across = space.results.front().axisAlong(loops.across);
  const bool swapped = isMergedAlong(op->getResult(0), *along, *across);
  auto band = bandOf(constant, swapped ? ByPair(results.front().shape, *across, *along)
                                       : ByPair(results.front().shape, *along, *across));
  if (band) {
    band->swapped = swapped;
    band->outside = band->nearest = *outside;
    for (const Tensor &one : results)
      for (auto [is, value] : llvm::zip_equal(constant, one.values))
        if (is == kNothing)
          band->nearest = std::max(band->nearest, value);
  }
  if (!band)
    refuse(op->getLoc(),
           "the mask must leave each position the same number of earlier positions, and not all",
           {fix(kMaskWindow)});
  return band;
}

bool Steps::outsideOf(ir::IndexSpaceInterface op, Timing &made) {
  const auto results = [&](double Timing::*outside) {
    return evaluated(op, [&](unsigned operand, double sample) {
      const Value value = op->getOperand(operand);
      const Timing time = timing(value);
      if (time.kind == Timing::Fixed)
        if (auto constant = ir::constantValue(value))
          return std::move(*constant);
      const bool isOutside = time.kind == Timing::Pairs && time.band;
      return filled(ir::shapeOf(value), isOutside ? time.*outside : sample);
    });
  };
  const auto farthest = results(&Timing::outside), nearest = results(&Timing::nearest);
  if (farthest.empty())
    return false;
  const std::vector<double> constant = sameInAll(farthest), near = sameInAll(nearest);
  made.outside = made.nearest = constant.front();
  if (std::isnan(made.outside))
    return false;
  // What is masked by a finite number has to stay as far away.
  if (llvm::any_of(constant, [&](double one) { return one != made.outside; }) ||
      llvm::any_of(near, [&](double one) { return one != made.outside; }))
    return false;
  if (made.outside == kNothing)
    for (const Tensor &one : nearest)
      made.nearest = std::max(made.nearest, *std::ranges::max_element(one.values));
  return true;
}

} // namespace sluice::streaming
