// Targets: the presets of hw/targets, which are part of the build, and
// geometries from a user's file.
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

/// All presets, by name.
const std::vector<Geometry> &targetPresets();

std::vector<std::string> presetNames();

/// A preset's geometry; null if there is none of that name.
const Geometry *findPreset(std::string_view name);

/// A number of a geometry by its name in a target file.
struct GeometryField {
  const char *name;
  uint32_t Geometry::*value;
};
std::span<const GeometryField> geometryFields();

/// Reads a geometry from the text of a JSON file. Every field of a preset must
/// be there, and nothing else.
std::variant<Geometry, FileProblem> parseTarget(std::string_view json, const std::string &origin);

/// What `--target` names: a preset, or a file if the name ends in ".json".
/// E0515 unknown preset, E0514 malformed file, E0501 unreadable file.
std::variant<Geometry, FileProblem> loadTarget(const std::string &nameOrFile);

/// The geometry as the text of a target file.
std::string targetJson(const Geometry &geometry);

} // namespace sluice::format
