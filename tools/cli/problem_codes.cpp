#include "tools/cli/problem_codes.h"

#include <algorithm>

namespace sluice::cli {
namespace {

using Kind = ProblemKind;

constexpr ProblemCode kCodes[] = {
    {"E0101", Malformed, Kind::Model},
    {"E0102", Malformed, Kind::Model},
    {"E0103", Refused, Kind::Model},
    {"E0104", Refused, Kind::Model},
    {"E0105", Malformed, Kind::Model},
    {"E0106", Malformed, Kind::Model},
    {"E0107", Malformed, Kind::Model},
    {"E0108", Malformed, Kind::Model},
    {"E0109", Malformed, Kind::Model},
    {"E0110", Malformed, Kind::Model},
    {"E0111", Usage, Kind::Model},
    {"E0112", Usage, Kind::Argument},
    {"E0113", Malformed, Kind::Model},
    {"E0114", Refused, Kind::Model},
    {"E0115", Malformed, Kind::Model},
    {"E0116", Malformed, Kind::Model},
    {"E0117", Usage, Kind::Argument},
    {"E0118", Refused, Kind::Model},
    {"E0119", Usage, Kind::Argument},
    {"E0120", Usage, Kind::Argument},
    {"E0121", Usage, Kind::Argument},
    {"E0199", Internal, Kind::Model},
    {"E0201", Refused, Kind::Model},
    {"E0202", Refused, Kind::Model},
    {"E0203", Refused, Kind::Model},
    {"E0204", Refused, Kind::Model},
    {"E0205", Refused, Kind::Model},
    {"E0206", Refused, Kind::Model},
    {"E0207", Refused, Kind::Model},
    {"E0208", Refused, Kind::Model},
    {"E0301", Refused, Kind::Model},
    {"E0302", Refused, Kind::Model},
    {"E0303", Refused, Kind::Model},
    {"E0304", Refused, Kind::Model},
    {"E0305", Refused, Kind::Model},
    {"E0306", Refused, Kind::Model},
    {"E0307", Refused, Kind::Model},
    {"E0308", Refused, Kind::Model},
    {"E0309", Refused, Kind::Model},
    {"E0310", Refused, Kind::Model},
    {"E0311", Usage, Kind::Argument},
    {"E0312", Refused, Kind::Model},
    {"E0401", DoesNotFit, Kind::Model},
    {"E0402", DoesNotFit, Kind::Model},
    {"E0403", DoesNotFit, Kind::Model},
    {"E0404", DoesNotFit, Kind::Model},
    {"E0405", DoesNotFit, Kind::Model},
    {"E0406", DoesNotFit, Kind::Model},
    {"E0407", DoesNotFit, Kind::Model},
    {"E0408", Refused, Kind::Model},
    {"E0409", DoesNotFit, Kind::Model},
    {"E0411", Refused, Kind::Model},
    {"E0412", Refused, Kind::Model},
    {"E0413", Refused, Kind::Model},
    {"E0414", Refused, Kind::Model},
    {"E0415", DoesNotFit, Kind::Model},
    {"E0417", Refused, Kind::Model},
    {"E0418", Usage, Kind::Model},
    {"E0498", Internal, Kind::Model},
    {"E0499", Internal, Kind::Model},
    {"E0501", Malformed, Kind::Program, true},
    {"E0502", Malformed, Kind::Program, true},
    {"E0503", Malformed, Kind::Program, true},
    {"E0504", Malformed, Kind::Program, true},
    {"E0505", Malformed, Kind::Program, true},
    {"E0506", Malformed, Kind::Program, true},
    {"E0507", Malformed, Kind::Program, true},
    {"E0508", Malformed, Kind::Program, true},
    {"E0509", Malformed, Kind::Program, true},
    {"E0510", Malformed, Kind::Program, true},
    {"E0511", Malformed, Kind::Program, true},
    {"E0512", Malformed, Kind::Program, true},
    {"E0513", Malformed, Kind::Program, true},
    {"E0514", Malformed, Kind::Program, true},
    {"E0515", Usage, Kind::Argument, true},
    {"E0516", Usage, Kind::Argument, true},
    {"E0517", Malformed, Kind::Program, true},
    {"E0601", Usage, Kind::Argument},
    {"E0602", Usage, Kind::Argument},
    {"E0603", Usage, Kind::Argument},
    {"E0604", Usage, Kind::Argument},
    {"E0605", Malformed, Kind::Argument},
    {"E0606", Refused, Kind::Argument},
    {"E0607", Internal, Kind::Run},
    {"E0608", Internal, Kind::Run},
    {"E0609", Internal, Kind::Run},
    {"E0610", Internal, Kind::Run},
    {"E0611", Internal, Kind::Run},
    {"E0612", Refused, Kind::Argument},
    {"E0613", Different, Kind::Run},
    {"E0614", Different, Kind::Run},
    {"E0615", Malformed, Kind::Argument},
    {"E0616", Malformed, Kind::Run},
    {"E0617", Refused, Kind::Run},
    {"E0618", Usage, Kind::Argument},
    {"E0619", Different, Kind::Run},
    {"E0620", Different, Kind::Model},
    {"E0621", Usage, Kind::Argument},
    {"E0622", Malformed, Kind::Argument},
    {"E0623", Usage, Kind::Argument},
    {"E0624", Malformed, Kind::Argument},
};
static_assert(std::ranges::is_sorted(kCodes, {}, &ProblemCode::code));

/// Codes without a definition are a fault of sluice.
constexpr ProblemCode kUnknown{"", Internal, ProblemKind::Model};

} // namespace

std::span<const ProblemCode> problemCodes() { return kCodes; }

const ProblemCode &definitionOf(std::string_view code) {
  const auto found = std::ranges::lower_bound(kCodes, code, {}, &ProblemCode::code);
  return found != std::end(kCodes) && found->code == code ? *found : kUnknown;
}

std::string_view nameOf(ProblemKind kind) {
  constexpr std::string_view kNames[] = {"model", "program", "argument", "run"};
  return kNames[static_cast<size_t>(kind)];
}

ExitCode exitCodeOf(const Problems &problems) {
  const auto exit = [](const Problem &one) { return definitionOf(one.code).exit; };
  if (std::ranges::find(problems, Internal, exit) != problems.end())
    return Internal;
  return problems.empty() ? Ok : exit(problems.front());
}

} // namespace sluice::cli
