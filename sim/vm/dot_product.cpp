// The matrix product of one row: the model's inner loop. Output lanes are
// computed eight at a time with the compilers' vector extension; the body is
// compiled twice on x86-64 because per-lane shifts need AVX2.
#include <array>
#include <cassert>

#include "sim/vm/numerics.h"

namespace sluice::numerics {

namespace {

constexpr unsigned kWidth = 8;
using Vec = uint32_t __attribute__((vector_size(4 * kWidth)));
using Halves = uint16_t __attribute__((vector_size(2 * kWidth), aligned(2), may_alias));

/// The aligned sums of one processing element in eight output lanes.
struct Group {
  std::array<int64_t, kWidth> m;
  std::array<uint8_t, kWidth> q;
};

/// x has `terms` elements; w points at the first weight of the first lane,
/// consecutive input positions are `pitch` elements apart.
[[gnu::always_inline]] inline void sumGroup(const uint16_t *x, const uint16_t *w, unsigned terms,
                                            size_t pitch, Group &out) {
  Vec magnitude[kMaxPeTerms], anchor[kMaxPeTerms], sign[kMaxPeTerms];
  Vec largest = {};
  unsigned used = 0;
  for (unsigned i = 0; i < terms; ++i) {
    const uint32_t xe = (x[i] >> 7) & 255;
    if (xe == 0)
      continue; // p = 0 and es = 0: changes neither the sum nor the anchor
    const Vec wv = __builtin_convertvector(*reinterpret_cast<const Halves *>(w + i * pitch), Vec);
    const Vec we = (wv >> 7) & 255;
    const Vec nonzero = (Vec)(we != 0);
    const Vec es = (we + xe) & nonzero;
    const Vec q = es >> 3;
    magnitude[used] = ((((wv & 127) | 128) * ((x[i] & 127u) | 128u)) << (es & 7)) & nonzero;
    anchor[used] = q;
    sign[used] = 0u - (((wv ^ x[i]) >> 15) & 1);
    largest = (Vec)(q > largest) ? q : largest;
    ++used;
  }
  // A shifted product has 23 bits. Terms on the group's own anchor are summed
  // apart, so that both sums fit 32 bits: sum = high * 2^field_fraction + low.
  static_assert(isa::kFieldFraction == 11);
  Vec high = {}, low = {};
  for (unsigned i = 0; i < used; ++i) {
    const Vec down = largest - anchor[i];
    const Vec top = magnitude[i] & (Vec)(down == 0);
    Vec count = (down << 3) - 8; // wraps for 0, where nothing may be left either
    count = (Vec)(count > 31) ? Vec{} + 31 : count;
    const Vec rest = (magnitude[i] << 3) >> count;
    high += (top ^ sign[i]) - sign[i];
    low += (rest ^ sign[i]) - sign[i];
  }
  for (unsigned j = 0; j < kWidth; ++j) {
    out.m[j] = static_cast<int64_t>(static_cast<int32_t>(high[j])) * (1 << isa::kFieldFraction) +
               static_cast<int32_t>(low[j]);
    out.q[j] = static_cast<uint8_t>(largest[j]);
  }
}

[[gnu::always_inline]] inline void dotRowBody(const uint16_t *x, const uint16_t *weights,
                                              unsigned lanes, unsigned terms, bool poison,
                                              AccLane *out) {
  Group group;
  for (unsigned j = 0; j < lanes; j += kWidth) {
    for (unsigned first = 0; first < lanes; first += terms) {
      sumGroup(x + first, weights + size_t{first} * lanes + j, terms, lanes, group);
      for (unsigned i = 0; i < kWidth; ++i) {
        const AccLane sum{group.m[i], group.q[i], poison};
        out[j + i] = first == 0 ? sum : anchoredAdd(out[j + i], sum);
      }
    }
  }
}

using Body = void (*)(const uint16_t *, const uint16_t *, unsigned, unsigned, bool, AccLane *);

void dotRowPortable(const uint16_t *x, const uint16_t *weights, unsigned lanes, unsigned terms,
                    bool poison, AccLane *out) {
  dotRowBody(x, weights, lanes, terms, poison, out);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void dotRowAvx2(const uint16_t *x, const uint16_t *weights, unsigned lanes,
                                        unsigned terms, bool poison, AccLane *out) {
  dotRowBody(x, weights, lanes, terms, poison, out);
}

Body chooseBody() { return __builtin_cpu_supports("avx2") ? dotRowAvx2 : dotRowPortable; }
#else
Body chooseBody() { return dotRowPortable; }
#endif

} // namespace

bool poisons(std::span<const uint16_t> x) {
  bool found = false;
  for (uint16_t value : x)
    found |= (value & 0x7F80) == 0x7F80;
  return found;
}

AccLane groupSum(std::span<const uint16_t> x, std::span<const uint16_t> w) {
  assert(x.size() == w.size() && x.size() <= kMaxPeTerms);
  std::array<uint16_t, kMaxPeTerms * kWidth> column{};
  for (size_t i = 0; i < w.size(); ++i)
    column[i * kWidth] = w[i];
  Group group;
  sumGroup(x.data(), column.data(), static_cast<unsigned>(x.size()), kWidth, group);
  return {group.m[0], group.q[0], false};
}

void dotRow(std::span<const uint16_t> x, const uint16_t *weights, unsigned peTerms,
            std::span<AccLane> out) {
  const auto lanes = static_cast<unsigned>(x.size());
  assert(lanes % kWidth == 0 && lanes % peTerms == 0 && peTerms <= kMaxPeTerms);
  assert(out.size() == lanes);
  static const Body body = chooseBody();
  body(x.data(), weights, lanes, peTerms, poisons(x), out.data());
}

} // namespace sluice::numerics
