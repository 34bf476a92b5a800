#include "tools/cli/area.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/format/parts.h"

namespace sluice::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// Returns the rows with aligned columns: the first and the last one to the left.
std::string aligned(const Rows &rows) {
  std::vector<size_t> widths;
  for (const auto &row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto &row : rows) {
    std::string line = fmt::format("{:<{}}", row.front(), widths.front());
    for (size_t i = 1; i < row.size(); ++i)
      line += i + 1 < widths.size() ? fmt::format("  {:>{}}", row[i], widths[i]) : "  " + row[i];
    text += line + "\n";
  }
  return text;
}

/// Returns a row with the title of each resource.
std::vector<std::string> heads(const std::string &first, const std::string &last) {
  std::vector<std::string> row{first};
  for (const format::Resource &resource : format::resources())
    row.push_back(resource.title);
  if (!last.empty())
    row.push_back(last);
  return row;
}

std::vector<std::string> sizeRow(const std::string &name, const format::Area &area) {
  std::vector<std::string> row{name};
  for (const format::Resource &resource : format::resources())
    row.push_back(format::threeDigits(area.*resource.value));
  return row;
}

/// Returns the parts that a machine fits, e.g. "V80, VU13P (tight)", or "none".
std::string fittingParts(const format::Area &area) {
  std::vector<std::string> names;
  for (const format::Part &part : format::parts()) {
    const format::Verdict verdict = format::fitOf(area, part).verdict;
    if (verdict != format::Verdict::TooSmall)
      names.push_back(part.name + (verdict == format::Verdict::Tight ? " (tight)" : ""));
  }
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

} // namespace

std::string areaTable(const std::vector<format::Geometry> &targets) {
  Rows rows{heads("target", "fits")};
  for (const format::Geometry &target : targets) {
    const format::Area area = format::estimateArea(target);
    rows.push_back(sizeRow(target.name, area));
    rows.back().push_back(fittingParts(area));
  }
  return aligned(rows);
}

std::string areaPage(const format::Geometry &target) {
  const format::Area area = format::estimateArea(target);
  Rows rows{heads(target.name, ""), sizeRow("one core", format::estimateCore(target)),
            sizeRow(fmt::format("machine of {} core{}", target.cores, target.cores > 1 ? "s" : ""),
                    area)};
  rows.push_back(heads("share of the part", "fit"));
  for (const format::Part &part : format::parts()) {
    std::vector<std::string> row{part.name};
    for (const format::Resource &resource : format::resources())
      row.push_back(fmt::format("{:.0f} %", 100 * format::shareOf(area, part, resource)));
    row.push_back(format::fitText(format::fitOf(area, part)));
    rows.push_back(row);
  }
  return aligned(rows);
}

Json areaReportJson(const format::Geometry &target) {
  const format::Area area = format::estimateArea(target);
  Json parts = Json::array();
  for (const format::Part &part : format::parts()) {
    const format::Fit fit = format::fitOf(area, part);
    Json shares = Json::object();
    for (const format::Resource &resource : format::resources())
      shares[resource.name] = format::shareOf(area, part, resource);
    parts.push_back({{"part", part.name},
                     {"verdict", format::verdictText(fit.verdict)},
                     {"resource", fit.resource->name},
                     {"shares", shares}});
  }
  return {{"target", target.name},
          {"core", areaJson(format::estimateCore(target))},
          {"machine", areaJson(area)},
          {"parts", parts}};
}

} // namespace sluice::cli
