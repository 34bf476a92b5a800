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

reference::RandomField fieldOf(NodeBuilder &node) {
  node.caution = "every inference uses the same random numbers";
  if (node.given("seed"))
    return reference::RandomField({givenSeed(node), Given});
  switch (node.unseeded) {
  case Unseeded::Refused:
    throw NodeError{
        "E0208",
        "random numbers without a seed differ in every inference, but a program always has the "
        "same ones",
        {fix("make the numbers an input of the model, or accept the same ones in every inference",
             "--fixed-random")}};
  case Unseeded::RefusedInLoop:
    throw NodeError{"E0208",
                    "random numbers without a seed differ in every iteration, but a loop body "
                    "always has the same ones",
                    {fix("make the numbers of all iterations before the loop, and read one element "
                         "of them in each")}};
  case Unseeded::Fixed:
    break;
  }
  return reference::RandomField({llvm::xxh3_64bits(node.resultName()), Named});
}

Tensor tabulated(DataType type, const Shape &shape, const std::function<double(int64_t)> &element) {
  HostTensor out{type, shape, {}, {}};
  out.floats.resize(elementCount(shape, kMaxElements));
  for (size_t i = 0; i < out.floats.size(); ++i)
    out.floats[i] = roundToType(element(static_cast<int64_t>(i)), type);
  return Tensor::ofKnown(std::move(out));
}

} // namespace sluice::frontend::ops
