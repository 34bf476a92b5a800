// sluice diff: which layers of two programs differ in cycles, rows and blocks, and why.
#include <fmt/format.h>

#include "compiler/support/problem_text.h"
#include "runtime/format/program_file.h"
#include "tools/cli/commands.h"
#include "tools/cli/layer_difference.h"
#include "tools/cli/model_options.h"

namespace sluice::cli {
namespace {

struct DiffOptions {
  std::string a, b, model, targetB;
  ModelOptions flags;
  std::vector<const CLI::Option *> ofModels; ///< the flags that compile a model
};

/// One of the two programs, and what it does in an inference on an idle machine.
struct Side {
  ModelHandle model;
  Activity activity;
  std::optional<Listing> listing;

  [[nodiscard]] Profiled profiled() const {
    return {activity, *listing, model.program().machine()};
  }
  [[nodiscard]] std::string text(std::string_view letter, const std::string &file) const {
    return fmt::format("{}  {}: {} on {}, {} cycles\n", letter, printable(file),
                       printable(model.info().name), model.program().machine().target,
                       activity.cycles());
  }
};

class Diff {
public:
  Diff(const DiffOptions &options, const Common &common) : options(options), report(common) {}

  int run() {
    if (const auto wrong =
            report.checkFiles({{"the first file", options.a}, {"the second file", options.b}}, {}))
      return report.fail({*wrong}, "");
    if (const auto wrong = checkFlags())
      return report.fail({*wrong}, "");
    for (const auto &[file, target, side] :
         {std::tuple(&options.a, &options.flags.compile.target, &a),
          std::tuple(&options.b, &targetB(), &b)})
      if (const Problems problems = load(*file, *target, *side); !problems.empty())
        return report.fail(problems, *file);
    return print();
  }

private:
  [[nodiscard]] const std::string &targetB() const {
    return options.targetB.empty() ? options.flags.compile.target : options.targetB;
  }

  /// A flag that compiles needs a model.
  [[nodiscard]] std::optional<Problem> checkFlags() const {
    if (options.a == "-" && options.b == "-")
      return problem("E0601", "both files are standard input, allowed: one");
    const bool isProgramA = format::isProgramFile(options.a),
               isProgramB = format::isProgramFile(options.b);
    if (isProgramB && !options.targetB.empty())
      return problem("E0601", fmt::format("--target-b compiles a model, but '{}' is a compiled "
                                          "program",
                                          options.b));
    if (isProgramA && isProgramB)
      for (const CLI::Option *flag : options.ofModels)
        if (flag->count() > 0)
          return problem("E0601", fmt::format("{} compiles a model, but both files are compiled "
                                              "programs",
                                              flag->get_name()));
    return std::nullopt;
  }

  /// Reads the program, or compiles the model, and runs it.
  [[nodiscard]] Problems load(const std::string &file, const std::string &target,
                              Side &side) const {
    Problems problems;
    std::variant<ProgramHandle, Problem> program;
    if (format::isProgramFile(file)) {
      program = ProgramHandle::load(file);
    } else {
      ModelOptions flags = options.flags;
      flags.compile.modelPath = file;
      flags.compile.target = target;
      flags.compile.measure = false;
      flags.finish(problems);
      if (!problems.empty())
        return problems;
      const pipeline::CompileResult result = flags.run("compiling", problems).result;
      if (!problems.empty())
        return problems;
      const std::vector<uint8_t> bytes = format::write(result.program);
      program = ProgramHandle::loadBytes({bytes.begin(), bytes.end()});
    }
    if (auto *wrong = std::get_if<Problem>(&program))
      return {*wrong};
    auto model = ModelHandle::of(std::get<ProgramHandle>(std::move(program)), options.model);
    if (auto *wrong = std::get_if<Problem>(&model))
      return {*wrong};
    side.model = std::get<ModelHandle>(std::move(model));
    auto recorded = recordInference(side.model, "vm", true);
    if (auto *wrong = std::get_if<Problem>(&recorded))
      return {*wrong};
    side.activity = std::get<Activity>(std::move(recorded));
    side.listing.emplace(side.model.program());
    return {};
  }

  static Json useJson(const std::optional<LayerUse> &use) {
    if (!use)
      return nullptr;
    return {{"cycles", use->cycles},
            {"rows", use->rows},
            {"blocks", use->blocks},
            {"rows_by_core", use->rowsByCore},
            {"blocks_by_core", use->blocksByCore}};
  }

  int print() const {
    const Profiled x = a.profiled(), y = b.profiled();
    const std::vector<LayerDifference> all = differencesOf(x, y);
    Table table{{"nodes", "operators", "cycles a", "cycles b", "change", "rows a", "rows b",
                 "blocks a", "blocks b", "why"},
                {}};
    Json layers = Json::array();
    for (const LayerDifference &one : all) {
      const std::string why = one.isNone() ? "" : reasonText(one, x.machine, y.machine);
      Json nodes = Json::array();
      std::vector<std::string> names, operators;
      for (const ComparedNode &node : one.nodes) {
        nodes.push_back({{"index", node.index}, {"name", node.name}, {"op", node.op}});
        names.push_back(node.name.empty() ? std::to_string(node.index) : node.name);
        operators.push_back(node.op);
      }
      layers.push_back({{"node", nodes.front()},
                        {"nodes", nodes},
                        {"a", useJson(one.a)},
                        {"b", useJson(one.b)},
                        {"why", why}});
      if (one.isNone())
        continue;
      const auto number = [](const std::optional<LayerUse> &use, uint64_t LayerUse::*member) {
        return use ? Json((*use).*member) : Json(nullptr);
      };
      table.rows.push_back(
          {names, operators, number(one.a, &LayerUse::cycles), number(one.b, &LayerUse::cycles),
           one.cycles(), number(one.a, &LayerUse::rows), number(one.b, &LayerUse::rows),
           number(one.a, &LayerUse::blocks), number(one.b, &LayerUse::blocks), why});
    }
    const uint64_t before = a.activity.cycles(), now = b.activity.cycles();
    std::string text = a.text("a", options.a) + b.text("b", options.b) + "\n";
    if (!table.rows.empty())
      text += table.text();
    const size_t same = all.size() - table.rows.size();
    if (same > 0)
      text += fmt::format("{} layer{} without a difference\n", same, same == 1 ? "" : "s");
    text += before == now
                ? fmt::format("equal: {} cycles\n", now)
                : fmt::format("b takes {} cycles {} than a ({:+.1f} %)\n",
                              before < now ? now - before : before - now,
                              before < now ? "more" : "less",
                              100.0 * (static_cast<double>(now) / static_cast<double>(before) - 1));
    report.text(text);
    return report.json({{"schema", 1},
                        {"ok", true},
                        {"targets", {{"a", x.machine.target}, {"b", y.machine.target}}},
                        {"cycles", {{"a", before}, {"b", now}}},
                        {"layers", layers}})
               ? Ok
               : Usage;
  }

  const DiffOptions &options;
  const Report report;
  Side a, b;
};

} // namespace

void addDiff(CLI::App &app, const Common &common, int &exitCode) {
  auto *command = app.add_subcommand(
      "diff", "show which layers of two programs or models differ in cycles, and why");
  auto options = std::make_shared<DiffOptions>();
  command->add_option("a", options->a, "program file, or a model, which is compiled")->required();
  command->add_option("b", options->b, "the other program file or model")->required();
  command
      ->add_option("--target-b", options->targetB, "target of the second model (that of the first)")
      ->type_name("TARGET");
  command->add_option("--model", options->model, "model to use, if a program file has several")
      ->type_name("NAME");
  const size_t others = command->get_options().size();
  options->flags.addFlags(*command);
  const std::vector<CLI::Option *> all = command->get_options();
  options->ofModels.assign(all.begin() + static_cast<std::ptrdiff_t>(others), all.end());
  command->callback([options, &common, &exitCode] { exitCode = Diff(*options, common).run(); });
}

} // namespace sluice::cli
