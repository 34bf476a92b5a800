#include "runtime/device/row_names.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/format/host_rows.h"
#include "runtime/format/row_rules.h"
#include "runtime/format/steps.h"

namespace sluice::device {
namespace {

/// Every step's rows are those of a tensor of its part.
format::HostTensor partOf(format::HostTensor tensor, uint32_t steps) {
  tensor.shape = format::stepShape(tensor, steps);
  tensor.stepAxis.reset();
  return tensor;
}

} // namespace

RowNames::RowNames(const format::HostTensor &tensor, uint32_t steps, uint32_t lanes)
    : tensor(tensor.name), slots(format::hostSlots(partOf(tensor, steps), lanes)),
      dataDim(tensor.dataDim), lanes(lanes), ofStep(tensor.stepAxis.has_value()) {}

RowNames::RowNames(const format::ModelTensor &tensor, uint32_t lanes)
    : tensor(tensor.name), slots(format::slotsOf(tensor, lanes)), dataDim(tensor.dataDim),
      lanes(lanes), ofStep(tensor.ofStep) {}

addressing::Indices RowNames::begin(int64_t row) const {
  return slots.indexOf(slots.positionAt(row * lanes).value_or(0));
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
  if (count > 1) {
    const addressing::Indices next = begin(first + step), last = begin(first + (count - 1) * step);
    size_t moving = 0;
    bool even = true;
    for (size_t axis = 0; axis < from.size(); ++axis) {
      by[axis] = next[axis] - from[axis];
      moving += by[axis] != 0;
      even &=
          last[axis] - from[axis] == (count - 1) * by[axis] && (axis != dataDim || by[axis] == 0);
    }
    if (moving != 1 || !even) {
      const std::string begin = of(first), end = of(first + (count - 1) * step);
      if (count == 2)
        return {begin, end};
      return {fmt::format("{} to {}{}", begin, end,
                          step == 1 ? "" : fmt::format(" in steps of {} rows", step))};
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
