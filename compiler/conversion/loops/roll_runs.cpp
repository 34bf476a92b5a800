#include "compiler/conversion/loops/roll_runs.h"

#include <algorithm>
#include <optional>
#include <span>

namespace sluice::loops {
namespace {

constexpr size_t kFewestPasses = 3;

/// An address of an instruction that a register can advance.
struct Address {
  uint32_t *base, *reg;
  uint32_t ring; ///< log2 of the rows within which it wraps; without a ring, of all there are
};

std::vector<Address> addressesOf(isa::Instruction &instruction) {
  constexpr uint32_t kRowBits = 16, kDestinationBits = 18;
  const auto bits = [](uint32_t ring, uint32_t all) { return ring != 0 ? ring : all; };
  if (auto *mm = std::get_if<isa::Mm>(&instruction))
    return {{&mm->x, &mm->xReg, bits(mm->xRing, kRowBits)}};
  if (auto *vec = std::get_if<isa::Vec>(&instruction))
    return {{&vec->a, &vec->aReg, bits(vec->aRing, kRowBits)},
            {&vec->b, &vec->bReg, bits(vec->bRing, kRowBits)},
            {&vec->c, &vec->cReg, bits(vec->cRing, kRowBits)},
            {&vec->dst, &vec->dstReg, bits(vec->dstRing, kDestinationBits)}};
  if (auto *input = std::get_if<isa::Input>(&instruction))
    return {{&input->dst, &input->dstReg, bits(input->dstRing, kDestinationBits)}};
  return {};
}

/// How far an address advances from run to run, modulo 2^ring.
struct Advance {
  uint32_t ring = 0, rows = 0;
  bool operator==(const Advance &) const = default;
};

/// How an instruction differs from that of the run before.
struct Step {
  std::vector<Advance> addresses;
  uint32_t bodies = 0, inputRows = 0;
  bool operator==(const Step &) const = default;
};

bool sameOrigins(const std::vector<plan::BeatOrigin> &left,
                 const std::vector<plan::BeatOrigin> &right) {
  return std::ranges::equal(left, right, [](const auto &l, const auto &r) {
    return l.row == r.row && std::ranges::equal(l.read, r.read) && l.block == r.block;
  });
}

/// Nothing if they differ in more than that, or are of the sequencer.
std::optional<Step> stepOf(const Emitted &before, const Emitted &behind) {
  if (before.unit == isa::Unit::Seq || before.unit != behind.unit ||
      before.position != behind.position || before.positions != behind.positions ||
      before.input != behind.input || (before.body == kNone) != (behind.body == kNone) ||
      !sameOrigins(before.origins, behind.origins))
    return std::nullopt;
  Step step{{}, behind.body - before.body, behind.inputRow - before.inputRow};
  isa::Instruction left = before.instruction, right = behind.instruction;
  const std::vector<Address> from = addressesOf(left), to = addressesOf(right);
  if (left.index() != right.index())
    return std::nullopt;
  for (size_t i = 0; i < from.size(); ++i) {
    const uint32_t span = uint32_t{1} << from[i].ring;
    if (*from[i].base / span != *to[i].base / span)
      return std::nullopt;
    step.addresses.push_back({from[i].ring, (*to[i].base - *from[i].base) % span});
    *to[i].base = *from[i].base;
    if (step.addresses.back().rows != 0 && *from[i].reg != 0)
      return std::nullopt;
  }
  return left == right ? std::optional(std::move(step)) : std::nullopt;
}

using Run = std::span<const Emitted>;

std::optional<std::vector<Step>> stepsOf(Run before, Run behind) {
  if (before.size() != behind.size() || before.empty())
    return std::nullopt;
  std::vector<Step> steps;
  for (size_t i = 0; i < before.size(); ++i) {
    auto step = stepOf(before[i], behind[i]);
    if (!step)
      return std::nullopt;
    steps.push_back(std::move(*step));
  }
  return steps;
}

/// Values that registers advance by, from register 1 on. Nothing if there are too few.
std::optional<std::vector<uint32_t>> registersOf(const std::vector<Step> &steps) {
  std::vector<Advance> needed;
  for (const Step &step : steps)
    std::ranges::copy_if(step.addresses, std::back_inserter(needed),
                         [](const Advance &advance) { return advance.rows != 0; });
  std::ranges::sort(needed, std::ranges::greater(),
                    [](const Advance &advance) { return std::pair(advance.ring, advance.rows); });
  std::vector<uint32_t> values;
  for (const Advance &advance : needed)
    if (std::ranges::none_of(values, [&](uint32_t value) {
          return value % (uint32_t{1} << advance.ring) == advance.rows;
        }))
      values.push_back(advance.rows);
  return values.size() < isa::kSeqRegs ? std::optional(values) : std::nullopt;
}

/// The first of some runs, as the body of a loop.
List loopOf(Run first, const std::vector<Step> &steps, const std::vector<uint32_t> &values,
            size_t passes) {
  // As a register holds it: with a sign.
  constexpr int64_t kMost = isa::kMostImm, kSpan = 2 * (kMost + 1);
  const auto imm = [](uint32_t value) {
    return static_cast<int32_t>(value <= kMost ? value : value - kSpan);
  };
  List loop;
  for (uint32_t i = 0; i < values.size(); ++i)
    loop.push_back(sequencer(isa::Setreg{i + 1, 0}));
  loop.push_back(sequencer(isa::Loop{static_cast<uint32_t>(passes)}));
  for (size_t i = 0; i < first.size(); ++i) {
    Emitted one = first[i];
    const std::vector<Address> addresses = addressesOf(one.instruction);
    for (size_t at = 0; at < addresses.size(); ++at) {
      const Advance &advance = steps[i].addresses[at];
      if (advance.rows == 0)
        continue;
      const auto value = std::ranges::find_if(
          values, [&](uint32_t of) { return of % (uint32_t{1} << advance.ring) == advance.rows; });
      *addresses[at].reg = static_cast<uint32_t>(value - values.begin()) + 1;
    }
    one.step = 0;
    one.bodyStep = steps[i].bodies;
    one.inputStep = steps[i].inputRows;
    loop.push_back(std::move(one));
  }
  for (uint32_t i = 0; i < values.size(); ++i)
    loop.push_back(sequencer(isa::Addreg{i + 1, imm(values[i])}));
  loop.push_back(sequencer(isa::Endloop{}));
  return loop;
}

} // namespace

List rollRuns(List list, const std::vector<size_t> &begins) {
  const auto run = [&](size_t i) {
    return Run(list).subspan(begins[i], begins[i + 1] - begins[i]);
  };
  size_t best = 0, passes = 0;
  std::vector<Step> steps;
  for (size_t first = 0; first + 2 < begins.size();) {
    const auto own = stepsOf(run(first), run(first + 1));
    size_t end = first + 1;
    while (own && end + 1 < begins.size() && stepsOf(run(end - 1), run(end)) == own)
      ++end;
    if (own && end - first > passes && registersOf(*own)) {
      best = first;
      passes = end - first;
      steps = *own;
    }
    first = std::max(end - 1, first + 1);
  }
  if (passes < kFewestPasses)
    return list;
  const List loop = loopOf(run(best), steps, *registersOf(steps), passes);
  List rolled(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(begins[best]));
  rolled.insert(rolled.end(), loop.begin(), loop.end());
  rolled.insert(rolled.end(), list.begin() + static_cast<std::ptrdiff_t>(begins[best + passes]),
                list.end());
  return rolled;
}

} // namespace sluice::loops
