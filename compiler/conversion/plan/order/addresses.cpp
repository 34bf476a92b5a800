#include "compiler/conversion/plan/order/addresses.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>

#include "compiler/conversion/plan/order/operands.h"
#include "compiler/conversion/row_graph.h"

namespace sluice::plan {
namespace {

/// The rows of one memory and until when they are needed.
class Cells {
public:
  explicit Cells(uint32_t reuse) : reuse(reuse) {}

  /// The lowest place for a row of `stage` that nobody reads behind `lastRead`. Stages come in
  /// order.
  uint32_t take(uint32_t size, uint32_t stage, uint32_t lastRead) {
    if (lastRead == kNone)
      return keep(size);
    enter(stage);
    const uint32_t at = reuse == 0 ? used() : size == 1 ? lowestFree() : lowestRun(size);
    freeFrom.resize(std::max<size_t>(freeFrom.size(), at + size));
    const uint32_t from = lastRead + reuse;
    released.resize(std::max<size_t>(released.size(), from + 1));
    for (uint32_t address = at; address < at + size; ++address) {
      freeFrom[address] = from;
      released[from].push_back(address);
    }
    return at;
  }

  /// A place that no other row has, ever.
  uint32_t keep(uint32_t size = 1) {
    freeFrom.resize(freeFrom.size() + size, kNone);
    return used() - size;
  }

  uint32_t used() const { return static_cast<uint32_t>(freeFrom.size()); }

private:
  const uint32_t reuse;
  std::vector<uint32_t> freeFrom;              ///< by address, the first stage that may have it
  std::vector<std::vector<uint32_t>> released; ///< addresses, by the first stage that may have them
  uint32_t current = 0;                        ///< the stage of the last row
  /// Addresses that were released by then; those of wide rows may have been taken again.
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> free;

  void enter(uint32_t stage) {
    while (current < stage)
      if (++current < released.size())
        for (const uint32_t address : std::exchange(released[current], {}))
          free.push(address);
  }

  uint32_t lowestFree() {
    while (!free.empty()) {
      const uint32_t address = free.top();
      free.pop();
      if (freeFrom[address] <= current)
        return address;
    }
    return used();
  }

  /// The last addresses may be fewer than `size`.
  [[nodiscard]] uint32_t lowestRun(uint32_t size) const {
    uint32_t at = 0;
    for (uint32_t count = 0; at < used() && count < size;)
      if (freeFrom[at + count] <= current) {
        if (++count; at + count == used())
          break;
      } else {
        at += count + 1;
        count = 0;
      }
    return at;
  }
};

/// The rows of a stage in the order of their addresses: the one they have in the
/// graph, in which reductions read them, or, where cores were given, the one in
/// which they are expected to arrive.
std::vector<RowId> addressOrder(const std::vector<RowId> &stage, const PlacementOptions &options,
                                const Placement &placement) {
  return options.cores && (*options.cores)[stage.front()] != kNone ? inTurn(stage, placement)
                                                                   : stage;
}

/// Equal biases in one row. Only where there are too few for all: the beats of one instruction
/// begin with consecutive rows.
void sharePreloads(const Graph &graph, CoreMemory &memory) {
  std::unordered_map<std::string_view, uint32_t> known; // preload row, by its bits
  for (const RowId row : std::exchange(memory.preloads, {})) {
    const auto next = static_cast<uint32_t>(memory.preloads.size());
    memory.preloadRow[row] =
        graph.rows[row].start != kNoRow
            ? next
            : known.try_emplace(bitsOfBias(graph.rows[row]), next).first->second;
    if (memory.preloadRow[row] == next)
      memory.preloads.push_back(row);
  }
}

} // namespace

std::vector<uint32_t> lastReads(const Graph &graph, const Work &work) {
  std::vector<uint32_t> result(graph.rows.size(), 0);
  for (const rows::State &state : graph.states)
    result[state.next] = kNone;
  for (uint32_t stage = 0; stage < work.stages.size(); ++stage)
    for (RowId row : work.stages[stage]) {
      result[row] = std::max(result[row], stage);
      if (stage != 0)
        forEachOperand(graph, work, row, [&](RowId operand, bool) {
          result[operand] = std::max(result[operand], stage);
        });
    }
  return result;
}

std::string_view bitsOfBias(const Row &row) {
  const std::vector<float> &lanes = row.bias.lanes();
  return {reinterpret_cast<const char *>(lanes.data()), lanes.size() * sizeof(float)};
}

void assignInbox(const Graph &graph, const Work &work, const PlacementOptions &options,
                 Placement &placement) {
  // A row for cores and the host travels once, so its inbox address is its
  // output row.
  uint32_t next = 0;
  bool shared = false;
  for (size_t stage = 1; stage < work.stages.size(); ++stage)
    for (RowId row : work.stages[stage])
      if (work[row].output) {
        next = std::max(next, work[row].outRow + 1);
        shared |= placement.rows[row].readers() != 0;
      }
  Cells cells(options.reuse);
  if (shared)
    cells.keep(next);
  for (uint32_t i = 0; i < work.stages[0].size(); ++i) {
    placement.rows[work.stages[0][i]].net = true;
    placement.rows[work.stages[0][i]].indexInStage = i;
  }
  const std::vector<uint32_t> last = lastReads(graph, work);
  for (uint32_t stage = 0; stage < work.stages.size(); ++stage)
    for (RowId row : addressOrder(work.stages[stage], options, placement)) {
      RowPlace &place = placement.rows[row];
      if (work[row].output)
        place.inbox = work[row].outRow;
      else if (place.net)
        place.inbox = cells.take(graph.rows[row].wide ? 2 : 1, stage, last[row]);
    }
  placement.inboxRows = cells.used();
}

void assignLocal(const Graph &graph, const Work &work, const PlacementOptions &options,
                 Placement &placement) {
  const size_t rows = graph.rows.size();
  const std::vector<uint32_t> last = lastReads(graph, work);
  std::vector<Cells> cells(placement.cores.size(), Cells(options.reuse));
  for (CoreMemory &memory : placement.cores) {
    memory.localAddress.assign(rows, kNone);
    memory.preloadRow.assign(rows, kNone);
  }
  const auto constant = [&](uint32_t core, RowId row) {
    CoreMemory &memory = placement.cores[core];
    if (row == kNoRow || graph.rows[row].kind != RowKind::Constant ||
        memory.localAddress[row] != kNone)
      return;
    memory.localAddress[row] = isa::kLocalBase + cells[core].keep();
    memory.constants.push_back(row);
  };
  for (uint32_t stage = 1; stage < work.stages.size(); ++stage)
    for (RowId row : work.stages[stage]) {
      const Row &what = graph.rows[row];
      const RowPlace &place = placement.rows[row];
      CoreMemory &memory = placement.cores[place.core];
      memory.busy = true;
      for (const rows::Term &term : work[row].terms)
        constant(place.core, term.x);
      for (RowId operand : what.a)
        constant(place.core, operand);
      constant(place.core, what.b);
      constant(place.core, what.c);
      if (what.kind == RowKind::Linear && needsZeros(graph, work, row) && memory.zeroRow == kNone)
        memory.zeroRow = isa::kLocalBase + cells[place.core].keep();
      if (!place.net && !place.weights)
        memory.localAddress[row] = isa::kLocalBase + cells[place.core].take(1, stage, last[row]);
      if (what.kind == RowKind::Linear && beginsWithPreload(what)) {
        memory.preloadRow[row] = static_cast<uint32_t>(memory.preloads.size());
        memory.preloads.push_back(row);
      }
      if (what.step.table && std::find(memory.tables.begin(), memory.tables.end(),
                                       *what.step.table) == memory.tables.end())
        memory.tables.push_back(*what.step.table);
    }
  for (uint32_t core = 0; core < placement.cores.size(); ++core) {
    CoreMemory &memory = placement.cores[core];
    memory.localRows = cells[core].used();
    if (memory.preloads.size() > graph.geometry.preloadRows)
      sharePreloads(graph, memory);
  }
}

} // namespace sluice::plan
