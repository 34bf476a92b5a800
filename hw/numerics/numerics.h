// The machine's arithmetic, bit for bit as docs/machine.md defines it
// ("Numbers" and "Operations"). Values travel as bit patterns: uint16_t is a
// bf16, uint32_t an fp32. "Zero" is any pattern with exponent 0.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cstdint>
#include <optional>
#include <span>

#include "hw/isa/isa.h"

namespace sluice::format {
struct TableImage;
} // namespace sluice::format

namespace sluice::numerics {

inline constexpr uint16_t kBf16NaN = 0x7FC0;
inline constexpr uint32_t kFp32NaN = 0x7FC00000;
/// Most lanes of a row.
inline constexpr unsigned kMaxLanes = 64;

// Classification and conversion ------------------------------------------------

inline bool isNaN(uint32_t value) { return (value & 0x7FFFFFFF) > 0x7F800000; }

/// Zero with its sign if the exponent is 0, else the value.
inline uint32_t flush(uint32_t value) { return (value & 0x7F800000) ? value : value & 0x80000000; }

/// fp32 of a bf16 row element: denormals read as signed zero.
inline uint32_t widen(uint16_t value) { return flush(static_cast<uint32_t>(value) << 16); }

/// fp32 to bf16, nearest even: denormals give signed zero, NaN gives 0x7FC0.
inline uint16_t roundToBf16(uint32_t value) {
  if (isNaN(value))
    return kBf16NaN;
  value = flush(value);
  return static_cast<uint16_t>((value + 0x7FFF + ((value >> 16) & 1)) >> 16);
}

/// Of a bf16: exponent 0.
constexpr bool isZero(uint16_t value) { return (value & 0x7F80) == 0; }
constexpr bool isFinite(uint16_t value) { return (value & 0x7F80) != 0x7F80; }
constexpr bool isFinite(uint32_t value) { return (value & 0x7F800000) != 0x7F800000; }

/// A double to bf16, rounded once: nearest even, results below the normal range are zero with the
/// sign, NaN gives 0x7FC0.
uint16_t roundToBf16(double value);

inline float toFloat(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t toBits(float value) { return std::bit_cast<uint32_t>(value); }

/// Equal also where they are no numbers.
inline bool sameBits(std::span<const float> left, std::span<const float> right) {
  return std::ranges::equal(left, right, {}, toBits, toBits);
}

/// The value of a bf16 as the machine reads it: denormals are signed zero.
inline double bf16ToDouble(uint16_t bits) { return toFloat(widen(bits)); }

// Matrix unit ------------------------------------------------------------------

/// One lane of an accumulator, of the chain or of a preload row:
/// m * 2^(8*q - value_offset). m is acc_bits wide and kept sign-extended.
struct AccLane {
  int64_t m = 0;
  uint8_t q = 0;
  bool poison = false;
  bool operator==(const AccLane &) const = default;
};

/// The 64-bit image of a lane: m in 47:0, q in 53:48, poison in 54.
uint64_t packLane(const AccLane &lane);
/// The inverse; bits 63:55 are ignored.
AccLane unpackLane(uint64_t image);

/// The lane that holds an fp32 value exactly (denormals as zero), for biases.
/// Nothing if the value is not finite.
std::optional<AccLane> preloadLane(uint32_t value);

/// Anchored add, modulo acc_bits. Poison is the OR of both.
AccLane anchoredAdd(const AccLane &left, const AccLane &right);

/// True if some element has exponent 255.
bool poisons(std::span<const uint16_t> x);

/// A weight as the array multiplies it: what has exponent 0 is zero.
inline uint16_t flushWeight(uint16_t value) { return value & 0x7F80 ? value : 0; }

/// Lanes of accumulators, a field at a time.
struct AccRow {
  std::span<int64_t> m, q;
  std::span<uint8_t> poison;

  AccLane lane(size_t i) const { return {m[i], static_cast<uint8_t>(q[i]), poison[i] != 0}; }
  void set(size_t i, const AccLane &lane) const {
    m[i] = lane.m;
    q[i] = lane.q;
    poison[i] = lane.poison;
  }
};

/// While it lives, the host rounds toward zero.
class TowardZero {
public:
  TowardZero() : before(std::fegetround()) { std::fesetround(FE_TOWARDZERO); }
  ~TowardZero() { std::fesetround(before); }
  TowardZero(const TowardZero &) = delete;
  TowardZero &operator=(const TowardZero &) = delete;

private:
  int before;
};

/// acc[j] = anchoredAdd(acc[j], chain over p of the group sums of x and the
/// weights of output lane j), with the poison of x. `weights` is laid out [input
/// position][output lane], lanes*lanes elements after flushWeight: the transpose
/// of format::WeightImage, because neighbouring output lanes are computed
/// together. lanes is a multiple of 4 up to kMaxLanes, peTerms divides it.
void dotAccumulate(const TowardZero &, std::span<const uint16_t> x, const uint16_t *weights,
                   unsigned peTerms, const AccRow &acc);

/// m * 2^exponent rounded to bf16 (zeros in the lower half) or fp32.
uint32_t roundInteger(int64_t m, int exponent, isa::Emit format);

/// What an accumulator's result is: rounded to bf16 (zeros in the lower half) or fp32, or the
/// lower or upper half of packLane.
uint32_t resultLane(const AccLane &lane, isa::Emit format);

// Vector unit ------------------------------------------------------------------

uint32_t add(uint32_t left, uint32_t right);
uint32_t sub(uint32_t left, uint32_t right);
uint32_t mul(uint32_t left, uint32_t right);
uint32_t max(uint32_t left, uint32_t right);
uint32_t min(uint32_t left, uint32_t right);

/// One lane of an arithmetic unit. b and c are what select chooses from.
uint32_t alu(isa::Alu op, uint32_t left, uint32_t right, uint32_t b, uint32_t c);

/// A whole row: out may be any of the inputs. All spans have one length.
void aluRow(isa::Alu op, std::span<const uint32_t> left, std::span<const uint32_t> right,
            std::span<const uint32_t> b, std::span<const uint32_t> c, std::span<uint32_t> out);

/// Maximum over the lanes and `carry`, which holds the maximum of the earlier
/// beats of the same reduction (nothing on its first beat).
uint32_t reduceMax(std::span<const uint32_t> row, std::optional<uint32_t> carry = std::nullopt);

/// Post operation, then rounding to bf16 or one half of the bits as they are: the
/// last step of a vector beat.
uint16_t finish(isa::Post post, uint32_t value, isa::Part part = isa::Part::Bf16);

/// A function table ready for look-ups.
class Table {
public:
  enum class Mode : uint8_t { Direct = 0, Scaled = 1, Log = isa::kTableLog };
  /// Fraction bits of a log table's entries outside the window.
  static constexpr unsigned kLogFraction = 16;
  /// What happens outside the table's range: a constant, or x * 2^value.
  struct Rule {
    bool scales = false;
    uint16_t value = 0; ///< bf16 constant, or the exponent in bits 7:0
    bool operator==(const Rule &) const = default;
  };
  /// The header, field by field as in docs/machine.md.
  struct Header {
    Mode mode = Mode::Direct;
    uint8_t base = 0;
    int8_t k = 0; ///< -4 to 3
    Rule belowPos, belowNeg, abovePos, aboveNeg;
    uint16_t zeroPos = 0, zeroNeg = 0, nan = kBf16NaN, infPos = 0, infNeg = 0;
    bool operator==(const Header &) const = default;
  };

  Table() = default;
  /// Entries beyond those of the image are zero.
  explicit Table(const format::TableImage &image);

  /// fp32 in (rounded to bf16 first), widened bf16 out.
  uint32_t operator()(uint32_t value) const;
  void row(std::span<const uint32_t> in, std::span<uint32_t> out) const;

  const Header &header() const { return head; }
  static Header decodeHeader(const std::array<uint64_t, 4> &words);
  static std::array<uint64_t, 4> encodeHeader(const Header &header);

private:
  uint16_t lookup(uint16_t value) const;

  Header head;
  std::array<uint16_t, isa::kTableEntries> entries{};
};

} // namespace sluice::numerics
