// sluice reduce: a small model that shows the same failure.
#include <algorithm>
#include <atomic>
#include <csignal>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/pipeline/option_words.h"
#include "compiler/reduce/graph_parts.h"
#include "compiler/reduce/reducer.h"
#include "compiler/reduce/trial.h"
#include "compiler/support/problem_text.h"
#include "tools/cli/commands.h"
#include "tools/cli/float_tensor.h"
#include "tools/cli/progress.h"
#include "tools/cli/reduce_input.h"
#include "tools/cli/shell_word.h"

namespace sluice::cli {
namespace {

using reduce::Failure;

constexpr uint64_t kMostChecked = 10'000; ///< inputs
constexpr const char *kProgram = "reduced.sluice";

/// Whether the user asked for the end. Signals set it.
std::atomic<bool> isStopped{false};
static_assert(std::atomic<bool>::is_always_lock_free);

/// While it exists, signals that ask for the end set a flag.
class StopSignals {
public:
  StopSignals() {
    struct sigaction action{};
    action.sa_handler = [](int) { isStopped = true; };
    sigaction(SIGINT, &action, &before[0]);
    sigaction(SIGTERM, &action, &before[1]);
  }
  ~StopSignals() {
    sigaction(SIGINT, &before[0], nullptr);
    sigaction(SIGTERM, &before[1], nullptr);
  }
  StopSignals(const StopSignals &) = delete;
  StopSignals &operator=(const StopSignals &) = delete;

private:
  struct sigaction before[2]{};
};

bool isOurs(const Failure &failure) {
  return failure.kind != Failure::Kind::Error && failure.kind != Failure::Kind::Option;
}

class Reduce {
public:
  Reduce(ReduceOptions &options, const Common &common)
      : options(options), report(common), input(options) {}

  int run() {
    if (!input.read(report))
      return report.fail(problems, path());
    setup.stop = &isStopped;
    const StopSignals signals;
    ProgressLine line(fmt::format("reducing {}", path()));
    if (!findFailure())
      return isStopped ? interrupted() : report.fail(problems, path());
    before = reduce::countNodes(first.model);
    const reduce::Reduced reduced = reduce::reduceModel(
        std::move(first),
        {.showsFailure = [&](reduce::Case &one) { return showsFailure(one); },
         .survey = [&](const reduce::Case &one) { return survey(one.model, one.samples, setup); },
         .watch =
             [&](const reduce::Case &smallest, unsigned trials) {
               line.update(fmt::format("{} of {} nodes, {} models tried",
                                       reduce::countNodes(smallest.model), before, trials));
             },
         .isStopped = [] { return isStopped.load(); }},
        static_cast<unsigned>(options.trials));
    return finish(reduced, line.seconds());
  }

private:
  [[nodiscard]] const std::string &path() const { return options.model.compile.modelPath; }

  [[nodiscard]] bool fail(std::string code, std::string message) {
    problems.push_back(problem(std::move(code), std::move(message)));
    return false;
  }

  /// Finds the failure of the model that is to be kept.
  bool findFailure() {
    reduce::Outcome outcome = reduce::tryModel(first.model, first.samples, setup);
    if (outcome.failures.empty() && !outcome.isInterrupted) {
      setup.compile.measure = true; // may fail, too
      outcome = reduce::tryModel(first.model, first.samples, setup);
    }
    if (outcome.isInterrupted)
      return false;
    const auto found = std::ranges::find_if(outcome.failures, [&](const Failure &one) {
      return options.keep.empty() || one.name() == options.keep || one.code == options.keep;
    });
    if (found == outcome.failures.end())
      return failOtherwise(outcome.failures);
    if (found->kind == Failure::Kind::Timeout && options.keep.empty())
      return fail("E0623", fmt::format("the model takes longer than {} s; allow more with "
                                       "--timeout, or reduce this with --keep timeout",
                                       options.timeout));
    if (found->kind == Failure::Kind::Option) {
      if (path() != "-")
        options.model.run("compiling", problems); // the flags are wrong: says what to do
      return !problems.empty() ? false : fail(found->code, found->message);
    }
    kept = *found;
    first.nodes = kept.nodes;
    if (outcome.evidence)
      first.samples = {*outcome.evidence};
    return true;
  }

  /// Says which other failures the model shows.
  bool failOtherwise(const std::vector<Failure> &others) {
    std::vector<std::string> texts;
    for (const Failure &one : others)
      if (std::ranges::find(texts, one.text()) == texts.end())
        texts.push_back(one.text());
    const std::string shows = texts.empty() ? "it compiles and its program passes the check"
                                            : fmt::format("it shows {}", fmt::join(texts, ", "));
    if (options.keep.empty())
      return fail("E0623", "the model shows no failure: it compiles and its program passes the "
                           "check");
    return fail("E0623", fmt::format("the model does not show '{}': {}", options.keep, shows));
  }

  bool showsFailure(reduce::Case &one) const {
    const reduce::Outcome outcome = reduce::tryModel(one.model, one.samples, setup);
    const auto found = std::ranges::find_if(
        outcome.failures, [&](const Failure &failure) { return failure.isLike(kept); });
    if (found == outcome.failures.end())
      return false;
    one.nodes = found->nodes;
    if (outcome.evidence)
      one.samples = {*outcome.evidence};
    return true;
  }

  /// Ends as if the signal had not been handled.
  static int interrupted() {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
    return Usage;
  }

  /// The command that shows the failure of the reduced model.
  [[nodiscard]] std::string command(const onnx::ModelProto &model, bool hasInputs) const {
    const pipeline::CompileOptions used = reduce::optionsFor(setup.compile, model);
    std::vector<std::string> words{"sluice", isOurs(kept) ? "compile" : "check", options.output};
    for (std::string &word : pipeline::optionWords(used, used.target))
      words.push_back(std::move(word));
    const bool differ = kept.kind == Failure::Kind::Engines;
    if (differ)
      words.insert(words.end(), {"-o", kProgram});
    else if (hasInputs)
      words.insert(words.end(), {"--calibrate", input.inputsPath});
    std::string text = shellText(words);
    if (differ)
      text += " && " + shellText({"sluice", "run", kProgram, "--engine", "both", "--input",
                                  "@" + input.inputsPath});
    return text;
  }

  int finish(const reduce::Reduced &reduced, double seconds) {
    const onnx::ModelProto &model = reduced.smallest.model;
    const std::string bytes = model.SerializeAsString();
    std::vector<OutputFile> files{{options.output, bytes}};
    std::string inputs;
    if ((kept.kind == Failure::Kind::Wrong || kept.kind == Failure::Kind::Engines) &&
        !reduced.smallest.samples.empty()) {
      std::vector<io::Tensor> tensors;
      for (const auto &[name, tensor] : reduced.smallest.samples.front())
        tensors.push_back(floatTensor(name, tensor));
      inputs = io::writeNpz(tensors);
      files.push_back({input.inputsPath, inputs});
    }
    if (const auto wrong = writeOutputs(files))
      return report.fail({*wrong}, "");
    const size_t after = reduce::countNodes(model);
    const std::string shown = command(model, !inputs.empty());
    if (isStopped)
      Report::notes({"interrupted: this is the smallest model so far"});
    else if (reduced.trials >= options.trials)
      Report::notes(
          {fmt::format("stopped after --trials {}: a smaller model may exist", options.trials)});
    std::string text =
        fmt::format("reduced {} node{} to {}: {}, {} models tried, {:.2f} s\n", before,
                    before == 1 ? "" : "s", after, printable(kept.text()), reduced.trials, seconds);
    text += writtenText(options.output, printable(shown) + " shows the failure");
    if (!inputs.empty())
      text += writtenText(input.inputsPath, "inputs that show it");
    if (isOurs(kept))
      text += "this is a bug in sluice; please report it with these files and the output of "
              "'sluice version --json'\n";
    report.text(text);
    const auto optional = [](const std::string &value) {
      return value.empty() ? Json(nullptr) : Json(value);
    };
    return report.json({{"schema", 1},
                        {"ok", true},
                        {"failure",
                         {{"kind", kept.name() == kept.code ? "error" : kept.name()},
                          {"code", optional(kept.code)},
                          {"rule", optional(kept.rule)},
                          {"op", optional(kept.op)},
                          {"signal", optional(kept.signal)},
                          {"stage", optional(kept.stage)},
                          {"message", optional(kept.message)}}},
                        {"nodes", {{"before", before}, {"after", after}}},
                        {"trials", reduced.trials},
                        {"interrupted", isStopped.load()},
                        {"seconds", seconds},
                        {"output", options.output},
                        {"inputs", inputs.empty() ? Json(nullptr) : Json(input.inputsPath)},
                        {"command", shown}})
               ? Ok
               : Usage;
  }

  ReduceOptions &options;
  const Report report;
  ReduceInput input;
  Problems &problems = input.problems;
  reduce::TrialSetup &setup = input.setup;
  reduce::Case &first = input.first;
  Failure kept;      ///< what the reduced model must show
  size_t before = 0; ///< nodes
};

} // namespace

void addReduce(CLI::App &app, const Common &common, int &exitCode) {
  auto *command = app.add_subcommand(
      "reduce", "shrink a model that shows a failure to a small model that shows it too");
  auto options = std::make_shared<ReduceOptions>();
  command
      ->add_option("model", options->model.compile.modelPath,
                   "ONNX model, or the folder that compile writes with an internal error; - is "
                   "standard input")
      ->required();
  command->add_option("-o,--output", options->output, "model to write (reduced.onnx)")
      ->type_name("FILE.onnx");
  command
      ->add_option(
          "--keep", options->keep,
          "the failure to keep: an error code, wrong (a wrong value), crash or timeout (the "
          "first that the model shows)")
      ->type_name("CODE|wrong|crash|timeout");
  command
      ->add_option(
          "--data", options->data,
          "inputs that give the wrong value: a folder of test data, or an .npz file with a "
          "member for each input")
      ->type_name("DIR|FILE.npz");
  command
      ->add_option("--bundle", options->bundle,
                   "take flags and inputs from a folder that has no model, as large ones do")
      ->type_name("DIR");
  command
      ->add_option("--check", options->check,
                   "number of random inputs that check each program (as many as its compile time "
                   "allows)")
      ->type_name("N")
      ->check(CLI::Range(uint64_t{1}, kMostChecked));
  command->add_option("--timeout", options->timeout, "seconds that each model may take (60)")
      ->type_name("SECONDS")
      ->check(CLI::Range(uint64_t{1}, uint64_t{86'400}));
  command->add_option("--trials", options->trials, "most models that are tried (2000)")
      ->type_name("N")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000}));
  const size_t others = command->get_options().size();
  options->model.addFlags(*command);
  const std::vector<CLI::Option *> all = command->get_options();
  options->flags.assign(all.begin() + static_cast<std::ptrdiff_t>(others), all.end());
  command->callback([options, &common, &exitCode] { exitCode = Reduce(*options, common).run(); });
}

} // namespace sluice::cli
