#include "compiler/conversion/plan/beats/announcements.h"

#include <algorithm>
#include <map>

#include "compiler/conversion/row_graph.h"

namespace sluice::plan {

using rows::RowId;

Announcements::Announcements(const rows::Graph &graph, const Work &work, const Placement &placement,
                             const Order &order, const TokenLayout &tokens, const Entry &entry)
    : graph(graph), work(work), placement(placement), order(order), tokens(tokens), entry(entry),
      cores(static_cast<uint32_t>(placement.cores.size())),
      matrix(cores, Bank(graph.rows.size() + graph.blocks.size() + 1 + cores)), vector(matrix),
      host(graph.rows.size()) {
  if (tokens.inRuns)
    countSent();
  for (RowId row : work.stages[0])
    announce(row, 0);
  for (uint32_t core = 0; core < cores; ++core)
    announceWrites(core);
  for (uint32_t core = 0; core < cores; ++core)
    if (sumsAhead(core))
      announceSumsAhead(core);
}

RowId Announcements::blockNumber(uint32_t block) const {
  return static_cast<RowId>(graph.rows.size() + block);
}

RowId Announcements::sumsAheadNumber() const {
  return static_cast<RowId>(graph.rows.size() + graph.blocks.size());
}

uint32_t Announcements::askers(uint32_t core) const {
  uint32_t mask = 0;
  for (uint32_t other = 0; entry.beforeSums && other < cores; ++other)
    if (other != core && !order.vector[other].empty())
      mask |= 1U << other;
  return mask;
}

bool Announcements::sumsAhead(uint32_t core) const {
  return work.sumsAhead && std::ranges::any_of(order.matrix[core], [&](const MatrixItem &item) {
           return graph.rows[item.row].ahead;
         });
}

Signal Announcements::signalOf(RowId row) const {
  const RowPlace &place = placement.rows[row];
  return {place.readers() != 0, place.readers() != 0 ? tokenOf(row) : 0, place.units()};
}

uint32_t Announcements::tokenOf(RowId row) const {
  const RowPlace &place = placement.rows[row];
  if (place.core == kNone)
    return tokens.ofHost(place.indexInStage);
  return place.net ? tokens.ofCore(place.core, sent.empty() ? place.indexInStage : sent[row])
                   : tokens.ofLocal(place.indexInStage);
}

void Announcements::announce(RowId row, uint32_t producer) {
  const RowPlace &place = placement.rows[row];
  // A token for cores rides on the same packet to the host, if it goes there.
  if (work[row].output && place.readers() != 0)
    host.announce(row, tokenOf(row), kUnknown);
  const uint32_t where = place.net ? place.readers() : producer;
  for (uint32_t core = 0; core < cores; ++core) {
    if ((where >> core & 1) == 0)
      continue;
    if ((place.units() & kMatrixBit) != 0)
      matrix[core].announce(row, tokenOf(row), order.arrival[row]);
    if ((place.units() & kVectorBit) != 0)
      vector[core].announce(row, tokenOf(row), order.arrival[row]);
  }
}

void Announcements::announceWrites(uint32_t core) {
  std::map<uint32_t, size_t> writes; // left, by block
  for (const VectorItem &item : order.vector[core])
    writes[item.block] += item.block != kNoBlock;
  for (size_t i = 0; i < order.vector[core].size(); ++i) {
    const VectorItem &item = order.vector[core][i];
    if (item.block == kNoBlock) {
      announce(item.row, 1U << core);
    } else if (--writes[item.block] == 0) {
      // Blocks are few: they are taken one by one.
      matrix[core].announce(blockNumber(item.block), tokens.local, kUnknown);
      lastWrites.insert({core, i});
    }
  }
}

void Announcements::countSent() {
  sent.resize(graph.rows.size());
  for (const std::vector<VectorItem> &items : order.vector) {
    uint32_t count = 0;
    for (const VectorItem &item : items)
      if (item.block == kNoBlock && placement.rows[item.row].net)
        sent[item.row] = count++;
  }
}

void Announcements::announceSumsAhead(uint32_t core) {
  vector[core].announce(sumsAheadNumber(), tokens.ahead, kUnknown);
  for (uint32_t other = 0; other < cores; ++other)
    if ((askers(core) >> other & 1) != 0)
      vector[other].announce(readNumber(core), tokens.ofCore(core, 0), kUnknown);
}

} // namespace sluice::plan
