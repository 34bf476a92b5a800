#include "runtime/format/sequencer.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

namespace sluice::format {
namespace {

constexpr int64_t kModulus = int64_t{1} << kRegisterBits;

/// The representative of a value that a signed register of this width holds.
int64_t wrap(int64_t value) {
  const int64_t low = ((value % kModulus) + kModulus) % kModulus;
  return low >= kModulus / 2 ? low - kModulus : low;
}

/// What a run of instructions does to a register: becomes value, or adds it.
struct Effect {
  bool isSet = false;
  int64_t value = 0;
};
using Effects = std::array<Effect, isa::kSeqRegs>;

ValueSet join(const ValueSet &a, const ValueSet &b) {
  const int64_t step = std::gcd(std::gcd(a.step, b.step), a.low - b.low);
  return {std::min(a.low, b.low), std::max(a.high, b.high), step};
}

/// The values of {in + i*delta : i < count}.
ValueSet spread(const ValueSet &in, int64_t delta, int64_t count) {
  const int64_t reach = delta * (count - 1);
  const int64_t step = reach == 0 ? in.step : std::gcd(in.step, delta);
  return {in.low + std::min<int64_t>(0, reach), in.high + std::max<int64_t>(0, reach), step};
}

/// Values at the start of a body that runs `count` times; 0 stands for ever.
ValueSet atBodyEntry(const ValueSet &in, const Effect &effect, int64_t count) {
  if (count == 1)
    return in;
  if (effect.isSet)
    return join(in, {effect.value, effect.value, 0});
  return spread(in, effect.value, count == 0 ? kModulus : count);
}

class Analysis {
public:
  Analysis(const std::vector<isa::Instruction> &instructions, SequencerInfo &info)
      : list(instructions), info(info) {}

  std::optional<SequencerError> run() {
    if (auto error = matchLoops())
      return error;
    info.registers.assign(list.size(), {});
    info.trips.assign(list.size(), 0);
    const bool restarts = std::holds_alternative<isa::Restart>(list.back());
    const Effects effects = effectsOf(0, list.size());
    RegisterValues values{};
    for (size_t r = 0; r < values.size(); ++r)
      values[r] = atBodyEntry(values[r], effects[r], restarts ? 0 : 1);
    walk(0, list.size(), values, 1);
    return std::nullopt;
  }

private:
  std::optional<SequencerError> matchLoops() {
    if (list.empty())
      return SequencerError{0, "the list is empty, the last instruction must be restart or halt"};
    end.assign(list.size(), 0);
    std::vector<size_t> open;
    for (size_t i = 0; i < list.size(); ++i) {
      const bool last = i + 1 == list.size();
      if (const auto *loop = std::get_if<isa::Loop>(&list[i])) {
        if (loop->count == 0)
          return SequencerError{i, "count is 0, allowed: at least 1"};
        if (open.size() == isa::kSeqLoops)
          return SequencerError{i, fmt::format("the loops nest more than {} deep", isa::kSeqLoops)};
        open.push_back(i);
      } else if (std::holds_alternative<isa::Endloop>(list[i])) {
        if (open.empty())
          return SequencerError{i, "endloop without a loop"};
        end[open.back()] = i;
        open.pop_back();
      }
      const bool stops = std::holds_alternative<isa::Restart>(list[i]) ||
                         std::holds_alternative<isa::Halt>(list[i]);
      if (stops != last)
        return SequencerError{i, last ? "the last instruction must be restart or halt"
                                      : "only the last instruction may be restart or halt"};
    }
    if (!open.empty())
      return SequencerError{open.back(), "the loop has no endloop"};
    return std::nullopt;
  }

  Effects effectsOf(size_t first, size_t last) {
    Effects effects{};
    for (size_t i = first; i < last; ++i) {
      if (const auto *set = std::get_if<isa::Setreg>(&list[i])) {
        effects[set->index] = {true, set->imm};
      } else if (const auto *add = std::get_if<isa::Addreg>(&list[i])) {
        effects[add->index].value = wrap(effects[add->index].value + add->imm);
      } else if (const auto *loop = std::get_if<isa::Loop>(&list[i])) {
        const Effects body = effectsOf(i + 1, end[i]);
        for (size_t r = 0; r < body.size(); ++r) {
          if (body[r].isSet)
            effects[r] = body[r];
          else
            effects[r].value = wrap(effects[r].value + body[r].value * loop->count);
        }
        i = end[i];
      }
    }
    return effects;
  }

  void walk(size_t first, size_t last, RegisterValues values, uint64_t trips) {
    for (size_t i = first; i < last; ++i) {
      info.registers[i] = values;
      info.trips[i] = trips;
      if (const auto *set = std::get_if<isa::Setreg>(&list[i])) {
        values[set->index] = {set->imm, set->imm, 0};
      } else if (const auto *add = std::get_if<isa::Addreg>(&list[i])) {
        values[add->index].low += add->imm;
        values[add->index].high += add->imm;
      } else if (const auto *loop = std::get_if<isa::Loop>(&list[i])) {
        const Effects body = effectsOf(i + 1, end[i]);
        RegisterValues inside = values;
        for (size_t r = 0; r < body.size(); ++r) {
          inside[r] = atBodyEntry(values[r], body[r], loop->count);
          const int64_t sum = wrap(body[r].value * loop->count);
          values[r] = body[r].isSet
                          ? ValueSet{body[r].value, body[r].value, 0}
                          : ValueSet{values[r].low + sum, values[r].high + sum, values[r].step};
        }
        uint64_t insideTrips = 0;
        if (__builtin_mul_overflow(trips, uint64_t{loop->count}, &insideTrips))
          insideTrips = std::numeric_limits<uint64_t>::max();
        walk(i + 1, end[i], inside, insideTrips);
        i = end[i];
        info.registers[i] = values;
        info.trips[i] = insideTrips;
      }
    }
  }

  const std::vector<isa::Instruction> &list;
  SequencerInfo &info;
  std::vector<size_t> end; ///< of each loop, its endloop
};

} // namespace

std::optional<SequencerError> analyseSequencer(const std::vector<isa::Instruction> &instructions,
                                               SequencerInfo &info) {
  return Analysis(instructions, info).run();
}

} // namespace sluice::format
