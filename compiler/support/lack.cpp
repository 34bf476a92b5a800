#include "compiler/support/lack.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "compiler/support/problem.h"

namespace sluice {

double lackOf(const Problems &problems) {
  std::map<std::string_view, double> times; // by memory
  for (const Problem &problem : problems)
    if (const auto *lacks = std::get_if<LacksMemory>(&problem.reason)) {
      double &most = times[lacks->memory];
      most = std::max(most,
                      static_cast<double>(lacks->needed) / static_cast<double>(lacks->available));
    }
  double all = 1;
  for (const auto &[memory, one] : times)
    all *= one;
  return all;
}

} // namespace sluice
