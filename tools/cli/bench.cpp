// sluice bench: how many cycles an inference takes, measured on an engine.
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "compiler/support/problem_text.h"
#include "tools/cli/clock.h"
#include "tools/cli/commands.h"
#include "tools/cli/engine.h"
#include "tools/cli/engine_bundle.h"
#include "tools/cli/progress.h"
#include "tools/cli/requirements.h"

namespace sluice::cli {
namespace {

struct BenchOptions {
  ModelChoice choice;
  std::string engine = "vm", spacing = "both";
  std::optional<uint32_t> clockMhz;
  Requirements required;
};

/// Inferences that fill the pipeline, those whose mean is taken, and those that
/// keep the machine busy behind them.
constexpr unsigned kWarmUp = 4, kMeasured = 8, kBehind = 4;

/// What one engine measured.
struct Measured {
  std::string engine;
  std::optional<uint64_t> spaced, contiguous, period;
  double seconds = 0;     ///< of wall clock
  uint64_t simulated = 0; ///< cycles in that time

  double kilohertz() const {
    return seconds > 0 ? static_cast<double>(simulated) / seconds / 1000 : 0.0;
  }
};

class Bench {
public:
  Bench(BenchOptions &options, const Common &common) : options(options), report(common) {}

  int run() {
    Problems problems;
    options.required.read(quantities(nullptr), problems);
    if (!problems.empty())
      return report.fail(problems, "");
    auto loaded = ModelHandle::load(options.choice);
    if (const auto *wrong = std::get_if<Problem>(&loaded))
      return report.fail({*wrong}, options.choice.file);
    model = std::get<ModelHandle>(std::move(loaded));
    for (const std::string name : {"vm", "rtl"})
      if (options.engine == name || options.engine == "both")
        if (auto wrong = measure(name))
          return fail(std::move(*wrong));
    if (const std::string where = difference(); !where.empty())
      return fail(enginesDiffer("the engines differ, vm / rtl: " + where));
    return print();
  }

private:
  int fail(Problem wrong) const {
    if (isOfEngines(wrong))
      addEngineBundle(wrong, options.choice.file, model.someInputs());
    return report.fail({wrong}, options.choice.file);
  }

  std::optional<Problem> measure(const std::string &name) {
    auto opened = EngineHandle::open(name, model);
    if (const auto *wrong = std::get_if<Problem>(&opened))
      return *wrong;
    auto &engine = std::get<EngineHandle>(opened);
    Measured &measured = engines.emplace_back();
    measured.engine = name;
    const std::vector<io::Tensor> inputs = model.someInputs();
    const auto jobs =
        [&](sluice_rt_pacing pacing, unsigned count,
            const std::string &what) -> std::variant<std::vector<Inference>, Problem> {
      if (auto wrong = engine.reset())
        return *wrong;
      const ProgressLine clock("");
      auto done = engine.inferPaced(inputs, pacing, count, what);
      if (const auto *results = std::get_if<std::vector<Inference>>(&done)) {
        measured.seconds += clock.seconds();
        measured.simulated += results->back().cycles.last_output + 1;
      }
      return done;
    };
    if (options.spacing != "contiguous") {
      // The second inference: the first may find a machine that starts up.
      auto done = jobs(SLUICE_RT_SPACED, 2, "spaced");
      if (const auto *wrong = std::get_if<Problem>(&done))
        return *wrong;
      measured.spaced = std::get<std::vector<Inference>>(done).back().cycles.latency;
    }
    if (options.spacing != "spaced")
      for (const auto &[pacing, what, behind, result] :
           {std::tuple(SLUICE_RT_CONTIGUOUS, "contiguous", 0U, &measured.contiguous),
            std::tuple(SLUICE_RT_QUEUED, "period", kBehind, &measured.period)}) {
        auto done = jobs(pacing, kWarmUp + kMeasured + behind, what);
        if (const auto *wrong = std::get_if<Problem>(&done))
          return *wrong;
        const auto &results = std::get<std::vector<Inference>>(done);
        const uint64_t first = results[kWarmUp].cycles.last_output;
        const uint64_t last = results[kWarmUp + kMeasured - 1].cycles.last_output;
        *result = (last - first + kMeasured - 2) / (kMeasured - 1);
      }
    return std::nullopt;
  }

  /// "period is 43 / 44 cycles", or "".
  std::string difference() const {
    if (engines.size() < 2)
      return "";
    for (const auto &[what, cycles] : {std::pair("latency, spaced, is", &Measured::spaced),
                                       std::pair("latency, contiguous, is", &Measured::contiguous),
                                       std::pair("period is", &Measured::period)})
      if (engines[0].*cycles != engines[1].*cycles)
        return fmt::format("{} {} / {} cycles", what, (engines[0].*cycles).value_or(0),
                           (engines[1].*cycles).value_or(0));
    return "";
  }

  /// The quantities of --require, without values if nothing has been measured yet.
  std::vector<Quantity> quantities(const Measured *measured) const {
    std::vector<Quantity> found;
    const auto add = [&](const char *name, std::optional<uint64_t> Measured::*cycles) {
      Quantity &one = found.emplace_back(Quantity{name, ""});
      if (measured && measured->*cycles)
        one.value = static_cast<double>(*(measured->*cycles));
    };
    if (options.spacing != "contiguous")
      add("cycles", &Measured::spaced);
    if (options.spacing != "spaced") {
      add("contiguous", &Measured::contiguous);
      add("period", &Measured::period);
    }
    return found;
  }

  int print() {
    const sluice_rt_machine machine = model.program().machine();
    const sluice_rt_model_info info = model.info();
    const Measured &measured = engines.back();
    const Clock clock = options.clockMhz ? Clock(*options.clockMhz, "given") : Clock(machine);
    const uint64_t peak = uint64_t{machine.cores} * machine.lanes * machine.lanes;
    const std::optional<uint64_t> ahead = model.program().cyclesAhead();
    std::optional<double> utilisation;
    if (measured.period && *measured.period != 0)
      utilisation = static_cast<double>(info.macs) /
                    (static_cast<double>(peak) * static_cast<double>(*measured.period));
    std::string text = fmt::format("model {} on {}, engine{} {}, {} MAC\n", printable(info.name),
                                   machine.target, engines.size() > 1 ? "s" : "",
                                   engines.size() > 1 ? "vm and rtl" : measured.engine, info.macs);
    const auto line = [&](const char *what, const std::optional<uint64_t> &cycles) {
      if (cycles)
        text += fmt::format("{:<20}{} cycles ({})\n", what, *cycles, clock.time(*cycles));
    };
    line("latency, spaced", measured.spaced);
    line("latency, contiguous", measured.contiguous);
    line("period", measured.period);
    line("precomputed sums", ahead);
    if (utilisation)
      text += fmt::format("utilisation         {:.1f} % of {} MAC/cycle over a period\n",
                          100 * *utilisation, peak);
    if (engines.size() > 1)
      text += "engines agree: equal cycles\n";
    for (const Measured &one : engines)
      text += fmt::format("{:<20}{:.1f} kHz ({} cycles in {:.2f} s)\n",
                          engines.size() > 1 ? fmt::format("speed of {}", one.engine)
                                             : "simulation speed",
                          one.kilohertz(), one.simulated, one.seconds);
    options.required.judge(quantities(&measured));
    report.text(text + options.required.text());
    report.log(options.required.problems(), options.choice.file);
    const auto json = [](const auto &value) { return value ? Json(*value) : Json(nullptr); };
    Json result = {{"schema", 1},
                   {"ok", true},
                   {"engine", options.engine},
                   {"equal", engines.size() > 1 ? Json(true) : Json(nullptr)},
                   {"target", machine.target},
                   {"clock_mhz", clock.mhz},
                   {"clock_source", clock.source},
                   {"spaced", json(measured.spaced)},
                   {"contiguous", json(measured.contiguous)},
                   {"period", json(measured.period)},
                   {"ahead", json(ahead)},
                   {"macs", info.macs},
                   {"utilisation", json(utilisation)}};
    options.required.addTo(result);
    if (!report.json(result))
      return Usage;
    return options.required.areMet() ? Ok : Different;
  }

  BenchOptions &options;
  const Report report;
  ModelHandle model;
  std::vector<Measured> engines;
};

} // namespace

void addBench(CLI::App &app, const Common &common, int &exitCode) {
  auto *command = app.add_subcommand("bench", "measure the cycles of an inference on an engine");
  auto options = std::make_shared<BenchOptions>();
  options->choice.add(*command);
  command
      ->add_option("--engine", options->engine,
                   "engine: vm, rtl, or both, which compares them (vm)")
      ->type_name("ENGINE")
      ->check(CLI::IsMember({"vm", "rtl", "both"}));
  command
      ->add_option("--spacing", options->spacing,
                   "spaced: start when the machine is idle; contiguous: back to back; both (both)")
      ->type_name("SPACING")
      ->check(CLI::IsMember({"spaced", "contiguous", "both"}));
  command
      ->add_option("--clock-mhz", options->clockMhz,
                   "clock frequency for times in microseconds (that of the target)")
      ->type_name("N")
      ->check(CLI::Range(1U, 100000U).description("1 to 100000"));
  options->required.add(*command, "cycles<=300, period<=100");
  command->callback([options, &common, &exitCode] { exitCode = Bench(*options, common).run(); });
}

} // namespace sluice::cli
