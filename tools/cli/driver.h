// The whole command line.
#pragma once

namespace sluice::cli {

/// Parses and runs; the exit code.
int runDriver(int argc, char **argv);

} // namespace sluice::cli
