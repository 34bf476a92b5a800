#include "compiler/frontend/onnx/lookup.h"

#include <algorithm>

namespace sluice::frontend {

int64_t ArrayLookup::rows() const {
  int64_t elements = 1;
  for (const int64_t extent : inner)
    elements *= extent;
  return static_cast<int64_t>(values.size()) / elements;
}

IntegerRange ArrayLookup::range() const {
  const auto [low, high] = std::ranges::minmax(values);
  return {low, high};
}

std::optional<size_t> Arrays::find(mlir::Value value) const {
  const auto found = std::ranges::find(arrays, value, &Array::value);
  return found == arrays.end() ? std::nullopt
                               : std::optional(static_cast<size_t>(found - arrays.begin()));
}

ArrayLookupRef Arrays::add(const std::string &name, DataType type, const Shape &shape,
                           mlir::Value value) {
  Array &array = arrays.emplace_back(Array{name, type, shape, acceptedRange(type), value});
  if (!array.range)
    return nullptr;
  if (const auto known = ranges.find(name); known != ranges.end())
    array.range = known->second;
  auto lookup = std::make_shared<ArrayLookup>();
  lookup->array = arrays.size() - 1;
  lookup->first = static_cast<int64_t>(array.range->least);
  for (double integer = array.range->least; integer <= array.range->most; ++integer)
    lookup->values.push_back(static_cast<float>(integer));
  return lookup;
}

std::vector<int64_t> Arrays::choose(const ArrayLookup &by, int64_t extent) {
  const Array &array = arrays[by.array];
  const auto isRow = [&](float value) {
    return value >= static_cast<float>(-extent) && value < static_cast<float>(extent);
  };
  bool isIdentity = true;
  std::vector<int64_t> rows;
  for (size_t i = 0; i < by.values.size(); ++i) {
    const float value = by.values[i];
    isIdentity &= value == static_cast<float>(by.first + static_cast<int64_t>(i));
    const auto row = static_cast<int64_t>(value);
    rows.push_back(!isRow(value) ? 0 : row < 0 ? row + extent : row);
  }
  // The input's own integers may be as many as the table has rows; of others, those that give one.
  IntegerRange wanted = rangeOf(array.type);
  if (isIdentity) {
    wanted = {std::max(wanted.least, static_cast<double>(-extent)),
              std::min(wanted.most, static_cast<double>(extent - 1))};
  } else {
    const auto first = std::ranges::find_if(by.values, isRow);
    const auto last = std::find_if_not(first, by.values.end(), isRow);
    if (first == by.values.begin() && last == by.values.end())
      return rows;
    wanted = {static_cast<double>(by.first + (first - by.values.begin())),
              static_cast<double>(by.first + (last - by.values.begin()) - 1)};
  }
  const auto [found, isNew] = wants.try_emplace(array.name, wanted);
  if (!isNew)
    found->second = {std::max(found->second.least, wanted.least),
                     std::min(found->second.most, wanted.most)};
  return rows;
}

} // namespace sluice::frontend
