#include "runtime/format/targets.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "compiler/support/problem.h"

namespace sluice::format {
namespace {

std::string problemOf(std::string json) {
  const auto result = parseTarget(json, "t.json");
  const auto *problem = std::get_if<FileProblem>(&result);
  return problem ? problem->code + " " + problem->message : "none";
}

TEST(Targets, PresetsAreEmbedded) {
  std::vector<std::string> names;
  for (const Geometry &preset : targetPresets())
    names.push_back(preset.name);
  EXPECT_EQ(names, (std::vector<std::string>{"c2b8", "c3b64", "c6b32", "c6b32-deep", "ecp5-85f"}));
  const Geometry *deep = findPreset("c6b32-deep");
  ASSERT_TRUE(deep);
  EXPECT_EQ(deep->weightBlocks, 4096U);
  EXPECT_EQ(deep->rtl, "c6b32");
}

TEST(Targets, TextRoundTrip) {
  for (const Geometry &preset : targetPresets())
    EXPECT_EQ(std::get<Geometry>(parseTarget(targetJson(preset), "x")), preset);
}

TEST(Targets, SourceOfTheClock) {
  Geometry measured = *findPreset("c2b8");
  EXPECT_EQ(measured.clockSource, "nominal");
  measured.clockSource = "routed on LFE5U-85F-6";
  EXPECT_EQ(std::get<Geometry>(parseTarget(targetJson(measured), "x")), measured);
  std::string json = targetJson(*findPreset("c2b8"));
  const std::string field = ",\n  \"clock_source\": \"nominal\"";
  json.erase(json.find(field), field.size());
  EXPECT_EQ(std::get<Geometry>(parseTarget(json, "x")), *findPreset("c2b8"));
}

TEST(Targets, Cells) {
  EXPECT_EQ(findPreset("c2b8")->cells.name, "portable");
  std::string json = targetJson(*findPreset("c2b8"));
  const std::string field = ",\n  \"cells\": \"portable\"";
  ASSERT_NE(json.find(field), std::string::npos);
  std::string other = json;
  other.replace(other.find("portable"), 8, "ecp5");
  const auto made = std::get<Geometry>(parseTarget(other, "x"));
  EXPECT_EQ(made.cells.name, "ecp5");
  EXPECT_EQ(targetJson(made), other);
  EXPECT_EQ(made, *findPreset("c2b8")); // the same machine to every program
  json.erase(json.find(field), field.size());
  EXPECT_EQ(std::get<Geometry>(parseTarget(json, "x")).cells.name, "portable");
  // Every folder of cells can be named.
  for (const auto &entry : std::filesystem::directory_iterator(SLUICE_SOURCE_DIR "/hw/rtl/cells"))
    if (entry.is_directory()) {
      std::string named = other;
      named.replace(named.find("ecp5"), 4, entry.path().filename().string());
      EXPECT_EQ(problemOf(named), "none");
    }
}

TEST(Targets, Stages) {
  Geometry deeper = *findPreset("c2b8");
  EXPECT_EQ(deeper.stages, isa::Stages());
  for (const isa::StageInfo &stage : isa::kStages) {
    deeper.stages.*stage.value = stage.most;
    EXPECT_EQ(std::get<Geometry>(parseTarget(targetJson(deeper), "x")), deeper) << stage.name;
  }
}

TEST(Targets, Problems) {
  EXPECT_EQ(problemOf("{"), "E0514 target 't.json': not a JSON object");
  EXPECT_EQ(problemOf("{}"), "E0514 target 't.json': 'name' must be a string");
  std::string json = targetJson(*findPreset("c2b8"));
  auto with = [&](const std::string &from, const std::string &to) {
    std::string changed = json;
    return changed.replace(changed.find(from), from.size(), to);
  };
  EXPECT_EQ(problemOf(with("\"lanes\": 8", "\"lanes\": -8")),
            "E0514 target 't.json': 'lanes' must be a positive integer");
  EXPECT_EQ(problemOf(with("\"lanes\": 8", "\"lanes\": 8.5")),
            "E0514 target 't.json': 'lanes' must be a positive integer");
  EXPECT_EQ(problemOf(with("\"cores\": 2", "\"cores\": 20")),
            "E0514 target 't.json': cores is 20, allowed: 1 to 8");
  EXPECT_EQ(problemOf(with("{", "{\"colour\": 1,")),
            "E0514 target 't.json': unknown field 'colour'");
  EXPECT_EQ(problemOf(with("\"nominal\"", "3")),
            "E0514 target 't.json': 'clock_source' must be a string");
  EXPECT_EQ(problemOf(with("\"net_hop\": 3", "\"net_hop\": 9")),
            "E0514 target 't.json': net_hop is 9, allowed: 2 to 6");
  EXPECT_EQ(problemOf(with("\"net_hop\": 3", "\"net_hop\": 1.5")),
            "E0514 target 't.json': 'net_hop' in 'stages' must be a positive integer");
  EXPECT_EQ(problemOf(with("\"net_hop\": 3", "\"net_hops\": 3")),
            "E0514 target 't.json': unknown field 'net_hops' in 'stages'");
  EXPECT_EQ(problemOf(with("\"stages\": {", "\"stages\": 3, \"x\": {")),
            "E0514 target 't.json': 'stages' must be an object");
  for (const std::string wrong : {"\"vu13p\"", "3"})
    EXPECT_EQ(problemOf(with("\"portable\"", wrong)),
              "E0514 target 't.json': 'cells' must be portable or ecp5");
  for (const std::string wrong : {R"("")", R"("fast\n")", R"("\u00b5")"})
    EXPECT_EQ(problemOf(with("\"nominal\"", wrong)),
              "E0514 target 't.json': 'clock_source' must have 1 to 64 printable ASCII characters");
  const auto unknown = loadTarget("c9b9");
  EXPECT_EQ(
      std::get<FileProblem>(unknown).message,
      "unknown target 'c9b9', allowed: c2b8, c3b64, c6b32, c6b32-deep, ecp5-85f or a .json file");
}

} // namespace
} // namespace sluice::format
