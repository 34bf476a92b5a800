#include "tools/cli/requirements.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/support/suggestion.h"

namespace sluice::cli {
namespace {

constexpr std::string_view kForm = "QUANTITY<=NUMBER or QUANTITY>=NUMBER";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

std::vector<std::string> namesOf(const std::vector<Quantity> &quantities) {
  std::vector<std::string> names;
  for (const Quantity &one : quantities)
    names.push_back(one.name);
  return names;
}

/// "0.41 %", "54".
std::string valueText(double value, const std::string &unit) {
  return unit.empty() ? fmt::format("{:.0f}", value) : fmt::format("{:.6g} {}", value, unit);
}

Json valueJson(const Quantity &found) {
  if (!found.value)
    return nullptr;
  if (!std::isfinite(*found.value))
    return "inf";
  return found.unit.empty() ? Json(static_cast<uint64_t>(*found.value)) : Json(*found.value);
}

} // namespace

void Requirements::add(CLI::App &command, std::string_view example) {
  command
      .add_option("--require", texts,
                  fmt::format("end with exit code 1 if a limit is not met: \"{}\"", example))
      ->type_name("LIMITS")
      ->allow_extra_args(false);
}

void Requirements::read(const std::vector<Quantity> &known, Problems &problems) {
  for (std::string_view rest : texts)
    while (true) {
      const size_t comma = rest.find(',');
      readOne(trimmed(rest.substr(0, comma)), known, problems);
      if (comma == std::string_view::npos)
        break;
      rest.remove_prefix(comma + 1);
    }
}

void Requirements::readOne(std::string_view text, const std::vector<Quantity> &known,
                           Problems &problems) {
  const auto wrong = [&](const std::string &message) -> Problem & {
    problems.push_back(problem("E0601", message));
    return problems.back();
  };
  const size_t compare = text.find_first_of("<>=");
  const bool hasCompare = compare != std::string_view::npos &&
                          (text.substr(compare, 2) == "<=" || text.substr(compare, 2) == ">=");
  double limit = 0;
  const std::string_view number = hasCompare ? trimmed(text.substr(compare + 2)) : "";
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), limit);
  if (!hasCompare || parsed.ec != std::errc() || !std::isfinite(limit)) {
    wrong(fmt::format("--require '{}' is not of the form {}", text, kForm));
    return;
  }
  const std::string name(trimmed(text.substr(0, compare)));
  const auto quantity = std::find_if(known.begin(), known.end(),
                                     [&](const Quantity &one) { return one.name == name; });
  if (quantity == known.end()) {
    wrong(fmt::format("--require '{}': no quantity '{}' is measured, allowed: {}", text, name,
                      fmt::join(namesOf(known), ", ")))
        .fixes = suggestion(name, namesOf(known));
    return;
  }
  // A share without its sign could be meant as a fraction.
  const std::string_view unit =
      trimmed(number.substr(static_cast<size_t>(parsed.ptr - number.data())));
  if (unit != quantity->unit && !(unit.empty() && quantity->unit != "%")) {
    const auto unitText = [](std::string_view one) {
      return one.empty() ? std::string("no unit") : fmt::format("the unit {}", one);
    };
    wrong(fmt::format("--require '{}' has {}, allowed: {}", text, unitText(unit),
                      unitText(quantity->unit)));
    return;
  }
  requirements.push_back(
      {std::string(text), name, std::string(text.substr(compare, 2)), limit, *quantity});
}

void Requirements::judge(const std::vector<Quantity> &measured) {
  for (Requirement &one : requirements)
    one.found = *std::find_if(measured.begin(), measured.end(),
                              [&](const Quantity &found) { return found.name == one.name; });
}

bool Requirements::Requirement::isMet() const {
  if (!found.value)
    return false;
  return compare == "<=" ? *found.value <= limit : *found.value >= limit;
}

std::string Requirements::Requirement::foundText() const {
  return found.value ? valueText(*found.value, found.unit) : "not measured";
}

bool Requirements::areMet() const {
  return std::all_of(requirements.begin(), requirements.end(),
                     [](const Requirement &one) { return one.isMet(); });
}

std::string Requirements::text() const {
  std::string lines;
  for (const Requirement &one : requirements)
    lines += fmt::format("{:<20}{}: {}, {}\n", "required", one.text, one.foundText(),
                         one.isMet() ? "met" : "not met");
  return lines;
}

Problems Requirements::problems() const {
  Problems found;
  for (const Requirement &one : requirements)
    if (!one.isMet())
      found.push_back(problem(
          "E0620", fmt::format("'{}' is {}, required: {}", one.name, one.foundText(), one.text)));
  return found;
}

void Requirements::addTo(Json &result) const {
  if (empty())
    return;
  Json list = Json::array();
  for (const Requirement &one : requirements)
    list.push_back({{"text", one.text}, {"value", valueJson(one.found)}, {"ok", one.isMet()}});
  result["required"] = list;
  if (areMet())
    return;
  result["ok"] = false;
  result["errors"] = errorsJson(problems());
}

} // namespace sluice::cli
