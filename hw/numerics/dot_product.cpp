// The matrix product of one row: the model's inner loop. Output lanes are
// computed side by side with the compilers' vector extension; on x86-64 the body
// is compiled once per instruction set.
//
// A group sum adds product magnitudes truncated to a grid of 2^(8Q - value_offset).
// That is what an addition in double precision does when it rounds toward zero to
// an accumulator that starts at 2^52 grid units: products of bf16 are exact, one
// unit in the last place is one grid unit, and the bits of the double count units.
// Positive and negative products have an accumulator each, so that both truncate
// magnitudes, and the difference of their bits is the sum.
#include "hw/numerics/dot_product.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <vector>

#include "hw/numerics/numerics.h"

namespace sluice::numerics {

namespace {

// Exponent fields of the doubles. A bf16 shifted into a double's fields is its
// value times 2^-896; x makes up for that and for a 2^-8 that keeps exponent 255
// in range.
constexpr unsigned kMantissaShift = 52 - 7;
constexpr int64_t kXExponent = 2 * 896 - 8;
constexpr int64_t kUnitExponent = 1023 + 52 - int64_t{isa::kValueOffset} - 8; // of Q = 0
constexpr int64_t kWeightBits = INT64_MIN | int64_t{0x7FFF} << kMantissaShift;

/// Lanes that are computed together, as one or several vectors of N doubles. A row has a multiple
/// of the smallest.
constexpr unsigned kBlock = 16, kSmallBlock = 8, kSmallestBlock = 4;

template <unsigned N> struct Vectors {
  using Double __attribute__((vector_size(8 * N))) = double;
  using Long __attribute__((vector_size(8 * N))) = int64_t;
  using Half __attribute__((vector_size(2 * N))) = int16_t;
};

/// Vectors are passed by reference: by value, the calling convention would depend
/// on the instruction set.
template <class To> [[gnu::always_inline]] inline void load(To &to, const void *from) {
  __builtin_memcpy(&to, from, sizeof to);
}

/// A row of x, prepared. Bit i of the masks says that element i is a positive
/// (negative) number that is not zero.
struct Row {
  std::array<double, kMaxLanes> magnitude;  ///< times 2^888
  std::array<uint16_t, kMaxLanes> exponent; ///< in bits 14:7
  uint64_t positive = 0;
  uint64_t negative = 0;
};

[[gnu::always_inline]] inline void prepare(const uint16_t *x, unsigned lanes, Row &row) {
  uint64_t negative = 0, nonzero = 0;
  for (unsigned i = 0; i < lanes; ++i) {
    const int64_t magnitude = x[i] & 0x7FFF;
    row.magnitude[i] = std::bit_cast<double>((magnitude << kMantissaShift) + (kXExponent << 52));
    row.exponent[i] = x[i] & 0x7F80;
  }
  for (unsigned i = 0; i < lanes; ++i) {
    nonzero |= uint64_t{(x[i] & 0x7F80) != 0} << i;
    negative |= static_cast<uint64_t>(x[i] >> 15) << i;
  }
  row.positive = nonzero & ~negative;
  row.negative = nonzero & negative;
}

/// The anchored sums of `Lanes` lanes.
template <unsigned N, unsigned Lanes> struct Sums {
  typename Vectors<N>::Long m[Lanes / N], q[Lanes / N];

  /// anchored_add of docs/machine.md.
  [[gnu::always_inline]] void add(const Sums &other) {
    constexpr int spare = 64 - isa::kAccBits;
    const typename Vectors<N>::Long limit = typename Vectors<N>::Long{} + 63;
    for (unsigned v = 0; v < Lanes / N; ++v) {
      const auto largest = q[v] > other.q[v] ? q[v] : other.q[v];
      auto down = (largest - q[v]) << 3, otherDown = (largest - other.q[v]) << 3;
      down = down > 63 ? limit : down;
      otherDown = otherDown > 63 ? limit : otherDown;
      m[v] = ((m[v] >> down) + (other.m[v] >> otherDown)) << spare >> spare;
      q[v] = largest;
    }
  }
};

/// The sums of one processing element: the elements of x named by the two masks
/// with their weights, of which `w` points at the lanes of element 0.
template <unsigned N, unsigned Lanes>
[[gnu::always_inline]] inline Sums<N, Lanes>
sumGroup(const Row &row, uint64_t positive, uint64_t negative, const uint16_t *w, size_t pitch) {
  using V = Vectors<N>;
  using Shorts __attribute__((vector_size(2 * Lanes))) = uint16_t;
  constexpr unsigned count = Lanes / N;

  // Exponent sums in bits 15:7, above mantissas that do not matter.
  Shorts largest{};
  for (uint64_t left = positive | negative; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    Shorts magnitude;
    load(magnitude, w + i * pitch);
    magnitude &= 0x7FFF;
    const Shorts sum = (magnitude + row.exponent[i]) & (Shorts)(magnitude != 0);
    largest = sum > largest ? sum : largest;
  }
  const Shorts anchor = largest >> 10;

  Sums<N, Lanes> out;
  typename V::Double plus[count], minus[count];
  for (unsigned v = 0; v < count; ++v) {
    typename V::Half part;
    load(part, reinterpret_cast<const char *>(&anchor) + sizeof part * v);
    out.q[v] = __builtin_convertvector(part, typename V::Long);
    plus[v] = minus[v] = (typename V::Double)((out.q[v] * 8 + kUnitExponent) << 52);
  }
  const auto accumulate = [&](uint64_t left, auto &same, auto &other) {
    for (; left != 0; left &= left - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(left));
      const double x = row.magnitude[i];
      for (unsigned v = 0; v < count; ++v) {
        typename V::Half part;
        load(part, w + i * pitch + v * N);
        const auto weight = (typename V::Double)(
            (__builtin_convertvector(part, typename V::Long) << kMantissaShift) & kWeightBits);
        same[v] += x * (weight > 0 ? weight : typename V::Double{});
        other[v] -= x * (weight < 0 ? weight : typename V::Double{});
      }
    }
  };
  accumulate(positive, plus, minus);
  accumulate(negative, minus, plus);
  for (unsigned v = 0; v < count; ++v)
    out.m[v] = (typename V::Long)plus[v] - (typename V::Long)minus[v];
  return out;
}

template <unsigned N, unsigned Lanes>
[[gnu::always_inline]] inline void addLanes(const Row &row, const uint16_t *w, unsigned lanes,
                                            unsigned terms, int64_t *m, int64_t *q) {
  const uint64_t group = ~uint64_t{0} >> (64 - terms);
  Sums<N, Lanes> chain =
      sumGroup<N, Lanes>(row, row.positive & group, row.negative & group, w, lanes);
  for (unsigned first = terms; first < lanes; first += terms)
    chain.add(sumGroup<N, Lanes>(row, row.positive & group << first, row.negative & group << first,
                                 w, lanes));
  Sums<N, Lanes> acc;
  load(acc.m, m);
  load(acc.q, q);
  acc.add(chain);
  __builtin_memcpy(m, &acc.m, sizeof acc.m);
  __builtin_memcpy(q, &acc.q, sizeof acc.q);
}

template <unsigned N>
[[gnu::always_inline]] inline void addRowBody(const uint16_t *x, const uint16_t *weights,
                                              unsigned lanes, unsigned terms, int64_t *m,
                                              int64_t *q) {
  Row row;
  prepare(x, lanes, row);
  if ((row.positive | row.negative) == 0)
    return; // adds zero
  unsigned j = 0;
  for (; j + kBlock <= lanes; j += kBlock)
    addLanes<N, kBlock>(row, weights + j, lanes, terms, m + j, q + j);
  for (; j + kSmallBlock <= lanes; j += kSmallBlock)
    addLanes<N, kSmallBlock>(row, weights + j, lanes, terms, m + j, q + j);
  for (; j < lanes; j += kSmallestBlock)
    addLanes<std::min(N, kSmallestBlock), kSmallestBlock>(row, weights + j, lanes, terms, m + j,
                                                          q + j);
}

void addRowPortable(const uint16_t *x, const uint16_t *weights, unsigned lanes, unsigned terms,
                    int64_t *m, int64_t *q) {
  addRowBody<2>(x, weights, lanes, terms, m, q);
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void addRowAvx2(const uint16_t *x, const uint16_t *weights,
                                            unsigned lanes, unsigned terms, int64_t *m,
                                            int64_t *q) {
  addRowBody<4>(x, weights, lanes, terms, m, q);
}

[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]] void
addRowAvx512(const uint16_t *x, const uint16_t *weights, unsigned lanes, unsigned terms, int64_t *m,
             int64_t *q) {
  addRowBody<8>(x, weights, lanes, terms, m, q);
}
#endif

std::vector<DotBody> runnable() {
  std::vector<DotBody> bodies;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    bodies.push_back({"avx512", addRowAvx512});
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    bodies.push_back({"avx2", addRowAvx2});
#endif
  bodies.push_back({"portable", addRowPortable});
  return bodies;
}

} // namespace

std::span<const DotBody> dotBodies() {
  static const std::vector<DotBody> bodies = runnable();
  return bodies;
}

bool poisons(std::span<const uint16_t> x) {
  bool found = false;
  for (uint16_t value : x)
    found |= (value & 0x7F80) == 0x7F80;
  return found;
}

void dotAccumulate(const TowardZero &, std::span<const uint16_t> x, const uint16_t *weights,
                   unsigned peTerms, const AccRow &acc) {
  const auto lanes = static_cast<unsigned>(x.size());
  assert(lanes % kSmallestBlock == 0 && lanes <= kMaxLanes && lanes % peTerms == 0);
  assert(acc.m.size() == lanes && acc.q.size() == lanes && acc.poison.size() == lanes);
  // Through a pointer, so that no arithmetic moves to where the host rounds
  // otherwise.
  static const DotBody body = dotBodies().front();
  body.add(x.data(), weights, lanes, peTerms, acc.m.data(), acc.q.data());
  if (poisons(x))
    std::ranges::fill(acc.poison, uint8_t{1});
}

} // namespace sluice::numerics
