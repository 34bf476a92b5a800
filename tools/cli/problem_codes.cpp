#include "tools/cli/problem_codes.h"

#include <algorithm>

namespace sluice::cli {
namespace {

constexpr ProblemCode kCodes[] = {
    {"E0101", Malformed},       {"E0102", Malformed},       {"E0103", Refused},
    {"E0104", Refused},         {"E0105", Malformed},       {"E0106", Malformed},
    {"E0107", Malformed},       {"E0108", Malformed},       {"E0109", Malformed},
    {"E0110", Malformed},       {"E0111", Usage},           {"E0112", Usage},
    {"E0113", Malformed},       {"E0114", Refused},         {"E0115", Malformed},
    {"E0116", Malformed},       {"E0117", Usage},           {"E0118", Refused},
    {"E0119", Usage},           {"E0120", Usage},           {"E0121", Usage},
    {"E0199", Internal},        {"E0201", Refused},         {"E0202", Refused},
    {"E0203", Refused},         {"E0204", Refused},         {"E0205", Refused},
    {"E0206", Refused},         {"E0207", Refused},         {"E0208", Refused},
    {"E0301", Refused},         {"E0302", Refused},         {"E0303", Refused},
    {"E0304", Refused},         {"E0305", Refused},         {"E0306", Refused},
    {"E0307", Refused},         {"E0308", Refused},         {"E0309", Refused},
    {"E0310", Refused},         {"E0311", Usage},           {"E0312", Refused},
    {"E0401", DoesNotFit},      {"E0402", DoesNotFit},      {"E0403", DoesNotFit},
    {"E0404", DoesNotFit},      {"E0405", DoesNotFit},      {"E0406", DoesNotFit},
    {"E0407", DoesNotFit},      {"E0408", Refused},         {"E0409", DoesNotFit},
    {"E0411", Refused},         {"E0412", Refused},         {"E0413", Refused},
    {"E0414", Refused},         {"E0415", DoesNotFit},      {"E0417", Refused},
    {"E0418", Usage},           {"E0498", Internal},        {"E0499", Internal},
    {"E0501", Malformed, true}, {"E0502", Malformed, true}, {"E0503", Malformed, true},
    {"E0504", Malformed, true}, {"E0505", Malformed, true}, {"E0506", Malformed, true},
    {"E0507", Malformed, true}, {"E0508", Malformed, true}, {"E0509", Malformed, true},
    {"E0510", Malformed, true}, {"E0511", Malformed, true}, {"E0512", Malformed, true},
    {"E0513", Malformed, true}, {"E0514", Malformed, true}, {"E0515", Usage, true},
    {"E0516", Usage, true},     {"E0517", Malformed, true}, {"E0601", Usage},
    {"E0602", Usage},           {"E0603", Usage},           {"E0604", Usage},
    {"E0605", Malformed},       {"E0606", Refused},         {"E0607", Internal},
    {"E0608", Internal},        {"E0609", Internal},        {"E0610", Internal},
    {"E0611", Internal},        {"E0612", Refused},         {"E0613", Different},
    {"E0614", Different},       {"E0615", Malformed},       {"E0616", Malformed},
    {"E0617", Refused},         {"E0618", Usage},           {"E0619", Different},
    {"E0620", Different},       {"E0621", Usage},           {"E0622", Malformed},
    {"E0623", Usage},           {"E0624", Malformed},
};
static_assert(std::ranges::is_sorted(kCodes, {}, &ProblemCode::code));

/// Codes without a definition are a fault of sluice.
constexpr ProblemCode kUnknown{"", Internal};

} // namespace

std::span<const ProblemCode> problemCodes() { return kCodes; }

const ProblemCode &definitionOf(std::string_view code) {
  const auto found = std::ranges::lower_bound(kCodes, code, {}, &ProblemCode::code);
  return found != std::end(kCodes) && found->code == code ? *found : kUnknown;
}

ExitCode exitCodeOf(const Problems &problems) {
  const auto exit = [](const Problem &one) { return definitionOf(one.code).exit; };
  if (std::ranges::find(problems, Internal, exit) != problems.end())
    return Internal;
  return problems.empty() ? Ok : exit(problems.front());
}

} // namespace sluice::cli
