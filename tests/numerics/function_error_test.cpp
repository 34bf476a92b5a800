// Every function of one variable, from ONNX to bits, over all 65,536 bf16 inputs:
// compared with the exact value, and the page's table compared with the outcome.
// SLUICE_UPDATE_DOCS=1 writes the table instead.
#include "functions.h"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/pipeline/pipeline.h"
#include "runtime/device/device.h"

namespace sluice::numerics_test {
namespace {

using frontend::test::Model;

constexpr size_t kLanes = 8, kRows = 65536 / kLanes;
/// Rows that the Verilated accelerator computes too, one every so many.
constexpr size_t kRtlEvery = 64;
/// The furthest a function may be from the correctly rounded value, in bf16
/// neighbours. Selu is rounded twice for negative arguments.
int mostNeighbours(const Function &function) { return function.name == "Selu" ? 2 : 1; }
/// Exact values below it do not count for that: a factor of theirs may have been
/// too small for bf16.
constexpr long double kTiny = 1e-35L;

using Row = std::vector<uint16_t>;

long double valueOf(uint16_t bits) {
  const int exponent = (bits >> 7) & 255, mantissa = bits & 127;
  const long double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 255)
    return mantissa ? std::nanl("") : sign * HUGE_VALL;
  return exponent == 0 ? sign * 0 : sign * std::ldexp(128.0L + mantissa, exponent - 134);
}

/// Nearest even; below the normal range zero, as the machine rounds.
uint16_t rounded(long double value) {
  if (std::isnan(value))
    return 0x7FC0;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  int exponent = 0;
  long double significand = std::frexp(std::fabs(value), &exponent);
  if (significand == 0 || std::isinf(value))
    return sign | (significand == 0 ? 0 : 0x7F80);
  significand = std::nearbyint(std::ldexp(significand, 8)); // 128 to 256
  if (significand == 256) {
    significand = 128;
    ++exponent;
  }
  const int biased = exponent + 126;
  if (biased <= 0 || biased >= 255)
    return sign | (biased <= 0 ? 0 : 0x7F80);
  return static_cast<uint16_t>(sign | biased << 7 | (static_cast<int>(significand) & 127));
}

/// Position among the bf16 values that the machine knows; both zeros are 0.
int position(uint16_t bits) {
  const int magnitude = std::max((bits & 0x7FFF) - 0x7F, 0);
  return bits & 0x8000 ? -magnitude : magnitude;
}

bool isNaN(uint16_t bits) { return (bits & 0x7FFF) > 0x7F80; }

Row inputRow(size_t row) {
  Row lanes(kLanes);
  for (size_t lane = 0; lane < kLanes; ++lane)
    lanes[lane] = static_cast<uint16_t>(row * kLanes + lane);
  return lanes;
}

format::Program compile(const Function &function) {
  Model model(20);
  model.input("x", {1, kLanes}).output("y");
  function.nodes(model);
  const frontend::test::TemporaryFolder folder;
  pipeline::CompileOptions options;
  options.modelPath = folder.file("model.onnx");
  options.target = "c2b8";
  options.measure = false;
  frontend::test::writeFile(options.modelPath, model.proto.SerializeAsString());
  pipeline::CompileResult result;
  Problems problems;
  pipeline::compileModel(options, result, problems);
  EXPECT_EQ(frontend::test::linesOf(problems), "");
  return std::move(result.program);
}

/// The results of rows 0, step, 2 * step, ..., one inference each, inputs always waiting.
std::vector<uint16_t> run(device::Device &device, const format::Program &program, size_t step) {
  device.load(program);
  std::vector<uint16_t> results;
  for (size_t next = 0; results.size() < kRows / step * kLanes;) {
    const Row row = inputRow(next * step % kRows);
    const auto cycle = device.step(next < kRows / step ? row.data() : nullptr, true);
    next += cycle.inputTaken ? 1 : 0;
    if (cycle.output)
      results.insert(results.end(), cycle.output->lanes.begin(), cycle.output->lanes.end());
    if (device.tokenFault() || device.cycle() > 100 * kRows) {
      ADD_FAILURE() << "no result in cycle " << device.cycle();
      break;
    }
  }
  return results;
}

/// The row of the table, and what is wrong.
std::string measure(const Function &function) {
  const format::Program program = compile(function);
  if (program.models.empty())
    return "";
  const std::vector<uint16_t> results = run(*device::makeVm(), program, 1);
  const std::vector<uint16_t> some = run(*device::makeRtl(program.geometry), program, kRtlEvery);
  for (size_t i = 0; i < some.size(); ++i)
    EXPECT_EQ(some[i], results[i / kLanes * kRtlEvery * kLanes + i % kLanes]);
  int most = 0;
  size_t wrong = 0;
  for (size_t bits = 0; bits < results.size(); ++bits) {
    const long double x = valueOf(static_cast<uint16_t>(bits));
    const uint16_t want = rounded(function.exact(x)), got = results[bits];
    if (want == got)
      continue;
    ++wrong;
    EXPECT_EQ(isNaN(want), isNaN(got)) << "x " << x;
    if (!isNaN(want) && !isNaN(got) && std::fabs(function.exact(x)) >= kTiny)
      most = std::max(most, std::abs(position(want) - position(got)));
  }
  EXPECT_LE(most, mostNeighbours(function));
  const auto at = [&](uint16_t bits) {
    return fmt::format("{:.4g}", static_cast<double>(valueOf(results[bits])));
  };
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", function.name, most, wrong, at(0),
                     at(0x8000), at(0x7F80), at(0xFF80));
}

TEST(Functions, AreAsThePageSays) {
  std::string table = "| function | largest distance | inputs not correctly rounded | f(0) | f(-0) "
                      "| f(inf) | f(-inf) |\n|---|---|---|---|---|---|---|\n";
  for (const Function &function : functions()) {
    SCOPED_TRACE(function.name);
    table += measure(function);
  }
  const std::string first = "<!-- functions: written by function_error_test -->\n";
  const std::string last = "<!-- end of functions -->\n";
  const std::string page = frontend::test::readFile(PAGE);
  const size_t from = page.find(first) + first.size(), to = page.find(last);
  ASSERT_LE(from, to) << "the page has no place for the table";
  if (std::getenv("SLUICE_UPDATE_DOCS"))
    frontend::test::writeFile(PAGE, page.substr(0, from) + table + page.substr(to));
  else
    EXPECT_EQ(page.substr(from, to - from), table) << "run with SLUICE_UPDATE_DOCS=1";
}

} // namespace
} // namespace sluice::numerics_test
