// sluice report: one HTML page with everything that is known of a program.
#include <filesystem>

#include <fmt/format.h>

#include "compiler/check/layer_errors.h"
#include "compiler/frontend/onnx/border.h"
#include "compiler/pipeline/import_once.h"
#include "compiler/support/problem_text.h"
#include "runtime/format/program_file.h"
#include "tools/cli/calibration.h"
#include "tools/cli/commands.h"
#include "tools/cli/model_options.h"
#include "tools/cli/report/report_data.h"
#include "tools/cli/report/report_page.h"
#include "tools/cli/report/viewer_files.h"

namespace sluice::cli {
namespace {

/// The samples with which nodes are compared.
constexpr Sampling kCompared{10'000, false};

struct ReportOptions {
  ModelOptions flags; ///< with the file, which may be a program
  std::string model, data;
  std::optional<std::string> output, modelExplorer, netron;
  std::vector<const CLI::Option *> ofModels; ///< the flags that need a model
};

class ReportRun {
public:
  ReportRun(ReportOptions &options, const Common &common)
      : options(options), file(options.flags.compile.modelPath), report(common),
        path(options.output.value_or(
            file == "-" ? "-" : std::filesystem::path(file).stem().string() + ".html")) {
    if (options.modelExplorer)
      for (const std::string &ending : nodeDataEndings(isCompared()))
        nodeData.push_back(nodeDataStem() + ending);
  }

  int run() {
    if (const auto wrong = checkFlags())
      return report.fail({*wrong}, "");
    if (isProgram ? !read() : !compile())
      return report.fail(problems, about);
    const std::vector<uint8_t> bytes = format::write(result.program);
    auto loaded = ProgramHandle::loadBytes({bytes.begin(), bytes.end()});
    if (const auto *wrong = std::get_if<Problem>(&loaded))
      return report.fail({*wrong}, file);
    auto model = ModelHandle::of(std::get<ProgramHandle>(std::move(loaded)), options.model);
    if (const auto *wrong = std::get_if<Problem>(&model))
      return report.fail({*wrong}, file);
    const auto &handle = std::get<ModelHandle>(model);
    auto recorded = recordInference(handle, "vm", true);
    if (const auto *wrong = std::get_if<Problem>(&recorded))
      return report.fail({*wrong}, file);
    const ReportSubject subject{file,
                                handle,
                                result.program,
                                std::get<Activity>(recorded),
                                isProgram ? nullptr : &result,
                                options.data};
    if (hasViewers() && !makeViewerFiles(subject))
      return report.fail(problems, file);
    return write(reportJson(subject));
  }

private:
  std::optional<Problem> checkFlags() {
    for (const auto &[flag, value] : {std::pair{"--output", std::optional(path)},
                                      {"--model-explorer", options.modelExplorer},
                                      {"--netron", options.netron}})
      if (value && value->empty())
        return problem("E0601", fmt::format("{} is empty, allowed: a file name{}", flag,
                                            options.modelExplorer == value ? "" : " or -"));
    if (options.modelExplorer == "-")
      return problem("E0601", "--model-explorer writes several files, allowed: the beginning of "
                              "their names");
    if (auto wrong = report.checkFiles(filesRead(), filesWritten()))
      return wrong;
    if (auto wrong = report.checkStdout({{"--output", path}, {"--netron", netron()}}))
      return wrong;
    isProgram = format::isProgramFile(file);
    for (const CLI::Option *flag : options.ofModels)
      if (isProgram && flag->count() > 0)
        return problem("E0601", fmt::format("{} needs a model, but '{}' is a compiled program",
                                            flag->get_name(), file));
    if (hasViewers() && file.ends_with(".mlir"))
      return problem("E0601", fmt::format("{} needs an ONNX model, but '{}' is textual IR",
                                          options.netron ? "--netron" : "--model-explorer", file));
    if (auto wrong = checkBinary("--netron", netron()))
      return wrong;
    for (const Report::File &written : filesWritten())
      if (auto wrong = checkOutput(written.path))
        return wrong;
    return std::nullopt;
  }

  [[nodiscard]] bool hasViewers() const { return options.modelExplorer || options.netron; }
  [[nodiscard]] std::string netron() const { return options.netron.value_or(""); }
  /// Whether every node is compared with the model.
  [[nodiscard]] bool isCompared() const {
    return !options.data.empty() && options.flags.streams.empty();
  }
  [[nodiscard]] std::string nodeDataStem() const {
    constexpr std::string_view kEnding = ".json";
    std::string stem = *options.modelExplorer;
    if (stem.ends_with(kEnding))
      stem.resize(stem.size() - kEnding.size());
    return stem;
  }

  [[nodiscard]] std::vector<Report::File> filesRead() const {
    return {{"the model", file}, {"the --data file", options.data}};
  }

  [[nodiscard]] std::vector<Report::File> filesWritten() const {
    std::vector<Report::File> files = {{"--output", path}};
    for (const std::string &one : nodeData)
      files.push_back({"--model-explorer", one});
    if (options.netron)
      files.push_back({"--netron", *options.netron});
    return files;
  }

  /// Reads the program.
  bool read() {
    format::ReadResult read = format::readFile(file);
    for (const format::FileProblem &wrong : read.problems)
      problems.push_back(problem(wrong.code, wrong.message));
    if (read.program)
      result.program = std::move(*read.program);
    return read.program.has_value();
  }

  /// Compiles the model, explains its plan and checks it.
  bool compile() {
    ModelOptions &flags = options.flags;
    flags.finish(problems);
    if (!problems.empty())
      return false;
    about = file;
    if (hasViewers() && !keepWeights())
      return false;
    flags.compile.explain = true;
    flags.compile.measure = false;
    flags.compile.check.emplace();
    if (!options.data.empty())
      flags.compile.calibration = [this](const auto &inputs, Problems &wrong) {
        auto samples = readCalibration(options.data, inputs, wrong);
        if (hasViewers() && isCompared() && wrong.empty())
          compared = readCalibration(options.data, inputs, wrong, kCompared);
        for (Problem &one : wrong)
          one.notes.push_back(fmt::format("read from --data '{}'", options.data));
        return samples;
      };
    result = flags.run("explaining", problems).result;
    if (problems.empty() && !result.explanation)
      problems.push_back(internalError("the plan could not be timed"));
    if (!problems.empty())
      return false;
    Report::notes(result.notes);
    return true;
  }

  /// Checks that no file of the model's weights is overwritten.
  bool keepWeights() {
    std::vector<Report::File> weights;
    for (std::string &name :
         frontend::weightFiles(pipeline::importOptions(options.flags.compile), problems))
      weights.push_back({"the external data of the model", std::move(name)});
    if (const auto wrong = report.checkFiles(weights, filesWritten())) {
      about.clear();
      problems.push_back(*wrong);
    }
    return problems.empty();
  }

  /// Compares the layers as `sluice compare --data` does.
  std::optional<check::LayerErrors> compareNodes() {
    if (!isCompared())
      return std::nullopt;
    check::LayerOptions layers;
    layers.facts = pipeline::factsOf(result);
    for (const reference::Tensors &arrays : compared)
      layers.samples.push_back({frontend::argumentsOf(result.oracle->inputs(), arrays)});
    auto errors = check::compareLayers(*result.oracle, result.program, layers);
    if (const auto *stall = std::get_if<std::string>(&errors)) {
      problems.push_back(stalls(*stall));
      return std::nullopt;
    }
    return std::get<check::LayerErrors>(std::move(errors));
  }

  bool makeViewerFiles(const ReportSubject &subject) {
    if (!options.data.empty() && !isCompared())
      Report::notes({"no errors of nodes: with --stream, the program has parts of their results"});
    const auto errors = compareNodes();
    const frontend::ImportOptions import = pipeline::importOptions(options.flags.compile);
    const auto nodes = frontend::viewedNodes(import, problems);
    if (!problems.empty())
      return false;
    const auto figures = nodeFigures(subject, nodes, errors ? &*errors : nullptr);
    if (options.modelExplorer)
      nodeDataTexts = nodeDataFiles(figures, isCompared());
    if (options.netron)
      copy = frontend::annotatedModel(import, nodeProperties(subject, figures), kPropertyPrefix,
                                      problems);
    return problems.empty();
  }

  int write(Json json) const {
    json["output"] = path;
    json["model_explorer"] = options.modelExplorer ? Json(nodeData) : Json(nullptr);
    json["netron"] = options.netron ? Json(*options.netron) : Json(nullptr);
    const std::string page = reportPage(json);
    std::vector<OutputFile> files = {{path, page}};
    for (size_t i = 0; i < nodeData.size(); ++i)
      files.push_back({nodeData[i], nodeDataTexts[i]});
    if (options.netron)
      files.push_back({*options.netron, copy});
    if (const auto wrong = writeOutputs(files))
      return report.fail({*wrong}, "");
    std::string text;
    for (const auto &sentence : json["summary"])
      text += sentence.get<std::string>() + '\n';
    for (const OutputFile &one : files)
      text +=
          fmt::format("written             {}, {} bytes\n", printable(one.path), one.bytes.size());
    if (path == "-" || netron() == "-")
      Report::say(text);
    else
      report.text(text);
    return report.json(json) ? Ok : Usage;
  }

  ReportOptions &options;
  const std::string file;
  const Report report;
  const std::string path;
  bool isProgram = false;
  std::string about; ///< the file that the problems are about
  Problems problems;
  pipeline::CompileResult result;                   ///< of a program file: only the program
  std::vector<reference::Tensors> compared;         ///< samples of --data
  std::vector<std::string> nodeData, nodeDataTexts; ///< files of --model-explorer
  std::string copy;                                 ///< bytes of --netron
};

} // namespace

void addReport(CLI::App &app, const Common &common, int &exitCode) {
  auto *command = app.add_subcommand(
      "report", "write an HTML page about a program: cycles, layouts, timeline and plan");
  auto options = std::make_shared<ReportOptions>();
  command
      ->add_option("file", options->flags.compile.modelPath,
                   "ONNX model or textual IR (.mlir), or a program file, of which less is known; "
                   "- is a model on standard input")
      ->required();
  command
      ->add_option("-o,--output", options->output,
                   "page to write; - is standard output (FILE.html in this folder)")
      ->type_name("FILE.html");
  command->add_option("--model", options->model, "model to use, if a program file has several")
      ->type_name("NAME");
  const size_t others = command->get_options().size();
  command
      ->add_option("--data", options->data,
                   "your own inputs, with which the accuracy is measured first: a folder of test "
                   "data, or an .npz file with a member for each input (random inputs alone)")
      ->type_name("DIR|FILE.npz");
  command
      ->add_option("--model-explorer", options->modelExplorer,
                   "write the figures of each node for Model Explorer: STEM.cycles.json, "
                   "STEM.rows.json, STEM.cores.json, STEM.data-dimension.json, and with --data "
                   "STEM.error.json")
      ->type_name("STEM");
  command
      ->add_option("--netron", options->netron,
                   "write a copy of the model with the figures as properties of its nodes, which "
                   "Netron shows; - is standard output")
      ->type_name("FILE.onnx");
  options->flags.addFlags(*command);
  const std::vector<CLI::Option *> all = command->get_options();
  options->ofModels.assign(all.begin() + static_cast<std::ptrdiff_t>(others), all.end());
  command->callback(
      [options, &common, &exitCode] { exitCode = ReportRun(*options, common).run(); });
}

} // namespace sluice::cli
