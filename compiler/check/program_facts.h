// Facts of a compilation that decide which values of its program are right.
#pragma once

#include <cstdint>
#include <set>

namespace sluice::check {

struct ProgramFacts {
  /// The layout moves elements between lanes in front of operations that are no views.
  bool movesElements = false;
  /// The nodes whose integers are those of ONNX, by their index: the program rounds none of the
  /// numbers that they quantise. Their integers vary only where fp32 cannot tell on which side of
  /// the middle between two integers a quotient lies.
  std::set<int64_t> exactNodes;
  /// The nodes whose products write activations as weights, by their index.
  std::set<int64_t> dynamicProducts;
};

} // namespace sluice::check
