#include "runtime/device/written_rows.h"

#include <algorithm>
#include <span>

#include "runtime/format/row_rules.h"

namespace sluice::device {
namespace {

/// What is known of the rows that the instructions of a core write.
class Rules {
public:
  Rules(const format::Program &program, uint32_t core, size_t instructions) : known(instructions) {
    for (const format::ComputedRows &rows : program.computedRows)
      if (rows.core == core && rows.instruction < instructions)
        for (const format::RowRule &rule : rows.rules)
          known[rows.instruction].push_back({&rule, format::rowsOf(rule)});
  }

  /// The row that an instruction writes as number `index` in a pass.
  [[nodiscard]] std::optional<ModelRow> of(size_t instruction, uint32_t index,
                                           uint32_t pass) const {
    const auto &rules = known[instruction];
    auto at =
        std::ranges::upper_bound(rules, index, {}, [](const Rule &one) { return one.rule->begin; });
    if (at == rules.begin())
      return std::nullopt;
    --at;
    const format::RowRule &rule = *at->rule;
    if (index - rule.begin >= at->rows.elements())
      return std::nullopt;
    const int64_t row = at->rows.at(index - rule.begin) + int64_t{pass} * rule.perPass;
    return ModelRow{rule.tensor, rule.partial, static_cast<uint32_t>(row)};
  }

private:
  struct Rule {
    const format::RowRule *rule;
    addressing::Addressing rows;
  };
  std::vector<std::vector<Rule>> known; ///< by instruction
};

/// The addresses of the rows that an execution of an instruction writes: by their number, as far
/// as they move from the first.
addressing::Addressing destinations(const isa::Vec &vec) {
  addressing::Indices counts, strides;
  int64_t last = 0; // of the beats that a reduction takes before it writes
  for (uint32_t level = 0; level < isa::kLoopDepth; ++level) {
    if (vec.reduce == isa::Reduce::None || level < vec.reduceLevel) {
      counts.push_back(vec.n[level]);
      strides.push_back(vec.dstStride[level]);
    } else {
      last += int64_t{vec.n[level] - 1} * vec.dstStride[level];
    }
  }
  return addressing::Addressing::strided(std::move(counts), strides, last);
}

constexpr unsigned kDestinationBits = 18;

} // namespace

std::vector<isa::Instruction> instructionsOf(const format::Program &program, uint32_t core) {
  const auto &all =
      core < program.cores.size() ? program.cores[core].instructions : program.hostInstructions;
  const uint32_t save = program.state.save.empty() ? 0 : program.state.save[core];
  std::vector<isa::Instruction> list;
  for (size_t i = 0; i < (save == 0 ? all.size() : save); ++i)
    list.push_back(isa::decode(all[i]).value_or(isa::Halt{}));
  return list;
}

uint32_t ringAddress(uint32_t base, int64_t moved, uint32_t ring, unsigned bits) {
  const uint32_t span = (1U << (ring != 0 ? ring : bits)) - 1;
  const uint32_t region = ring != 0 ? base & ~span : 0;
  return region | (static_cast<uint32_t>(base + moved) & span);
}

void follow(const std::vector<isa::Instruction> &list,
            const std::function<bool(const Moment &)> &visit) {
  struct Open {
    size_t begin;
    uint32_t count, pass;
  };
  std::vector<Open> open;
  Moment moment;
  uint64_t followed = 0;
  for (size_t i = 0; i < list.size() && followed < kFollowed; ++i, ++followed) {
    if (const auto *loop = std::get_if<isa::Loop>(&list[i])) {
      open.push_back({i, loop->count, 0});
    } else if (std::holds_alternative<isa::Endloop>(list[i])) {
      if (++open.back().pass < open.back().count)
        i = open.back().begin;
      else
        open.pop_back();
    } else if (const auto *set = std::get_if<isa::Setreg>(&list[i])) {
      moment.registers[set->index] = set->imm;
    } else if (const auto *add = std::get_if<isa::Addreg>(&list[i])) {
      moment.registers[add->index] += add->imm;
    } else {
      moment.instruction = i;
      moment.pass = open.empty() ? 0 : open.back().pass;
      if (!visit(moment))
        return;
    }
  }
}

void followRows(const format::Program &program, uint32_t core,
                const std::function<void(const WrittenRow &)> &visit) {
  const std::vector<isa::Instruction> list = instructionsOf(program, core);
  const Rules rules(program, core, list.size());
  std::vector<std::optional<addressing::Addressing>> to(list.size());
  const uint32_t all = (1U << program.cores.size()) - 1;
  uint64_t rows = 0;
  follow(list, [&](const Moment &moment) {
    const size_t i = moment.instruction;
    if (format::rowsWritten(list[i]) == 0)
      return true;
    const isa::Vec &vec = std::get<isa::Vec>(list[i]);
    if (!to[i])
      to[i] = destinations(vec);
    WrittenRow row;
    row.core = core;
    row.instruction = static_cast<uint32_t>(i);
    const bool net = vec.dstKind == isa::Dst::Net;
    row.cores = net ? vec.mask & all : 1U << core;
    row.toHost = net && (vec.mask >> isa::kHostBit & 1) != 0;
    to[i]->forEach([&](int64_t index, int64_t moved) {
      if (++rows > kFollowed)
        return;
      row.address =
          ringAddress(vec.dst, moment.registers[vec.dstReg] + moved, vec.dstRing, kDestinationBits);
      row.holds = rules.of(i, static_cast<uint32_t>(index), moment.pass);
      visit(row);
    });
    return rows < kFollowed;
  });
}

} // namespace sluice::device
