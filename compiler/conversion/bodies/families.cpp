#include "compiler/conversion/bodies/families.h"

#include <algorithm>

#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/operations.h"

using namespace mlir;

namespace sluice::bodies {

std::optional<Slab> linesOf(Value value, std::optional<Cut> cut) {
  return cut ? std::optional(slabOf(*cut, ir::shapeOf(value)[cut->axis])) : std::nullopt;
}

LineRows Families::rowsOf(Value value, std::optional<Slab> lines) const {
  return {ir::carriedShape(value), ir::dataDim(value).value_or(0), lines,
          static_cast<int64_t>(program.geometry.lanes)};
}

uint32_t Families::add(rows::Family family) {
  program.families.push_back(std::move(family));
  return static_cast<uint32_t>(program.families.size() - 1);
}

void Families::addInput(Value value, const std::string &name, uint32_t input) {
  rows::Family family;
  family.name = name;
  setExtent(family, value);
  family.input = input;
  known[value] = add(std::move(family));
}

void Families::setExtent(rows::Family &family, Value value) const {
  const auto cut = partition.windows ? std::nullopt : partition.cutOf(value);
  family.trips = cut ? static_cast<uint32_t>(partition.tripsOf(value)) : 1;
  family.rows = rowsOf(value, linesOf(value, cut)).rows();
}

uint32_t Families::of(Value value) {
  const auto [entry, added] = known.try_emplace(value, program.families.size());
  if (added) {
    rows::Family made;
    made.name = ir::tensorName(value.getLoc());
    setExtent(made, value);
    add(std::move(made));
  }
  return entry->second;
}

uint32_t Families::partsPerCore(Operation *op) const {
  return partition.foldOf(op) == rows::Fold::Sum ? 2 : 1;
}

uint32_t Families::partsOf(Operation *op) {
  const auto [entry, added] = parts.try_emplace(op, program.families.size());
  if (added) {
    const Value result = op->getResult(0);
    rows::Family made;
    made.name = ir::tensorName(result.getLoc());
    made.trips = std::min(program.geometry.cores,
                          static_cast<uint32_t>(partition.tripsOf(op->getOperand(0))));
    made.rows = rowsOf(result, std::nullopt).rows() * partsPerCore(op);
    add(std::move(made));
  }
  return entry->second;
}

rows::Padding Families::paddingOf(uint32_t family) const {
  const auto found = padding.find(family);
  return found == padding.end() ? rows::Padding::known(0) : found->second;
}

void Families::setPadding(const rows::Write &write, const rows::Padding &written) {
  if (!write.family)
    return;
  // Sums are products, with zeros; a product of what is beyond is something else.
  const bool open = write.fold == rows::Fold::Product && written != rows::Padding::known(0);
  padding.emplace(*write.family, open ? rows::Padding::open() : written);
}

} // namespace sluice::bodies
