// sluice compile: a model becomes a program file.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "compiler/frontend/onnx/cut_rest.h"
#include "compiler/pipeline/import_once.h"
#include "compiler/support/problem_text.h"
#include "runtime/format/area.h"
#include "runtime/format/program_file.h"
#include "tools/cli/area.h"
#include "tools/cli/calibration.h"
#include "tools/cli/check_summary.h"
#include "tools/cli/clock.h"
#include "tools/cli/commands.h"
#include "tools/cli/fault_bundle.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/model_options.h"
#include "tools/cli/requirements.h"

namespace sluice::cli {
namespace {

using pipeline::CompileResult;
using pipeline::Stage;

struct Options {
  ModelOptions model;
  std::optional<std::string> output;
  std::string emit;
  std::string check = "auto";
  std::string calibration;
  std::string rest;
  Requirements required;
};

constexpr uint64_t kMostChecked = 10'000; ///< inputs

Stage stageOf(const std::string &emit) {
  static const std::map<std::string, Stage> stages{{"graph", Stage::Graph},
                                                   {"layout", Stage::Layout},
                                                   {"rows", Stage::Rows},
                                                   {"plan", Stage::Plan},
                                                   {"core", Stage::Core}};
  const auto found = stages.find(emit);
  return found == stages.end() ? Stage::Program : found->second;
}

/// --check: a number of inputs, "auto" or "off"; E0601 if it is something else.
std::optional<Problem> readCheck(const std::string &text, std::optional<check::Options> &check) {
  check.reset();
  if (text == "off")
    return std::nullopt;
  check.emplace();
  if (text == "auto")
    return std::nullopt;
  uint64_t count = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), count);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || count == 0 ||
      count > kMostChecked)
    return problem(
        "E0601", fmt::format("--check is '{}', allowed: 1 to {}, auto or off", text, kMostChecked));
  check->inputs = count;
  return std::nullopt;
}

/// Warns where most of the outputs could not be checked.
void warnUnchecked(const check::Outcome &checked) {
  constexpr double kMost = 0.5;
  if (checked.uncheckedShare() > kMost)
    Report::say(
        fmt::format("warning: {:.0f} % of the outputs are unchecked: rounding to bf16 alone "
                    "moves them by more than 10 % of their range\n",
                    100 * checked.uncheckedShare()));
}

std::string coreName(uint32_t core, uint32_t cores) {
  return core == cores ? "host port" : fmt::format("core {}", core);
}

/// The flags that were added and the price of the others, and the changes of the model.
std::string repairsText(const CompileResult &result) {
  std::string text;
  for (const Repair &repair : result.repairs)
    text += fmt::format("{:<20}{} ({})\n", text.empty() ? "fix applied" : "fix not applied",
                        repair.flags.text(), priceText(repair, result.repairs.front()));
  for (const pipeline::Rewrite &one : result.rewrites)
    text += fmt::format("rewritten           {}\n", rewriteText(one));
  if (!result.repairs.empty() && result.repairs.front().flags.dynamicWeights)
    for (const NodeRef &node : result.dynamicProducts)
      text +=
          fmt::format("rewritten           {}\n", changeText(pipeline::usesDynamicWeights(node)));
  return text;
}

/// "weight blocks 45 of 512 (core 2)", the fullest core of every memory.
std::string fitText(const CompileResult &result) {
  std::map<std::string, const plan::MemoryUse *> worst;
  std::vector<std::string> order;
  for (const plan::MemoryUse &use : result.memory) {
    auto &entry = worst[use.memory];
    if (!entry)
      order.push_back(use.memory);
    if (!entry || use.used * entry->capacity > entry->used * use.capacity)
      entry = &use;
  }
  std::string text;
  for (const std::string &memory : order) {
    const plan::MemoryUse &use = *worst[memory];
    text += fmt::format("  {:<18}{} of {} ({:.1f} %, {})\n", memory, use.used, use.capacity,
                        100.0 * static_cast<double>(use.used) / static_cast<double>(use.capacity),
                        coreName(use.core, result.program.geometry.cores));
  }
  return text;
}

std::string summary(const CompileResult &result, const std::string &target, double seconds) {
  const Clock clock(result.program.geometry);
  auto time = [&](uint64_t cycles) {
    return fmt::format("{} cycles ({})", cycles, clock.time(cycles));
  };
  std::string text = fmt::format("target              {}\narea                {}\n", target,
                                 format::areaText(format::estimateArea(result.program.geometry)));
  text += result.operators == result.accelerated
              ? fmt::format("operators           {}, all on the accelerator\n", result.operators)
              : fmt::format("operators           {} of {} on the accelerator\n", result.accelerated,
                            result.operators);
  text += fmt::format("parameters          {}\nmemory use, fullest core of each memory:\n",
                      result.parameters);
  text += fitText(result);
  text += repairsText(result);
  if (result.cycles) {
    text += fmt::format("latency, spaced     {}\n", time(result.cycles->spaced));
    text += fmt::format("latency, contiguous {}\n", time(result.cycles->contiguous));
    text += fmt::format("period              {}\n", time(result.cycles->period));
    if (result.cycles->ahead)
      text += fmt::format("precomputed sums    {}\n", time(*result.cycles->ahead));
    const double possible =
        static_cast<double>(result.cycles->period) * static_cast<double>(result.peakMacsPerCycle);
    text += fmt::format("utilisation         {:.1f} % of {} MAC/cycle over a period ({} MAC)\n",
                        possible > 0 ? 100 * static_cast<double>(result.macs) / possible : 0.0,
                        result.peakMacsPerCycle, result.macs);
  }
  if (result.checked)
    text += fmt::format("checked             {}\n", checkedText(*result.checked));
  return text + fmt::format("compile time        {:.2f} s\n", seconds);
}

Json resultJson(const CompileResult &result, const std::string &target, double seconds,
                const std::string &output) {
  Json fits = Json::array();
  for (const plan::MemoryUse &use : result.memory)
    fits.push_back({{"core", use.core},
                    {"memory", use.memory},
                    {"used", use.used},
                    {"capacity", use.capacity}});
  Json latency = nullptr;
  if (result.cycles)
    latency = {{"spaced", result.cycles->spaced},
               {"contiguous", result.cycles->contiguous},
               {"period", result.cycles->period}};
  if (result.cycles && result.cycles->ahead)
    latency["ahead"] = *result.cycles->ahead;
  return {{"schema", 1},
          {"ok", true},
          {"target", target},
          {"area", areaJson(format::estimateArea(result.program.geometry))},
          {"operators", {{"total", result.operators}, {"accelerated", result.accelerated}}},
          {"parameters", result.parameters},
          {"fits", fits},
          {"latency", latency},
          {"rewrites", rewritesJson(result.rewrites)},
          {"fixes", repairsJson(result.repairs, true)},
          {"notes", result.notes},
          {"interrupted", result.interrupted},
          {"peak_mac_per_cycle", result.peakMacsPerCycle},
          {"macs", result.macs},
          {"planning_work", result.planningWork},
          {"checked", checkedJson(result.checked)},
          {"seconds", seconds},
          {"output", output}};
}

/// The share of a memory that is used on its fullest core, in percent; of all memories without a
/// name.
std::optional<double> usedPercent(const CompileResult &result, std::string_view memory = "") {
  std::optional<double> worst;
  for (const plan::MemoryUse &use : result.memory)
    if (memory.empty() || use.memory == memory)
      worst = std::max(worst.value_or(0),
                       100 * static_cast<double>(use.used) / static_cast<double>(use.capacity));
  return worst;
}

/// The quantities of --require, without values if there is no result yet.
std::vector<Quantity> quantitiesOf(const std::optional<check::Options> &check,
                                   const CompileResult *result) {
  std::vector<Quantity> quantities{
      {"cycles", ""}, {"contiguous", ""}, {"period", ""}, {"blocks", "%"}, {"memory", "%"}};
  if (check)
    quantities.insert(quantities.end(), {{"error", "%"}, {"unchecked", "%"}});
  if (!result)
    return quantities;
  if (const auto &cycles = result->cycles) {
    quantities[0].value = static_cast<double>(cycles->spaced);
    quantities[1].value = static_cast<double>(cycles->contiguous);
    quantities[2].value = static_cast<double>(cycles->period);
  }
  quantities[3].value = usedPercent(*result, "weight blocks");
  quantities[4].value = usedPercent(*result);
  if (const auto &checked = result->checked) {
    if (checked->unchecked < checked->elements)
      quantities[5].value = 100 * checked->largestError;
    quantities[6].value = 100 * checked->uncheckedShare();
  }
  return quantities;
}

/// Where the program goes without -o: the model's name, in this folder.
std::string defaultOutput(const std::string &model) {
  return model == "-" ? "-" : std::filesystem::path(model).stem().string() + ".sluice";
}

/// Where the result goes must not be where something else comes from or goes.
std::optional<Problem> checkPath(const std::string &path, bool binary, const Report &report) {
  if (path.empty())
    return problem("E0601", "--output is empty, allowed: a file name or -");
  if (auto wrong = report.checkStdout({{"--output", path}}))
    return wrong;
  if (binary)
    if (auto wrong = checkBinary("--output", path))
      return wrong;
  return checkOutput(path);
}

/// The files of --rest, and the models that go there.
struct RestFiles {
  std::string before, behind; ///< paths; empty without --rest
  frontend::Rest models;

  [[nodiscard]] Json json() const {
    const auto name = [](const std::string &path, const std::string &bytes) {
      return bytes.empty() ? Json(nullptr) : Json(path);
    };
    return {{"before", name(before, models.before)},
            {"behind", name(behind, models.behind)},
            {"inputs", models.inputs},
            {"outputs", models.outputs}};
  }
};

/// Checks --rest against the other flags and names its files.
void nameRest(const Options &options, bool program, RestFiles &rest, Problems &problems) {
  constexpr std::string_view kEnding = ".onnx";
  const auto refuse = [&](std::string text) {
    problems.push_back(problem("E0601", std::move(text)));
  };
  if (options.rest.empty())
    return;
  if (!options.rest.ends_with(kEnding))
    return refuse(
        fmt::format("--rest is '{}', allowed: a file name that ends in {}", options.rest, kEnding));
  if (options.model.compile.cut.isEmpty())
    return refuse("--rest needs --inputs or --outputs");
  if (!program)
    return refuse("--rest cannot be used with --emit");
  if (!options.model.streams.empty())
    return refuse("--rest cannot be used with --stream, which changes the shapes of the tensors");
  const std::string stem = options.rest.substr(0, options.rest.size() - kEnding.size());
  rest.before = stem + ".before.onnx";
  rest.behind = stem + ".behind.onnx";
}

/// Makes the models of --rest.
void makeRest(const pipeline::CompileOptions &options, const CompileResult &result, RestFiles &rest,
              Problems &problems) {
  if (rest.before.empty())
    return;
  std::vector<frontend::ImportedTensor> outputs = result.given;
  for (size_t i = 0; result.steps && i < outputs.size(); ++i)
    outputs[i].shape = result.steps->outputShapes[i];
  rest.models = frontend::restOf(pipeline::importOptions(options), outputs, problems);
}

/// The first problem that is a fault of the compiler; nothing if there is none.
std::optional<size_t> faultOf(const Problems &problems) {
  const auto first = std::ranges::find_if(problems, isFault);
  return first == problems.end() ? std::nullopt : std::optional(first - problems.begin());
}

/// Writes what a report of a fault needs beside the program's path, and says where.
void addBundle(size_t first, const CompileResult &result, const pipeline::CompileOptions &options,
               const std::string &path, Problems &problems) {
  const std::string folder =
      std::filesystem::path(path == "-" ? defaultOutput(options.modelPath) : path)
          .replace_extension(problems[first].code)
          .string();
  const auto wrong =
      writeBundle(folder, problems, options, result.checked ? &*result.checked : nullptr);
  if (wrong)
    problems.push_back(*wrong);
  else
    problems[first].notes.push_back(
        fmt::format("'{0}' has what a report needs: model, flags, versions and inputs; 'sluice "
                    "reduce {0}' makes the model small",
                    folder));
}

int run(Options options, const Common &common) {
  const Report report(common);
  pipeline::CompileOptions &compile = options.model.compile;
  compile.stage = stageOf(options.emit);
  const bool program = compile.stage == Stage::Program;
  const std::vector<Report::File> reads = {{"the model", compile.modelPath},
                                           {"the --calibrate file", options.calibration}};
  if (const auto wrong = report.checkFiles(reads, {{"--output", options.output.value_or("")}}))
    return report.fail({*wrong}, "");
  Problems problems;
  options.model.finish(problems);
  if (auto wrong = readCheck(options.check, compile.check))
    problems.push_back(*wrong);
  if (!options.calibration.empty() && options.check == "off")
    problems.push_back(problem("E0601", "--calibrate cannot be used with --check off"));
  if (!options.calibration.empty())
    compile.calibration = [&](const auto &inputs, Problems &wrong) {
      auto samples = readCalibration(options.calibration, inputs, wrong);
      for (Problem &one : wrong)
        one.notes.push_back(fmt::format("read from --calibrate '{}'", options.calibration));
      return samples;
    };
  if (compile.ioOnly) {
    const bool hasNumber = compile.check && options.check != "auto";
    if (hasNumber || !options.calibration.empty())
      problems.push_back(
          problem("E0601", fmt::format("{} cannot be used with --io-only, which computes nothing",
                                       hasNumber ? "--check" : "--calibrate")));
    if (compile.stage == Stage::Rows)
      problems.push_back(problem("E0601", "--emit rows cannot be used with --io-only, which has "
                                          "no rows of the model"));
    compile.check.reset();
  }
  if (!program && !options.required.empty())
    problems.push_back(
        problem("E0601", "--require cannot be used with --emit, which measures nothing"));
  options.required.read(quantitiesOf(compile.check, nullptr), problems);
  if (!program && report.wantsJson())
    problems.push_back(problem("E0601", "--emit cannot be used with --json: its result is text"));
  RestFiles rest;
  nameRest(options, program, rest, problems);
  if (!problems.empty())
    return report.fail(problems, "");
  const std::string path = options.output ? *options.output
                           : program      ? defaultOutput(compile.modelPath)
                                          : "-";
  if (const auto wrong = report.checkFiles(
          reads, {{"--output", path}, {"--rest", rest.before}, {"--rest", rest.behind}}))
    return report.fail({*wrong}, "");
  for (const std::string &file : {rest.before, rest.behind})
    if (const auto wrong = file.empty() ? std::nullopt : checkOutput(file))
      return report.fail({*wrong}, "");
  if (const auto wrong = checkPath(path, program, report))
    return report.fail({*wrong}, "");
  const SearchInterrupt interrupt;
  compile.interruption = &interrupt.interruption();
  const auto [result, seconds] = options.model.run("compiling", problems);
  // What the loader would refuse must not be written.
  if (program && problems.empty())
    for (const format::FileProblem &wrong : format::check(result.program))
      problems.push_back(internalError(
          fmt::format("the compiled program is not valid: {} ({})", wrong.message, wrong.code)));
  if (const auto fault = faultOf(problems))
    addBundle(*fault, result, compile, path, problems);
  if (!problems.empty())
    return report.fail(problems, compile.modelPath);
  Report::notes(result.notes);
  if (result.interrupted)
    Report::notes({"interrupted: this is the best plan so far; a search to its end may find a "
                   "faster one"});
  if (result.checked)
    warnUnchecked(*result.checked);

  if (!program) {
    if (const auto wrong = writeOutput(path, result.text))
      return report.fail({*wrong}, "");
    return Ok;
  }
  makeRest(compile, result, rest, problems);
  if (!problems.empty())
    return report.fail(problems, compile.modelPath);
  const std::vector<uint8_t> bytes = format::write(result.program);
  std::vector<OutputFile> files{
      {path, {reinterpret_cast<const char *>(bytes.data()), bytes.size()}}};
  if (!rest.models.before.empty())
    files.push_back({rest.before, rest.models.before});
  if (!rest.models.behind.empty())
    files.push_back({rest.behind, rest.models.behind});
  if (const auto wrong = writeOutputs(files))
    return report.fail({*wrong}, "");
  const std::string &target = result.program.geometry.name;
  std::string text = summary(result, target, seconds);
  for (const OutputFile &file : files)
    text += fmt::format("written             {}, {} bytes\n", file.path, file.bytes.size());
  options.required.judge(quantitiesOf(compile.check, &result));
  text += options.required.text();
  if (path == "-")
    Report::say(text);
  else
    report.text(text);
  report.log(options.required.problems(), compile.modelPath);
  Json json = resultJson(result, target, seconds, path);
  if (!rest.before.empty())
    json["rest"] = rest.json();
  options.required.addTo(json);
  if (!report.json(json))
    return Usage;
  return options.required.areMet() ? Ok : Different;
}

} // namespace

void addCompile(CLI::App &app, const Common &common, int &exitCode) {
  auto *command = app.add_subcommand("compile", "compile a model into a program file");
  auto options = std::make_shared<Options>();
  options->model.add(*command);
  command
      ->add_option("-o,--output", options->output,
                   "program file to write; - is standard output (MODEL.sluice in this folder)")
      ->type_name("FILE");
  command->add_option("--emit", options->emit, "stop after this stage and print its result as text")
      ->type_name("STAGE")
      ->check(CLI::IsMember({"graph", "layout", "rows", "plan", "core"}));
  command
      ->add_option("--check", options->check,
                   "random inputs that check the program before it is written: a number, auto or "
                   "off (auto)")
      ->type_name("N|auto|off");
  command
      ->add_option("--calibrate", options->calibration,
                   "your own inputs, which check the program first: a folder of test data, or an "
                   ".npz file with a member for each input")
      ->type_name("DIR|FILE.npz");
  command
      ->add_option(
          "--rest", options->rest,
          "write the nodes before and behind the compiled part as models: FILE.before.onnx "
          "and FILE.behind.onnx")
      ->type_name("FILE.onnx");
  options->required.add(*command, "cycles<=300, error<=1%, blocks<=80%");
  command->callback([options, &common, &exitCode] { exitCode = run(*options, common); });
}

} // namespace sluice::cli
