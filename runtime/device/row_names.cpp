#include "runtime/device/row_names.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sluice::device {
RowNames::RowNames(std::string name, const format::PackedRows &rows, uint32_t lanes, bool ofStep)
    : tensor(std::move(name)), slots(rows.slots(lanes)), dataDim(rows.tensorDim()), lanes(lanes),
      isPacked(rows.packed != rows.shape), ofStep(ofStep) {}

// Every step's rows are those of a tensor of its part.
RowNames::RowNames(const format::HostTensor &tensor, uint32_t steps, uint32_t lanes)
    : RowNames(tensor.name, {tensor, steps}, lanes, tensor.stepAxis.has_value()) {}

RowNames::RowNames(const format::ModelTensor &tensor, uint32_t lanes)
    : RowNames(tensor.name, format::PackedRows(tensor), lanes, tensor.ofStep) {}

addressing::Indices RowNames::begin(int64_t row) const {
  return slots.indexOf(slots.positionAt(row * lanes).value_or(0));
}

addressing::Indices RowNames::last(int64_t row) const {
  std::optional<int64_t> position;
  for (int64_t lane = lanes; !position && lane-- > 0;)
    position = slots.positionAt(row * lanes + lane);
  return slots.indexOf(position.value_or(0));
}

std::string RowNames::between(int64_t first, int64_t last) const {
  if (!isPacked)
    return of(first) + " to " + of(last);
  const addressing::Indices from = begin(first), to = this->last(last);
  std::string end;
  // Along the last axis alone: its positions.
  if (std::equal(from.begin(), from.end() - 1, to.begin()))
    end = from.back() == to.back() ? "]" : fmt::format("..{}]", to.back());
  else
    end = fmt::format("] to [{}]", fmt::join(to, ", "));
  return fmt::format("{}[{}{}{}", tensor, fmt::join(from, ", "), end, ofStep ? " of a step" : "");
}

std::string RowNames::named(const std::string &index) const {
  return tensor + (index.empty() ? "" : "[" + index + "]") + (ofStep ? " of a step" : "");
}

std::string RowNames::of(int64_t row) const { return of(row, 0, 1).front(); }

std::vector<std::string> RowNames::of(int64_t first, int64_t step, int64_t count) const {
  if (step < 0)
    return of(first + (count - 1) * step, -step, count);
  const addressing::Indices from = begin(first);
  addressing::Indices by(from.size(), 0);
  const int64_t end = first + (count - 1) * step;
  if (isPacked && (count == 1 || step == 1))
    return {between(first, end)};
  if (count > 1) {
    const addressing::Indices next = begin(first + step), last = begin(end);
    size_t moving = 0;
    bool even = true;
    for (size_t axis = 0; axis < from.size(); ++axis) {
      by[axis] = next[axis] - from[axis];
      moving += by[axis] != 0;
      even &=
          last[axis] - from[axis] == (count - 1) * by[axis] && (axis != dataDim || by[axis] == 0);
    }
    if (isPacked || moving != 1 || !even) {
      if (count == 2)
        return {of(first), of(end)};
      return {between(first, end) + (step == 1 ? "" : fmt::format(" in steps of {} rows", step))};
    }
  }
  std::string text;
  for (size_t axis = 0; axis < from.size(); ++axis) {
    text += fmt::format("{}{}", axis == 0 ? "" : ", ", from[axis]);
    const int64_t last = axis == dataDim ? std::min(slots.shape()[axis], from[axis] + lanes) - 1
                                         : from[axis] + (count - 1) * by[axis];
    if (last != from[axis])
      text += fmt::format("..{}", last);
    if (by[axis] > 1)
      text += fmt::format(" by {}", by[axis]);
  }
  return {named(text)};
}

std::optional<int64_t> RowNames::slotOf(addressing::IndicesRef index) const {
  const addressing::Indices &shape = slots.shape();
  if (index.size() != shape.size())
    return std::nullopt;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (index[axis] < 0 || index[axis] >= shape[axis])
      return std::nullopt;
  return slots.at(index);
}

std::optional<addressing::Indices> RowNames::elementIn(int64_t row, uint32_t lane) const {
  const auto position = slots.positionAt(row * lanes + lane);
  return position ? std::optional(slots.indexOf(*position)) : std::nullopt;
}

} // namespace sluice::device
