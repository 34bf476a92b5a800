#include "tools/cli/memory_fill.h"

#include "runtime/format/program_file.h"

namespace sluice::cli {

std::vector<MemoryFill> memoryFills(const format::Program &program) {
  const format::Geometry &g = program.geometry;
  const std::vector<format::MemoryReach> reach = format::memoryReach(program);
  std::vector<MemoryFill> fills;
  for (size_t c = 0; c < program.cores.size(); ++c) {
    const format::CoreImage &core = program.cores[c];
    const std::string name = std::to_string(c);
    fills.push_back({name, "instructions", core.instructions.size(), g.instructions});
    fills.push_back({name, "weight blocks", reach[c].weightBlocks, g.weightBlocks});
    fills.push_back({name, "inbox rows", reach[c].inboxRows, g.inboxRows});
    fills.push_back({name, "local rows", reach[c].localRows, g.localRows});
    fills.push_back({name, "preload rows", core.preloads.size(), g.preloadRows});
    fills.push_back({name, "function tables", core.tables.size(), g.tables});
  }
  fills.push_back(
      {"host port", "host instructions", program.hostInstructions.size(), g.hostInstructions});
  return fills;
}

Json memoryJson(const format::Program &program) {
  Json list = Json::array();
  for (const MemoryFill &one : memoryFills(program))
    list.push_back({{"core", one.core},
                    {"memory", one.memory},
                    {"used", one.used},
                    {"capacity", one.capacity}});
  return list;
}

} // namespace sluice::cli
