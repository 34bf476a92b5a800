// A table as text, CSV or JSON: one source, so that they cannot disagree.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/command_output.h"

namespace sluice::cli {

struct Table {
  std::vector<std::string> columns; ///< heads, CSV header and JSON keys
  std::vector<std::vector<Json>> rows;

  /// Aligned columns; those that are 0 or empty in every row are left out. Shares
  /// (numbers that are not whole) are printed in percent.
  std::string text() const;
  /// RFC 4180 with a header; lists are joined by spaces.
  std::string csv() const;
  /// An object per row.
  Json json() const;
};

} // namespace sluice::cli
