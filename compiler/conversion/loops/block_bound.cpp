#include "compiler/conversion/loops/block_bound.h"

#include <set>

#include "compiler/conversion/plan/order/work.h"

namespace sluice::loops {

BlockBound blockBound(const rows::Program &program) {
  std::set<rows::WeightBlock> seen;
  plan::NodeCount count(program.nodes);
  for (const rows::Body &body : program.bodies) {
    const plan::Work work = plan::analyse(body.trip);
    std::vector<bool> isKnown(body.trip.blocks.size());
    for (rows::RowId row = 0; row < body.trip.rows.size(); ++row)
      if (work[row].live)
        for (const rows::Term &term : work[row].terms) {
          if (isKnown[term.block] || body.trip.dynamic.contains(term.block))
            continue;
          isKnown[term.block] = true;
          if (seen.insert(body.trip.blocks[term.block]).second)
            count.add(body.trip.rows[row]);
        }
  }
  return {seen.size(), count.largest()};
}

} // namespace sluice::loops
