// sluice profile: what every unit does in every cycle of an inference.
#include <fmt/format.h>

#include "compiler/support/problem_text.h"
#include "tools/cli/activity.h"
#include "tools/cli/clock.h"
#include "tools/cli/commands.h"
#include "tools/cli/engine_bundle.h"
#include "tools/cli/trace.h"

namespace sluice::cli {
namespace {

struct ProfileOptions {
  ModelChoice choice;
  std::string engine = "vm", spacing = "spaced", by = "layer", csv, trace;
};

class Profile {
public:
  Profile(const ProfileOptions &options, const Common &common) : options(options), report(common) {}

  int run() {
    if (const auto wrong = report.checkFiles({{"the program", options.choice.file}},
                                             {{"--csv", options.csv}, {"--trace", options.trace}}))
      return report.fail({*wrong}, "");
    if (const auto wrong = report.checkStdout({{"--csv", options.csv}, {"--trace", options.trace}}))
      return report.fail({*wrong}, "");
    for (const std::string &path : {options.csv, options.trace})
      if (!path.empty())
        if (const auto wrong = checkOutput(path))
          return report.fail({*wrong}, "");
    auto loaded = ModelHandle::load(options.choice);
    if (const auto *wrong = std::get_if<Problem>(&loaded))
      return report.fail({*wrong}, options.choice.file);
    model = std::get<ModelHandle>(std::move(loaded));
    for (const std::string name : {"vm", "rtl"})
      if (options.engine == name || options.engine == "both") {
        auto recorded = recordInference(model, name, options.spacing == "spaced");
        if (auto *wrong = std::get_if<Problem>(&recorded))
          return fail(std::move(*wrong));
        activities.push_back(std::get<Activity>(std::move(recorded)));
      }
    if (activities.size() == 2)
      if (const std::string where = difference(activities[0], activities[1]); !where.empty())
        return fail(enginesDiffer("the engines differ, vm / rtl: " + where));
    return print();
  }

private:
  int fail(Problem wrong) const {
    if (isOfEngines(wrong))
      addEngineBundle(wrong, options.choice.file, model.someInputs());
    return report.fail({wrong}, options.choice.file);
  }

  int print() const {
    const sluice_rt_machine machine = model.program().machine();
    const Listing listing(model.program());
    const Activity &activity = activities.back();
    const ActivityTables tables(activity, listing, machine);
    const Table chosen = options.by == "layer"  ? tables.byLayer()
                         : options.by == "core" ? tables.byCore()
                         : options.by == "unit" ? tables.byUnit()
                                                : tables.byInstruction();
    if (!options.csv.empty())
      if (const auto wrong = writeOutput(options.csv, chosen.csv()))
        return report.fail({*wrong}, "");
    if (!options.trace.empty())
      if (const auto wrong = writeOutput(options.trace, traceText(activity, listing, machine)))
        return report.fail({*wrong}, "");
    const uint64_t cycles = activity.cycles();
    std::string text =
        fmt::format("model {} on {}, {} inference: {} cycles, {}\n", printable(model.info().name),
                    machine.target, options.spacing, cycles, Clock(machine).time(cycles));
    text += options.engine == "both" ? "engines agree: every unit does the same in every cycle\n"
                                     : fmt::format("engine {}\n", options.engine);
    if (options.csv != "-" && options.trace != "-")
      report.text(text + "\n" + chosen.text() + writtenText(options.csv, "the table") +
                  writtenText(options.trace, kTraceViewer));
    return report.json({{"schema", 1},
                        {"engine", options.engine},
                        {"equal", activities.size() == 2 ? Json(true) : Json(nullptr)},
                        {"target", machine.target},
                        {"model", model.info().name},
                        {"spacing", options.spacing},
                        {"clock_mhz", machine.clock_mhz},
                        {"clock_source", machine.clock_source},
                        {"cycles", cycles},
                        {"first_cycle", activity.first},
                        {"layers", tables.byLayer().json()},
                        {"cores", tables.byCore().json()},
                        {"units", tables.byUnit().json()},
                        {"instructions", tables.byInstruction().json()}})
               ? Ok
               : Usage;
  }

  const ProfileOptions &options;
  const Report report;
  ModelHandle model;
  std::vector<Activity> activities; ///< by engine
};

} // namespace

void addProfile(CLI::App &app, const Common &common, int &exitCode) {
  auto *command =
      app.add_subcommand("profile", "show what every unit does in every cycle of an inference");
  auto options = std::make_shared<ProfileOptions>();
  options->choice.add(*command);
  command
      ->add_option("--engine", options->engine,
                   "engine: vm, rtl, or both, which compares them (vm)")
      ->type_name("ENGINE")
      ->check(CLI::IsMember({"vm", "rtl", "both"}));
  command
      ->add_option("--by", options->by,
                   "row of the table: layer, core, unit or instruction (layer)")
      ->type_name("ROW")
      ->check(CLI::IsMember({"layer", "core", "unit", "instruction"}));
  command
      ->add_option("--spacing", options->spacing,
                   "spaced: start when the machine is idle; contiguous: right after another "
                   "inference (spaced)")
      ->type_name("SPACING")
      ->check(CLI::IsMember({"spaced", "contiguous"}));
  command->add_option("--csv", options->csv, "write the table as CSV; - is standard output")
      ->type_name("FILE");
  command
      ->add_option("--trace", options->trace,
                   "write a trace for ui.perfetto.dev (JSON trace events)")
      ->type_name("FILE");
  command->callback([options, &common, &exitCode] { exitCode = Profile(*options, common).run(); });
}

} // namespace sluice::cli
