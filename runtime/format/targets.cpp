#include "runtime/format/targets.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/format/checks.h"

namespace sluice::format {

/// The files of hw/targets (generated).
const std::vector<std::pair<std::string_view, std::string_view>> &targetFiles();

namespace {

constexpr std::array<GeometryField, 12> kFields{{
    {"cores", &Geometry::cores},
    {"lanes", &Geometry::lanes},
    {"pe_terms", &Geometry::peTerms},
    {"weight_blocks", &Geometry::weightBlocks},
    {"inbox_rows", &Geometry::inboxRows},
    {"local_rows", &Geometry::localRows},
    {"accumulators", &Geometry::accumulators},
    {"preload_rows", &Geometry::preloadRows},
    {"instructions", &Geometry::instructions},
    {"host_instructions", &Geometry::hostInstructions},
    {"tables", &Geometry::tables},
    {"clock_mhz", &Geometry::clockMhz},
}};

struct TextField {
  const char *name;
  std::string Geometry::*value;
  bool isOptional = false;
};
constexpr std::array<TextField, 3> kTexts{{
    {"name", &Geometry::name},
    {"rtl", &Geometry::rtl},
    {"clock_source", &Geometry::clockSource, true},
}};

constexpr const char *kStagesField = "stages";
constexpr const char *kCellsField = "cells";

/// The folders of hw/rtl/cells, and what stands in that folder itself.
constexpr std::array kCells{"portable", "ecp5"};

bool isField(const std::string &name) {
  const auto isNamed = [&](const auto &field) { return name == field.name; };
  return name == kStagesField || name == kCellsField || std::ranges::any_of(kTexts, isNamed) ||
         std::ranges::any_of(kFields, isNamed);
}

/// The number in a field of a target file; nothing if it is not a positive integer.
std::optional<uint32_t> numberOf(const nlohmann::json &value) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > std::numeric_limits<uint32_t>::max())
    return std::nullopt;
  return value.get<uint32_t>();
}

/// Reads the field `cells` of a target file. Returns the problem, or nothing.
std::optional<std::string> readCells(const nlohmann::json &value, CellLibrary &cells) {
  if (!value.is_string() || std::ranges::find(kCells, value.get<std::string>()) == kCells.end())
    return fmt::format("'{}' must be {}", kCellsField, fmt::join(kCells, " or "));
  cells.name = value.get<std::string>();
  return std::nullopt;
}

/// Reads the object `stages` of a target file. Returns the problem, or nothing.
std::optional<std::string> readStages(const nlohmann::json &object, isa::Stages &stages) {
  if (!object.is_object())
    return fmt::format("'{}' must be an object", kStagesField);
  for (const auto &item : object.items()) {
    const auto *info = std::ranges::find(isa::kStages, item.key(), &isa::StageInfo::name);
    if (info == std::end(isa::kStages))
      return fmt::format("unknown field '{}' in '{}'", item.key(), kStagesField);
    const std::optional<uint32_t> value = numberOf(item.value());
    if (!value)
      return fmt::format("'{}' in '{}' must be a positive integer", item.key(), kStagesField);
    stages.*info->value = *value;
  }
  return std::nullopt;
}

} // namespace

std::span<const GeometryField> geometryFields() { return kFields; }

const std::vector<Geometry> &targetPresets() {
  static const std::vector<Geometry> presets = [] {
    std::vector<Geometry> all;
    for (const auto &[name, text] : targetFiles()) {
      auto parsed = parseTarget(text, std::string(name));
      // The presets are checked when the product is built (unit test).
      if (auto *geometry = std::get_if<Geometry>(&parsed))
        all.push_back(std::move(*geometry));
    }
    std::sort(all.begin(), all.end(),
              [](const Geometry &a, const Geometry &b) { return a.name < b.name; });
    return all;
  }();
  return presets;
}

std::vector<std::string> presetNames() {
  std::vector<std::string> names;
  for (const Geometry &preset : targetPresets())
    names.push_back(preset.name);
  return names;
}

const Geometry *findPreset(std::string_view name) {
  for (const Geometry &preset : targetPresets())
    if (preset.name == name)
      return &preset;
  return nullptr;
}

std::variant<Geometry, FileProblem> parseTarget(std::string_view json, const std::string &origin) {
  auto bad = [&](const std::string &what) {
    return FileProblem{"E0514", fmt::format("target '{}': {}", origin, what)};
  };
  const auto root = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object())
    return bad("not a JSON object");
  Geometry geometry;
  for (const auto &[key, text, isOptional] : kTexts) {
    if (isOptional && !root.contains(key))
      continue;
    if (!root.contains(key) || !root[key].is_string())
      return bad(fmt::format("'{}' must be a string", key));
    geometry.*text = root[key].get<std::string>();
  }
  for (const auto &[key, member] : kFields) {
    const std::optional<uint32_t> value = root.contains(key) ? numberOf(root[key]) : std::nullopt;
    if (!value)
      return bad(fmt::format("'{}' must be a positive integer", key));
    geometry.*member = *value;
  }
  if (root.contains(kCellsField))
    if (const auto wrong = readCells(root[kCellsField], geometry.cells))
      return bad(*wrong);
  if (root.contains(kStagesField))
    if (const auto wrong = readStages(root[kStagesField], geometry.stages))
      return bad(*wrong);
  for (const auto &item : root.items())
    if (!isField(item.key()))
      return bad(fmt::format("unknown field '{}'", item.key()));
  if (const auto wrong = checkGeometry(geometry))
    return bad(*wrong);
  return geometry;
}

std::variant<Geometry, FileProblem> loadTarget(const std::string &nameOrFile) {
  if (!nameOrFile.ends_with(".json")) {
    if (const Geometry *preset = findPreset(nameOrFile))
      return *preset;
    return FileProblem{"E0515",
                       fmt::format("unknown target '{}', allowed: {} or a .json file", nameOrFile,
                                   fmt::join(presetNames(), ", ")),
                       presetNames()};
  }
  std::vector<uint8_t> bytes;
  if (auto problem = readBytes(nameOrFile, bytes))
    return *problem;
  return parseTarget({reinterpret_cast<const char *>(bytes.data()), bytes.size()}, nameOrFile);
}

std::string targetJson(const Geometry &geometry) {
  nlohmann::ordered_json root;
  root["name"] = geometry.name;
  root["rtl"] = geometry.rtl;
  for (const auto &[key, member] : kFields)
    root[key] = geometry.*member;
  root["clock_source"] = geometry.clockSource;
  root[kCellsField] = geometry.cells.name;
  for (const isa::StageInfo &stage : isa::kStages)
    root[kStagesField][stage.name] = geometry.stages.*stage.value;
  return root.dump(2);
}

} // namespace sluice::format
