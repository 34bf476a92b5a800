// The parts that a machine is compared with, and whether it fits one.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "runtime/format/area.h"

namespace sluice::format {

/// A resource of a part.
struct Resource {
  const char *name;  ///< in JSON, e.g. "dsp_blocks"
  const char *title; ///< in text, e.g. "DSP blocks"
  uint64_t Area::*value;
};

/// Returns the resources that decide whether a machine fits.
const std::array<Resource, 5> &resources();

/// A part of hw/area/parts.json.
struct Part {
  std::string name; ///< e.g. "VU9P"
  std::string text; ///< its family, or a board that carries it
  Area size;        ///< its resources, without ramBits
};

/// Returns the parts, the largest first.
const std::vector<Part> &parts();

enum class Verdict { Fits, Tight, TooSmall };

/// How a machine fits a part. The resource is the one with the largest share in use.
struct Fit {
  Verdict verdict = Verdict::Fits;
  const Resource *resource = nullptr;
  double share = 0; ///< in use; 1 is all that the part has
};

/// Above this share of a resource a part is tight: the cells leave few free wires between them, and
/// place and route seldom succeeds at a useful clock.
inline constexpr double kTightShare = 0.85;

/// Returns the share of a resource that a machine uses.
double shareOf(const Area &machine, const Part &part, const Resource &resource);

Fit fitOf(const Area &machine, const Part &part);

/// Returns "fits", "tight: 92 % of its LUTs" or "too small: 1.12 times its LUTs".
std::string fitText(const Fit &fit);

/// Returns "fits", "tight" or "too small".
std::string verdictText(Verdict verdict);

} // namespace sluice::format
