#include "compiler/conversion/bodies/families.h"

#include <algorithm>

#include "compiler/conversion/rows/lower.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/operations.h"
#include "hw/numerics/numerics.h"

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

rows::TensorLanes Families::lanesOf(uint32_t family, const rows::TensorLanes &given) const {
  if (const auto found = lanes.find(family); found != lanes.end())
    return found->second;
  const std::vector<uint16_t> &constant = program.families[family].constant;
  const auto isFinite = [](uint16_t lane) { return numerics::isFinite(lane); };
  return constant.empty() ? given : rows::hostLanes(!std::ranges::all_of(constant, isFinite));
}

void Families::addLanes(const rows::Write &write, const rows::TensorLanes &written) {
  if (!write.family)
    return;
  rows::TensorLanes made = written;
  if (write.fold == rows::Fold::Sum) // of products, with zeros beyond
    made = {rows::LaneValues::finite(), written.padding};
  else if (write.fold == rows::Fold::Product)
    made = {rows::LaneValues::anything(),
            written.padding.isZero() ? written.padding : rows::LaneValues::anything()};
  else if (write.fold) // a maximum of some positions hides what is not finite in others
    made = {alu(isa::Alu::Max, written.elements, written.elements, rows::LaneValues::known(0),
                rows::LaneValues::known(0)),
            alu(isa::Alu::Max, written.padding, written.padding, rows::LaneValues::known(0),
                rows::LaneValues::known(0))};
  const auto [known, added] = lanes.emplace(*write.family, made);
  if (!added)
    known->second = {either(known->second.elements, made.elements),
                     either(known->second.padding, made.padding)};
}

} // namespace sluice::bodies
