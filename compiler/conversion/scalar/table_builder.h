// Function tables: the header and entries that make a table the correctly
// rounded bf16 value of a scalar function, where such a header exists.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "hw/numerics/numerics.h"
#include "runtime/format/images.h"

namespace sluice::rows {

using ScalarFunction = std::function<double(double)>;

using numerics::bf16ToDouble;
using numerics::roundToBf16;

/// A table that gives roundToBf16(function(x)) for every one of the 65,536 bf16
/// inputs; with `maxUlps` its values outside the window of 16 exponents may be
/// that many bf16 neighbours away where function(x) is no bf16 number. All inputs are checked
/// before the table is returned. Nothing if no header does it: the function changes outside every
/// window in a way that is neither constant nor a power of two times x, nor a natural
/// logarithm, and does not repeat with the exponent either. TableImage::table is 0.
std::optional<format::TableImage> buildTable(const ScalarFunction &function, unsigned maxUlps = 0);

} // namespace sluice::rows
