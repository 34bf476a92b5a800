// The HTML page of `sluice report`.
#pragma once

#include <string>

#include "tools/cli/command_output.h"

namespace sluice::cli {

/// A page that needs no other file and no network, and that runs no other script than its own.
std::string reportPage(const Json &report);

} // namespace sluice::cli
