// What is known of the values in lanes of a row: of its elements, or of the lanes beyond them.
// Nothing in the lanes that a result does not read may reach the result: a product multiplies them
// by zero weights, which an infinity or a NaN would survive, and a maximum runs over all lanes.
#pragma once

#include <cstdint>
#include <optional>

#include "hw/isa/isa.h"

namespace sluice::rows {

/// A row that a poisoned product made is NaN in every lane. Nothing that is said here holds of it:
/// its elements are NaN already.
class LaneValues {
public:
  /// This value in every lane.
  static LaneValues known(float value);
  static LaneValues finite() { return {true, true, true}; }
  /// May be infinite, but not NaN.
  static LaneValues numbers() { return {false, false, true}; }
  static LaneValues anything() { return {false, false, false}; }
  /// What an operand holds that has one value for all lanes of the result: if it is not finite, no
  /// element of the result is finite, and if it is NaN, all of them are NaN.
  [[nodiscard]] LaneValues spread() const;

  /// The value, as fp32 bits, if it is known.
  [[nodiscard]] std::optional<uint32_t> value() const { return bits; }
  [[nodiscard]] bool isZero() const;
  [[nodiscard]] bool isFinite() const { return allFinite; }
  /// A product of the row may multiply these lanes by zero.
  [[nodiscard]] bool keepProducts() const { return tied; }
  /// A maximum may be limited to the other lanes by a minimum with minus infinity in these.
  [[nodiscard]] bool keepMaxima() const { return noneNaN; }

  bool operator==(const LaneValues &) const = default;

  friend LaneValues either(const LaneValues &left, const LaneValues &right);
  friend LaneValues alu(isa::Alu op, const LaneValues &left, const LaneValues &right,
                        const LaneValues &b, const LaneValues &c);
  friend LaneValues post(isa::Post post, const LaneValues &values);

private:
  LaneValues(bool allFinite, bool tied, bool noneNaN)
      : allFinite(allFinite), tied(tied), noneNaN(noneNaN) {}

  std::optional<uint32_t> bits;
  bool allFinite;
  /// Not finite only if no element of the row is finite. A maximum with zero behind a factor that
  /// all lanes share keeps this, although it makes zeros of elements that are minus infinity: the
  /// factor is infinite then, which the factors of norms are not.
  bool tied;
  bool noneNaN; ///< NaN only if every element of the row is NaN
};

/// What is known of lanes that are one or the other.
LaneValues either(const LaneValues &left, const LaneValues &right);
/// One operation of an arithmetic unit: b and c are what a select chooses from.
LaneValues alu(isa::Alu op, const LaneValues &left, const LaneValues &right, const LaneValues &b,
               const LaneValues &c);
/// The end of a step.
LaneValues post(isa::Post post, const LaneValues &values);

/// What is known of all rows of a tensor.
struct TensorLanes {
  LaneValues elements = LaneValues::anything();
  LaneValues padding = LaneValues::known(0); ///< beyond the elements
};

} // namespace sluice::rows
