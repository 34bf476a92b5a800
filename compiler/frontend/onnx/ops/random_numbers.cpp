#include "compiler/frontend/onnx/ops/random_numbers.h"

#include <bit>

#include <fmt/format.h>

#include "llvm/Support/xxhash.h"

namespace sluice::frontend::ops {

Requirement boundedField(std::function<Shape(const NodeView &)> shape) {
  return {fmt::format("there must be at most {} random numbers", kMaxRandomElements),
          [shape = std::move(shape)](const NodeView &node) -> std::string {
            const Shape extents = shape(node);
            return elementCount(extents, kMaxRandomElements) >= 0 ? "" : shapeText(extents);
          }};
}

/// Seeds that a model gives and those of names never meet.
enum Stream : uint32_t { Given, Named };

/// The attribute is a float, of Dropout an int. Up to 2^53 the same number is the same seed.
static uint64_t givenSeed(const NodeView &node) {
  if (node.isInteger("seed"))
    return std::bit_cast<uint64_t>(static_cast<double>(node.integer("seed")));
  return std::bit_cast<uint64_t>(static_cast<double>(node.real("seed")));
}

std::optional<random::RandomField> fixedField(NodeBuilder &node) {
  constexpr std::string_view kFixed = "every inference uses the same random numbers";
  if (node.given("seed")) {
    node.caution = kFixed;
    return random::RandomField({givenSeed(node), Given});
  }
  switch (node.unseeded) {
  case Unseeded::RefusedInLoop:
    throw NodeError{"E0208",
                    "random numbers without a seed differ in every iteration, but a loop body "
                    "always has the same ones",
                    {fix("make the numbers of all iterations before the loop, and read one element "
                         "of them in each")}};
  case Unseeded::RefusedStreamed:
    throw NodeError{"E0208",
                    "random numbers without a seed cannot be drawn for a streamed sequence",
                    {fix("make the numbers an input of the model and stream it, or accept the same "
                         "ones in every inference",
                         "--fixed-random")}};
  case Unseeded::Drawn:
    node.caution = "every inference draws new random numbers";
    return std::nullopt;
  case Unseeded::Fixed:
    break;
  }
  node.caution = kFixed;
  return random::RandomField({llvm::xxh3_64bits(node.resultName()), Named});
}

random::RandomNumbers drawn(const NodeView &node, random::Distribution distribution, double first,
                            double second) {
  return {distribution, first, second, llvm::xxh3_64bits(node.resultName())};
}

Tensor randomNumbers(NodeBuilder &node, DataType type, const Shape &shape,
                     random::Distribution distribution, double first, double second) {
  const random::RandomNumbers numbers = drawn(node, distribution, first, second);
  const auto field = fixedField(node);
  const int64_t count = elementCount(shape, kMaxElements);
  if (!field && count > 0)
    return node.emit.randomNumbers(type, shape, numbers);
  HostTensor out{type, shape, {}, {}};
  out.floats.resize(count);
  for (int64_t i = 0; i < count; ++i)
    out.floats[i] = roundToType(random::elementOf(*field, numbers, i), type);
  return Tensor::ofKnown(std::move(out));
}

} // namespace sluice::frontend::ops
