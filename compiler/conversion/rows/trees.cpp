#include "compiler/conversion/rows/trees.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sluice::rows {

std::string textOf(const TreeShape &shape) {
  const TreeShape plain;
  std::vector<std::string> words;
  if (shape.arity != plain.arity)
    words.push_back(fmt::format("of {} rows per pass", shape.arity));
  if (shape.apart != plain.apart)
    words.emplace_back("of evenly spaced rows");
  if (shape.lanes == TreeShape::Lanes::InParts)
    words.emplace_back("with lanes of each core's rows first");
  if (shape.lanes == TreeShape::Lanes::Last)
    words.emplace_back("with lanes last");
  if (shape.lanesPerRound != plain.lanesPerRound)
    words.push_back(fmt::format("of {} lanes per round", shape.lanesPerRound));
  return words.empty() ? "" : fmt::format("trees {}", fmt::join(words, ", "));
}

std::vector<TreeShape> otherShapes(const TreesSeen &seen) {
  std::vector<TreeShape> shapes;
  if (seen.passes) {
    shapes.push_back({.arity = 2});
    shapes.push_back({.apart = true});
    shapes.push_back({.arity = 2, .apart = true});
  }
  if (seen.lanes) {
    shapes.push_back({.lanes = TreeShape::Lanes::InParts});
    shapes.push_back({.lanes = TreeShape::Lanes::Last});
    shapes.push_back({.arity = 2, .lanes = TreeShape::Lanes::Last});
  }
  if (seen.rounds)
    shapes.push_back({.lanesPerRound = 4});
  return shapes;
}

std::optional<isa::Alu> operationOf(reference::Monoid monoid) {
  // By monoid. Sums have the matrix unit; the others are more than an operation.
  static constexpr std::optional<isa::Alu> kOperations[] = {
      std::nullopt, isa::Alu::Mul, isa::Alu::Max, isa::Alu::Min,
      std::nullopt, std::nullopt,  std::nullopt,  std::nullopt,
  };
  return kOperations[static_cast<size_t>(monoid)];
}

} // namespace sluice::rows
