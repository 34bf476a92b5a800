#include "runtime/format/parts.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sluice::format {

/// The file hw/area/parts.json.
const std::vector<std::pair<std::string_view, std::string_view>> &partFiles();

const std::array<Resource, 5> &resources() {
  static const std::array<Resource, 5> all = {{
      {"luts", "LUTs", &Area::luts},
      {"flip_flops", "flip-flops", &Area::flipFlops},
      {"dsp_blocks", "DSP blocks", &Area::dspBlocks},
      {"block_rams", "block RAMs", &Area::blockRams},
      {"ultra_rams", "UltraRAMs", &Area::ultraRams},
  }};
  return all;
}

const std::vector<Part> &parts() {
  static const std::vector<Part> all = [] {
    std::vector<Part> found;
    const auto file = nlohmann::json::parse(partFiles().front().second);
    for (const auto &one : file["parts"]) {
      Part part{one["name"], one["text"], {}};
      for (const Resource &resource : resources())
        part.size.*resource.value = one[resource.name];
      found.push_back(part);
    }
    return found;
  }();
  return all;
}

double shareOf(const Area &machine, const Part &part, const Resource &resource) {
  return static_cast<double>(machine.*resource.value) /
         static_cast<double>(part.size.*resource.value);
}

Fit fitOf(const Area &machine, const Part &part) {
  Fit fit;
  for (const Resource &resource : resources()) {
    const double share = shareOf(machine, part, resource);
    if (fit.resource == nullptr || share > fit.share)
      fit = {Verdict::Fits, &resource, share};
  }
  if (fit.share > 1)
    fit.verdict = Verdict::TooSmall;
  else if (fit.share > kTightShare)
    fit.verdict = Verdict::Tight;
  return fit;
}

std::string fitText(const Fit &fit) {
  switch (fit.verdict) {
  case Verdict::TooSmall: // never "1.00 times"
    return fmt::format("too small: {:.2f} times its {}", std::max(1.01, fit.share),
                       fit.resource->title);
  case Verdict::Tight:
    return fmt::format("tight: {:.0f} % of its {}", 100 * fit.share, fit.resource->title);
  case Verdict::Fits:
    break;
  }
  return "fits";
}

std::string verdictText(Verdict verdict) {
  switch (verdict) {
  case Verdict::TooSmall:
    return "too small";
  case Verdict::Tight:
    return "tight";
  case Verdict::Fits:
    break;
  }
  return "fits";
}

} // namespace sluice::format
