#include "compiler/pipeline/input_axes.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/pipeline/choices.h"
#include "runtime/addressing/addressing.h"

namespace sluice::pipeline {
namespace {

/// An axis of an input is tried where the host then sends at most this share of the rows.
constexpr int64_t kFewer = 3, kOf = 4;

/// Rows that the host sends with the data dimensions that were chosen.
int64_t rowsSent(const std::vector<format::HostTensor> &inputs, int64_t lanes) {
  int64_t rows = 0;
  for (const format::HostTensor &input : inputs)
    rows +=
        addressing::rowsOf(input.packed.empty() ? input.shape : input.packed, input.dataDim, lanes);
  return rows;
}

/// The same where the options name other data dimensions.
int64_t rowsAlong(const CompileOptions &options, const std::vector<format::HostTensor> &inputs,
                  int64_t lanes) {
  int64_t rows = 0;
  for (const format::HostTensor &input : inputs) {
    const auto pin =
        std::ranges::find(options.dataDims, input.name, &std::pair<std::string, int64_t>::first);
    const bool moves = pin != options.dataDims.end() && pin->second >= 0;
    rows += moves ? addressing::rowsOf(input.shape, static_cast<size_t>(pin->second), lanes)
                  : rowsSent({input}, lanes);
  }
  return rows;
}

std::string optionsOf(const CompileOptions &options, size_t first) {
  std::string text = "inputs along other axes:";
  for (size_t i = first; i < options.dataDims.size(); ++i)
    text += fmt::format(" --data-dim {}={}", options.dataDims[i].first, options.dataDims[i].second);
  return text;
}

} // namespace

std::optional<CompileOptions>
along(CompileOptions options, const std::vector<format::HostTensor> &chosen, size_t fromLast) {
  bool changed = false;
  for (const format::HostTensor &input : chosen) {
    if (input.shape.size() <= fromLast ||
        std::ranges::any_of(options.dataDims,
                            [&](const auto &pin) { return pin.first == input.name; }))
      continue;
    const size_t axis = input.shape.size() - 1 - fromLast;
    options.dataDims.emplace_back(input.name, static_cast<int64_t>(axis));
    changed |= input.dataDim != axis;
  }
  return changed ? std::optional(std::move(options)) : std::nullopt;
}

Compilation withFewerRows(const CompileOptions &options, ImportOnce &imported, Compilation first) {
  const std::optional<uint64_t> &cycles = first.result.plannedCycles;
  const std::vector<format::HostTensor> chosen = first.result.inputs;
  const int64_t lanes = first.result.program.geometry.lanes, rows = rowsSent(chosen, lanes);
  // Parts and tables of an input have another shape than the array that the option names.
  const auto isWhole = [](const format::HostTensor &input) {
    return !input.selection && !input.lookup;
  };
  if (!first.compiles() || !cycles || first.result.interrupted || first.result.steps ||
      options.limits || options.ioOnly || options.effort == Effort::Fast ||
      2 * static_cast<uint64_t>(rows) < *cycles || !std::ranges::all_of(chosen, isWhole))
    return first;
  size_t mostAxes = 0;
  for (const format::HostTensor &input : chosen)
    mostAxes = std::max(mostAxes, input.shape.size());
  Compilation best = std::move(first);
  std::string name = "inputs as the layout chooses";
  std::vector<plan::Loser> losers;
  for (size_t fromLast = 0; fromLast < mostAxes; ++fromLast) {
    const auto others = along(options, chosen, fromLast);
    if (!others || rowsAlong(*others, chosen, lanes) * kOf > rows * kFewer)
      continue;
    Compilation other = compileChoices(*others, imported, nullptr);
    const bool isFaster = other.compiles() && other.result.plannedCycles &&
                          *other.result.plannedCycles < *best.result.plannedCycles;
    if (isFaster) {
      other.result.repairs = best.result.repairs;
      std::swap(best, other);
    }
    std::string lost = optionsOf(*others, options.dataDims.size());
    if (isFaster)
      std::swap(name, lost);
    losers.push_back(loserOf(other, std::move(lost)));
  }
  if (best.result.explanation)
    best.result.explanation->losers.insert(best.result.explanation->losers.begin(), losers.begin(),
                                           losers.end());
  return best;
}

} // namespace sluice::pipeline
