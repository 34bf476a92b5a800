#include "compiler/conversion/rows/lane_values.h"

#include <cmath>

#include "hw/numerics/numerics.h"

namespace sluice::rows {

LaneValues LaneValues::known(float value) {
  const bool finite = std::isfinite(value);
  LaneValues values(finite, finite, !std::isnan(value));
  values.bits = numerics::toBits(value);
  return values;
}

LaneValues LaneValues::spread() const { return bits ? *this : LaneValues(allFinite, true, true); }

bool LaneValues::isZero() const { return bits && numerics::toFloat(*bits) == 0; }

LaneValues either(const LaneValues &left, const LaneValues &right) {
  if (left == right)
    return left;
  return {left.allFinite && right.allFinite, left.tied && right.tied,
          left.noneNaN && right.noneNaN};
}

LaneValues alu(isa::Alu op, const LaneValues &left, const LaneValues &right, const LaneValues &b,
               const LaneValues &c) {
  const bool finite = left.allFinite && right.allFinite, tied = left.tied && right.tied,
             noneNaN = left.noneNaN && right.noneNaN;
  if (op == isa::Alu::Pass)
    return left;
  if (op == isa::Alu::Select) {
    if (left.bits)
      return numerics::toFloat(*left.bits) != 0 ? b : c;
    // Elsewhere in the row the other one may be selected.
    const LaneValues one = either(b, c);
    return one.allFinite || one.bits ? one : LaneValues::anything();
  }
  if (left.bits && right.bits)
    return LaneValues::known(numerics::toFloat(numerics::alu(op, *left.bits, *right.bits, 0, 0)));
  switch (op) {
  case isa::Alu::Add:
  case isa::Alu::Sub:
  case isa::Alu::Rsub: // infinities of both signs are NaN
    return {finite, tied, noneNaN && (left.allFinite || right.allFinite)};
  case isa::Alu::Mul: {
    const auto shrinks = [](const LaneValues &values) {
      return values.bits && std::fabs(numerics::toFloat(*values.bits)) <= 1;
    };
    const auto isNotZero = [](const LaneValues &values) {
      return values.bits && values.allFinite && !values.isZero();
    };
    // A product of finite values may overflow where no element does.
    const bool staysFinite = shrinks(left) || shrinks(right);
    return {finite && staysFinite, tied && staysFinite,
            noneNaN && (finite || isNotZero(left) || isNotZero(right))};
  }
  case isa::Alu::Max:
  case isa::Alu::Min:
    return {finite, finite, noneNaN};
  default:
    return LaneValues::finite(); // comparisons give 1 or 0
  }
}

LaneValues post(isa::Post post, const LaneValues &values) {
  if (values.bits)
    return LaneValues::known(
        numerics::toFloat(static_cast<uint32_t>(numerics::finish(post, *values.bits)) << 16));
  return values; // lanes that are not finite stay so, but for minus infinity
}

} // namespace sluice::rows
