#include "compiler/conversion/bodies/view_places.h"

#include <numeric>

#include "compiler/dialect/sluice/operations.h"

using namespace mlir;

namespace sluice::bodies {
namespace {

/// By row of a view, the row of its operand that has the same elements in the same lanes; nothing
/// if there is not one for each.
std::optional<std::vector<int64_t>> selectedRows(Value operand, Value view, int64_t lanes) {
  const space::Pieces pieces = llvm::cast<ir::ViewInterface>(view.getDefiningOp()).pieces();
  if (!ir::dataDim(operand) || pieces.outside)
    return std::nullopt; // what lies outside is in no row
  const std::vector<space::Source> sources = space::sourcesOf(pieces);
  const rows::RowLayout from = layoutOf(operand, lanes), to = layoutOf(view, lanes);
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < to.rows(); ++row) {
    std::optional<int64_t> source;
    for (int64_t lane = 0; lane < to.used(row); ++lane) {
      const rows::RowLayout::Place place = from.place(sources[to.flat(row, lane)].element);
      if (place.lane != lane || (source && *source != place.row))
        return std::nullopt;
      source = place.row;
    }
    if (from.used(*source) != to.used(row))
      return std::nullopt;
    rows.push_back(*source);
  }
  return rows;
}

/// Every row of a value.
Places allOf(Value value, int64_t lanes) {
  Places places{value, std::vector<int64_t>(layoutOf(value, lanes).rows())};
  std::iota(places.rows.begin(), places.rows.end(), 0);
  return places;
}

} // namespace

const Places *ViewPlaces::selectedBy(Value value) {
  const auto [entry, added] = selected.try_emplace(value);
  auto view = llvm::dyn_cast_if_present<ir::ViewInterface>(value.getDefiningOp());
  if (added && view && view->getNumOperands() == 1)
    if (auto rows = selectedRows(view->getOperand(0), value, lanes))
      entry->second = std::make_unique<Places>(Places{view->getOperand(0), std::move(*rows)});
  return entry->second.get();
}

const Places &ViewPlaces::of(Value value) {
  llvm::SmallVector<Value> chain; // of views, up to one whose places are known
  for (Value next = value; !known.contains(next);) {
    chain.push_back(next);
    const Places *by = selectedBy(next);
    if (!by)
      break;
    next = by->of;
  }
  for (const Value next : llvm::reverse(chain)) {
    Places places;
    if (const Places *by = selectedBy(next)) {
      const Places &base = *known.at(by->of);
      places.of = base.of;
      for (const int64_t row : by->rows)
        places.rows.push_back(base.rows[row]);
    } else {
      places = allOf(next, lanes);
    }
    known[next] = std::make_unique<Places>(std::move(places));
  }
  return *known.at(value);
}

Places ViewPlaces::fewest(Value value, llvm::function_ref<bool(Value)> may) {
  Places here = allOf(value, lanes), best = here;
  while (const Places *by = selectedBy(here.of)) {
    here.of = by->of;
    for (int64_t &row : here.rows)
      row = by->rows[row];
    if (!may(here.of))
      break;
    if (layoutOf(here.of, lanes).rows() < layoutOf(best.of, lanes).rows())
      best = here;
  }
  return best;
}

} // namespace sluice::bodies
