#include "tools/cli/table.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/support/problem_text.h"

namespace sluice::cli {
namespace {

std::string cellText(const Json &cell, bool percent) {
  if (cell.is_null())
    return "";
  if (cell.is_string())
    return cell.get<std::string>();
  if (cell.is_number_float())
    return percent ? fmt::format("{:.1f} %", 100 * cell.get<double>()) : cell.dump();
  if (!cell.is_array())
    return cell.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string text;
  for (const Json &item : cell)
    text += (text.empty() ? "" : " ") + cellText(item, percent);
  return text;
}

bool isEmpty(const Json &cell) {
  return cell.is_null() || (cell.is_array() && cell.empty()) ||
         (cell.is_number_unsigned() && cell == 0U) || (cell.is_string() && cell == "");
}

std::string quoted(std::string text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos)
    return text;
  for (size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2)
    text.insert(at, 1, '"');
  return '"' + text + '"';
}

} // namespace

std::string Table::text() const {
  std::vector<std::string> lines(rows.size() + 1);
  for (size_t c = 0; c < columns.size(); ++c) {
    const auto empty = [&](const auto &row) { return isEmpty(row[c]); };
    if (std::all_of(rows.begin(), rows.end(), empty))
      continue;
    std::vector<std::string> cells{columns[c]};
    bool left = false;
    for (const std::vector<Json> &row : rows) {
      cells.push_back(printable(cellText(row[c], true)));
      left |= row[c].is_string() || row[c].is_array();
    }
    size_t width = 0;
    for (const std::string &cell : cells)
      width = std::max(width, cell.size());
    for (size_t i = 0; i < cells.size(); ++i)
      lines[i] += (lines[i].empty() ? "" : "  ") + (left ? fmt::format("{:<{}}", cells[i], width)
                                                         : fmt::format("{:>{}}", cells[i], width));
  }
  std::string all;
  for (std::string &line : lines)
    all += line.erase(line.find_last_not_of(' ') + 1) + "\n";
  return all;
}

std::string Table::csv() const {
  std::string all = fmt::format("{}\n", fmt::join(columns, ","));
  for (const std::vector<Json> &row : rows) {
    std::vector<std::string> cells;
    for (const Json &cell : row)
      cells.push_back(quoted(printable(cellText(cell, false))));
    all += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return all;
}

Json Table::json() const {
  Json list = Json::array();
  for (const std::vector<Json> &row : rows) {
    Json object;
    for (size_t c = 0; c < columns.size(); ++c)
      object[columns[c]] = row[c];
    list.push_back(std::move(object));
  }
  return list;
}

} // namespace sluice::cli
