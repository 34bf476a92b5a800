// Targets: the presets of hw/targets, which are part of the build, and geometries from files of the
// user.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/format/file_problem.h"
#include "runtime/format/geometry.h"

namespace sluice::format {

/// Returns all presets, ordered by name.
const std::vector<Geometry> &targetPresets();

std::vector<std::string> presetNames();

/// Returns the geometry of a preset; null if no preset has this name.
const Geometry *findPreset(std::string_view name);

/// A number of a geometry, and its name in a target file.
struct GeometryField {
  const char *name;
  uint32_t Geometry::*value;
};
/// Returns the numbers of a geometry, in the order of the program format.
std::span<const GeometryField> geometryFields();

/// Reads a geometry from the text of a JSON file. The file must have exactly the fields of a
/// preset; only `clock_source`, `cells`, `stages` and latencies in `stages` may be absent.
std::variant<Geometry, FileProblem> parseTarget(std::string_view json, const std::string &origin);

/// Returns the geometry that `--target` names: a preset, or a file if the name ends in ".json".
/// Errors: E0515 unknown preset, E0514 malformed file, E0501 unreadable file.
std::variant<Geometry, FileProblem> loadTarget(const std::string &nameOrFile);

/// Returns the text of a target file for a geometry.
std::string targetJson(const Geometry &geometry);

} // namespace sluice::format
