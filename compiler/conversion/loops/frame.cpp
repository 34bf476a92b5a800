#include "compiler/conversion/loops/frame.h"

#include <algorithm>

#include "compiler/conversion/plan/order/operands.h"

namespace sluice::loops {

using rows::RowId;

namespace {

/// Rows of a memory, taken and given back in runs.
class Runs {
public:
  uint32_t take(uint32_t size) {
    uint32_t run = 0;
    for (uint32_t at = 0; at < used.size(); ++at) {
      run = used[at] ? 0 : run + 1;
      if (run == size)
        return mark(at + 1 - size, size);
    }
    return mark(static_cast<uint32_t>(used.size()) - run, size);
  }
  void free(uint32_t at) { used[at] = false; }
  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(used.size()); }

private:
  uint32_t mark(uint32_t at, uint32_t size) {
    used.resize(std::max<size_t>(used.size(), at + size), false);
    std::fill_n(used.begin() + at, size, true);
    return at;
  }
  std::vector<bool> used;
};

} // namespace

uint32_t placeFrame(const rows::Body &body, uint32_t first, uint32_t positions, BodyMap &result) {
  const rows::Graph &trip = body.trip;
  std::vector<bool> leaves(trip.rows.size(), false);
  for (size_t port = 0; port < trip.outputs.size(); ++port)
    for (RowId row : trip.outputs[port].rows)
      leaves[row] = true;
  std::vector<uint32_t> last(trip.rows.size(), 0);
  for (size_t port = 0; port < trip.outputs.size(); ++port)
    if (body.writes[port].fold == rows::Fold::Sum)
      for (RowId row : trip.outputs[port].rows) // the vector unit learns at the end of it
        for (const rows::Term &term : result.work[row].terms)
          last[term.x] = static_cast<uint32_t>(result.work.stages.size() - 1);
  for (uint32_t stage = 1; stage < result.work.stages.size(); ++stage)
    for (RowId row : result.work.stages[stage]) {
      last[row] = std::max(last[row], stage);
      plan::forEachOperand(trip, result.work, row, [&](RowId operand, bool) {
        last[operand] = std::max(last[operand], stage);
      });
    }
  Runs frame;
  uint32_t kept = first;
  std::vector<std::vector<RowId>> ending(result.work.stages.size());
  for (uint32_t stage = 1; stage < result.work.stages.size(); ++stage) {
    std::vector<RowId> members;
    for (RowId row : result.work.stages[stage])
      if (!leaves[row] && result.varies[row])
        members.push_back(row);
      else if (!leaves[row])
        result.offset[row] = kept++;
    if (!members.empty()) {
      const uint32_t at = frame.take(static_cast<uint32_t>(members.size()));
      for (size_t i = 0; i < members.size(); ++i) {
        result.offset[members[i]] = at + static_cast<uint32_t>(i);
        ending[last[members[i]]].push_back(members[i]);
      }
    }
    for (RowId row : ending[stage])
      frame.free(result.offset[row]);
  }
  result.frame = kept;
  result.frameRows = frame.size();
  return kept + result.frameRows * positions;
}

} // namespace sluice::loops
