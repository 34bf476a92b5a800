// sluice report: one HTML page with everything that is known of a program.
#include <filesystem>

#include <fmt/format.h>

#include "compiler/support/problem_text.h"
#include "runtime/format/program_file.h"
#include "tools/cli/calibration.h"
#include "tools/cli/commands.h"
#include "tools/cli/model_options.h"
#include "tools/cli/report/report_data.h"
#include "tools/cli/report/report_page.h"

namespace sluice::cli {
namespace {

struct ReportOptions {
  ModelOptions flags; ///< with the file, which may be a program
  std::string model, data;
  std::optional<std::string> output;
  std::vector<const CLI::Option *> ofModels; ///< the flags that need a model
};

class ReportRun {
public:
  ReportRun(ReportOptions &options, const Common &common)
      : options(options), file(options.flags.compile.modelPath), report(common),
        path(options.output.value_or(
            file == "-" ? "-" : std::filesystem::path(file).stem().string() + ".html")) {}

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
    return write(reportJson({file, handle, result.program, std::get<Activity>(recorded),
                             isProgram ? nullptr : &result, options.data}));
  }

private:
  std::optional<Problem> checkFlags() {
    if (path.empty())
      return problem("E0601", "--output is empty, allowed: a file name or -");
    if (auto wrong = report.checkFiles({{"the model", file}, {"the --data file", options.data}},
                                       {{"--output", path}}))
      return wrong;
    if (auto wrong = report.checkStdout({{"--output", path}}))
      return wrong;
    isProgram = format::isProgramFile(file);
    for (const CLI::Option *flag : options.ofModels)
      if (isProgram && flag->count() > 0)
        return problem("E0601", fmt::format("{} needs a model, but '{}' is a compiled program",
                                            flag->get_name(), file));
    return checkOutput(path);
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
    flags.compile.explain = true;
    flags.compile.measure = false;
    flags.compile.check.emplace();
    if (!options.data.empty())
      flags.compile.calibration = [this](const auto &inputs, Problems &wrong) {
        auto samples = readCalibration(options.data, inputs, wrong);
        for (Problem &one : wrong)
          one.notes.push_back(fmt::format("read from --data '{}'", options.data));
        return samples;
      };
    result = flags.run("explaining", problems).result;
    if (problems.empty() && !result.explanation)
      problems.push_back(problem("E0611", "the plan could not be timed"));
    if (!problems.empty())
      return false;
    Report::notes(result.notes);
    return true;
  }

  int write(Json json) const {
    json["output"] = path;
    const std::string page = reportPage(json);
    if (const auto wrong = writeOutput(path, page))
      return report.fail({*wrong}, "");
    std::string text;
    for (const auto &sentence : json["summary"])
      text += sentence.get<std::string>() + '\n';
    text += fmt::format("written             {}, {} bytes\n", printable(path), page.size());
    if (path == "-")
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
  pipeline::CompileResult result; ///< of a program file: only the program
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
  options->flags.addFlags(*command);
  const std::vector<CLI::Option *> all = command->get_options();
  options->ofModels.assign(all.begin() + static_cast<std::ptrdiff_t>(others), all.end());
  command->callback(
      [options, &common, &exitCode] { exitCode = ReportRun(*options, common).run(); });
}

} // namespace sluice::cli
