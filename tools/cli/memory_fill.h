// How much of every memory of the machine a program uses.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/format/program.h"
#include "tools/cli/command_output.h"

namespace sluice::cli {

struct MemoryFill {
  std::string core; ///< its number, or "host port"
  std::string_view memory;
  size_t used = 0, capacity = 0;
};

/// Of every core in turn, then of the host port.
std::vector<MemoryFill> memoryFills(const format::Program &program);

/// [{"core","memory","used","capacity"}]
Json memoryJson(const format::Program &program);

} // namespace sluice::cli
