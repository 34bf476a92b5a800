// The part of format::check that looks at what is said of computed rows.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/format/checks.h"
#include "runtime/format/packed_rows.h"
#include "runtime/format/row_rules.h"
#include "runtime/format/steps.h"

namespace sluice::format {
namespace {

/// More elements than any memory has.
constexpr int64_t kElements = int64_t{1} << 40;

std::optional<std::string> wrongTensor(const ModelTensor &tensor) {
  if (tensor.name.empty() || !isUtf8(tensor.name))
    return "the name is empty or not UTF-8 text";
  int64_t elements = 1;
  for (const int64_t extent : tensor.shape) {
    if (extent < 1 || extent > kElements / elements)
      return fmt::format("an extent is {}, allowed: 1 to {}", extent, kElements / elements);
    elements *= extent;
  }
  if (const auto wrong = PackedRows(tensor).problem())
    return wrong;
  return std::nullopt;
}

/// What does not go with the other tensors of the model, those at the host port among them.
class Names {
public:
  explicit Names(const Program &program) {
    for (const Model &model : program.models) {
      inSteps |= model.steps > 1;
      for (const auto *port : {&model.inputs, &model.outputs})
        for (const HostTensor &tensor : *port)
          ports[tensor.name].insert(stepShape(tensor, model.steps));
    }
  }

  std::optional<std::string> wrong(const ModelTensor &tensor) {
    // In several layouts it is the same tensor.
    const auto first = known.try_emplace(tensor.name, tensor.shape).first;
    if (first->second != tensor.shape)
      return fmt::format("the shape is [{}], but an earlier '{}' has [{}]",
                         fmt::join(tensor.shape, ", "), tensor.name,
                         fmt::join(first->second, ", "));
    if (tensor.ofStep && !inSteps)
      return "the tensor belongs to one step, but the model has only one step";
    const auto port = ports.find(tensor.name);
    if (port != ports.end() && !port->second.contains(tensor.shape))
      return fmt::format("the shape is [{}], but the input or output '{}' has [{}]",
                         fmt::join(tensor.shape, ", "), tensor.name,
                         fmt::join(*port->second.begin(), ", "));
    return std::nullopt;
  }

private:
  bool inSteps = false;
  std::map<std::string, std::set<std::vector<int64_t>>> ports; ///< shapes in rows
  std::map<std::string, std::vector<int64_t>> known;
};

/// How often each instruction of a list is executed for one execution of the innermost loop
/// around it; 0 where there is none.
std::vector<uint32_t> passesOf(const std::vector<InstructionWords> &list) {
  std::vector<uint32_t> passes, open{0};
  for (const InstructionWords &words : list) {
    const auto instruction = isa::decode(words);
    if (instruction && std::holds_alternative<isa::Endloop>(*instruction) && open.size() > 1)
      open.pop_back();
    passes.push_back(open.back());
    if (const auto *loop = instruction ? std::get_if<isa::Loop>(&*instruction) : nullptr)
      open.push_back(loop->count);
  }
  return passes;
}

/// Rules of one instruction.
class Checker {
public:
  Checker(const Program &program, uint64_t written, uint32_t passes)
      : program(program), written(written), passes(passes) {}

  std::optional<std::string> wrong(const RowRule &rule) {
    if (rule.terms.size() > isa::kLoopDepth)
      return fmt::format("a rule has {} terms, allowed: up to {}", rule.terms.size(),
                         isa::kLoopDepth);
    uint64_t count = 1;
    for (const RowTerm &term : rule.terms) {
      if (term.count == 0 || term.count > written / count)
        return fmt::format("a rule covers no rows or more than the {} that the instruction writes",
                           written);
      count *= term.count;
    }
    if (rule.begin < next || rule.begin > written - count)
      return fmt::format(
          "a rule covers {} rows from row {}, the instruction has {}, {} already covered", count,
          rule.begin, written, next);
    next = rule.begin + count;
    if (rule.tensor >= program.tensors.size())
      return fmt::format("a rule names tensor {}, the program has {} tensors", rule.tensor,
                         program.tensors.size());
    if (rule.perPass != 0 && passes == 0)
      return fmt::format("a rule advances by {} every iteration, but the instruction is in no loop",
                         rule.perPass);
    return outside(rule, program.tensors[rule.tensor]);
  }

private:
  /// Rows that a tensor has not. What moves them is added up only as far as they are inside.
  std::optional<std::string> outside(const RowRule &rule, const ModelTensor &tensor) const {
    const int64_t rows = PackedRows(tensor).rows(program.geometry.lanes);
    std::vector<RowTerm> terms = rule.terms;
    terms.push_back({std::max<uint32_t>(passes, 1), rule.perPass});
    int64_t low = rule.row, high = rule.row;
    for (const RowTerm &term : terms) {
      if (high < rows && low >= 0)
        (term.step < 0 ? low : high) += int64_t{term.count - 1} * term.step;
    }
    if (low < 0 || high >= rows)
      return fmt::format("a rule reaches rows {} to {} of '{}', which has {} rows", low, high,
                         tensor.name, rows);
    return std::nullopt;
  }

  const Program &program;
  uint64_t written;
  uint32_t passes;
  uint64_t next = 0;
};

} // namespace

void checkComputedRows(const Program &program, ProblemList &problems) {
  Names names(program);
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    auto wrong = wrongTensor(program.tensors[i]);
    if (!wrong)
      wrong = names.wrong(program.tensors[i]);
    if (wrong)
      problems.add("E0513", fmt::format("tensor {} of the model: {}", i, *wrong));
  }
  if (!problems.empty())
    return;
  std::vector<uint32_t> passes;
  const ComputedRows *before = nullptr;
  for (const ComputedRows &rows : program.computedRows) {
    const std::string where = fmt::format("core {} instruction {}", rows.core, rows.instruction);
    if (before &&
        std::pair(before->core, before->instruction) >= std::pair(rows.core, rows.instruction))
      return problems.add("E0513", "computed rows are not in order at " + where);
    if (rows.core >= program.cores.size() ||
        rows.instruction >= program.cores[rows.core].instructions.size())
      return problems.add(
          "E0513", fmt::format("computed rows of {}: the instruction does not exist", where));
    const std::vector<InstructionWords> &list = program.cores[rows.core].instructions;
    if (!before || before->core != rows.core)
      passes = passesOf(list);
    before = &rows;
    const auto instruction = isa::decode(list[rows.instruction]);
    const uint64_t written = instruction ? rowsWritten(*instruction) : 0;
    if (written == 0)
      problems.add("E0513",
                   fmt::format("computed rows of {}: the instruction writes no rows", where));
    Checker checker(program, written, passes[rows.instruction]);
    for (const RowRule &rule : rows.rules)
      if (const auto wrong = checker.wrong(rule); wrong && written != 0)
        problems.add("E0513", fmt::format("computed rows of {}: {}", where, *wrong));
    if (problems.full())
      return;
  }
}

} // namespace sluice::format
