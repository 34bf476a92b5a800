// sluice run: inferences on the engines, compared with each other and with
// references.
#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <unistd.h>

#include "compiler/support/problem_text.h"
#include "tools/cli/clock.h"
#include "tools/cli/commands.h"
#include "tools/cli/engine.h"
#include "tools/cli/engine_bundle.h"
#include "tools/cli/run_report.h"
#include "tools/cli/streams.h"
#include "tools/cli/tensor_error.h"
#include "tools/cli/trace.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

/// Of a run, of all its streams: their inputs are all in memory.
constexpr uint64_t kMostInferences = uint64_t{1} << 20;

struct RunOptions {
  ModelChoice choice;
  std::string engine = "rtl", dataSet, waves, trace;
  std::vector<std::string> inputs, outputs, expect, hold;
  Bound bound;
  std::string loadState, saveState;
  Rounds rounds;
  uint64_t resetEvery = 0;
  uint64_t seed = 0;
  uint64_t stallLimit = kStallLimit;
  bool counters = false;
};

/// The file of the waveforms. Its writer, part of Verilator, tells no errors, replaces what is
/// there, and maps files into memory: a full disk is a bus error.
class Waves {
public:
  explicit Waves(const std::string &path) : given(path), target(path) {
    if (path.empty())
      return;
    std::error_code ignored;
    if (fs::exists(path, ignored)) { // behind links; the file keeps its mode
      target = fs::canonical(path, ignored).string();
      mode = fs::status(target, ignored).permissions();
    }
    text = fmt::format("error[E0516]: {}\n", problem().message);
    scratch = target + ".hier";
    struct sigaction action{};
    action.sa_handler = [](int) {
      (void)!write(STDERR_FILENO, text.data(), text.size());
      unlink(scratch.c_str());
      _exit(Usage);
    };
    sigaction(SIGBUS, &action, nullptr);
  }

  /// Why waveforms cannot be written there, before anything runs.
  static std::optional<Problem> check(const std::string &path) {
    std::error_code ignored;
    if (fs::exists(path, ignored) && !fs::is_directory(path, ignored) &&
        !fs::is_regular_file(path, ignored))
      return cli::problem("E0516", fmt::format("cannot write '{}': waveforms need a regular file",
                                               printable(path)));
    return checkOutput(path);
  }

  const std::string &path() const { return target; }

  /// Gives the file its mode again; a problem if it is not whole.
  std::optional<Problem> finish() const {
    if (target.empty())
      return std::nullopt;
    std::error_code ignored;
    if (mode)
      fs::permissions(target, *mode, ignored);
    return isWhole() ? std::nullopt : std::optional(problem());
  }

private:
  /// Whether the sections of the file follow each other to its end.
  bool isWhole() const {
    constexpr uint8_t kUnfinished = 255;
    std::ifstream file(target, std::ios::binary | std::ios::ate);
    const auto size = static_cast<uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
    uint64_t at = 0;
    std::array<unsigned char, 9> head{}; // type and big-endian length, without the type
    while (at < size) {
      file.seekg(static_cast<std::streamoff>(at));
      if (!file.read(reinterpret_cast<char *>(head.data()), head.size()))
        return false;
      uint64_t length = 0;
      for (size_t i = 1; i < head.size(); ++i)
        length = length << 8 | head[i];
      if (head[0] == kUnfinished || length < 8 || length > size - at - 1)
        return false;
      at += 1 + length;
    }
    return at != 0;
  }

  Problem problem() const {
    return cli::problem("E0516",
                        fmt::format("cannot write '{}': the waveforms are incomplete; is the disk "
                                    "full?",
                                    printable(given)));
  }

  static inline std::string text, scratch; ///< for the handler of the signal
  std::string given, target;
  std::optional<fs::perms> mode;
};

class Run {
public:
  Run(const RunOptions &options, const Common &common) : options(options), report(common) {}

  int run() {
    if (const auto wrong = checkFiles())
      return report.fail({*wrong}, "");
    if (const auto wrong = checkStdin())
      return report.fail({*wrong}, "");
    auto loaded = ModelHandle::load(options.choice);
    if (const auto *wrong = std::get_if<Problem>(&loaded))
      return report.fail({*wrong}, options.choice.file);
    model = std::get<ModelHandle>(std::move(loaded));
    Problems problems = gather();
    if (!problems.empty())
      return report.fail(problems, options.choice.file);
    warnOfOverflow();
    const Waves waves(options.waves);
    if (auto wrong = runEngines(waves.path())) {
      if (isOfEngines(*wrong))
        addEngineBundle(*wrong, options.choice.file,
                        sets[std::min(runs.back().inferences.size(), sets.size() - 1)].inputs);
      return report.fail({*wrong}, options.choice.file);
    }
    if (auto wrong = waves.finish())
      return report.fail({*wrong}, "");
    return finish();
  }

private:
  /// Standard input can be read once.
  std::optional<Problem> checkStdin() const {
    size_t readers = options.choice.file == "-" ? 1 : 0;
    for (const std::vector<std::string> &specs : {options.inputs, options.expect})
      readers += std::count_if(specs.begin(), specs.end(),
                               [](const std::string &spec) { return spec.ends_with("=@-"); });
    if (readers < 2)
      return std::nullopt;
    return problem("E0601", fmt::format("standard input is used {} times, allowed: once", readers));
  }

  /// No file may be written that is read, or twice.
  std::optional<Problem> checkFiles() const {
    const auto filesOf = [](const char *flag, const std::vector<std::string> &specs) {
      std::vector<Report::File> files;
      for (const std::string &spec : specs)
        if (const size_t at = spec.find('@'); at != std::string::npos)
          files.push_back({fmt::format("the file of {}", flag), spec.substr(at + 1)});
      return files;
    };
    std::vector<Report::File> reads = {{"the program", options.choice.file},
                                       {"the file of --load-state", options.loadState}};
    for (Report::File &file : filesOf("--input", options.inputs))
      reads.push_back(std::move(file));
    for (Report::File &file : filesOf("--expect", options.expect))
      reads.push_back(std::move(file));
    std::error_code ignored;
    if (!options.dataSet.empty())
      for (const auto &entry :
           std::filesystem::recursive_directory_iterator(options.dataSet, ignored))
        if (entry.path().extension() == ".pb")
          reads.push_back({"a file of --data-set", entry.path().string()});
    // The state may be loaded and saved in one file: it is read before it is written.
    std::erase_if(reads, [&](const Report::File &file) {
      return file.path == options.saveState && file.path == options.loadState;
    });
    std::vector<Report::File> writes;
    for (Report::File &file : filesOf("--output", options.outputs))
      writes.push_back({"--output", std::move(file.path)});
    writes.insert(writes.end(), {{"--save-state", options.saveState},
                                 {"--trace", options.trace},
                                 {"--waves", options.waves}});
    return report.checkFiles(reads, std::move(writes));
  }

  /// Inputs, references and output files.
  Problems gather() {
    Problems problems;
    if (!options.trace.empty())
      if (auto wrong = checkOutput(options.trace))
        problems.push_back(std::move(*wrong));
    if ((options.bound.relative || options.bound.absolute) && options.expect.empty() &&
        options.dataSet.empty())
      problems.push_back(problem("E0601", "--rtol and --atol need --expect or --data-set"));
    const std::vector<Port> &inputs = model.inputs();
    const std::vector<Port> &outputs = model.outputs();
    for (const std::string &name : options.hold)
      if (const auto index = findPort(name, inputs, "input", problems))
        held.insert(*index);
    if (!options.dataSet.empty()) {
      if (!options.inputs.empty() || options.rounds.all() != 1 || options.rounds.stacks ||
          !options.hold.empty())
        problems.push_back(problem(
            "E0601", "--data-set cannot be used with --input, --steps, --streams or --hold"));
      sets = gatherDataSets(options.dataSet, inputs, &outputs, problems);
    } else if (options.rounds.all() > kMostInferences) {
      problems.push_back(problem(
          "E0601", fmt::format("--steps {} times --streams {} is {} inferences, allowed: up to {}",
                               options.rounds.steps, options.rounds.streams, options.rounds.all(),
                               kMostInferences)));
    } else {
      gatherSteps(problems);
    }
    if (options.resetEvery != 0 && !options.dataSet.empty())
      problems.push_back(problem(
          "E0601", "--data-set cannot be used with --reset-every: it resets before each folder"));
    gatherStates(problems);
    if (!sets.empty())
      for (auto &[index, tensor] :
           gatherReferences(options.expect, outputs, options.rounds, problems)) {
        const bool all = hasRounds(tensor, outputs[index], options.rounds);
        for (size_t step = all ? 0 : sets.size() - 1; step < sets.size(); ++step)
          sets[step].references[index] = all ? stepOf(tensor, step) : tensor;
      }
    for (const std::string &spec : options.outputs) {
      std::string name;
      std::string value;
      if (const auto wrong = splitSpec(spec, name, value)) {
        problems.push_back(*wrong);
      } else if (!value.starts_with('@') || (!value.ends_with(".npy") && value != "@-")) {
        problems.push_back(problem(
            "E0601", fmt::format("output '{}' is '{}', allowed: @FILE.npy, @-", name, value)));
      } else if (const auto index = findPort(name, outputs, "output", problems)) {
        files.emplace_back(*index, value.substr(1));
        if (auto wrong = checkOutput(files.back().second))
          problems.push_back(std::move(*wrong));
      }
    }
    const bool values = std::any_of(files.begin(), files.end(),
                                    [](const auto &file) { return file.second == "-"; });
    if (auto wrong =
            report.checkStdout({{"--output", values ? "-" : ""}, {"--trace", options.trace}}))
      problems.push_back(std::move(*wrong));
    if (auto wrong = checkBinary("--output", values ? "-" : ""))
      problems.push_back(std::move(*wrong));
    if (!options.waves.empty())
      if (auto wrong = Waves::check(options.waves))
        problems.push_back(std::move(*wrong));
    return problems;
  }

  /// What the streams begin with, and whether it can be kept.
  void gatherStates(Problems &problems) {
    const bool states = !options.loadState.empty() || !options.saveState.empty();
    if (states && (!options.dataSet.empty() || options.rounds.streams > 1))
      problems.push_back(problem(
          "E0601", "--load-state and --save-state cannot be used with --data-set or --streams"));
    if (!options.loadState.empty()) {
      auto bytes = io::readAll(options.loadState);
      if (const auto *wrong = std::get_if<io::Error>(&bytes))
        problems.push_back(problem(wrong->code, wrong->message));
      else
        firstState = std::get<std::string>(std::move(bytes));
    }
    if (!options.saveState.empty())
      if (auto wrong = checkOutput(options.saveState))
        problems.push_back(std::move(*wrong));
  }

  /// The inputs of every step. Files are read once.
  void gatherSteps(Problems &problems) {
    const bool vary =
        std::any_of(options.inputs.begin(), options.inputs.end(), [](const std::string &spec) {
          return spec.find("=random:") != std::string::npos;
        });
    std::vector<io::Tensor> all;
    for (uint64_t step = 0; step < options.rounds.all() && problems.empty(); ++step) {
      if (step == 0 || vary)
        all = gatherInputs(options.inputs, model.inputs(), step, options.rounds, problems);
      DataSet &set = sets.emplace_back();
      for (size_t i = 0; i < all.size() && problems.empty(); ++i) {
        const Port &port = model.inputs()[i];
        const bool hasAll = hasRounds(all[i], port, options.rounds);
        if (hasAll && held.contains(i))
          problems.push_back(problem(
              "E0604", fmt::format("input '{}' has shape {}, allowed with --hold: {}", port.name,
                                   shapeText(all[i].shape), shapeText(port.shape))));
        else if (step > 0 && held.contains(i))
          set.inputs.push_back(sets.front().inputs[i]);
        else
          set.inputs.push_back(hasAll ? stepOf(all[i], step) : all[i]);
      }
    }
  }

  /// Values of inputs that the engines see as infinity.
  void warnOfOverflow() {
    for (size_t i = 0; i < sets.size(); ++i)
      for (size_t k = 0; k < sets[i].inputs.size(); ++k)
        if (const std::string text = overflowText(sets[i].inputs[k]); !text.empty()) {
          const std::string where = !sets[i].name.empty() ? " in " + sets[i].name
                                    : sets.size() > 1     ? fmt::format(" of step {}", i + 1)
                                                          : "";
          warnings.push_back(
              fmt::format("input '{}'{} has {}", model.inputs()[k].name, where, text));
          Report::say(fmt::format("warning: {}\n", printable(warnings.back())));
        }
  }

  std::optional<Problem> runEngines(const std::string &wavesPath) {
    for (const std::string name : {"vm", "rtl"}) {
      if (options.engine != name && options.engine != "both")
        continue;
      // With both engines, waves are those of the hardware.
      const bool waves = options.engine != "both" || name == "rtl";
      auto opened = EngineHandle::open(name, model, waves ? wavesPath : "", options.stallLimit);
      if (const auto *wrong = std::get_if<Problem>(&opened))
        return *wrong;
      auto &engine = std::get<EngineHandle>(opened);
      for (const size_t input : held)
        if (auto wrong = engine.keep(input))
          return wrong;
      if (!options.trace.empty())
        engine.record();
      if (auto wrong = runSets(engine, runs.emplace_back(EngineRun{name, {}, {}, {}, {}})))
        return wrong;
    }
    return std::nullopt;
  }

  std::optional<Problem> runSets(EngineHandle &engine, EngineRun &run) {
    // Data sets are independent of each other; steps are not.
    Rounds rounds = options.rounds;
    if (!options.dataSet.empty())
      rounds.steps = sets.size();
    Streams streams(engine, rounds, options.dataSet.empty() ? options.resetEvery : 1);
    if (!options.loadState.empty())
      streams.beginWith(firstState);
    for (size_t i = 0; i < sets.size(); ++i) {
      if (auto wrong = streams.before(i))
        return wrong;
      engine.setSeed(options.seed, streams.number(i));
      auto inference =
          engine.infer(sets[i].inputs, fmt::format("inference {} of {}", i + 1, sets.size()));
      if (const auto *wrong = std::get_if<Problem>(&inference))
        return *wrong;
      run.inferences.push_back(std::get<Inference>(std::move(inference)));
      const bool last = i + 1 == sets.size();
      if (last || streams.switches(i + 1))
        addCounters(run.counters, engine.counters());
      if (last && !options.trace.empty())
        recording = engine.recorded();
      if (auto wrong = streams.after(i, last && !options.saveState.empty()))
        return wrong;
    }
    run.costs = streams.costs();
    if (!options.saveState.empty())
      run.state = streams.state(0);
    return std::nullopt;
  }

  /// Compares, prints and writes.
  int finish() {
    const sluice_rt_machine machine = model.program().machine();
    std::string text = fmt::format("model {} on {}, {} inference{}\n", printable(model.info().name),
                                   machine.target, sets.size(), sets.size() == 1 ? "" : "s");
    Json engines = Json::object();
    for (const EngineRun &run : runs) {
      const uint64_t cycles = run.cycles();
      text +=
          fmt::format("engine {}: {} cycles, {}\n", run.name, cycles, Clock(machine).time(cycles));
      engines[run.name] = {{"cycles", cycles}};
      if (options.dataSet.empty() && run.costs != Streams::Costs()) {
        text += fmt::format("  {}\n", costsText(run.costs));
        addCosts(run.costs, engines[run.name]);
      }
      if (options.rounds.all() > 1)
        for (const Inference &inference : run.inferences)
          engines[run.name]["step_cycles"].push_back(inference.cycles.latency);
      if (options.counters) {
        text += countersText(run.counters);
        engines[run.name]["counters"] = countersJson(run.counters);
      }
    }
    Problems problems;
    Json equal = nullptr;
    if (runs.size() == 2) {
      std::string difference;
      equal = equalRuns(runs[0], runs[1], difference);
      if (difference.empty())
        text += "engines agree: equal bits, equal cycles\n";
      else
        problems.push_back(differing(difference));
    }
    const Json outputsJson = compareOutputs(text, problems);
    const bool same = equal.is_null() || equal == true;
    if (same)
      for (const auto &[index, path] : files)
        if (const auto wrong = writeOutput(path, io::writeNpy(outputOf(index))))
          return report.fail({*wrong}, "");
    if (same && !options.saveState.empty())
      if (const auto wrong = writeOutput(options.saveState, runs.back().state))
        return report.fail({*wrong}, "");
    if (same && !options.trace.empty())
      if (const auto wrong = writeOutput(options.trace, traceOf(recording)))
        return report.fail({*wrong}, "");
    if (same)
      for (const auto &[index, path] : files)
        text += writtenText(path, fmt::format("output {}", printable(model.outputs()[index].name)));
    if (same)
      text += writtenText(options.saveState, "the state, for --load-state") +
              writtenText(options.trace, kTraceViewer);
    text += writtenText(options.waves, "open it in gtkwave");
    const bool toStdout = std::any_of(files.begin(), files.end(),
                                      [](const auto &file) { return file.second == "-"; });
    if (toStdout)
      Report::say(text);
    else
      report.text(text);
    report.log(problems, options.choice.file);
    const bool written = report.json({{"schema", 1},
                                      {"ok", problems.empty()},
                                      {"steps", sets.size()},
                                      {"streams", options.rounds.streams},
                                      {"engines", engines},
                                      {"equal", equal},
                                      {"outputs", outputsJson},
                                      {"warnings", warnings},
                                      {"errors", errorsJson(problems)}});
    return !problems.empty() ? Different : written ? Ok : Usage;
  }

  /// An output of the last data set, or of all steps, of every stream.
  [[nodiscard]] io::Tensor outputOf(size_t index) const {
    const std::vector<Inference> &inferences = runs.back().inferences;
    if (options.rounds.all() == 1 && !options.rounds.stacks)
      return inferences.back().outputs[index];
    std::vector<io::Tensor> streams;
    for (uint64_t stream = 0; stream < options.rounds.streams; ++stream) {
      std::vector<const io::Tensor *> steps;
      for (size_t i = stream; i < inferences.size(); i += options.rounds.streams)
        steps.push_back(&inferences[i].outputs[index]);
      streams.push_back(options.rounds.steps > 1 || options.rounds.stacks ? stacked(steps)
                                                                          : *steps[0]);
    }
    if (streams.size() == 1)
      return streams[0];
    std::vector<const io::Tensor *> all;
    for (const io::Tensor &stream : streams)
      all.push_back(&stream);
    return stacked(all);
  }

  /// From the first cycle since the last reset to the end of the last inference.
  std::string traceOf(const std::vector<sluice_rt_span> &spans) const {
    const uint64_t last = runs.back().inferences.back().cycles.last_output;
    return traceText(cut(spans, 0, last), Listing(model.program()), model.program().machine());
  }

  /// The problem of engines that differ. Writes what a report needs, and says where.
  [[nodiscard]] Problem differing(const std::string &difference) const {
    Problem found = enginesDiffer("the engines differ: " + difference);
    addEngineBundle(found, options.choice.file, sets[differingInference(runs[0], runs[1])].inputs);
    return found;
  }

  /// Every output of every set that has a reference, and the worst of each output.
  Json compareOutputs(std::string &text, Problems &problems) {
    Json list = Json::array();
    const std::vector<Inference> &results = runs.back().inferences;
    const std::vector<Port> &outputs = model.outputs();
    for (size_t o = 0; o < outputs.size(); ++o) {
      const std::string title =
          fmt::format("output {} {}", printable(outputs[o].name), shapeText(outputs[o].shape));
      std::optional<Comparison> worst;
      std::string lines;
      Json perSet = Json::array();
      for (size_t i = 0; i < sets.size(); ++i) {
        const auto reference = sets[i].references.find(o);
        if (reference == sets[i].references.end())
          continue;
        const Comparison now = compare(results[i].outputs[o], reference->second, options.bound);
        const std::string said = now.text(options.bound);
        if (!now.ok)
          problems.push_back(
              problem("E0613",
                      fmt::format("output '{}' differs from its reference{}{}: {}", outputs[o].name,
                                  sets[i].name.empty() ? "" : " in ", sets[i].name, said)));
        if (!sets[i].name.empty())
          lines += fmt::format("  {}: {}, {}\n", printable(sets[i].name), said, verdict(now));
        Json entry = comparisonJson(now);
        entry["name"] = sets[i].name;
        perSet.push_back(std::move(entry));
        if (!worst || (worst->ok && !now.ok) ||
            (worst->ok == now.ok && now.share() > worst->share()))
          worst = now;
      }
      text += fmt::format("{}: {}\n", title,
                          worst ? fmt::format("{}, {}", worst->text(options.bound), verdict(*worst))
                                : valuesText(results.back().outputs[o]));
      if (perSet.size() > 1)
        text += lines;
      Json entry = {{"name", outputs[o].name}, {"shape", outputs[o].shape}};
      entry.update(worst ? comparisonJson(*worst) : noComparisonJson(results.back().outputs[o]));
      entry["sets"] = perSet;
      list.push_back(std::move(entry));
    }
    return list;
  }

  static const char *verdict(const Comparison &comparison) {
    return comparison.ok ? "ok" : "too large";
  }

  const RunOptions &options;
  const Report report;
  ModelHandle model;
  std::set<size_t> held; ///< inputs of --hold
  std::vector<DataSet> sets;
  std::vector<std::pair<size_t, std::string>> files;
  std::vector<std::string> warnings;
  std::vector<EngineRun> runs;
  std::string firstState;                ///< --load-state
  std::vector<sluice_rt_span> recording; ///< of the last engine, with --trace
};

} // namespace

void addRun(CLI::App &app, const Common &common, int &exitCode) {
  auto *command = app.add_subcommand("run", "run a program file on an engine");
  auto options = std::make_shared<RunOptions>();
  options->choice.add(*command);
  command
      ->add_option("--engine", options->engine,
                   "engine: vm, rtl, or both, which compares them (rtl)")
      ->type_name("ENGINE")
      ->check(CLI::IsMember({"vm", "rtl", "both"}));
  command
      ->add_option("--input", options->inputs,
                   "values of an input: NAME=@FILE (.npy, .npz, .pb), NAME=zeros, "
                   "NAME=random:SEED; or @FILE.npz")
      ->type_name("SPEC")
      ->allow_extra_args(false);
  command
      ->add_option("--data-set", options->dataSet,
                   "folder with input_0.pb, output_0.pb, ..., or with folders test_data_set_0, ...")
      ->type_name("DIR");
  command
      ->add_option("--output", options->outputs,
                   "write an output: NAME=@FILE.npy, or NAME=@- for standard output")
      ->type_name("SPEC")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--expect", options->expect,
          "compare an output with a reference: NAME=@FILE, for the last step or all --steps")
      ->type_name("SPEC")
      ->allow_extra_args(false);
  const CLI::Validator notNegative(
      [](std::string &text) {
        double value = 0;
        return CLI::detail::lexical_cast(text, value) && value >= 0
                   ? std::string()
                   : fmt::format("{} is not a number of 0 or more", text);
      },
      "");
  command->add_option("--rtol", options->bound.relative, "allowed error relative to the reference")
      ->type_name("X")
      ->check(notNegative);
  command->add_option("--atol", options->bound.absolute, "allowed absolute error")
      ->type_name("X")
      ->check(notNegative);
  command
      ->add_option("--steps", options->rounds.steps,
                   "number of inferences; files may hold all steps along a new first axis")
      ->type_name("N")
      ->check(CLI::Range(uint64_t{1}, kMostInferences).description("1 to 2^20"));
  command
      ->add_option("--reset-every", options->resetEvery,
                   "reset to the initial state after this many inferences")
      ->type_name("N")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 20).description("1 to 2^20"));
  command
      ->add_option("--seed", options->seed,
                   "seed of the random numbers that the program draws for every inference (0)")
      ->type_name("N");
  command
      ->add_option("--hold", options->hold,
                   "give an input with the first inference only, also after a reset; the device "
                   "keeps it")
      ->type_name("INPUT")
      ->allow_extra_args(false);
  command
      ->add_option("--streams", options->rounds.streams,
                   "number of independent streams, one step of each in turn; files hold them along "
                   "the first axis")
      ->type_name("N")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 16).description("1 to 2^16"));
  command
      ->add_option("--load-state", options->loadState, "start from a state that --save-state wrote")
      ->type_name("FILE");
  command
      ->add_option("--save-state", options->saveState, "write the state after the last inference")
      ->type_name("FILE");
  command->add_flag("--counters", options->counters,
                    "print how every unit spent its cycles up to the last output");
  command
      ->add_option("--trace", options->trace,
                   "write a trace of every unit for ui.perfetto.dev (of the last data set)")
      ->type_name("FILE");
  command->add_option("--waves", options->waves, "write waveforms of the hardware (FST)")
      ->type_name("FILE");
  command
      ->add_option("--stall-limit", options->stallLimit,
                   "stop after this many cycles without progress")
      ->type_name("N")
      ->check(CLI::Range(uint64_t{256}, uint64_t{1} << 40).description("256 to 2^40"));
  command->callback([options, command, &common, &exitCode] {
    options->rounds.stacks = command->count("--steps") != 0;
    exitCode = Run(*options, common).run();
  });
}

} // namespace sluice::cli
