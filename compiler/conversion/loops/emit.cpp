#include "compiler/conversion/loops/emit.h"

#include "compiler/conversion/loops/core_list.h"
#include "compiler/conversion/loops/host_list.h"

namespace sluice::loops {

std::optional<std::vector<List>> emitLists(const rows::Program &program, const Map &map,
                                           const Choice &choice) {
  const uint32_t cores = program.geometry.cores;
  std::vector<std::vector<Statements>> statements(program.bodies.size());
  for (uint32_t b = 0; b < program.bodies.size(); ++b)
    for (uint32_t core = 0; core < cores; ++core) {
      Statements &made = statements[b].emplace_back();
      if ((coresOf(program, program.bodies[b], choice) >> core & 1) == 0)
        continue;
      auto own = makeStatements(program, map, choice, b, core);
      if (!own)
        return std::nullopt;
      made = std::move(*own);
    }
  const Links links = linksOf(program, map, choice, statements);
  std::vector<List> lists;
  for (uint32_t core = 0; core < cores; ++core)
    lists.push_back(coreList(program, map, choice, links, statements, core));
  lists.push_back(hostList(program, map, choice, links));
  return lists;
}

} // namespace sluice::loops
