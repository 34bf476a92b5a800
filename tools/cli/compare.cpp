// sluice compare: how far every layer of a compiled model is from the model.
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "compiler/check/inputs.h"
#include "compiler/check/layer_errors.h"
#include "compiler/frontend/onnx/border.h"
#include "compiler/support/problem_text.h"
#include "compiler/support/suggestion.h"
#include "runtime/format/program_file.h"
#include "tools/cli/calibration.h"
#include "tools/cli/commands.h"
#include "tools/cli/compare_report.h"
#include "tools/cli/inputs.h"
#include "tools/cli/model_options.h"
#include "tools/cli/progress.h"
#include "tools/cli/requirements.h"

namespace sluice::cli {
namespace {

constexpr uint64_t kMostSamples = 10'000, kMostSteps = 10'000;

struct CompareOptions {
  ModelOptions model;
  std::string program, data = "random:4", against, labels;
  uint64_t steps = 1;
  Requirements required;
};

/// The N of random:N; nothing of other texts.
std::optional<uint64_t> randomCount(std::string_view data) {
  constexpr std::string_view kRandom = "random:";
  if (!data.starts_with(kRandom))
    return std::nullopt;
  data.remove_prefix(kRandom.size());
  uint64_t count = 0;
  const auto parsed = std::from_chars(data.data(), data.data() + data.size(), count);
  const bool isNumber = parsed.ec == std::errc() && parsed.ptr == data.data() + data.size();
  return isNumber && count <= kMostSamples ? count : 0;
}

class CompareRun {
public:
  CompareRun(CompareOptions &options, const Common &common) : options(options), report(common) {}

  int run() {
    if (!prepare() || !compile() || !readAgainst() || !readLabels())
      return report.fail(problems, options.model.compile.modelPath);
    check::LayerOptions layers;
    layers.facts = pipeline::factsOf(result);
    layers.samples = std::move(samples);
    layers.other = [this](const std::string &tensor, check::Moment at) {
      const auto found = others.find(tensor);
      return found == others.end() ? nullptr : &found->second[at.sample * options.steps + at.step];
    };
    layers.outputs = [this](check::Moment at, const auto &found, const auto &wanted) {
      if (labels.empty())
        return;
      const size_t label = labels[at.sample * options.steps + at.step];
      ofProgram.add(found.front().values, label);
      ofModel.add(wanted.front().values, label);
    };
    Ticker ticker(fmt::format("comparing {}", options.model.compile.modelPath));
    auto compared = check::compareLayers(*result.oracle, result.program, layers);
    if (const auto *stall = std::get_if<std::string>(&compared))
      return report.fail({stalls(*stall)}, options.model.compile.modelPath);
    return print(std::get<check::LayerErrors>(compared), layers.samples.size());
  }

private:
  [[nodiscard]] bool fail(std::string code, std::string message) {
    problems.push_back(problem(std::move(code), std::move(message)));
    return false;
  }

  /// Checks the flags.
  bool prepare() {
    pipeline::CompileOptions &compile = options.model.compile;
    const std::vector<Report::File> reads = {{"the model", compile.modelPath},
                                             {"the --program file", options.program},
                                             {"the --data file", options.data},
                                             {"the --against file", options.against},
                                             {"the --labels file", options.labels}};
    if (const auto wrong = report.checkFiles(reads, {})) {
      problems.push_back(*wrong);
      return false;
    }
    options.model.finish(problems);
    if (randomCount(options.data) == 0U)
      return fail("E0601", fmt::format("--data is '{}', allowed: random:1 to random:{}, a folder "
                                       "or an .npz file",
                                       options.data, kMostSamples));
    if (options.against == "onnxruntime")
      return fail("E0601", "--against 'onnxruntime' is for Python: sluice.compare(model, data=..., "
                           "against='onnxruntime')");
    const bool isRandom = randomCount(options.data).has_value();
    if (isRandom && !options.against.empty())
      return fail("E0601", "--against needs --data with the inputs that the other runtime had");
    if (isRandom && !options.labels.empty())
      return fail("E0601", "--labels needs --data with the samples that they belong to");
    options.required.read(quantitiesOf(nullptr, options.labels.empty() ? nullptr : &ofProgram),
                          problems);
    if (options.model.compile.ioOnly)
      return fail("E0601", "--io-only cannot be used with compare: it computes nothing");
    if (!options.model.streams.empty())
      return fail("E0601", "--stream cannot be used with compare, whose tensors are whole; compare "
                           "the model without --stream");
    return problems.empty();
  }

  /// Makes the program or reads it, and the samples.
  bool compile() {
    pipeline::CompileOptions &compile = options.model.compile;
    compile.check.emplace();
    compile.check->inputs = 0; // compared here
    compile.measure = false;
    if (!options.program.empty())
      compile.stage = pipeline::Stage::Graph;
    const auto count = randomCount(options.data);
    if (!count)
      compile.calibration = [this](const auto &inputs, Problems &wrong) {
        auto read = readCalibration(options.data, inputs, wrong, {kMostSamples, false});
        for (Problem &one : wrong)
          one.notes.push_back(fmt::format("read from --data '{}'", options.data));
        return read;
      };
    auto compiled = options.model.run("compiling", problems);
    result = std::move(compiled.result);
    if (!problems.empty())
      return false;
    Report::notes(result.notes);
    if (!options.program.empty() && !readProgram())
      return false;
    if (result.program.models.front().steps > 1)
      Report::notes({fmt::format("the program runs {} times for each inference: only its outputs "
                                 "are compared",
                                 result.program.models.front().steps)});
    return count ? makeSamples(*count) : groupSamples();
  }

  bool readProgram() {
    format::ReadResult read = format::readFile(options.program);
    if (!read.program) {
      for (const format::FileProblem &wrong : read.problems)
        problems.push_back(problem(wrong.code, wrong.message));
      return false;
    }
    result.program = std::move(*read.program);
    const format::Model &model = result.program.models.front();
    return isOfModel("input", model.inputs, result.oracle->inputs()) &&
           isOfModel("output", model.outputs, result.oracle->outputs());
  }

  /// Whether the program has the inputs or outputs of the model.
  bool isOfModel(std::string_view kind, const std::vector<format::HostTensor> &found,
                 const std::vector<frontend::ImportedTensor> &wanted) {
    const auto textOf = [](const auto &tensors) {
      std::vector<std::string> texts;
      for (const auto &tensor : tensors)
        texts.push_back(fmt::format("'{}' {}", tensor.name, shapeText(tensor.shape)));
      return fmt::format("{}", fmt::join(texts, ", "));
    };
    if (textOf(found) == textOf(wanted))
      return true;
    return fail("E0601",
                fmt::format("--program has {}s {}, the model has {}; give the flags that it was "
                            "compiled with",
                            kind, textOf(found), textOf(wanted)));
  }

  bool makeSamples(uint64_t count) {
    uint32_t stream = 0;
    for (uint64_t sample = 0; sample < count; ++sample) {
      auto &steps = samples.emplace_back();
      for (uint64_t step = 0; step < options.steps; ++step) {
        const reference::Tensors arrays = check::randomInputs(
            result.oracle->arrays(), check::kindOf(sample), {1 + sample, step}, stream);
        steps.push_back(frontend::argumentsOf(result.oracle->inputs(), arrays));
      }
    }
    return true;
  }

  /// Consecutive samples are the steps of a sequence.
  bool groupSamples() {
    const size_t count = result.calibration.size();
    if (count == 0 || count % options.steps != 0)
      return fail("E0601", fmt::format("--data has {} samples, allowed with --steps {}: a multiple "
                                       "of {}",
                                       count, options.steps, options.steps));
    for (size_t i = 0; i < count; ++i) {
      if (i % options.steps == 0)
        samples.emplace_back();
      samples.back().push_back(std::move(result.calibration[i]));
    }
    return true;
  }

  [[nodiscard]] size_t inferences() const { return samples.size() * options.steps; }

  /// Reads the tensors of another runtime.
  bool readAgainst() {
    if (options.against.empty())
      return true;
    const auto read = io::readTensors(options.against);
    if (const auto *wrong = std::get_if<io::Error>(&read))
      return fail(wrong->code, wrong->message);
    std::vector<std::string> names;
    std::map<std::string, std::vector<int64_t>> shapes;
    for (const frontend::GraphTensor &tensor : result.oracle->tensors()) {
      names.push_back(tensor.name);
      shapes[tensor.name] = tensor.shape;
    }
    for (const io::Tensor &tensor : std::get<std::vector<io::Tensor>>(read)) {
      if (tensor.name.empty())
        return fail("E0602", fmt::format("the tensor in '{}' has no name; --against reads .npz "
                                         "files, with a member for each tensor",
                                         options.against));
      const auto shape = shapes.find(tensor.name);
      if (shape == shapes.end()) {
        Problem wrong = problem("E0602", fmt::format("the model has no tensor '{}'", tensor.name));
        wrong.fixes = suggestion(tensor.name, names);
        wrong.notes.push_back(fmt::format("read from --against '{}'", options.against));
        problems.push_back(std::move(wrong));
      } else {
        addOther(tensor, shape->second);
      }
    }
    return problems.empty();
  }

  void addOther(const io::Tensor &tensor, const std::vector<int64_t> &shape) {
    std::vector<int64_t> stacked = shape;
    stacked.insert(stacked.begin(), static_cast<int64_t>(inferences()));
    const bool isOne = tensor.shape == shape && inferences() == 1;
    if (!isOne && tensor.shape != stacked) {
      Problem wrong = problem("E0604", fmt::format("tensor '{}' has shape {}, allowed: {}",
                                                   tensor.name, shapeText(tensor.shape),
                                                   shapeText(inferences() == 1 ? shape : stacked)));
      wrong.notes.push_back(fmt::format("read from --against '{}'", options.against));
      problems.push_back(std::move(wrong));
      return;
    }
    for (uint64_t i = 0; i < inferences(); ++i)
      others[tensor.name].emplace_back(shape, io::values(isOne ? tensor : stepOf(tensor, i)));
  }

  bool readLabels() {
    if (options.labels.empty())
      return true;
    const auto read = readOne(options.labels, "labels");
    if (const auto *wrong = std::get_if<Problem>(&read)) {
      problems.push_back(*wrong);
      return false;
    }
    const std::vector<double> values = io::values(std::get<io::Tensor>(read));
    const auto classes =
        static_cast<double>(reference::elements(result.oracle->outputs().front().shape));
    if (values.size() != inferences())
      return fail("E0604", fmt::format("--labels has {} labels, allowed: {}, one for each sample",
                                       values.size(), inferences()));
    for (const double value : values) {
      if (value < 0 || value >= classes || value != std::floor(value))
        return fail("E0604",
                    fmt::format("--labels has the label {}, allowed: integers from 0 to {}", value,
                                classes - 1));
      labels.push_back(static_cast<size_t>(value));
    }
    return true;
  }

  int print(const check::LayerErrors &errors, size_t count) {
    const format::Program &program = result.program;
    std::string text = fmt::format("model {} on {}, {} sample{}", printable(program.models[0].name),
                                   program.geometry.name, count, count == 1 ? "" : "s");
    if (options.steps > 1)
      text += fmt::format(" of {} steps", options.steps);
    if (!options.against.empty())
      text += fmt::format(", against {}", options.against);
    text += "\n" + layersText(errors);
    if (!labels.empty())
      text += fmt::format("accuracy of the program: {}; of the reference: {}\n", ofProgram.text(),
                          ofModel.text());
    if (!errors.unseen.empty())
      text += fmt::format("{} tensor{} not compared: the program does not store {}\n",
                          errors.unseen.size(), errors.unseen.size() == 1 ? "" : "s",
                          errors.unseen.size() == 1 ? "it" : "them");
    if (!errors.firstWrong)
      text += fmt::format("{} within {} bound\n",
                          errors.layers.size() == 1
                              ? "the layer is"
                              : fmt::format("all {} layers are", errors.layers.size()),
                          errors.layers.size() == 1 ? "its" : "their");
    options.required.judge(quantitiesOf(&errors, labels.empty() ? nullptr : &ofProgram));
    report.text(text + options.required.text());
    const bool ok = !errors.firstWrong;
    if (!ok)
      report.log({wrongLayer(errors, options.against.empty() ? "the model" : "the reference",
                             options.steps)},
                 options.model.compile.modelPath);
    Json json = {{"schema", 1},
                 {"ok", ok},
                 {"target", program.geometry.name},
                 {"samples", count},
                 {"steps", options.steps}};
    json.update(layersJson(errors));
    json["accuracy"] = labels.empty() ? Json(nullptr)
                                      : Json{{"labels", labels.size()},
                                             {"program", ofProgram.json()},
                                             {"reference", ofModel.json()}};
    report.log(options.required.problems(), options.model.compile.modelPath);
    options.required.addTo(json);
    if (!report.json(json))
      return Usage;
    return ok && options.required.areMet() ? Ok : Different;
  }

  CompareOptions &options;
  const Report report;
  Problems problems;
  pipeline::CompileResult result;
  std::vector<std::vector<reference::Tensors>> samples;         ///< by step
  std::map<std::string, std::vector<reference::Tensor>> others; ///< by inference
  std::vector<size_t> labels;                                   ///< by inference
  Accuracy ofProgram, ofModel;
};

} // namespace

void addCompare(CLI::App &app, const Common &common, int &exitCode) {
  auto *command = app.add_subcommand(
      "compare",
      "compare every layer of a compiled model with the model and name the first wrong one");
  auto options = std::make_shared<CompareOptions>();
  options->model.add(*command);
  command
      ->add_option("--program", options->program,
                   "program file to compare; it was compiled from the model with the same flags "
                   "(compile the model)")
      ->type_name("FILE");
  command
      ->add_option("--data", options->data,
                   "samples: a folder of test data, an .npz file with a member for each input, or "
                   "random:N (random:4)")
      ->type_name("DATA");
  command
      ->add_option("--against", options->against,
                   "tensors of another runtime for the same --data: an .npz file with a member for "
                   "each, by its name in the model")
      ->type_name("FILE.npz");
  command
      ->add_option("--labels", options->labels,
                   "the right class of each sample, for the accuracy of the first output")
      ->type_name("FILE.npy");
  command
      ->add_option("--steps", options->steps,
                   "number of steps of each sample; the samples of --data are steps in turn (1)")
      ->type_name("N")
      ->check(CLI::Range(uint64_t{1}, kMostSteps).description("1 to 10000"));
  options->required.add(*command, "error<=1%, snr>=40dB, top1>=98%");
  command->callback(
      [options, &common, &exitCode] { exitCode = CompareRun(*options, common).run(); });
}

} // namespace sluice::cli
