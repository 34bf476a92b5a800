// How much the compiler computes from constants. No target has room for larger tensors, and a model
// of a few bytes could otherwise take all memory.
#pragma once

#include <cstdint>

namespace sluice {

/// The most elements of a tensor that is computed from constants.
inline constexpr int64_t kMostFoldedElements = int64_t{1} << 24;

/// The most elements of all tensors that the importer computes.
inline constexpr int64_t kMostComputedElements = int64_t{1} << 26;

/// The most scalar operations, products and elements that all constants of a model may take.
inline constexpr uint64_t kMostFoldedWork = uint64_t{1} << 28;

} // namespace sluice
