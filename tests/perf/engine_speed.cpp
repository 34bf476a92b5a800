// How fast the engines simulate a program: cycles per second of CPU time, with
// inputs always waiting, so that the machine is as busy as it gets.
//
// usage: engine_speed FILE.sluice [SECONDS] [vm|timing|rtl]...
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>

#include "runtime/device/device.h"
#include "runtime/format/program_file.h"
#include "sim/vm/timing.h"

namespace {

using namespace sluice;

double cpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Calls `run`, which returns how many cycles it has simulated, for `seconds`.
template <class Run> double kiloHertz(double seconds, Run &&run) {
  uint64_t cycles = 0;
  const double start = cpuSeconds();
  double now = start;
  while (now - start < seconds) {
    cycles += run();
    now = cpuSeconds();
  }
  return static_cast<double>(cycles) / (now - start) / 1000;
}

/// Rows of normally distributed numbers: a network's activations.
std::vector<uint16_t> randomRows(uint32_t rows, uint32_t lanes) {
  std::mt19937 engine(1);
  std::normal_distribution<float> normal;
  std::vector<uint16_t> values(size_t{rows} * lanes);
  for (uint16_t &value : values)
    value = static_cast<uint16_t>(std::bit_cast<uint32_t>(normal(engine)) >> 16);
  return values;
}

double measure(device::Device &engine, const format::Program &program, double seconds) {
  engine.load(program);
  const uint32_t lanes = program.geometry.lanes;
  constexpr uint32_t kRows = 1024;
  const std::vector<uint16_t> rows = randomRows(kRows, lanes);
  size_t row = 0;
  const auto steps = [&](unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      row += engine.step(&rows[row % kRows * lanes], true).inputTaken;
    return uint64_t{count};
  };
  steps(1000); // the pipeline fills
  return kiloHertz(seconds, [&] { return steps(100); });
}

double measureTiming(const format::Program &program, double seconds) {
  return kiloHertz(seconds, [&] {
    return vm::runTiming(program, vm::Arrival::Streaming, 100).inferences.back().lastOutput;
  });
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: engine_speed FILE.sluice [SECONDS] [vm|timing|rtl]...\n");
    return 2;
  }
  const auto read = format::readFile(argv[1]);
  if (!read.program) {
    std::fprintf(stderr, "%s: %s\n", argv[1], read.problems.front().message.c_str());
    return 1;
  }
  const format::Program &program = *read.program;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 2;
  const std::vector<std::string> wanted = argc > 3
                                              ? std::vector<std::string>(argv + 3, argv + argc)
                                              : std::vector<std::string>{"rtl", "vm", "timing"};
  for (const std::string &name : wanted) {
    double speed = 0;
    if (name == "timing") {
      speed = measureTiming(program, seconds);
    } else if (const auto engine =
                   name == "vm" ? device::makeVm() : device::makeRtl(program.geometry)) {
      speed = measure(*engine, program, seconds);
    } else {
      std::printf("%-8s not in this build\n", name.c_str());
      continue;
    }
    std::printf("%-8s %10.1f kHz\n", name.c_str(), speed);
  }
  return 0;
}
