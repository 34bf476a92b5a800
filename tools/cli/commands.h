// The commands of the driver, one file each. Every function adds a subcommand
// whose callback leaves its exit code in `exitCode`.
#pragma once

#include <CLI/CLI.hpp>

#include "tools/cli/command_output.h"

namespace sluice::cli {

inline constexpr const char *kDriverText =
    "compile ONNX models for the Sluice accelerator and run them";

/// All of them, and the options of the driver itself.
void addCommands(CLI::App &app, Common &common, int &exitCode);

void addCompile(CLI::App &app, const Common &common, int &exitCode);
void addCompare(CLI::App &app, const Common &common, int &exitCode);
void addDiff(CLI::App &app, const Common &common, int &exitCode);
void addReduce(CLI::App &app, const Common &common, int &exitCode);
void addReport(CLI::App &app, const Common &common, int &exitCode);
void addCheck(CLI::App &app, const Common &common, int &exitCode);
void addOps(CLI::App &app, const Common &common, int &exitCode);
void addRun(CLI::App &app, const Common &common, int &exitCode);
void addBench(CLI::App &app, const Common &common, int &exitCode);
void addProfile(CLI::App &app, const Common &common, int &exitCode);
void addInspect(CLI::App &app, const Common &common, int &exitCode);
void addSweep(CLI::App &app, const Common &common, int &exitCode);
void addTargets(CLI::App &app, const Common &common, int &exitCode);
void addExplain(CLI::App &app, const Common &common, int &exitCode);
void addVersion(CLI::App &app, const Common &common, int &exitCode);

/// What `sluice version` prints.
std::string versionText();

/// The title of an error code's page, without the code; empty if there is none.
std::string_view errorTitle(std::string_view code);

} // namespace sluice::cli
