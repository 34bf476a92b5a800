#include "runtime/device/row_series.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sluice::device {
namespace {

/// More parts than this are counted.
constexpr size_t kNamed = 4;

std::string sumsOf(int64_t rows) { return rows == 1 ? "partial sum of " : "partial sums of "; }

} // namespace

bool RowSeries::takes(int64_t row) {
  const int64_t next = row - last();
  if (next == 0 && count == 1)
    return true; // the same again
  if (count > 1 && next != step)
    return false;
  step = next;
  ++count;
  return true;
}

bool RowSeries::has(int64_t row) const {
  const int64_t way = row - first;
  return step == 0 ? way == 0 : way % step == 0 && way / step >= 0 && way / step < count;
}

std::vector<std::string> Held::names() const {
  if (!tensor)
    return {text};
  std::vector<std::string> names = tensor->of(rows.first, rows.step, rows.count);
  if (partial)
    for (std::string &name : names)
      name.insert(0, sumsOf(names.size() == 1 ? rows.count : 1));
  return names;
}

Held &Contents::partOf(const Held &held) {
  const auto same = std::ranges::find_if(parts, [&](const Held &one) {
    return one.tensor == held.tensor && one.partial == held.partial && one.text == held.text;
  });
  return same != parts.end() ? *same : parts.emplace_back(held);
}

void Contents::add(const Held &held) {
  if (!held.tensor && held.text.empty())
    return;
  RowSeries &rows = partOf(held).rows;
  const auto [low, high] =
      std::minmax({rows.first, rows.last(), held.rows.first, held.rows.last()});
  rows = {low, high - low, low == high ? 1 : 2};
}

void Contents::addTurns(const std::vector<Held> &turns) {
  for (const Held &held : turns) {
    takeTurns |= held.tensor != turns[0].tensor || held.partial != turns[0].partial ||
                 held.text != turns[0].text;
    add(held);
  }
}

std::string Contents::text() const {
  std::vector<std::string> names;
  for (const Held &part : parts) {
    if (names.size() == kNamed) {
      names.push_back(fmt::format("{} others", parts.size() - kNamed));
      break;
    }
    const RowSeries &rows = part.rows;
    if (!part.tensor) {
      names.push_back(part.text);
      continue;
    }
    names.push_back((part.partial ? sumsOf(rows.count) : "") +
                    (rows.count > 1 ? part.tensor->between(rows.first, rows.last())
                                    : part.tensor->of(rows.first)));
  }
  return fmt::format("{}", fmt::join(names, takeTurns ? " or " : " and "));
}

} // namespace sluice::device
