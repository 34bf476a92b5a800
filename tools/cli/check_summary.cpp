#include "tools/cli/check_summary.h"

#include <fmt/format.h>

namespace sluice::cli {
namespace {

/// Two digits, or the whole number.
std::string percentText(double percent) {
  return fmt::format(percent < 10 ? fmt::runtime("{:.2g} %") : fmt::runtime("{:.0f} %"), percent);
}

} // namespace

std::string checkedText(const check::Outcome &checked) {
  std::string text = fmt::format("{} input{}", checked.inputs, checked.inputs == 1 ? "" : "s");
  if (checked.steps > 0)
    text += fmt::format(" of {} step{}", checked.steps, checked.steps == 1 ? "" : "s");
  text += fmt::format(", largest error {} of the range", percentText(100 * checked.largestError));
  if (checked.unchecked > 0)
    text += fmt::format(", {} unchecked", percentText(100 * checked.uncheckedShare()));
  return text;
}

Json checkedJson(const std::optional<check::Outcome> &checked) {
  if (!checked)
    return nullptr;
  return {{"inputs", checked->inputs},
          {"steps", checked->steps > 0 ? Json(checked->steps) : Json(nullptr)},
          {"max_error_percent", 100 * checked->largestError},
          {"unchecked_percent", 100 * checked->uncheckedShare()}};
}

} // namespace sluice::cli
