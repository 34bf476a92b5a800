#include "compiler/conversion/loops/block_bound.h"

#include <map>
#include <set>

#include "compiler/conversion/plan/order/work.h"

namespace sluice::loops {

BlockBound blockBound(const rows::Program &program) {
  std::set<rows::WeightBlock> seen;
  std::map<uint32_t, uint64_t> byNode;
  for (const rows::Body &body : program.bodies) {
    const plan::Work work = plan::analyse(body.trip);
    std::vector<bool> isKnown(body.trip.blocks.size());
    for (rows::RowId row = 0; row < body.trip.rows.size(); ++row)
      if (work[row].live)
        for (const rows::Term &term : work[row].terms) {
          if (isKnown[term.block] || body.trip.dynamic.contains(term.block))
            continue;
          isKnown[term.block] = true;
          const std::vector<uint32_t> &nodes = body.trip.rows[row].nodes;
          if (seen.insert(body.trip.blocks[term.block]).second && !nodes.empty())
            ++byNode[nodes.front()];
        }
  }
  return {seen.size(), plan::largestUsers(byNode, program.nodes)};
}

} // namespace sluice::loops
